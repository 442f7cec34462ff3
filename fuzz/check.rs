//! The fuzz targets, and what holds of every log, whatever its bytes. A plain test runs them on their corpus.

use std::io::BufReader;

use rolecall::audit::{Collector, Usage};

/// Any bytes: how a log is cut into records, told from its first bytes.
pub fn framing(log: &[u8]) {
    check(log);
}

/// Lines, the first behind the beginning of an event: what a field may hold.
pub fn native(rest: &[u8]) {
    behind(br#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","auditID":"1","#, rest);
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

/// Reads a log in pieces of one size and of another: nothing panics, each record is an event or counted as lost, and
/// the pieces change nothing.
fn check(log: &[u8]) {
    let whole = read(log, 1 << 20);
    let lost: u64 = whole.quality.skipped.iter().map(|skipped| skipped.lines).sum();
    assert_eq!(whole.quality.events + lost, whole.quality.lines, "a record is neither an event nor lost");
    assert_eq!(whole.quality.events, whole.quality.shapes.values().sum::<u64>(), "an event has no shape");
    for size in [1, 7, 61] {
        let pieces = read(log, size);
        assert_eq!(pieces.quality, whole.quality, "pieces of {size} bytes");
        assert_eq!(pieces.calls, whole.calls, "pieces of {size} bytes");
        assert_eq!(pieces.diagnostics, whole.diagnostics, "pieces of {size} bytes");
    }
}

fn read(log: &[u8], size: usize) -> Usage {
    let mut collector = Collector::new();
    collector.read("fuzzed.log", &mut BufReader::with_capacity(size, log));
    collector.finish()
}
