//! How fast an audit log is read: logs of about 100 MB as an API server with forty users writes them, at each audit
//! level (1.1, 3.5 and 20 KB an event), plain and compressed. `cargo bench --bench observe` compares, over the same
//! bytes in one run: `deserialise` (each line into the borrowed event, what any reader pays), `decompress` (alone),
//! `one_core` and `two_cores` (the whole: decompression, events, attributes, stages, decisions and the tally), and how
//! the time grows with the distinct names in a log.
//!
//! To measure a process instead: `ROLECALL_BENCH_LOG=audit.log cargo bench --bench observe` writes the log of level
//! `Metadata` and stops, then `/usr/bin/time -v rolecall scan --audit audit.log …`.

#![expect(clippy::expect_used, clippy::format_push_string, reason = "a bench writes its own input")]

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufReader, Read, Write};
use std::sync::{LazyLock, Mutex};

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use rolecall::audit::Collector;
use rolecall::audit::event::Event;

const BYTES: usize = 96 << 20;
const BUFFER: usize = 128 << 10;

#[expect(clippy::disallowed_methods, reason = "the bench is asked by its environment for the log")]
fn main() {
    if let Some(path) = std::env::var_os("ROLECALL_BENCH_LOG") {
        std::fs::write(path, log(Level::Metadata)).expect("the log can be written");
        return;
    }
    divan::main();
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Metadata,
    Request,
    RequestResponse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Packed {
    Plain,
    Gzip,
    Zstd,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

const LEVELS: [Level; 3] = [Level::Metadata, Level::Request, Level::RequestResponse];

#[derive(Debug, Clone, Copy)]
struct Case(Level, Packed);

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.0, self.1)
    }
}

fn cases(packed: &[Packed]) -> Vec<Case> {
    LEVELS.into_iter().flat_map(|level| packed.iter().map(move |packed| Case(level, *packed))).collect()
}

/// What any reader of these events pays.
#[divan::bench(args = LEVELS, sample_count = 10)]
fn deserialise(bencher: Bencher<'_, '_>, level: Level) {
    let log = log(level);
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

#[divan::bench(args = cases(&[Packed::Gzip, Packed::Zstd]), sample_count = 10)]
fn decompress(bencher: Bencher<'_, '_>, case: Case) {
    let file = packed(case);
    bencher.counter(BytesCount::of_slice(log(case.0))).bench(|| {
        let (mut input, mut chunk, mut bytes) = (opened(case, black_box(file)), vec![0; BUFFER], 0);
        while let Some(read) = input.read(&mut chunk).ok().filter(|read| *read > 0) {
            bytes += black_box(&chunk).get(..read).map_or(0, <[u8]>::len);
        }
        bytes
    });
}

#[divan::bench(args = cases(&[Packed::Plain, Packed::Gzip, Packed::Zstd]), sample_count = 10)]
fn one_core(bencher: Bencher<'_, '_>, case: Case) {
    whole(bencher, case, 1);
}

#[divan::bench(args = cases(&[Packed::Plain, Packed::Gzip, Packed::Zstd]), sample_count = 10)]
fn two_cores(bencher: Bencher<'_, '_>, case: Case) {
    whole(bencher, case, 2);
}

fn whole(bencher: Bencher<'_, '_>, case: Case, cores: usize) {
    let file = packed(case);
    bencher.counter(BytesCount::of_slice(log(case.0))).bench(|| {
        let mut collector = Collector::new();
        collector.read_on(cores, "audit.log", opened(case, black_box(file)), &mut || ());
        collector.finish()
    });
}

/// A list of objects got one by one: each is a call of its own.
#[divan::bench(args = [2_000, 4_000, 8_000, 16_000, 32_000, 64_000], sample_count = 10)]
fn distinct_names(bencher: Bencher<'_, '_>, names: usize) {
    let mut log = String::new();
    for name in 0..names {
        log.push_str(&format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{name}","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/n/secrets/name-{name}","verb":"get","user":{{"username":"u"}},"responseStatus":{{"code":200}},"requestReceivedTimestamp":"2026-12-01T00:00:00.000000Z"}}"#
        ));
        log.push('\n');
    }
    bencher.counter(ItemsCount::new(names)).bench(|| {
        let mut collector = Collector::new();
        collector.read("audit.log", &mut black_box(log.as_bytes()));
        collector.finish()
    });
}

fn opened(case: Case, file: &'static [u8]) -> Box<dyn Read + Send> {
    match case.1 {
        Packed::Plain => Box::new(file),
        Packed::Gzip => Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file))),
        Packed::Zstd => Box::new(zstd::Decoder::new(file).expect("a decoder")),
    }
}

/// The file of a case, made once.
fn packed(case: Case) -> &'static [u8] {
    type Files = BTreeMap<(Level, Packed), &'static [u8]>;
    static FILES: LazyLock<Mutex<Files>> = LazyLock::new(Mutex::default);
    let log = log(case.0);
    let mut files = FILES.lock().expect("no bench panics");
    files.entry((case.0, case.1)).or_insert_with(|| match case.1 {
        Packed::Plain => log,
        Packed::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
            encoder.write_all(log).expect("memory takes it");
            encoder.finish().expect("memory takes it").leak()
        }
        Packed::Zstd => zstd::encode_all(log, 3).expect("memory takes it").leak(),
    })
}

fn log(level: Level) -> &'static [u8] {
    static LOGS: [LazyLock<Vec<u8>>; 3] = [
        LazyLock::new(|| write_log(Level::Metadata)),
        LazyLock::new(|| write_log(Level::Request)),
        LazyLock::new(|| write_log(Level::RequestResponse)),
    ];
    LOGS.get(level as usize).map(|log| log.as_slice()).unwrap_or_default()
}

fn write_log(level: Level) -> Vec<u8> {
    let mut random = Lcg(1);
    let mut log = String::with_capacity(BYTES + (1 << 20));
    let mut index = 0;
    while log.len() < BYTES {
        index += call(index, level, &mut random, &mut log);
    }
    log.into_bytes()
}

/// An object as bodies hold it, of so many bytes: names, numbers and some text with escapes.
fn body(bytes: usize, random: &mut Lcg) -> String {
    let mut body = String::from(r#"{"kind":"Resource","metadata":{"labels":{"app":"x"}},"spec":{"template":"#);
    body.push('[');
    while body.len() < bytes {
        let (name, port) = (random.below(100_000), random.below(65_536));
        body.push_str(&format!(
            r#"{{"name":"part-{name:05}","ports":[{{"containerPort":{port},"protocol":"TCP"}}],"args":["--flag=\"{name}\""],"ready":true}},"#
        ));
    }
    body.push_str("{}]}}");
    body
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
fn call(index: usize, level: Level, random: &mut Lcg, log: &mut String) -> usize {
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
    let bodies = match level {
        Level::Metadata => String::new(),
        Level::Request => format!(r#","requestObject":{}"#, body(2_400, random)),
        Level::RequestResponse => {
            format!(r#","requestObject":{},"responseObject":{}"#, body(9_000, random), body(9_800, random))
        }
    };
    for stage in stages {
        log.push_str(&format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"{level}","auditID":"{id}","stage":"{stage}","requestURI":"{uri}","verb":"{verb}","user":{{"username":"system:serviceaccount:ns-{account}:op-{account}","groups":["system:serviceaccounts","system:serviceaccounts:ns-{account}","system:authenticated"],"extra":{{"authentication.kubernetes.io/node-name":["node-{account}"],"authentication.kubernetes.io/pod-name":["op-{account}-6d5b7c9f8-x2x4z"]}}}},"sourceIPs":["10.42.0.{account}"],"userAgent":"operator/v0.0.0","objectRef":{{"resource":"{plural}","namespace":"team-{namespace}"{name},"apiGroup":"{group}","apiVersion":"v1"{subresource}}},"responseStatus":{{"metadata":{{}}{status},"code":{code}}}{bodies},"requestReceivedTimestamp":"{}","stageTimestamp":"{}","annotations":{{"authorization.k8s.io/decision":"{decision}","authorization.k8s.io/reason":"{reason}"}}}}"#,
            time(index * 36),
            time(index * 36 + 4),
        ));
        log.push('\n');
    }
    stages.len()
}
