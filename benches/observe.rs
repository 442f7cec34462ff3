//! How fast an audit log is read: 100 000 `Metadata` events, 91 MB, as an API server with forty users
//! writes them. `cargo bench --bench observe` compares three loops over the same bytes: finding the line
//! ends, deserialising each line into the borrowed event, and the whole collector.
//!
//! To measure a process instead: `ROLECALL_BENCH_LOG=audit.log cargo bench --bench observe` writes that log
//! and stops, then `/usr/bin/time -v rolecall scan --audit audit.log …`.

#![expect(clippy::expect_used, clippy::format_push_string, reason = "a bench writes its own input")]

use std::sync::OnceLock;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use rolecall::audit::Collector;
use rolecall::audit::event::Event;

const EVENTS: usize = 100_000;

#[expect(clippy::disallowed_methods, reason = "the bench is asked by its environment for the log")]
fn main() {
    if let Some(path) = std::env::var_os("ROLECALL_BENCH_LOG") {
        std::fs::write(path, log()).expect("the log can be written");
        return;
    }
    divan::main();
}

/// The floor: every byte is looked at once.
#[divan::bench(sample_count = 20)]
fn line_ends(bencher: Bencher<'_, '_>) {
    let log = log();
    bencher.counter(BytesCount::of_slice(log)).bench(|| memchr::memchr_iter(b'\n', black_box(log)).count());
}

/// What any reader of these events pays.
#[divan::bench(sample_count = 20)]
fn deserialise(bencher: Bencher<'_, '_>) {
    let log = log();
    bencher.counter(BytesCount::of_slice(log)).bench(|| {
        let mut events = 0_u64;
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', black_box(log)) {
            let line = log.get(start..end).unwrap_or_default();
            start = end + 1;
            if let Ok(event) = serde_json::from_slice::<Event<'_>>(line) {
                events += u64::from(black_box(&event).is_audit());
            }
        }
        events
    });
}

/// The whole: lines, events, attributes, stages, decisions and the tally.
#[divan::bench(sample_count = 20)]
fn collect(bencher: Bencher<'_, '_>) {
    let log = log();
    bencher.counter(BytesCount::of_slice(log)).bench(|| {
        let mut collector = Collector::new();
        collector.read("audit.log", &mut black_box(log));
        collector.finish()
    });
}

fn log() -> &'static [u8] {
    static LOG: OnceLock<Vec<u8>> = OnceLock::new();
    LOG.get_or_init(|| {
        let mut random = Lcg(1);
        let mut log = String::with_capacity(EVENTS * 920);
        let mut written = 0;
        while written < EVENTS {
            written += call(written, &mut random, &mut log);
        }
        log.into_bytes()
    })
}

/// A linear congruential generator: the same log on every machine.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % limit
    }
}

/// Appends one call, in two stages if it is a watch; returns how many events that were.
fn call(index: usize, random: &mut Lcg, log: &mut String) -> usize {
    let account = random.below(40);
    // A third are leader elections: each account renews its lease every few seconds.
    let renews = random.below(3) == 0;
    // Otherwise an account works on a few resources of its own, out of 200, each with twenty objects, of
    // which the first are busier. An object has its own namespace.
    let resource = (account * 5 + random.below(5)) % 200;
    let object = random.below(20);
    let name = if renews { account } else { random.below(object + 1) * 200 + resource };
    let namespace = name % 12;
    let (group, plural) = match renews {
        true => ("coordination.k8s.io".to_owned(), "leases".to_owned()),
        false => (format!("g{}.example.com", resource % 25), format!("resources{resource}")),
    };
    let list = format!("/apis/{group}/v1/namespaces/team-{namespace}/{plural}");
    let object = format!("{list}/object-{name:05}");
    let (verb, uri, named, code) = match random.below(100) {
        half if renews => (if half < 50 { "get" } else { "update" }, object, true, 200),
        0..30 => ("get", object, true, if random.below(10) == 0 { 404 } else { 200 }),
        30..55 => ("update", object + "/status", true, if random.below(12) == 0 { 409 } else { 200 }),
        55..72 => ("patch", object + r"?fieldManager=operator\u0026force=true", true, 200),
        72..80 => ("create", list, false, 201),
        80..84 => ("delete", object, true, 200),
        84..88 => ("list", list + r"?limit=500\u0026resourceVersion=0", false, 200),
        88..90 => ("get", object, true, 403),
        _ => {
            let query = format!(r"?allowWatchBookmarks=true\u0026resourceVersion={index}\u0026watch=true");
            ("watch", list + &query, false, 200)
        }
    };
    let stages: &[&str] = match verb {
        // Some watches are still open when the log ends.
        "watch" if index.is_multiple_of(4) => &["ResponseStarted"],
        "watch" => &["ResponseStarted", "ResponseComplete"],
        _ => &["ResponseComplete"],
    };
    let id = format!("{:08x}-1f0e-4c6d-9a51-{:012x}", random.below(1 << 31), index);
    let name = if named { format!(r#","name":"object-{name:05}""#) } else { String::new() };
    let subresource = if verb == "update" && !renews { r#","subresource":"status""# } else { "" };
    let (decision, status) = match code {
        403 => ("forbid", r#","status":"Failure","reason":"Forbidden""#),
        404 => ("allow", r#","status":"Failure","reason":"NotFound""#),
        409 => ("allow", r#","status":"Failure","reason":"Conflict""#),
        _ => ("allow", ""),
    };
    let reason = match decision {
        "allow" => format!(
            r#"RBAC: allowed by ClusterRoleBinding \"op-{account}\" of ClusterRole \"op-{account}\" to ServiceAccount \"op-{account}/ns-{account}\""#
        ),
        _ => String::new(),
    };
    let time = |at: usize| {
        format!(
            "2026-12-01T{:02}:{:02}:{:02}.{:06}Z",
            at / 3_600_000 % 24,
            at / 60_000 % 60,
            at / 1000 % 60,
            at * 997 % 1_000_000
        )
    };
    for stage in stages {
        log.push_str(&format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{id}","stage":"{stage}","requestURI":"{uri}","verb":"{verb}","user":{{"username":"system:serviceaccount:ns-{account}:op-{account}","groups":["system:serviceaccounts","system:serviceaccounts:ns-{account}","system:authenticated"]}},"sourceIPs":["10.42.0.{account}"],"userAgent":"operator/v0.0.0","objectRef":{{"resource":"{plural}","namespace":"team-{namespace}"{name},"apiGroup":"{group}","apiVersion":"v1"{subresource}}},"responseStatus":{{"metadata":{{}}{status},"code":{code}}},"requestReceivedTimestamp":"{}","stageTimestamp":"{}","annotations":{{"authorization.k8s.io/decision":"{decision}","authorization.k8s.io/reason":"{reason}"}}}}"#,
            time(index * 36),
            time(index * 36 + 4),
        ));
        log.push('\n');
    }
    stages.len()
}
