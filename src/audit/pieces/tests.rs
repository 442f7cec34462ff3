use super::*;

const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/n/pods/p","verb":"get","userAgent":"café","user":{"username":"u"},"responseStatus":{"code":200},"requestReceivedTimestamp":"2026-12-01T00:00:00.000000Z","annotations":{"authorization.k8s.io/decision":"allow"}}"#;

fn line(stream: &str, tag: &str, text: &[u8]) -> Vec<u8> {
    [format!("2026-12-01T00:00:00Z {stream} {tag} ").as_bytes(), text, b"\n"].concat()
}

/// Events, and where and why lines were lost.
fn read(lines: &[Vec<u8>]) -> (u64, Vec<(u32, String)>) {
    let mut collector = Collector::new();
    collector.read("a.log", &mut &*lines.concat());
    let usage = collector.finish();
    let lost = usage.diagnostics.iter().map(|said| (said.location.line, said.message.clone()));
    (usage.quality.events, lost.collect())
}

#[test]
fn a_piece_may_end_within_a_character_and_one_never_ended_costs_no_other() {
    let at = EVENT.find('\u{e9}').expect("in it") + 1;
    let (head, rest) = EVENT.as_bytes().split_at(at);
    let out = |tag: &str, text: &[u8]| line("stdout", tag, text);
    assert_eq!(read(&[out("P", head), out("F", rest)]), (1, vec![]));
    let whole = out("F", EVENT.as_bytes());
    let (events, lost) = read(&[whole.clone(), out("P", head), whole.clone(), whole]);
    assert!(matches!(&*lost, [(2, why)] if why.starts_with("audit event cut short")), "{lost:?}");
    assert_eq!(events, 3);
}

#[test]
fn streams_are_put_together_each_by_itself() {
    let (head, rest) = EVENT.as_bytes().split_at(60);
    let (out, err) =
        (|tag: &str, text: &[u8]| line("stdout", tag, text), |tag: &str, text: &[u8]| line("stderr", tag, text));
    let (events, lost) = read(&[out("P", head), err("P", b"panic: "), err("F", b"no"), out("F", rest)]);
    assert!(matches!(&*lost, [(3, why)] if why.starts_with("not JSON")), "{lost:?}");
    assert_eq!(events, 1);
    // Events on both, cut at once; one of them is never ended.
    assert_eq!(read(&[out("P", head), err("P", head), err("F", rest), out("F", rest)]), (2, vec![]));
    let (events, lost) = read(&[err("P", head), out("P", head), out("F", rest), out("F", EVENT.as_bytes())]);
    assert!(matches!(&*lost, [(1, why)] if why.starts_with("audit event cut short")), "{lost:?}");
    assert_eq!(events, 2);
}

#[test]
fn what_is_never_ended_is_tried_a_bounded_number_of_times() {
    let braces = format!("{}\n", serde_json::json!({"log": "{}}"})).repeat(200_000);
    let (events, lost) = read(&[braces.into_bytes()]);
    assert_eq!((events, lost.len()), (0, 1), "{lost:?}");
}
