//! Result files: `-` is standard output, what was read is never written over, and no verdict is given on nothing.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use super::{DEMO, DEMO_LOG, DEMO_SUBJECT, rolecall, text};

#[test]
fn a_dash_is_standard_output() {
    let plain = rolecall(&["observe", DEMO_LOG]);
    let dash = rolecall(&["observe", DEMO_LOG, "-o", "-"]);
    assert_eq!((dash.code, &dash.stdout), (0, &plain.stdout));
    assert_eq!(rolecall(&["audit-policy", "-o", "-"]).stdout, rolecall(&["audit-policy"]).stdout);
    for args in [&["observe", "-f", DEMO_LOG, "-o", "-"][..], &["audit-policy", "-o", "-", "--kind"]] {
        let answer = rolecall(args);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{args:?}: {}", answer.stderr);
    }
    assert!(!std::path::Path::new("-").exists());
}

#[test]
fn what_was_read_is_not_written_over() {
    let folder = TempDir::new().unwrap();
    let logs = folder.path().join("logs");
    fs::create_dir(&logs).unwrap();
    let (log, role) = (logs.join("audit.log"), folder.path().join("role.yaml"));
    fs::copy(DEMO_LOG, &log).unwrap();
    fs::copy("fixtures/demo/operator.yaml", &role).unwrap();
    let before = [&log, &role].map(|path| fs::read(path).unwrap());
    let (log, role, logs) = (text(&log), text(&role), text(&logs));
    let json = |path: &str| format!("json={path}");
    for args in [
        &["observe", log, "-o", log][..],
        &["observe", logs, "-o", log],
        &["observe", "-f", log, "-o", log],
        &["scan", role, "--audit", log, "--output", &json(role)],
        &["scan", text(folder.path()), "--output", &json(role)],
        &["scan", role, "--audit", logs, "--output", &json(log)],
        &["verify", "--role", role, "--audit", log, "--subject", DEMO_SUBJECT, "--output", &json(log)],
    ] {
        let answer = rolecall(args);
        assert_eq!((answer.code, answer.stderr.contains(" is read: ")), (2, true), "{args:?}: {}", answer.stderr);
    }
    assert!(before == [log, role].map(|path| fs::read(path).unwrap()));
}

#[test]
fn a_profile_in_the_folder_of_its_logs_is_written_anew_not_read_into_itself() {
    let folder = TempDir::new().unwrap();
    fs::copy(DEMO_LOG, folder.path().join("audit.log.gz")).unwrap();
    let profile = folder.path().join("usage.json");
    let args = ["observe", text(folder.path()), "-o", text(&profile)];
    assert_eq!(rolecall(&args).code, 0);
    let first = fs::read(&profile).unwrap();
    let again = rolecall(&args);
    assert!(again.code == 0 && again.stderr.contains("is the profile that is written anew: not read"));
    assert!(first == fs::read(&profile).unwrap());
    // Another profile in the folder counts.
    let elsewhere = folder.path().join("other.json");
    let both = rolecall(&["observe", text(folder.path()), "-o", text(&elsewhere)]);
    let events = |path: &Path| {
        let profile: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        profile["quality"]["events"].as_u64().unwrap()
    };
    assert_eq!((both.code, events(&elsewhere)), (0, 2 * events(&profile)), "{}", both.stderr);
    let named = rolecall(&["observe", text(&profile), DEMO_LOG, "-o", text(&profile)]);
    assert_eq!(named.code, 2, "{}", named.stderr);
}

#[test]
fn one_log_file_is_followed() {
    let folder = TempDir::new().unwrap();
    for log in [text(folder.path()), "-"] {
        let answer = rolecall(&["observe", "-f", log, "-o", text(&folder.path().join("usage.json"))]);
        assert_eq!((answer.code, answer.stderr.contains("one log file, no folder")), (2, true), "{}", answer.stderr);
    }
}

#[test]
fn a_log_without_calls_of_the_subject_gives_no_verdict() {
    for format in ["table", "json"] {
        let answer =
            rolecall(&["verify", "--role", DEMO, "--audit", DEMO_LOG, "--subject", "nobody/here", "--output", format]);
        assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{}", answer.stderr);
        assert!(answer.stderr.contains("nothing was verified"), "{}", answer.stderr);
    }
}
