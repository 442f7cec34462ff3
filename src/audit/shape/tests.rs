use super::super::{Collector, Decision, Usage};
use super::*;
use crate::rbac::Request;

pub(super) const ACCOUNT: &str = "system:serviceaccount:op-ns:op";

/// An event: `get secrets s in op-ns`.
pub(super) fn event() -> String {
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"id-1","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/op-ns/secrets/s","verb":"get","user":{{"username":"{ACCOUNT}"}},"responseStatus":{{"code":200}},"requestReceivedTimestamp":"2026-12-01T00:00:00.5Z","annotations":{{"authorization.k8s.io/decision":"allow"}}}}"#
    )
}

/// The call of [`event`].
pub(super) const CALL: &str = "get secrets s in op-ns 200 allowed";

/// The event as text in JSON.
pub(super) fn quoted() -> String {
    quote(&event())
}

pub(super) fn quote(text: &str) -> String {
    serde_json::to_string(text).expect("a string")
}

pub(super) fn read(text: &str) -> Usage {
    let mut collector = Collector::new();
    collector.read("audit.log", &mut text.as_bytes());
    let usage = collector.finish();
    let lost: u64 = usage.quality.skipped.iter().map(|skipped| skipped.lines).sum();
    assert_eq!(usage.quality.events + lost, usage.quality.lines, "{text}");
    usage
}

/// What was read: each call as `verb resource.group name in namespace code decision`, with its user where that is not
/// the account, its count where it is not one; then the causes of what was not read.
pub(super) fn said(usage: &Usage) -> Vec<String> {
    let calls = usage.calls.iter().map(|call| {
        let mut text = match &call.request {
            Request::Resource(request) => {
                let mut text = format!("{} {}", request.verb, request.combined());
                for (before, part) in [(".", &request.api_group), (" ", &request.name), (" in ", &request.namespace)] {
                    if !part.is_empty() {
                        text.extend([before, part]);
                    }
                }
                text
            }
            Request::NonResource(request) => format!("{} {}", request.verb, request.path),
        };
        let codes: Vec<_> = call.codes.keys().map(u16::to_string).collect();
        text.extend([" ", &*codes.join("+"), " ", word(call.decision)]);
        if call.count > 1 {
            text.extend([" x", &*call.count.to_string()]);
        }
        if call.user == ACCOUNT { text } else { format!("{}: {text}", call.user) }
    });
    let lost = usage.quality.skipped.iter().map(|skipped| format!("{} {}", skipped.lines, skipped.cause));
    calls.chain(lost).collect()
}

fn word(decision: Decision) -> &'static str {
    match decision {
        Decision::Allowed => "allowed",
        Decision::Denied => "denied",
        Decision::Undecided => "undecided",
    }
}

pub(super) fn shapes(usage: &Usage) -> Vec<&str> {
    usage.quality.shapes.keys().map(|shape| &**shape).collect()
}

#[test]
fn every_shape_has_a_name_of_its_own() {
    let mut names: Vec<_> = Shape::ALL.iter().map(|shape| shape.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Shape::ALL.len());
    assert!(Shape::ALL.is_sorted());
}

#[test]
fn envelopes_are_opened_to_a_depth() {
    let nest = |depth| format!("{}{}{}", "{\"event\":".repeat(depth), event(), "}".repeat(depth));
    assert_eq!(said(&read(&nest(DEEPEST))), [CALL]);
    assert_eq!(said(&read(&nest(DEEPEST + 1))), ["1 envelopes within envelopes"]);
    // Beyond the depth in whatever way: a broken line within a string within lists.
    let deep = format!("{{}} {}{}", "[".repeat(50_000), "]".repeat(50_000));
    let within = format!("{}{}{}", "{\"event\":".repeat(DEEPEST - 1), quote(&deep), "}".repeat(DEEPEST - 1));
    assert_eq!(read(&within).quality.events, 0);
    let prefixes = "2026-12-01T00:00:00Z stdout F ".repeat(200_000);
    assert_eq!(said(&read(&prefixes)), ["1 envelopes within envelopes"]);
}

#[test]
fn a_collector_that_changed_an_event_is_seen() {
    let viaq = event().replace(r#""level":"Metadata""#, r#""level":"default","k8s_audit_level":"Request""#);
    let openshift = event().replace(r#""level":"Metadata""#, r#""level":"default","openshift_audit_level":"Request""#);
    for text in [viaq, openshift] {
        let usage = read(&text);
        assert_eq!((said(&usage), shapes(&usage)), (vec![CALL.to_owned()], vec![Shape::ViaQ.name()]));
        assert_eq!(usage.calls[0].level, "Request");
    }
    let panther = event()
        .replace("2026-12-01T00:00:00.5Z", "2026-12-01 00:00:00.5")
        .replace("authorization.k8s.io/decision", "authorization.k8s.io_slash_decision")
        .replace('}', r#","p_any_ip_addresses":[]}"#);
    let usage = read(&panther);
    assert_eq!((said(&usage), shapes(&usage)), (vec![CALL.to_owned()], vec![Shape::Panther.name()]));
    assert_eq!(usage.calls[0].first, "2026-12-01T00:00:00.5Z");
    // A level that nobody knows is no other shape.
    assert_eq!(shapes(&read(&event().replace("Metadata", "default"))), [Shape::Native.name()]);
}
