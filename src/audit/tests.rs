use proptest::prelude::*;

use super::*;
use crate::rbac::Request;

const SA: &str = "system:serviceaccount:ns:op";

/// One event with the fields that matter, `more` being further JSON fields.
fn event(id: &str, stage: &str, verb: &str, uri: &str, code: u16, decision: &str, more: &str) -> String {
    let status = if code == 0 { String::new() } else { format!(r#","responseStatus":{{"metadata":{{}},"code":{code}}}"#) };
    let annotations = if decision.is_empty() {
        String::new()
    } else {
        format!(r#","annotations":{{"authorization.k8s.io/decision":"{decision}","authorization.k8s.io/reason":"RBAC: because"}}"#)
    };
    format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{id}","stage":"{stage}","requestURI":"{uri}","verb":"{verb}","user":{{"username":"{SA}"}},"requestReceivedTimestamp":"2026-11-30T10:00:0{}.000000Z"{status}{annotations}{more}}}"#,
        id.len() % 10
    )
}

fn allowed(id: &str, verb: &str, uri: &str, code: u16) -> String {
    event(id, "ResponseComplete", verb, uri, code, "allow", "")
}

fn usage(log: &[u8]) -> Usage {
    let mut collector = Collector::new();
    collector.read("a.log", &mut &*log);
    collector.finish()
}

/// `user verb resource.group namespace/name decision count`, short for comparing.
fn short(usage: &Usage) -> Vec<String> {
    usage
        .calls
        .iter()
        .map(|call| {
            let what = match &call.request {
                Request::Resource(r) => format!("{} {}.{} {}/{}", r.verb, r.combined(), r.api_group, r.namespace, r.name),
                Request::NonResource(r) => format!("{} {}", r.verb, r.path),
            };
            let user = call.user.rsplit(':').next().unwrap();
            format!("{user} {what} {:?} {}", call.decision, call.count)
        })
        .collect()
}

fn info(verb: &str, uri: &str) -> String {
    let info = request_info(verb, uri);
    match info.is_resource {
        true => format!("{}|{}|{}|{}|{}", info.api_group, info.resource, info.subresource, info.namespace, info.name),
        false => format!("url {}", info.path),
    }
}

#[test]
fn attributes_of_paths_as_the_api_server_reads_them() {
    for (verb, uri, expected) in [
        ("create", "/api/v1/namespaces/ns/configmaps", "|configmaps||ns|"),
        ("get", "/api/v1/namespaces/ns/pods/p/log?follow=true", "|pods|log|ns|p"),
        ("get", "/api/v1/namespaces/ns/pods/p/proxy/metrics/x", "|pods|proxy|ns|p"),
        ("get", "/api/v1/namespaces/ns/services/https:foo:443/proxy/metrics", "|services|proxy|ns|https:foo:443"),
        ("get", "/api/v1/namespaces/ns", "|namespaces||ns|ns"),
        ("update", "/api/v1/namespaces/ns/finalize", "|namespaces|finalize|ns|ns"),
        ("patch", "/api/v1/namespaces/ns/status", "|namespaces|status|ns|ns"),
        ("list", "/api/v1/namespaces", "|namespaces|||"),
        ("list", "/apis/apps/v1/deployments?watch=0", "apps|deployments|||"),
        ("watch", "/api/v1/watch/namespaces/ns/pods", "|pods||ns|"),
        ("watch", "/apis/apps/v1/watch/deployments", "apps|deployments|||"),
        ("proxy", "/api/v1/proxy/namespaces/ns/pods/p/x", "|pods||ns|p"),
        ("patch", "/apis/cert-manager.io/v1/namespaces/a/certificates/x/status", "cert-manager.io|certificates|status|a|x"),
        ("list", "/api/v1/secrets?fieldSelector=metadata.name%3Dfoo", "|secrets|||foo"),
        ("watch", "/api/v1/secrets?watch=1&fieldSelector=type%3Dx%2Cmetadata.name%3D%3Dfoo", "|secrets|||foo"),
        ("list", "/api/v1/secrets?fieldSelector=metadata.name%21%3Dfoo", "|secrets|||"),
        ("deletecollection", "/api/v1/secrets?fieldSelector=metadata.name%3Dfoo", "|secrets|||"),
        ("list", "/apis/metrics.k8s.io/v1beta1/nodes/", "metrics.k8s.io|nodes|||"),
        ("get", "/apis/authentication.k8s.io/v1/x/a%2Fb", "authentication.k8s.io|x|b||a"),
        ("get", "/healthz?verbose", "url /healthz"),
        ("get", "/api/v1", "url /api/v1"),
        ("get", "/apis/apps/v1", "url /apis/apps/v1"),
        ("get", "/apis", "url /apis"),
        ("get", "/openapi/v3/apis/apps/v1?hash=x", "url /openapi/v3/apis/apps/v1"),
        ("get", "/", "url /"),
    ] {
        assert_eq!(info(verb, uri), expected, "{verb} {uri}");
    }
}

#[test]
fn stages_of_one_request_count_once() {
    let log = [
        event("1", "RequestReceived", "get", "/api/v1/pods", 0, "", ""),
        event("1", "ResponseComplete", "get", "/api/v1/pods", 404, "allow", ""),
        event("2", "ResponseStarted", "watch", "/api/v1/pods?watch=1", 200, "allow", ""),
        event("2", "ResponseComplete", "watch", "/api/v1/pods?watch=1", 200, "allow", ""),
        event("3", "ResponseStarted", "watch", "/api/v1/pods?watch=1", 200, "allow", ""),
        event("4", "RequestReceived", "delete", "/api/v1/namespaces/ns/secrets/s", 0, "", ""),
        event("4", "ResponseComplete", "delete", "/api/v1/namespaces/ns/secrets/s", 403, "forbid", ""),
        event("5", "RequestReceived", "list", "/api/v1/nodes", 0, "", ""),
        // A client chose the id of another request: both count.
        event("1", "ResponseComplete", "list", "/api/v1/services", 200, "allow", ""),
        event("6", "Panic", "update", "/api/v1/namespaces/ns/pods/p", 0, "allow", ""),
    ]
    .join("\n");
    let usage = usage(log.as_bytes());
    assert_eq!(
        short(&usage),
        [
            "op list nodes. / Undecided 1",
            "op update pods. ns/p Allowed 1",
            "op get pods. / Allowed 1",
            "op watch pods. / Allowed 2",
            "op delete secrets. ns/s Denied 1",
            "op list services. / Allowed 1",
        ]
        .iter()
        .map(ToString::to_string)
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect::<Vec<_>>()
        .tap(|expected| expected.sort_by_key(|line| short(&usage).iter().position(|have| have == line)))
    );
    let panicked = usage.calls.iter().find(|call| call.request.verb() == "update").unwrap();
    assert_eq!(panicked.codes.keys().collect::<Vec<_>>(), [&500]);
}

trait Tap: Sized {
    fn tap(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }
}

impl<T> Tap for Vec<T> {}

#[test]
fn what_counts_as_use() {
    for (code, decision, expected) in [
        (200, "allow", Decision::Allowed),
        (404, "allow", Decision::Allowed),
        (409, "allow", Decision::Allowed),
        (422, "allow", Decision::Allowed),
        (500, "allow", Decision::Allowed),
        (403, "allow", Decision::Allowed),
        (403, "forbid", Decision::Denied),
        (401, "", Decision::Undecided),
        (429, "", Decision::Undecided),
        (403, "", Decision::Undecided),
        (200, "", Decision::Allowed),
    ] {
        let log = event("1", "ResponseComplete", "get", "/api/v1/namespaces/ns/pods/p", code, decision, "");
        assert_eq!(usage(log.as_bytes()).calls[0].decision, expected, "{code} {decision}");
    }
}

#[test]
fn names_come_from_the_url_and_not_from_the_body() {
    let body = r#","objectRef":{"resource":"configmaps","namespace":"ns","name":"cm","apiVersion":"v1"}"#;
    let log = [
        event("1", "ResponseComplete", "create", "/api/v1/namespaces/ns/configmaps", 201, "allow", body),
        event("2", "ResponseComplete", "create", "/apis/rbac.authorization.k8s.io/v1/clusterroles", 201, "allow", r#","objectRef":{"resource":"clusterroles","namespace":"lies","name":"x","apiGroup":"rbac.authorization.k8s.io"}"#),
        allowed("3", "create", "/api/v1/namespaces/ns/serviceaccounts/agent/token", 201),
        // Without a URI objectRef must do, its group out of the old form.
        event("4", "ResponseComplete", "create", "", 201, "allow", r#","objectRef":{"resource":"deployments","namespace":"ns","name":"web","apiVersion":"apps/v1beta1"}"#),
    ]
    .join("\n");
    let usage = usage(log.as_bytes());
    let mut lines = short(&usage);
    lines.sort();
    assert_eq!(
        lines,
        [
            "op create clusterroles.rbac.authorization.k8s.io / Allowed 1",
            "op create configmaps. ns/ Allowed 1",
            "op create deployments.apps ns/ Allowed 1",
            "op create serviceaccounts/token. ns/agent Allowed 1",
        ]
    );
    assert!(usage.calls.iter().any(|call| call.object_namespace == "lies"));
}

#[test]
fn impersonation_is_attributed_both_ways() {
    let log = [
        event("1", "ResponseComplete", "list", "/api/v1/namespaces/ns/pods", 200, "allow", r#","impersonatedUser":{"username":"alice","uid":"7","groups":["dev","system:authenticated"],"extra":{"scopes":["a","b"]}}"#),
        event("22", "ResponseComplete", "list", "/api/v1/namespaces/ns/pods", 200, "allow", r#","impersonatedUser":{"username":"system:serviceaccount:x:y","groups":["system:serviceaccounts"]}"#),
        event("333", "ResponseComplete", "get", "/api/v1/namespaces/ns/pods/p", 200, "allow", r#","impersonatedUser":{"username":"bob"},"authenticationMetadata":{"impersonationConstraint":"impersonate:user-info"}"#),
    ]
    .join("\n");
    let mut lines = short(&usage(log.as_bytes()));
    lines.sort();
    assert_eq!(
        lines,
        [
            "alice list pods. ns/ Allowed 1",
            "bob get pods. ns/p Allowed 1",
            "op impersonate groups. /dev Allowed 1",
            "op impersonate serviceaccounts. x/y Allowed 1",
            "op impersonate uids.authentication.k8s.io /7 Allowed 1",
            "op impersonate userextras/scopes.authentication.k8s.io /a Allowed 1",
            "op impersonate userextras/scopes.authentication.k8s.io /b Allowed 1",
            "op impersonate users. /alice Allowed 1",
            "op impersonate-on:user-info:get pods. ns/p Allowed 1",
            "op impersonate:user-info users.authentication.k8s.io /bob Allowed 1",
            "y list pods. ns/ Allowed 1",
        ]
    );
}

#[test]
fn a_denied_impersonation_is_no_use_of_its_target() {
    let message = r#"users \"alice\" is forbidden: User \"system:serviceaccount:ns:op\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope"#;
    let log = format!(
        r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"1","stage":"ResponseComplete","requestURI":"/api/v1/pods","verb":"list","user":{{"username":"{SA}"}},"responseStatus":{{"code":403,"message":"{message}"}}}}"#
    );
    assert_eq!(short(&usage(log.as_bytes())), ["op impersonate users. /alice Denied 1", "op list pods. / Undecided 1"].map(str::to_owned).to_vec().tap(|lines| lines.sort_by_key(|line| line.contains("impersonate"))));
}

#[test]
fn bad_lines_cost_themselves_and_say_where() {
    let good = allowed("1", "get", "/api/v1/namespaces/ns/pods/p", 200);
    let mut log = Vec::new();
    log.extend_from_slice(b"\xef\xbb\xbf");
    for line in [
        good.as_str(),
        "",
        "garbage",
        "type=SYSCALL msg=audit(1700000000.1:2): arch=c000003e",
        "I1130 10:00:00.000000       1 controller.go:1] hello",
        &format!("master-0 {good}"),
        r#"{"kind":"EventList","items":[]}"#,
        r#"{"kind":"Event","apiVersion":"v1","involvedObject":{}}"#,
        "{",
        "[",
        r#"{"requestHeader":{},"auditID":"x"}"#,
        r#"{"kind":5}"#,
        "  \r",
        &good[..120],
    ] {
        log.extend_from_slice(line.as_bytes());
        log.extend_from_slice(b"\r\n");
    }
    log.extend_from_slice(good.as_bytes());
    let usage = usage(&log);
    assert_eq!((usage.quality.events, usage.quality.lines), (2, 13));
    let skipped: u64 = usage.quality.skipped.iter().map(|skipped| skipped.lines).sum();
    assert_eq!(skipped + usage.quality.events, usage.quality.lines, "every line is accounted for");
    let said: Vec<(u32, &str)> = usage.diagnostics.iter().map(|d| (d.location.line, d.message.as_str())).collect();
    for (line, start) in [
        (3, "not JSON"),
        (4, "a line of the Linux auditd log"),
        (5, "a klog line"),
        (6, "a line with a prefix"),
        (7, "a List around its events"),
        (8, "a Kubernetes Event object"),
        (9, "a part of pretty-printed JSON"),
        (10, "a JSON array"),
        (11, "a line of the Rancher API audit log"),
        (14, "a JSON object that is cut short"),
    ] {
        assert!(said.iter().any(|(at, message)| *at == line && message.starts_with(start)), "{line} {start}: {said:#?}");
    }
}

#[test]
fn long_lines_are_read_and_longer_ones_skipped() {
    let big = |bytes: usize| {
        let body = format!(r#","requestObject":{{"data":"{}"}}"#, "x".repeat(bytes));
        event("1", "ResponseComplete", "update", "/api/v1/namespaces/ns/configmaps/c", 200, "allow", &body)
    };
    let good = allowed("2", "list", "/api/v1/nodes", 200);
    let log = format!("{}\n{good}\n{}\n{good}", big(5 << 20), big(lines::MAX_LINE));
    let usage = usage(log.as_bytes());
    assert_eq!((usage.quality.events, usage.quality.lines), (3, 4));
    assert!(usage.diagnostics[0].message.starts_with("longer than 64 MiB"));
}

#[test]
fn an_io_error_keeps_what_was_read() {
    struct Cut<'a>(&'a [u8]);
    impl std::io::Read for Cut<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::Error::other("corrupt deflate stream"));
            }
            self.0.read(buffer)
        }
    }
    let good = allowed("1", "get", "/api/v1/namespaces/ns/pods/p", 200);
    let log = format!("{good}\n{}", &good[..50]);
    let mut collector = Collector::new();
    collector.read("a.log.gz", &mut Cut(log.as_bytes()));
    let usage = collector.finish();
    assert_eq!(usage.quality.events, 1);
    assert!(usage.diagnostics[0].message.contains("the log ends here: corrupt deflate stream"));
}

#[test]
fn the_profile_does_not_depend_on_hashing() {
    let log: Vec<String> = (0..500).map(|i| allowed(&i.to_string(), "get", &format!("/api/v1/namespaces/n{}/pods/p{i}", i % 7), 200)).collect();
    let log = log.join("\n");
    let (a, b) = (usage(log.as_bytes()), usage(log.as_bytes()));
    assert_eq!(a.calls, b.calls);
}

proptest! {
    #[test]
    fn lines_are_those_of_split(text in "[a\\n]{0,300}", chunk in 1_usize..40) {
        struct Slow<'a>(&'a [u8], usize);
        impl std::io::Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                let most = self.1.min(buffer.len());
                self.0.read(&mut buffer[..most])
            }
        }
        let mut slow = Slow(text.as_bytes(), chunk);
        let mut lines = Lines::new(&mut slow);
        let mut read = Vec::new();
        while let Some(line) = lines.next_line() {
            if let lines::Line::Bytes(bytes) = line.unwrap() {
                read.push(String::from_utf8(bytes.to_vec()).unwrap());
            }
        }
        let expected: Vec<&str> = text.lines().collect();
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn any_line_is_read_or_skipped(line in "\\PC{0,60}", mutation in 0_usize..200) {
        let mut good = allowed("1", "get", "/api/v1/namespaces/ns/pods/p", 200).into_bytes();
        if let Some(byte) = good.get_mut(mutation) {
            *byte = b'~';
        }
        let log = [line.as_bytes(), b"\n", &good].concat();
        let usage = usage(&log);
        let skipped: u64 = usage.quality.skipped.iter().map(|skipped| skipped.lines).sum();
        prop_assert_eq!(skipped + usage.quality.events, usage.quality.lines);
    }
}
