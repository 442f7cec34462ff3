//! The fuzz targets, and what holds of every log, whatever its bytes. A plain test runs them on their corpus.

use std::io::BufReader;

use rolecall::audit::{Collector, Select, Usage};

/// Any bytes: how a log is cut into records, told from its first bytes.
pub fn framing(log: &[u8]) {
    check(log);
}

/// Lines, the first behind the beginning of an event: what a field may hold.
pub fn native(rest: &[u8]) {
    behind(br#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","auditID":"1","#, rest);
    selected(rest);
}

/// Lines of an API server: of each what stands between its beginning and its end, as if others had written there. The
/// calls of one user are the same, whether lines of others are passed over or not.
fn selected(middles: &[u8]) {
    const USER: &str = "system:serviceaccount:a:b";
    let line = |user: &str, verb: &str, uri: &str, middle: &[u8]| {
        let head = format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1","stage":"ResponseComplete","requestURI":"{uri}","verb":"{verb}","user":{{"username":"{user}""#
        );
        let tail = br#","requestReceivedTimestamp":"2026-12-01T00:00:00Z","stageTimestamp":"2026-12-01T00:00:00Z"}"#;
        [head.as_bytes(), middle, tail, b"\n"].concat()
    };
    // What every log has: until then, every line is read.
    let mut log: Vec<u8> = (0..5).flat_map(|user| line(&format!("u{user}"), "get", "/healthz", b"}")).collect();
    log.extend(line("u1", "watch", "/api/v1/events?watch=1", br#"},"objectRef":{"resource":"events"}"#));
    for middle in middles.split(|byte| *byte == b'\n') {
        log.extend(line("other", "get", "/api/v1/pods", middle));
    }
    let select = Select { users: vec![USER.to_owned()], ..Select::default() };
    let (mut plain, mut quick) = (Collector::selecting(select.clone()), Collector::selecting(select));
    plain.read("fuzzed.log", &mut &*log);
    quick.read_on(1, "fuzzed.log", &*log, &mut || ());
    let (plain, quick) = (plain.finish(), quick.finish());
    assert_eq!(plain.calls, quick.calls, "lines of others passed over");
    assert_eq!(plain.clients, quick.clients, "lines of others passed over");
}

/// Entries of Cloud Logging, the first behind the beginning of one.
pub fn gke(rest: &[u8]) {
    behind(br#"{"insertId":"1","protoPayload":{"serviceName":"k8s.io","#, rest);
}

/// Records and rows of Azure: the text where the event stands, quoted, and then behind the beginning of a row.
pub fn aks(text: &[u8]) {
    let quoted = quoted(text);
    let record = format!(r#"{{"records":[{{"category":"kube-audit","properties":{{"log":{quoted}}}}}]}}"#);
    check(record.as_bytes());
    behind(br#"{"AuditId":"1","Stage":"ResponseComplete","#, text);
}

/// Exports of CloudWatch: the text where the message stands, as the tools write it, and as subscriptions do.
pub fn eks(text: &[u8]) {
    let quoted = quoted(text);
    let listed = format!(r#"{{"events":[{{"logStreamName":"s","timestamp":1,"message":{quoted}}}]}}"#);
    check(listed.as_bytes());
    behind(br#"{"messageType":"DATA_MESSAGE","logEvents":[{"id":"1","timestamp":1,"message":"#, text);
}

fn behind(start: &[u8], rest: &[u8]) {
    check(&[start, rest].concat());
}

fn quoted(text: &[u8]) -> String {
    // A JSON string; what Rust escapes in other ways is no text of a log.
    let text = String::from_utf8_lossy(text);
    let escaped = text.chars().map(|letter| match letter {
        '"' | '\\' => format!("\\{letter}"),
        '\0'..='\x1f' => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Reads a log in pieces of one size and of another, and by blocks: nothing panics, each record is an event or counted
/// as lost, and how it is read changes nothing.
fn check(log: &[u8]) {
    let whole = read(log, 1 << 20);
    let lost: u64 = whole.quality.skipped.iter().map(|skipped| skipped.lines).sum();
    assert_eq!(whole.quality.events + lost, whole.quality.lines, "a record is neither an event nor lost");
    assert_eq!(whole.quality.events, whole.quality.shapes.values().sum::<u64>(), "an event has no shape");
    let mut blocks = Collector::new();
    blocks.read_on(1, "fuzzed.log", log, &mut || ());
    let pieces = [1, 7, 61].map(|size| (format!("pieces of {size} bytes"), read(log, size)));
    for (how, other) in pieces.into_iter().chain([("blocks".to_owned(), blocks.finish())]) {
        assert_eq!(other.quality, whole.quality, "{how}");
        assert_eq!(other.calls, whole.calls, "{how}");
        assert_eq!(other.clients, whole.clients, "{how}");
        assert_eq!(other.diagnostics, whole.diagnostics, "{how}");
    }
}

fn read(log: &[u8], size: usize) -> Usage {
    let mut collector = Collector::new();
    collector.read("fuzzed.log", &mut BufReader::with_capacity(size, log));
    collector.finish()
}
