//! What is asked of logs: never passed over in silence, also where a profile stands for them or nothing answers to it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::observe::event;
use super::{DEMO, DEMO_LOG, DEMO_SUBJECT, rolecall, text};

const ACCOUNT: &str = "system:serviceaccount:n:op";

/// A log of an account's calls at 10, 11 and 12 and an admin's at 12, and its profile.
fn log_and_profile(folder: &TempDir) -> (PathBuf, PathBuf) {
    let (log, profile) = (folder.path().join("audit.log"), folder.path().join("usage.json"));
    let events = [("10:00:00", ACCOUNT), ("11:00:00", ACCOUNT), ("12:00:00", ACCOUNT), ("12:00:00", "admin")];
    fs::write(&log, events.map(|(at, user)| event(at, user, "x")).concat()).unwrap();
    assert_eq!(rolecall(&["observe", text(&log), "-o", text(&profile)]).code, 0);
    (log, profile)
}

/// How many calls of whom a profile has on standard output.
fn counts(stdout: &str) -> Vec<(String, u64)> {
    let profile: Value = serde_json::from_str(stdout).unwrap();
    let calls = profile["calls"].as_array().unwrap();
    calls.iter().map(|call| (call["user"].as_str().unwrap().to_owned(), call["count"].as_u64().unwrap())).collect()
}

#[test]
fn a_profile_is_asked_as_its_log() {
    let folder = TempDir::new().unwrap();
    let (log, profile) = log_and_profile(&folder);
    for args in [
        &["--subject", "n/op"][..],
        &["--service-accounts"],
        &["--since", "2026-12-01T11:30:00Z", "--subject", "admin"],
        &["--attribute", "admin=n/op"],
        &["--attribute", "admin=n/op", "--subject", "n/op"],
    ] {
        let [of_log, of_profile] = [&log, &profile].map(|path| rolecall(&[&["observe", text(path)], args].concat()));
        assert_eq!((of_log.code, of_profile.code), (0, 0), "{args:?}: {}", of_profile.stderr);
        assert_eq!(counts(&of_log.stdout), counts(&of_profile.stdout), "{args:?}");
    }
    let agents = rolecall(&["observe", text(&profile), "--attribute", "admin,agent=x*=n/op"]);
    assert_eq!((agents.code, agents.stderr.contains("holds no user agents")), (2, true), "{}", agents.stderr);
}

#[test]
fn what_of_a_profile_lies_across_a_border_is_kept_and_told() {
    let folder = TempDir::new().unwrap();
    let (_, profile) = log_and_profile(&folder);
    let profile = text(&profile);
    let since = ["--since", "2026-12-01T11:30:00Z"];
    let role = folder.path().join("role.yaml");
    let role_args = ["role", "--audit", profile, "--subject", "n/op"];
    fs::write(&role, rolecall(&role_args).stdout).unwrap();
    for args in [
        &["observe", profile][..],
        &["scan", DEMO, "--audit", profile],
        &role_args,
        &["verify", "--role", text(&role), "--audit", profile, "--subject", "n/op"],
    ] {
        let answer = rolecall(&[args, &since].concat());
        let told = answer.stderr.contains("1 distinct calls of this profile lie partly outside of the times asked for");
        assert!(told, "{args:?}: {}", answer.stderr);
    }
    let answer = rolecall(&["observe", profile, "--since", "2026-12-01T11:30:00Z"]);
    assert_eq!(counts(&answer.stdout), [("admin".to_owned(), 1), (ACCOUNT.to_owned(), 3)]);
    // The window ends with the newest call.
    let answer = rolecall(&["observe", profile, "--window", "30m", "--subject", "admin"]);
    assert_eq!((answer.code, counts(&answer.stdout)), (0, vec![("admin".to_owned(), 1)]));
}

#[test]
fn what_matches_nothing_is_told_and_exits_3() {
    let folder = TempDir::new().unwrap();
    let (log, profile) = log_and_profile(&folder);
    for path in [text(&log), text(&profile)] {
        for (args, why) in [
            (&["--subject", "n/other"][..], "no call of system:serviceaccount:n:other was found"),
            (&["--subject", "op"], "no call of op was found"),
            (&["--subject", "n/op", "--subject", "other"], "no call of other was found"),
            (&["--since", "2027-01-01T00:00:00Z"], "none of 4 events is what was asked for"),
            (&["--until", "2020-01-01T00:00:00Z"], "none of 4 events is what was asked for"),
            (&["--attribute", "root=n/op"], "no call of root was counted as one of system:serviceaccount:n:op"),
        ] {
            let answer = rolecall(&[&["observe", path], args].concat());
            assert_eq!((answer.code, answer.stderr.contains(why)), (3, true), "{args:?}: {}", answer.stderr);
        }
        for command in [&["scan", DEMO][..], &["role", "--subject", "n/op"]] {
            let answer = rolecall(&[command, &["--audit", path, "--attribute", "root=n/op"]].concat());
            assert_eq!((answer.code, answer.stderr.contains("no call of root")), (3, true), "{}", answer.stderr);
        }
    }
    let agent = rolecall(&["observe", text(&log), "--attribute", "admin,agent=y*=n/op"]);
    for why in ["admin with such a user agent", "; its user agents are "] {
        assert_eq!((agent.code, agent.stderr.contains(why)), (3, true), "{}", agent.stderr);
    }
}

#[test]
fn what_cannot_be_asked_is_refused() {
    for (args, why) in [
        (&["--subject", ""][..], "neither NAMESPACE/NAME"),
        (&["--subject", " "], "neither NAMESPACE/NAME"),
        (&["--subject", "a\nb"], "neither NAMESPACE/NAME"),
        (&["--window", "7x"], "`7x` is no duration such as"),
        (&["--window", "1month"], "`1month` is no duration such as"),
        (&["--window", "0h"], "`0h` is no time before the newest event"),
        (&["--since", "yesterday"], "`yesterday` is no time such as `2026-12-01T00:00:00Z` or `2026-12-01`\n"),
        (&["--since", "2026-12-02T00:00:00Z", "--until", "2026-12-01T00:00:00Z"], "is later than --until"),
    ] {
        for command in [&["observe", DEMO_LOG][..], &["scan", DEMO, "--audit", DEMO_LOG]] {
            let answer = rolecall(&[command, args].concat());
            assert_eq!((answer.code, answer.stderr.contains(why)), (2, true), "{args:?}: {}", answer.stderr);
        }
    }
    for subject in ["", "a/b/c", "a\nb", " ", "A/b", "a b/c", "system:serviceaccount:a"] {
        let answer = rolecall(&["audit-policy", "--subject", subject]);
        assert_eq!((answer.code, answer.stdout.as_str()), (2, ""), "{subject:?}");
    }
    for subject in [DEMO_SUBJECT, "kubernetes-admin", "arn:aws:iam::1:role/x"] {
        assert_eq!(rolecall(&["audit-policy", "--subject", subject]).code, 0, "{subject}");
    }
}

#[test]
fn events_without_a_time_that_can_be_read_are_passed_over_and_counted() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.log");
    let at = |time: &str, user: &str| event("12:00:00", user, "x").replace("2026-12-01T12:00:00.000000Z", time);
    let events = [
        at("2026-12-01T10:30:00.000000Z", "u"),
        // 11:30 and 08:30 in UTC.
        at("2026-12-01T13:30:00+02:00", "u"),
        at("2026-12-01T10:30:00.000000+02:00", "u"),
        at("not a time", "u"),
        at("9999-99-99T99:99:99Z", "u"),
    ];
    fs::write(&log, events.concat()).unwrap();
    let answer = rolecall(&["observe", text(&log), "--window", "1d"]);
    assert_eq!((answer.code, counts(&answer.stdout)), (0, vec![("u".to_owned(), 3)]), "{}", answer.stderr);
    assert!(answer.stderr.contains("2 events have no time that can be read"), "{}", answer.stderr);
    let answer = rolecall(&["observe", text(&log), "--window", "1h"]);
    assert_eq!(counts(&answer.stdout), [("u".to_owned(), 2)]);
    assert!(answer.stdout.contains("\"last\": \"2026-12-01T11:30:00Z\""), "{}", answer.stdout);
}

#[test]
fn a_profile_that_no_log_gives_costs_that_profile() {
    let folder = TempDir::new().unwrap();
    let (log, profile) = log_and_profile(&folder);
    let forged = folder.path().join("forged.json");
    let right = fs::read_to_string(&profile).unwrap();
    fs::write(&forged, right.replace("\"count\": 3", "\"count\": 18446744073709551615")).unwrap();
    let args = |strict: bool, logs: &[&Path]| {
        let logs: Vec<&str> = logs.iter().map(|path| text(path)).collect();
        let strict = if strict { &["--strict"][..] } else { &[] };
        rolecall(&[&["observe"], logs.as_slice(), strict].concat())
    };
    let answer = args(false, &[&log, &forged]);
    assert_eq!((answer.code, counts(&answer.stdout).len()), (0, 2), "{}", answer.stderr);
    let why = "forged.json:1:1: not a consistent profile: calls[1]: codes that do not add up to its count";
    assert!(answer.stderr.contains(why), "{}", answer.stderr);
    assert_eq!((args(true, &[&log, &forged]).code, args(false, &[&forged]).code), (3, 3));
    // Some editors write a mark in front.
    fs::write(&forged, format!("\u{feff}{}", fs::read_to_string(&profile).unwrap())).unwrap();
    assert_eq!(counts(&args(false, &[&forged]).stdout), counts(&args(false, &[&log]).stdout));
}
