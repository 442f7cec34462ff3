//! Exit codes, outputs and usage: the same for every command and format.

use std::fs;

use assert_cmd::Command;

use super::{DEMO, DEMO_LOG, DEMO_SUBJECT, answer, rolecall, text};

#[test]
fn findings_decide_between_zero_and_one_in_every_format() {
    for format in ["table", "json", "sarif", "markdown"] {
        for (fail_on, code) in [("critical", 1), ("info", 1), ("never", 0)] {
            let answer = rolecall(&["scan", DEMO, "--audit", DEMO_LOG, "-o", format, "--fail-on", fail_on]);
            assert_eq!((answer.code, answer.stderr.as_str()), (code, ""), "{format} {fail_on}");
        }
    }
    // Nothing of the fixture is critical.
    let quiet = rolecall(&["scan", "fixtures/rules/RC181/quiet-not-observable", "--fail-on", "critical"]);
    assert!(quiet.code == 0 || quiet.code == 2, "{quiet:?}");
}

#[test]
fn what_is_shown_and_what_fails_are_independent() {
    let answer = rolecall(&["scan", DEMO, "--audit", DEMO_LOG, "--min-severity", "critical", "--fail-on", "low"]);
    assert_eq!(answer.code, 1);
    assert!(!answer.stdout.contains("RC181") && answer.stdout.contains("3 findings: 3 critical"), "{}", answer.stdout);
    let answer = rolecall(&["scan", DEMO, "--min-severity", "info", "--fail-on", "never"]);
    assert_eq!(answer.code, 0);
}

#[test]
fn wrong_usage_and_absent_input_exit_2_and_say_why() {
    for (args, why) in [
        (&["scan", "no/such/folder"][..], "no/such/folder"),
        (&["scan", DEMO, "--audit", "no-such.log"], "no-such.log"),
        (&["scan", DEMO, "--output", "xml"], "`xml` is no format"),
        (&["scan", DEMO, "--output", "json="], "names no file"),
        (&["scan", DEMO, "-o", "json", "-o", "sarif"], "only one --output"),
        (&["scan", DEMO, "--kube-version", "1.2"], "no API table for Kubernetes 1.2"),
        (&["scan", DEMO, "--fail-on", "huge"], "huge"),
        (&["scan", DEMO, "-o", "json=no/such/folder/x.json"], "no/such/folder/x.json"),
        (&["role", DEMO], "--audit LOG is missing"),
        (&["role", "--audit", DEMO_LOG], "--subject"),
        (&["verify", "--audit", DEMO_LOG, "--subject", "a/b"], "--role"),
        (&["verify", "--role", DEMO, "--audit", DEMO_LOG], "--subject"),
        (&["explain", "RC999"], "RC999"),
        (&["nonsense"], "nonsense"),
        (&[], "Usage"),
    ] {
        let answer = rolecall(args);
        assert_eq!(answer.code, 2, "{args:?}: {answer:?}");
        assert!(answer.stderr.contains(why), "{args:?}: {}", answer.stderr);
        assert_eq!(answer.stdout, "", "{args:?}");
    }
}

#[test]
fn nothing_read_or_nothing_seen_is_never_a_silent_success() {
    let empty = tempfile::tempdir().unwrap();
    let log = empty.path().join("audit.log");
    fs::write(&log, "").unwrap();
    let (folder, log) = (text(empty.path()), text(&log));
    for args in [
        &["scan", folder][..],
        &["scan", DEMO, "--audit", log],
        &["scan", DEMO, "--audit", folder],
        &["role", "--subject", "a/b", "--audit", log],
        &["role", "--subject", "a/b", "--audit", DEMO_LOG],
        &["verify", "--role", DEMO, "--subject", "a/b", "--audit", DEMO_LOG],
        &["verify", "--role", DEMO, "--subject", DEMO_SUBJECT, "--audit", log],
    ] {
        let answer = rolecall(args);
        assert_eq!(answer.code, 3, "{args:?}: {answer:?}");
        assert!(answer.stderr.contains("error: "), "{args:?}: {}", answer.stderr);
    }
    let other = rolecall(&["role", "--subject", "a/b", "--audit", DEMO_LOG]);
    assert!(other.stderr.contains(DEMO_SUBJECT), "it says whom the log shows: {}", other.stderr);
}

#[test]
fn verify_names_what_the_role_would_refuse() {
    let folder = tempfile::tempdir().unwrap();
    let role = folder.path().join("role.yaml");
    let written = rolecall(&["role", DEMO, "--subject", DEMO_SUBJECT, "--audit", DEMO_LOG]).stdout;
    fs::write(&role, &written).unwrap();
    let verify = |format: &str| {
        rolecall(&["verify", "--role", text(&role), "--subject", DEMO_SUBJECT, "--audit", DEMO_LOG, "-o", format])
    };
    assert_eq!(verify("table").code, 0);
    fs::write(&role, written.replace("  - secrets\n", "  - secretz\n")).unwrap();
    let answer = verify("table");
    assert_eq!(answer.code, 1);
    assert!(answer.stdout.contains("patch secrets `alice` in team-a: "), "{}", answer.stdout);
    assert!(answer.stdout.contains("audit.log.gz:"), "with the line of the log: {}", answer.stdout);
    let json: serde_json::Value = serde_json::from_str(&verify("json").stdout).unwrap();
    // Three secrets, each applied and so made.
    assert_eq!(json["missing"].as_array().unwrap().len(), 6, "{json}");
}

#[test]
fn several_outputs_in_one_run_go_where_they_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (json, sarif, table) = (path("r.json"), path("r.sarif"), path("r.txt"));
    let outputs =
        [format!("json={}", text(&json)), format!("sarif={}", text(&sarif)), format!("table={}", text(&table))];
    let mut args = vec!["scan", DEMO, "--audit", DEMO_LOG, "--output", "markdown", "--color", "always"];
    outputs.iter().for_each(|output| args.extend(["--output", output]));
    let answer = rolecall(&args);
    assert_eq!(answer.code, 1);
    assert!(answer.stdout.starts_with("## rolecall"));
    let read = |path| fs::read_to_string(path).unwrap();
    serde_json::from_str::<serde_json::Value>(&read(&json)).unwrap();
    serde_json::from_str::<serde_json::Value>(&read(&sarif)).unwrap();
    assert!(read(&table).contains("RC031") && !read(&table).contains('\u{1b}'), "no colours in files");
}

#[test]
fn colours_follow_the_flag_and_no_color() {
    let run = |color: &str, no_color: bool| {
        let mut command = Command::cargo_bin("rolecall").unwrap();
        command.args(["scan", DEMO, "--color", color]).env_remove("NO_COLOR");
        if no_color {
            command.env("NO_COLOR", "1").env("CLICOLOR_FORCE", "0");
        }
        answer(&mut command).stdout.contains('\u{1b}')
    };
    assert!(run("always", false));
    assert!(!run("never", false) && !run("auto", false) && !run("auto", true));
}

#[test]
fn standard_input_is_read_as_manifests_and_as_log() {
    let manifests = fs::read(format!("{DEMO}/operator.yaml")).unwrap();
    let from =
        |args: &[&str], input: Vec<u8>| answer(Command::cargo_bin("rolecall").unwrap().args(args).write_stdin(input));
    let scanned = from(&["scan", "-", "--audit", DEMO_LOG], manifests);
    assert_eq!(scanned.code, 1);
    // Without the CRD the owner's resource is a guess out of its kind.
    assert!(scanned.stdout.contains("used 28 (82 calls"), "{}", scanned.stdout);
    let role = from(&["role", DEMO, "--subject", DEMO_SUBJECT, "--audit", "-"], fs::read(DEMO_LOG).unwrap());
    assert_eq!(role.stdout, rolecall(&["role", DEMO, "--subject", DEMO_SUBJECT, "--audit", DEMO_LOG]).stdout);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for format in ["table", "json", "sarif", "markdown"] {
        let run = || rolecall(&["scan", "fixtures", "--audit", DEMO_LOG, "-o", format]).stdout;
        assert!(run() == run(), "{format}");
    }
}
