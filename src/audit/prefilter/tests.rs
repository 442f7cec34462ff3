use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::reader::Collector;
use super::super::select::Attribution;
use super::super::usage::Usage;
use super::*;

const WANTED: &str = "system:serviceaccount:ns:op";

fn select() -> Select {
    let attribute = vec![Attribution { who: "admin&co".to_owned(), agent: None, user: WANTED.to_owned() }];
    Select { users: vec![WANTED.to_owned()], attribute, ..Select::default() }
}

/// A line of an API server, of a user, with what stands behind the user and behind the times.
fn line(user: &str, verb: &str, uri: &str, behind: &str, end: &str) -> String {
    let object = if uri.starts_with("/api") { r#","objectRef":{"resource":"x"}"# } else { "" };
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{}","stage":"ResponseComplete","requestURI":"{uri}","verb":"{verb}","user":{{"username":"{user}"}}{behind}{object},"responseStatus":{{"code":200}},"userAgent":"{verb}","requestReceivedTimestamp":"2026-12-01T00:00:00.000000Z","stageTimestamp":"2026-12-01T00:00:00.000000Z"{end}}}"#,
        user.len() + uri.len(),
    )
}

/// The kinds of requests that every log has.
fn usual() -> Vec<String> {
    let mut usual: Vec<String> =
        (0..5).map(|user| line(&format!("u{user}"), "get", "/api/v1/namespaces/n/pods/p", "", "")).collect();
    usual.push(line("u1", "watch", "/api/v1/pods?watch=1", "", ""));
    usual.push(line("u1", "create", "/api/v1/namespaces/n/events", "", ""));
    usual.push(line("u1", "get", "/healthz", "", ""));
    usual
}

fn of_a_usual_log() -> Prefilter {
    let mut prefilter = Prefilter::of(&select()).unwrap();
    for user in 0..5 {
        prefilter.note(&[&*format!("u{user}"), "r", "pods", "", "get", "n", "p", "0", "0"].join("\0"));
    }
    prefilter.note(&["u1", "r", "pods", "", "watch", "", "", "0", "0"].join("\0"));
    prefilter.note(&["u1", "r", "events", "", "create", "n", "", "0", "0"].join("\0"));
    prefilter.note(&["u1", "u/healthz", "get", "", "", "", "", "0", "0"].join("\0"));
    prefilter
}

const PODS: &str = "/api/v1/namespaces/n/pods/p";
const ANNOTATIONS: &str =
    r#","annotations":{"authorization.k8s.io/decision":"allow","authorization.k8s.io/reason":""}"#;

#[test]
fn whole_lines_of_others_are_passed_over() {
    let prefilter = of_a_usual_log();
    let expected = Some((Stage::ResponseComplete, Level::Metadata));
    for end in ["", ANNOTATIONS] {
        for uri in [PODS, r"/api/v1/pods?watch=1\u003cx\u003e", "/healthz", "/api/v1/events"] {
            let line = line("system:serviceaccount:ns:other", "get", uri, "", end);
            assert_eq!(prefilter.passes_over(line.as_bytes()), expected, "{line}");
        }
    }
}

#[test]
fn lines_that_can_be_of_who_is_asked_for_are_read() {
    let prefilter = of_a_usual_log();
    let other = "system:serviceaccount:ns:other";
    let acting = format!(r#","impersonatedUser":{{"username":"{WANTED}"}}"#);
    let escaped = format!(r#","impersonatedUser":{{"username":"{}"}}"#, WANTED.replace("op", r"\u006fp"));
    let body = format!(r#","requestObject":{{"spec":{{"user":"{WANTED}"}}}}"#);
    for line in [
        line(WANTED, "get", PODS, "", ""),
        line(&WANTED.replace(':', r"\u003A"), "get", PODS, "", ""),
        line(other, "get", PODS, &acting, ANNOTATIONS),
        line(other, "get", PODS, &escaped, ANNOTATIONS),
        line(other, "create", "/apis/authorization.k8s.io/v1/subjectaccessreviews", &body, ANNOTATIONS),
        // Whose calls are theirs.
        line("admin&co", "get", PODS, "", ""),
        line(r"admin\u0026co", "get", PODS, "", ""),
    ] {
        assert_eq!(prefilter.passes_over(line.as_bytes()), None, "{line}");
    }
}

#[test]
fn what_may_be_no_whole_event_is_read() {
    let prefilter = of_a_usual_log();
    let whole = line("other", "get", PODS, "", ANNOTATIONS);
    assert!(prefilter.passes_over(whole.as_bytes()).is_some());
    for length in 0..whole.len() {
        let (beginning, end) = whole.split_at(length);
        assert_eq!(prefilter.passes_over(beginning.as_bytes()), None, "{beginning}");
        assert_eq!(prefilter.passes_over(&end.as_bytes()[1..]), None, "{end}");
    }
    // Two that were written into each other.
    let torn = whole.split_at(whole.len() / 2).0.to_owned() + &whole;
    assert_eq!(prefilter.passes_over(torn.as_bytes()), None);
    for (from, to) in [
        ("Metadata", "None"),
        ("ResponseComplete", "Finished"),
        ("/v1\"", "/v1beta1\""),
        ("2026-12-01T00:00:00.000000Z", "2026-12-01 00:00"),
        (r#""verb":"get""#, r#""verb":null"#),
        (PODS, ""),
    ] {
        assert_eq!(prefilter.passes_over(whole.replace(from, to).as_bytes()), None, "{to}");
    }
}

#[test]
fn kinds_of_requests_that_were_not_seen_yet_are_read() {
    let mut prefilter = Prefilter::of(&select()).unwrap();
    let pods = line("other", "get", PODS, "", "");
    assert_eq!(prefilter.passes_over(pods.as_bytes()), None);
    for user in 0..5 {
        prefilter.note(&[&*format!("u{user}"), "r", "pods", "", "get", "n", "p", "0", "0"].join("\0"));
    }
    assert_eq!(prefilter.passes_over(pods.as_bytes()), None);
    prefilter.note(&["u1", "r", "pods", "", "watch", "", "", "0", "0"].join("\0"));
    assert!(prefilter.passes_over(pods.as_bytes()).is_some());
    for uri in ["/healthz", "/api/v1/namespaces/n/events"] {
        let line = line("other", "get", uri, "", "");
        assert_eq!(prefilter.passes_over(line.as_bytes()), None);
        assert!(of_a_usual_log().passes_over(line.as_bytes()).is_some());
    }
}

#[test]
fn names_that_can_be_written_in_many_ways_are_not_looked_for() {
    for user in ["", "a/b", "a\"b", r"a\b", "zoë", "a b"] {
        assert!(Prefilter::of(&Select { users: vec![user.to_owned()], ..Select::default() }).is_none(), "{user}");
    }
    assert!(Prefilter::of(&Select::default()).is_none());
    assert!(Prefilter::of(&Select { service_accounts: true, ..Select::default() }).is_none());
}

/// Everything that is read with and without it, on one core and on some.
fn assert_same(text: &str, select: &Select) -> Usage {
    let mut full = Collector::selecting(select.clone());
    full.read("audit.log", &mut text.as_bytes());
    let full = full.finish();
    for cores in [1, 3] {
        let mut quick = Collector::selecting(select.clone());
        quick.read_on(cores, "audit.log", text.as_bytes(), &mut || ());
        let quick = quick.finish();
        assert_eq!(quick.calls, full.calls, "{cores} cores");
        assert_eq!(quick.quality, full.quality, "{cores} cores");
        assert_eq!(quick.clients, full.clients, "{cores} cores");
        assert_eq!(quick.diagnostics, full.diagnostics, "{cores} cores");
    }
    full
}

fn any_line() -> impl Strategy<Value = String> {
    let users = [WANTED, r"system:serviceaccount:ns:\u006fp", "admin&co", r"admin\u0026co", "other", "system:admin"];
    let uris = [PODS, r"/api/v1/pods?watch=1\u0026limit=5", "/healthz", "/api/v1/namespaces/n/events", "/api"];
    let denied = format!(
        r#","responseStatus":{{"code":403,"message":"serviceaccounts \"op\" is forbidden: User \"{WANTED}\" cannot impersonate resource \"serviceaccounts\" in API group \"\" in the namespace \"ns\""}}"#
    );
    let behinds = [
        String::new(),
        format!(r#","impersonatedUser":{{"username":"{WANTED}","groups":["g"]}}"#),
        r#","impersonatedUser":{"username":"system:serviceaccount:\u006es:op"}"#.to_owned(),
        format!(
            r#","requestObject":{{"spec":{{"user":"{WANTED}","nonResourceAttributes":{{"path":"/x","verb":"get"}}}}}},"responseObject":{{"status":{{"allowed":true}}}}"#
        ),
        denied,
    ];
    let ends = ["", ANNOTATIONS, r#","annotations":{"authorization.k8s.io/decision":"forbid"}"#];
    let verbs = ["get", "watch", "create", "options"];
    let whole = (
        prop::sample::select(users.to_vec()),
        prop::sample::select(verbs.to_vec()),
        prop::sample::select(uris.to_vec()),
        prop::sample::select(behinds.to_vec()),
        prop::sample::select(ends.to_vec()),
    )
        .prop_map(|(user, verb, uri, behind, end)| line(user, verb, uri, &behind, end));
    (whole, 0..40_u8, any::<prop::sample::Index>()).prop_map(|(whole, kind, at)| match kind {
        0 => whole.split_at(at.index(whole.len())).0.to_owned(),
        1 => whole.replace("ResponseComplete", "RequestReceived"),
        2 => format!("node-1 {whole}"),
        3 => whole.replace("2026-12-01T00:00:00.000000Z", "noon"),
        4 => String::new(),
        _ => whole,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_is_lost(lines in prop::collection::vec(any_line(), 0..80), usually in any::<bool>(), timed in any::<bool>()) {
        let mut text = String::new();
        let usual = if usually { usual() } else { Vec::new() };
        for line in usual.iter().chain(&lines) {
            writeln!(text, "{line}").unwrap();
        }
        let since = timed.then(|| "2026-12-01T00:00:00Z".to_owned());
        assert_same(&text, &Select { since, ..select() });
    }
}

#[test]
fn a_log_of_many_blocks_is_the_same() {
    let mut lines = usual();
    lines.push(line(WANTED, "list", "/api/v1/pods", "", ANNOTATIONS));
    let text = (lines.join("\n") + "\n").repeat(1_000);
    let usage = assert_same(&text, &select());
    assert_eq!(usage.quality.left_out, 8_000);
    assert_eq!(usage.calls.iter().map(|call| call.count).collect::<Vec<_>>(), [1_000]);
}

#[test]
fn what_is_passed_over_does_not_depend_on_the_cores() {
    // Its kinds of requests come late, and again now and then.
    let damaged = line("other", "get", PODS, r#","responseStatus":{"code":"200"}"#, "") + "\n";
    let some = damaged.repeat(4_000) + &(usual().join("\n") + "\n");
    let text = some.repeat(4);
    let read = |cores| {
        let mut quick = Collector::selecting(select());
        quick.read_on(cores, "audit.log", text.as_bytes(), &mut || ());
        quick.finish()
    };
    let one = read(1);
    let skipped: u64 = one.quality.skipped.iter().map(|skipped| skipped.lines).sum();
    // Some of them are read in full, others are not.
    assert!(skipped > 1_000 && one.quality.left_out > 1_000, "{:?}", one.quality);
    for cores in [1, 2, 3, 8] {
        let other = read(cores);
        assert_eq!(
            (other.calls, other.quality, other.diagnostics),
            (one.calls.clone(), one.quality.clone(), one.diagnostics.clone())
        );
    }
}
