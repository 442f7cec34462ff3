use std::io::Read;
use std::io::Write as _;

use super::super::key;
use super::super::usage::{Decision, Observed, Origin};
use super::*;
use crate::rbac::Request;

const ACCOUNT: &str = "system:serviceaccount:op-ns:op";

/// An event as fields in JSON; later ones win over the defaults.
struct Line {
    fields: Vec<(&'static str, String)>,
}

impl Line {
    fn new() -> Self {
        let line = Self { fields: Vec::new() };
        line.with("kind", r#""Event""#)
            .with("apiVersion", r#""audit.k8s.io/v1""#)
            .with("level", r#""Metadata""#)
            .with("auditID", r#""id-1""#)
            .with("stage", r#""ResponseComplete""#)
            .with("requestURI", r#""/api/v1/namespaces/op-ns/secrets/s""#)
            .with("verb", r#""get""#)
            .with("user", &format!(r#"{{"username":"{ACCOUNT}","groups":["system:authenticated"]}}"#))
            .with("responseStatus", r#"{"metadata":{},"code":200}"#)
            .with("requestReceivedTimestamp", r#""2026-12-01T00:00:00.000000Z""#)
            .with("annotations", r#"{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}"#)
    }

    fn with(mut self, key: &'static str, json: &str) -> Self {
        self.fields.retain(|(known, _)| *known != key);
        if !json.is_empty() {
            self.fields.push((key, json.to_owned()));
        }
        self
    }

    fn answer(self, code: u16, message: &str) -> Self {
        self.with("responseStatus", &format!(r#"{{"code":{code},"message":{message:?}}}"#))
    }

    fn json(&self) -> String {
        let fields: Vec<_> = self.fields.iter().map(|(key, json)| format!("{key:?}:{json}")).collect();
        format!("{{{}}}", fields.join(","))
    }
}

fn read(text: &str) -> Usage {
    let mut collector = Collector::new();
    collector.read("audit.log", &mut text.as_bytes());
    collector.finish()
}

fn lines(lines: &[Line]) -> Usage {
    read(&lines.iter().map(Line::json).collect::<Vec<_>>().join("\n"))
}

fn only(usage: &Usage) -> &Observed {
    assert_eq!(usage.calls.len(), 1, "{:?}", usage.calls);
    &usage.calls[0]
}

fn causes(usage: &Usage) -> Vec<(&str, u64)> {
    usage.quality.skipped.iter().map(|skipped| (&*skipped.cause, skipped.lines)).collect()
}

#[test]
fn an_event_becomes_a_call() {
    let usage = lines(&[Line::new()]);
    let call = only(&usage);
    assert_eq!((&*call.user, call.count, call.decision), (ACCOUNT, 1, Decision::Allowed));
    assert_eq!((call.first.as_str(), call.level.as_str()), ("2026-12-01T00:00:00.000000Z", "Metadata"));
    assert_eq!((call.samples[0].line, &*call.samples[0].audit_id), (1, "id-1"));
    assert_eq!((usage.quality.events, usage.quality.lines, usage.diagnostics.len()), (1, 1, 0));
}

#[test]
fn stages_of_one_request_count_once() {
    let stage = |name: &str| Line::new().with("stage", &format!("{name:?}"));
    let received = || stage("RequestReceived").with("annotations", "").with("responseStatus", "");
    let usage = lines(&[received(), stage("ResponseStarted"), stage("ResponseComplete")]);
    assert_eq!((only(&usage).count, only(&usage).decision), (1, Decision::Allowed));
    assert_eq!(usage.quality.stages.len(), 3);
    // An open watch is a use; a request without an answer is undecided.
    assert_eq!(only(&lines(&[stage("ResponseStarted")])).decision, Decision::Allowed);
    let open = lines(&[received()]);
    assert_eq!((only(&open).decision, only(&open).count), (Decision::Undecided, 1));
    assert_eq!(only(&open).codes, [(0, 1)].into());
}

#[test]
fn the_later_stage_has_the_last_word() {
    let started = Line::new().with("stage", r#""ResponseStarted""#);
    let panicked = Line::new().with("stage", r#""Panic""#).answer(200, "");
    let usage = lines(&[started, panicked]);
    assert_eq!((only(&usage).count, &only(&usage).codes), (1, &[(500, 1)].into()));
}

#[test]
fn one_audit_id_with_two_requests_is_two_calls() {
    let usage = lines(&[
        Line::new().with("stage", r#""ResponseStarted""#),
        Line::new().with("verb", r#""delete""#),
        Line::new().with("requestURI", r#""/api/v1/namespaces/op-ns/secrets/t""#),
    ]);
    assert_eq!(usage.calls.iter().map(|call| call.count).collect::<Vec<_>>(), [1, 1, 1]);
}

#[test]
fn requests_without_an_end_are_given_up_in_bounded_memory() {
    let mut collector = Collector::new();
    let mut log = Vec::new();
    for id in 0..50_000 {
        let line = Line::new().with("stage", r#""RequestReceived""#).with("auditID", &format!(r#""{id}""#));
        writeln!(log, "{}", line.json()).expect("a line");
    }
    collector.read("audit.log", &mut &*log);
    let usage = collector.finish();
    assert_eq!((only(&usage).count, only(&usage).decision), (50_000, Decision::Undecided));
    let lines: Vec<_> = only(&usage).samples.iter().map(|sample| sample.line).collect();
    assert_eq!(lines, [1, 2, 3]);
}

#[test]
fn the_decision_is_the_annotation_else_the_answer() {
    let without = |code, message| Line::new().with("annotations", "").answer(code, message);
    let forbid = r#"{"authorization.k8s.io/decision":"forbid"}"#;
    let failed = r#"{"authorization.k8s.io/reason":"internal error"}"#;
    let refused = r#"secrets "s" is forbidden: User "u" cannot get resource "secrets" in API group """#;
    for (line, expected) in [
        (Line::new().answer(403, "exceeded quota"), Decision::Allowed),
        (Line::new().answer(404, ""), Decision::Allowed),
        (Line::new().answer(429, ""), Decision::Allowed),
        (Line::new().with("annotations", forbid).answer(403, ""), Decision::Denied),
        (without(401, ""), Decision::Undecided),
        (without(429, ""), Decision::Undecided),
        (without(403, ""), Decision::Undecided),
        (without(403, refused), Decision::Denied),
        (without(403, "exceeded quota"), Decision::Allowed),
        (without(400, "requested [{User}] without impersonating a user"), Decision::Undecided),
        (without(400, "bad patch"), Decision::Allowed),
        (without(409, ""), Decision::Allowed),
        (without(0, ""), Decision::Undecided),
        (Line::new().with("annotations", failed).answer(500, ""), Decision::Undecided),
        (without(500, "boom"), Decision::Allowed),
    ] {
        assert_eq!(only(&lines(&[line])).decision, expected);
    }
}

#[test]
fn a_denied_impersonation_is_no_use_and_names_what_was_missing() {
    let message = r#"users "jane" is forbidden: User "u" cannot impersonate resource "users" in API group "" at the cluster scope"#;
    let usage = lines(&[Line::new().with("annotations", "").answer(403, message)]);
    let seen: Vec<_> = usage.calls.iter().map(|call| (call.request.verb(), call.origin, call.decision)).collect();
    assert_eq!(
        seen,
        [("get", Origin::Call, Decision::Undecided), ("impersonate", Origin::Impersonation, Decision::Denied)]
    );
}

#[test]
fn an_impersonated_call_counts_for_both_users() {
    let usage = lines(&[Line::new().with("impersonatedUser", r#"{"username":"jane"}"#)]);
    let seen: Vec<_> = usage.calls.iter().map(|call| (&*call.user, call.request.verb(), call.origin)).collect();
    assert_eq!(seen, [("jane", "get", Origin::Call), (ACCOUNT, "impersonate", Origin::Impersonation)]);
    assert_eq!(usage.calls[0].impersonators, [ACCOUNT]);
}

#[test]
fn the_uri_wins_over_a_lying_object_reference() {
    let object = r#"{"resource":"clusterroles","namespace":"body-ns","name":"from-body","apiGroup":"rbac.authorization.k8s.io"}"#;
    let line = Line::new()
        .with("requestURI", r#""/apis/rbac.authorization.k8s.io/v1/clusterroles?fieldManager=x\u0026force=true""#)
        .with("verb", r#""create""#)
        .with("objectRef", object);
    let usage = lines(&[line]);
    let Request::Resource(request) = &only(&usage).request else { panic!("a resource") };
    assert_eq!((&*request.resource, &*request.namespace, &*request.name), ("clusterroles", "", ""));
    assert_eq!(only(&usage).object_namespace, "body-ns");
}

#[test]
fn old_and_bare_events_are_read() {
    let old = Line::new()
        .with("apiVersion", r#""audit.k8s.io/v1beta1""#)
        .with("requestReceivedTimestamp", "")
        .with("timestamp", r#""2018-01-01T00:00:00Z""#);
    assert_eq!(only(&lines(&[old])).first, "2018-01-01T00:00:00Z");
    let item = Line::new().with("kind", "").with("apiVersion", "");
    assert_eq!(only(&lines(&[item])).count, 1);
    let nulls = Line::new().with("impersonatedUser", "null").with("objectRef", "null").with("level", "null");
    assert_eq!(only(&lines(&[nulls])).level, "other");
}

#[test]
fn bom_crlf_and_blank_lines_are_no_loss() {
    let event = Line::new().json();
    let usage = read(&format!("\u{feff}{event}\r\n\r\n  \n\n{event}\r\n"));
    assert_eq!((usage.quality.events, usage.quality.lines), (2, 2));
    assert_eq!(usage.diagnostics, []);
    assert_eq!(only(&usage).samples[1].line, 5);
}

#[test]
fn a_bad_line_costs_that_line_and_is_placed() {
    let event = Line::new().json();
    let usage = read(&format!("{event}\nnot json\n{{\"a\": é}}\n{event}\nalso not\n{{\"kind\":\"Ev"));
    assert_eq!(usage.quality.events, 2);
    assert_eq!(causes(&usage), [("audit event cut short", 1), ("not JSON", 3)]);
    let places: Vec<_> = usage.diagnostics.iter().map(|d| (d.location.line, d.location.column)).collect();
    assert_eq!(places, [(2, 1), (6, 11)]);
    assert!(usage.diagnostics.iter().all(|d| d.kind == DiagnosticKind::Unreadable));
    assert!(usage.diagnostics[0].message.contains("3 lines"), "{}", usage.diagnostics[0].message);
}

#[test]
fn the_column_is_counted_in_characters_of_the_line() {
    let usage = read("  {\"ééé\": x}\n");
    assert_eq!((usage.diagnostics[0].location.line, usage.diagnostics[0].location.column), (1, 11));
}

#[test]
fn events_are_read_however_they_are_laid_out() {
    let event = Line::new().json();
    let pretty = format!("{}\n", event.replace(',', ",\n  ").replacen('{', "{\n  ", 1));
    let yaml = "apiVersion: audit.k8s.io/v1\nkind: Event\nlevel: Metadata\nverb: get\nrequestURI: /api/v1/pods/p\n\
                user:\n  username: x\nresponseStatus: {code: 200}\n";
    for (text, events) in [
        (pretty.repeat(3), 3),
        (format!("[\n{event},\n{event}\n]\n"), 2),
        (format!("[{event},{event}]"), 2),
        (format!("{{\"kind\":\"EventList\",\"apiVersion\":\"audit.k8s.io/v1\",\"items\":[{event},{event}]}}"), 2),
        (format!("{{\n\"items\": [\n{pretty},\n{pretty}\n],\n\"kind\": \"EventList\"\n}}"), 2),
        (format!("{event}{event} {event}\n{event}"), 4),
        (format!("master-0 {event}\nmaster-1 {event}"), 2),
        (format!("{event}\n{pretty}{event}\n"), 3),
        (yaml.to_owned(), 1),
        (format!("---\n{yaml}---\n# nothing\n---\n{yaml}"), 2),
    ] {
        let usage = read(&text);
        assert_eq!((usage.quality.events, causes(&usage)), (events, vec![]), "{text}");
    }
}

#[test]
fn an_event_needs_something_asked() {
    let usage = lines(&[Line::new().with("requestURI", "")]);
    assert_eq!(causes(&usage), [("audit event without requestURI and objectRef", 1)]);
    let object = r#"{"resource":"pods","namespace":"n","name":"p"}"#;
    assert_eq!(only(&lines(&[Line::new().with("requestURI", "").with("objectRef", object)])).count, 1);
    // What is no path of an API server does not stand against the object.
    let asked = |uri: &str, object: &str| {
        let usage = lines(&[Line::new().with("requestURI", uri).with("objectRef", object)]);
        match &only(&usage).request {
            Request::Resource(asked) => format!("{} {} in {}", asked.resource, asked.name, asked.namespace),
            Request::NonResource(asked) => asked.path.clone(),
        }
    };
    for (uri, called) in [
        (r#""pods/p""#, "pods p in n"),
        (r#""https://host/api/v1/namespaces/n/pods/p""#, "pods p in n"),
        (r#""/metrics""#, "/metrics"),
    ] {
        assert_eq!(asked(uri, object), called);
    }
    assert_eq!(asked(r#""metrics""#, "null"), "metrics");
}

#[test]
fn long_names_and_lines_are_passed_over() {
    let name = "n".repeat(key::LONGEST);
    let usage = lines(&[Line::new().with("requestURI", &format!(r#""/api/v1/secrets/{name}""#)), Line::new()]);
    assert_eq!((causes(&usage), only(&usage).count), (vec![("audit event with a name or path over 8 KiB", 1)], 1));
    // A long query or body is none of that.
    let body = format!(r#"{{"data":"{}"}}"#, "x".repeat(300_000));
    let query = format!(r#""/api/v1/secrets?x={name}""#);
    assert_eq!(only(&lines(&[Line::new().with("requestObject", &body).with("requestURI", &query)])).count, 1);

    let mut collector = Collector { longest: 1000, ..Collector::new() };
    let text = format!("{}\n{}\n{}\n", Line::new().json(), "x".repeat(5000), Line::new().json());
    collector.read("audit.log", &mut text.as_bytes());
    let usage = collector.finish();
    assert_eq!((causes(&usage), usage.quality.events), (vec![("record over 64 MiB", 1)], 2));
}

#[test]
fn deep_nesting_is_skipped_without_recursion() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(only(&lines(&[Line::new().with("requestObject", &deep)])).count, 1);
}

#[test]
fn bytes_that_are_no_text_matter_only_where_they_are_read() {
    let mut unused = Line::new().with("sourceIPs", r#"["?"]"#).json().into_bytes();
    unused.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xff);
    let mut collector = Collector::new();
    collector.read("audit.log", &mut &*unused);
    assert_eq!(only(&collector.finish()).count, 1);
}

#[test]
fn a_log_that_breaks_off_keeps_what_was_read() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::new(io::ErrorKind::UnexpectedEof, "cut"))
        }
    }
    let mut collector = Collector::new();
    let event = Line::new().json() + "\n{\"half";
    collector.read("audit.log", &mut std::io::BufReader::new(event.as_bytes().chain(Broken)));
    let usage = collector.finish();
    assert_eq!((only(&usage).count, causes(&usage)), (1, vec![("input broke off", 1)]));
    assert_eq!(usage.diagnostics[0].location.line, 2);
}

#[test]
fn empty_and_repeated_logs_are_noted() {
    assert_eq!(read("\n\n").diagnostics[0].message, "the log is empty");
    let mut collector = Collector::new();
    collector.read("a.log", &mut Line::new().json().as_bytes());
    collector.read("b.log", &mut Line::new().json().as_bytes());
    let usage = collector.finish();
    assert_eq!((usage.quality.files, usage.diagnostics.len()), (2, 1));
    let note = &usage.diagnostics[0];
    assert_eq!((note.kind, &*note.location.path), (DiagnosticKind::Note, "b.log"));
    assert!(note.message.contains("`a.log`"));
}

#[test]
fn every_line_is_accounted_for() {
    let event = Line::new().json();
    let usage = read(&format!("{event}\nx\n[\n{{}}\n{event}\n\nkind: x\n{{\"kind\":\"Pod\"}}"));
    let lost: u64 = usage.quality.skipped.iter().map(|skipped| skipped.lines).sum();
    assert_eq!(usage.quality.events + lost, usage.quality.lines);
}

#[test]
fn the_order_of_lines_changes_only_the_samples() {
    let mut made = Vec::new();
    for index in 0..40 {
        let uri = format!(r#""/api/v1/namespaces/n{}/pods/p{}""#, index % 3, index % 7);
        let time = format!(r#""2026-12-01T00:00:{:02}.000000Z""#, index * 7 % 40);
        let line = Line::new().with("requestURI", &uri).with("requestReceivedTimestamp", &time);
        made.push(
            line.with("auditID", &format!(r#""{index}""#)).answer(if index % 2 == 0 { 200 } else { 404 }, "").json(),
        );
    }
    let bare = |lines: &[String]| {
        let mut calls = read(&lines.join("\n")).calls;
        calls.iter_mut().for_each(|call| Arc::make_mut(call).samples.clear());
        calls
    };
    let forward = bare(&made);
    made.reverse();
    assert_eq!(forward, bare(&made));
    assert!(forward.is_sorted_by(|a, b| (&a.user, &a.request) < (&b.user, &b.request)));
}

#[test]
fn an_event_with_thousands_of_groups_costs_its_line() {
    let user = |groups: usize| {
        let groups = vec![r#""""#; groups].join(",");
        Line::new().with("impersonatedUser", &format!(r#"{{"username":"alice","groups":[{groups}]}}"#)).json()
    };
    assert_eq!(causes(&read(&user(4_096))), []);
    let usage = read(&format!("{}\n{}", user(5_000), Line::new().json()));
    assert_eq!((usage.quality.events, usage.quality.skipped.len()), (1, 1));
    assert!(usage.diagnostics[0].message.contains("more than 4096 values in one list"), "{:?}", usage.diagnostics);
}

#[test]
fn a_field_of_another_type_is_named() {
    for (key, value, said) in [
        ("user", r#""x""#, "audit event with a field of another type (`user: "),
        ("responseStatus", r#""gone""#, "audit event with a field of another type (`responseStatus: "),
        ("verb", "5", "audit event with a field of another type (`verb: "),
        ("verb", "null", "audit event without a verb"),
    ] {
        let usage = lines(&[Line::new(), Line::new().with(key, value)]);
        assert_eq!((usage.quality.events, usage.calls.len(), usage.diagnostics.len()), (1, 1, 1), "{key}");
        let lost = &usage.diagnostics[0];
        assert!(lost.message.starts_with(said) && lost.location.line == 2, "{key}: {}", lost.message);
    }
}

#[test]
fn an_options_request_on_a_resource_has_no_verb_and_counts() {
    let usage = lines(&[Line::new().with("verb", r#""""#)]);
    assert_eq!((usage.quality.events, usage.calls.len(), usage.diagnostics.len()), (1, 1, 0));
    assert_eq!(usage.calls[0].request.verb(), "");
}

#[test]
fn utf16_is_named_with_what_to_do() {
    let text = [Line::new().json(), Line::new().json()].join("\n");
    let with = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| {
        [mark.to_vec(), text.encode_utf16().flat_map(bytes).collect()].concat()
    };
    for log in [
        with(b"\xff\xfe", u16::to_le_bytes),
        with(b"\xfe\xff", u16::to_be_bytes),
        with(b"", u16::to_le_bytes),
        with(b"", u16::to_be_bytes),
    ] {
        let mut collector = Collector::new();
        collector.read("audit.log", &mut log.as_slice());
        let usage = collector.finish();
        assert_eq!((usage.quality.events, usage.diagnostics.len()), (0, 1), "{:?}", usage.diagnostics);
        let said = &usage.diagnostics[0].message;
        assert!(said.starts_with("UTF-16") && said.contains("convert it to UTF-8"), "{said}");
    }
}

#[test]
fn a_value_that_is_json_only_to_who_does_not_look_into_its_texts_costs_its_line() {
    let good = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a","stage":"ResponseComplete","requestURI":"/api/v1/pods","verb":"list","user":{"username":"u"},"responseStatus":{"code":200}}"#;
    let verb = good.replace("list", r"\ud800");
    let agent = r#"{"userAgent":"\ud800"}"#;
    let large = r#"{"responseStatus":{"code":1e999}}"#;
    let wrapped = serde_json::json!({ "message": agent }).to_string();
    let list = format!("[{agent},{large}]");
    let behind = format!("2026-12-01T00:00:00Z stdout F {agent}");
    let two = format!("{agent} {large}");
    for (line, records) in [(&*verb, 1), (agent, 1), (large, 1), (&*wrapped, 1), (&*list, 2), (&*behind, 1), (&*two, 2)]
    {
        let text = [good, line, good, ""].join("\n");
        for cores in [0, 2] {
            let mut collector = Collector::default();
            match cores {
                0 => collector.read("a.log", &mut text.as_bytes()),
                _ => collector.read_on(cores, "a.log", text.as_bytes(), &mut || ()),
            }
            let usage = collector.finish();
            let skipped: u64 = usage.quality.skipped.iter().map(|skipped| skipped.lines).sum();
            assert_eq!((usage.quality.events, skipped), (2, records), "{line}: {:?}", usage.quality.skipped);
        }
    }
}

#[test]
fn requests_without_an_answer_are_told_alike_in_every_run() {
    let received = |id: usize| {
        serde_json::json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("a{id}"),
            "stage": "RequestReceived", "requestURI": "/api/v1/pods", "verb": "list", "user": {"username": "u"},
        })
    };
    let items: Vec<_> = (0..20).map(received).collect();
    let list = serde_json::json!({"kind": "EventList", "apiVersion": "audit.k8s.io/v1", "items": items}).to_string();
    let read = || {
        let mut collector = Collector::default();
        collector.read("a.log", &mut list.as_bytes());
        let usage = collector.finish();
        usage.calls.iter().flat_map(|call| &call.samples).map(|sample| sample.audit_id.clone()).collect::<Vec<_>>()
    };
    assert_eq!([read(), read(), read()], [["a0", "a1", "a10"].map(str::to_owned).to_vec(), read(), read()]);
}
