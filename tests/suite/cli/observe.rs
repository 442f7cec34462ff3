//! `rolecall observe`: profiles stand for logs, merge, follow a log, and say whose calls they count.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use flate2::read::MultiGzDecoder;
use serde_json::Value;
use tempfile::TempDir;

use super::{DEMO, DEMO_LOG, DEMO_SUBJECT, rolecall, text};

fn demo_log() -> String {
    let mut log = String::new();
    MultiGzDecoder::new(fs::File::open(DEMO_LOG).unwrap()).read_to_string(&mut log).unwrap();
    log
}

fn profile(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// An event at `HH:MM:SS` of a user with an agent.
pub(super) fn event(at: &str, user: &str, agent: &str) -> String {
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{at}{user}","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/n/pods/p","verb":"get","user":{{"username":"{user}"}},"userAgent":"{agent}","responseStatus":{{"code":200}},"requestReceivedTimestamp":"2026-12-01T{at}.000000Z","annotations":{{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}}}}"#
    ) + "\n"
}

#[test]
fn a_profile_stands_for_its_log() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("usage.json");
    let written = rolecall(&["observe", DEMO_LOG, "-o", text(&path)]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    assert!(written.stderr.contains("distinct calls"), "{}", written.stderr);
    assert_eq!(profile(&path)["schema"], "rolecall-usage/v0");
    for command in [&["scan", DEMO, "--output", "table"][..], &["role", DEMO], &["scan", DEMO, "--output", "markdown"]]
    {
        let [of_log, of_profile] =
            [DEMO_LOG, text(&path)].map(|log| rolecall(&[command, &["--audit", log]].concat()).stdout);
        assert!(of_log.replace(DEMO_LOG, "LOG") == of_profile.replace(text(&path), "LOG"), "{command:?} differs");
    }
    let valid = jsonschema::validator_for(&serde_json::from_str(&rolecall(&["schema", "usage"]).stdout).unwrap());
    assert!(valid.unwrap().is_valid(&profile(&path)));
}

#[test]
fn parts_of_a_log_make_the_profile_of_the_whole_in_any_order() {
    let folder = TempDir::new().unwrap();
    let log = demo_log();
    let lines: Vec<&str> = log.lines().collect();
    // Where no request is open: its stages count once in one log.
    let (one, two) = lines.split_at(lines.len() / 2);
    let [a, b, ab, ba, all] = ["a", "b", "ab", "ba", "all"].map(|name| folder.path().join(format!("{name}.json")));
    for (part, path) in [(one, &a), (two, &b)] {
        let log = path.with_extension("log");
        fs::write(&log, part.join("\n")).unwrap();
        rolecall(&["observe", text(&log), "-o", text(path)]);
    }
    rolecall(&["observe", text(&a), text(&b), "-o", text(&ab)]);
    rolecall(&["observe", text(&b), text(&a), "-o", text(&ba)]);
    assert_eq!(fs::read(&ab).unwrap(), fs::read(&ba).unwrap());
    rolecall(&["observe", DEMO_LOG, "-o", text(&all)]);
    let keys = |path: &Path| {
        let calls = profile(path)["calls"].as_array().unwrap().clone();
        calls
            .iter()
            .map(|call| format!("{} {} {}", call["user"], call["request"], call["decision"]))
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&ab), keys(&all));
    assert_eq!(profile(&ab)["quality"]["events"], profile(&all)["quality"]["events"]);
}

#[test]
fn events_are_asked_for_by_user_and_time() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.log");
    let account = "system:serviceaccount:n:op";
    let events = [("10:00:00", account), ("11:00:00", account), ("12:00:00", "admin"), ("12:00:00", account)];
    fs::write(&log, events.map(|(at, user)| event(at, user, "x")).concat()).unwrap();
    let counted = |args: &[&str]| {
        let answer = rolecall(&[&["observe", text(&log)], args].concat());
        assert_eq!(answer.code, 0, "{args:?}: {}", answer.stderr);
        let profile: Value = serde_json::from_str(&answer.stdout).unwrap();
        let calls = profile["calls"].as_array().unwrap();
        assert_eq!(profile["quality"]["events"], 4);
        calls.iter().map(|call| call["count"].as_u64().unwrap()).sum::<u64>()
    };
    assert_eq!(counted(&[]), 4);
    assert_eq!(counted(&["--subject", "n/op"]), 3);
    assert_eq!(counted(&["--subject", "n/op", "--subject", "admin"]), 4);
    assert_eq!(counted(&["--service-accounts"]), 3);
    assert_eq!(counted(&["--since", "2026-12-01T11:00:00Z"]), 3);
    assert_eq!(counted(&["--until", "2026-12-01T11:00:00Z"]), 2);
    assert_eq!(counted(&["--window", "1h"]), 3);
    assert_eq!(counted(&["--window", "59m", "--service-accounts"]), 1);
    for (args, why) in [
        (&["observe", "-", "--window", "1h"][..], "standard input"),
        (&["observe", text(&log), "--since", "noon"], "is no time"),
        (&["observe", text(&log), "--attribute", "admin"], "USER=NAMESPACE/NAME"),
    ] {
        let answer = rolecall(args);
        assert_eq!((answer.code, answer.stderr.contains(why)), (2, true), "{}", answer.stderr);
    }
}

#[test]
fn calls_of_an_admin_are_the_operators_only_when_asked_for_and_said_so() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("audit.log");
    fs::write(
        &log,
        [event("10:00:00", "admin", "manager/v1 (linux)"), event("10:00:01", "admin", "kubectl/v1")].concat(),
    )
    .unwrap();
    let answer = rolecall(&["observe", text(&log), "--attribute", "admin,agent=manager/*=n/op"]);
    assert!(
        answer.stderr.contains("1 call of admin counted as system:serviceaccount:n:op's, as asked for\n"),
        "{}",
        answer.stderr
    );
    let profile: Value = serde_json::from_str(&answer.stdout).unwrap();
    let calls = profile["calls"].as_array().unwrap();
    let of = |user: &str| calls.iter().find(|call| call["user"] == user).unwrap();
    assert_eq!(of("system:serviceaccount:n:op")["attributedFrom"], serde_json::json!(["admin"]));
    assert!(of("admin").get("attributedFrom").is_none());
    let role = rolecall(&["role", "--audit", text(&log), "--subject", "n/op", "--attribute", "admin=n/op"]);
    assert!(role.code == 0 && role.stdout.contains("pods"), "{}", role.stderr);
    // Whatever else the admin did is the operator's now too: that is said by every command.
    let told = "2 calls of admin counted as system:serviceaccount:n:op's, as asked for, \
                whatever the client (kubectl/v1, manager/v1 (linux)): `,agent=GLOB` tells them apart";
    assert!(role.stderr.contains(told), "{}", role.stderr);
    // Only the calls that were another's count as such.
    let own = event("10:00:02", "system:serviceaccount:n:op", "manager/v1 (linux)");
    let both = folder.path().join("both.log");
    fs::write(&both, [fs::read_to_string(&log).unwrap(), own].concat()).unwrap();
    let profile = folder.path().join("usage.json");
    let answer = rolecall(&["observe", text(&both), "--attribute", "admin=n/op", "-o", text(&profile)]);
    assert!(answer.stderr.contains("2 calls of admin counted as"), "{}", answer.stderr);
    let written: Value = serde_json::from_str(&fs::read_to_string(&profile).unwrap()).unwrap();
    assert_eq!((&written["calls"][0]["count"], &written["calls"][0]["attributed"]), (&3.into(), &2.into()));
    // A slip of the pen costs no profile that stands there.
    let slip = rolecall(&["observe", text(&log), "--subject", "n/other", "-o", text(&profile)]);
    assert!(slip.code == 3 && slip.stderr.contains("is not written"), "{}", slip.stderr);
    assert_eq!(serde_json::from_str::<Value>(&fs::read_to_string(&profile).unwrap()).unwrap(), written);
    let without = rolecall(&["role", "--audit", text(&log), "--subject", "n/op"]);
    assert_ne!(without.code, 0);
}

#[test]
fn names_beyond_the_bound_are_told_as_such() {
    let answer = rolecall(&["observe", DEMO_LOG, "--subject", DEMO_SUBJECT, "--most-names", "1"]);
    let profile: Value = serde_json::from_str(&answer.stdout).unwrap();
    let folded: Vec<&Value> =
        profile["calls"].as_array().unwrap().iter().filter(|call| call["moreThan"] == 1).collect();
    assert!(!folded.is_empty() && folded.iter().all(|call| call["request"].get("name").is_none()));
}

#[test]
fn what_happened_to_many_logs_alike_is_told_of_the_first() {
    let folder = TempDir::new().unwrap();
    for number in 0..40 {
        fs::write(folder.path().join(format!("{number:02}.log")), "").unwrap();
    }
    fs::write(folder.path().join("a.log"), event("10:00:00", "u", "x")).unwrap();
    let answer = rolecall(&["observe", text(folder.path())]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert_eq!(answer.stderr.matches("the log is empty").count(), 6, "{}", answer.stderr);
    assert!(answer.stderr.contains("note: 35 files more: the log is empty"), "{}", answer.stderr);
}

#[test]
fn calls_are_counted_as_they_are_written() {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("a.log");
    let names = |name: usize| event("10:00:00", "u", "x").replace("pods/p\"", &format!("pods/p{name}\""));
    fs::write(&log, (0..30).map(names).collect::<String>()).unwrap();
    let answer = rolecall(&["observe", text(&log), "--most-names", "3"]);
    let calls: Value = serde_json::from_str(&answer.stdout).unwrap();
    let said = format!("{} distinct call", calls["calls"].as_array().unwrap().len());
    assert!(answer.stderr.contains(&said), "{said}: {}", answer.stderr);
}

#[test]
fn what_is_packed_is_not_followed() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("usage.json");
    let answer = rolecall(&["observe", "-f", DEMO_LOG, "-o", text(&output)]);
    assert_eq!((answer.code, output.exists()), (2, false));
    assert!(answer.stderr.contains("is compressed or an archive"), "{}", answer.stderr);
}

#[cfg(unix)]
#[test]
fn a_directory_that_cannot_be_listed_costs_itself() {
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::process::CommandExt as _;
    const NOBODY: u32 = 65534;
    let folder = TempDir::new().unwrap();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    fs::write(closed.join("b.log"), event("10:00:00", "u", "x")).unwrap();
    fs::write(folder.path().join("a.log"), event("10:00:01", "u", "x")).unwrap();
    let mode = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(folder.path(), 0o755);
    mode(&closed, 0o0);
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("rolecall"));
    command.args(["observe", text(folder.path())]);
    if fs::read_dir(&closed).is_ok() {
        // Permissions do not hold root.
        command.uid(NOBODY);
    }
    let output = command.output();
    mode(&closed, 0o700);
    let output = match output {
        Ok(output) => output,
        Err(error) => return println!("skipped: nobody else can run the program here ({error})"),
    };
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("closed:1:1: the directory cannot be listed: "), "{said}");
    assert!(said.contains("1 event in 2 files"), "{said}");
}

/// A process that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(unix)]
#[test]
fn a_growing_and_rotated_log_is_followed_until_it_is_told_to_stop() {
    let folder = TempDir::new().unwrap();
    let (log, output) = (folder.path().join("audit.log"), folder.path().join("usage.json"));
    fs::write(&log, event("10:00:00", "u", "x")).unwrap();
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin("rolecall"))
        .args(["observe", "-f", text(&log), "-o", text(&output)])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut running = Running(child);
    let counts = |events: u64| {
        let start = Instant::now();
        loop {
            // Whenever it is there it is whole.
            if output.exists() && profile(&output)["quality"]["events"] == events {
                return;
            }
            assert!(start.elapsed() < Duration::from_secs(20), "{events} events were not seen");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    counts(1);
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    let next = event("10:00:01", "u", "x");
    let (half, rest) = next.split_at(next.len() / 2);
    file.write_all(half.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(profile(&output)["quality"]["events"], 1);
    file.write_all(rest.as_bytes()).unwrap();
    counts(2);
    // Moved aside for a new one, with a last line written to the old.
    fs::rename(&log, folder.path().join("audit-1.log")).unwrap();
    file.write_all(event("10:00:02", "u", "x").as_bytes()).unwrap();
    fs::write(&log, event("10:00:03", "u", "x")).unwrap();
    counts(4);
    // Cut and begun anew.
    fs::write(&log, "").unwrap();
    std::thread::sleep(Duration::from_millis(500));
    fs::write(&log, event("10:00:04", "u", "x")).unwrap();
    counts(5);
    let stopped = std::process::Command::new("kill").args(["-INT", &running.0.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    assert_eq!(running.0.wait().unwrap().code(), Some(0));
    assert_eq!(profile(&output)["calls"][0]["count"], 5);
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_told_of_and_stopped_too() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("usage.json");
    let child = std::process::Command::new(assert_cmd::cargo::cargo_bin("rolecall"))
        .args(["observe", "-f", "/dev/zero", "-o", text(&output)])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut running = Running(child);
    let start = Instant::now();
    let wait = |what: &str, done: &mut dyn FnMut() -> bool| {
        while !done() {
            assert!(start.elapsed() < Duration::from_secs(60), "{what}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait("nothing was written", &mut || output.exists());
    let stopped = std::process::Command::new("kill").args(["-INT", &running.0.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    wait("it goes on", &mut || running.0.try_wait().unwrap().is_some());
    assert_eq!(profile(&output)["quality"]["events"], 0);
}
