//! Pitfalls of reading, attribution, attributes and clouds, each with its number, an input and what is read of it.
//!
//! Not here, because it is not for the reader to know: what a log could never show (54, 58), roles (16 and 22: a denied
//! call and what everybody holds are in no Role; 43: a role of the cluster; 45: whose delete a child's is follows from
//! its user). 10–12 of files are in `input::log`, 14–18 also in `reader`, 20 in `analysis`.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rolecall::audit::{Collector, Decision, Usage};
use rolecall::rbac::Request;
use serde_json::{Value, json};

use super::needed;

const ACCOUNT: &str = "system:serviceaccount:op-ns:op";

fn read(log: &[u8]) -> Usage {
    let mut collector = Collector::new();
    collector.read("audit.log", &mut &*log);
    collector.finish()
}

fn shown(request: &Request) -> String {
    match request {
        Request::Resource(request) => {
            let mut text = format!("{} {}", request.verb, request.combined());
            for (before, part) in [(".", &request.api_group), (" ", &request.name), (" in ", &request.namespace)] {
                text += &if part.is_empty() { String::new() } else { format!("{before}{part}") };
            }
            text
        }
        Request::NonResource(request) => format!("{} {}", request.verb, request.path),
    }
}

/// Allowed calls and what they needed with them, after `+`; other decisions and users are said; then what was lost.
fn said(usage: &Usage) -> Vec<String> {
    let mut said = Vec::new();
    for call in &usage.calls {
        let mut text = if call.user == ACCOUNT { String::new() } else { format!("{}: ", call.user) };
        text += &shown(&call.request);
        text += match call.decision {
            Decision::Allowed => "",
            Decision::Denied => " (denied)",
            Decision::Undecided => " (undecided)",
        };
        text += &if call.count == 1 { String::new() } else { format!(" x{}", call.count) };
        said.push(text);
        said.extend(needed(call).iter().map(|need| format!("+ {}", shown(need))));
    }
    said.extend(usage.quality.skipped.iter().map(|skipped| format!("{} {}", skipped.lines, skipped.cause)));
    said
}

fn base() -> Value {
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "1",
        "stage": "ResponseComplete", "requestURI": "/api/v1/namespaces/n/pods/p", "verb": "get",
        "user": {"username": ACCOUNT}, "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-12-01T00:00:00Z",
        "annotations": {"authorization.k8s.io/decision": "allow"},
    })
}

/// The event of `get pods p in n`, with other fields; null takes one away.
fn with(fields: Value) -> String {
    let mut event = base();
    for (key, value) in fields.as_object().unwrap() {
        match value {
            Value::Null => drop(event.as_object_mut().unwrap().remove(key)),
            value => event[key] = value.clone(),
        }
    }
    event.to_string()
}

fn call(verb: &str, uri: &str, code: u16) -> String {
    with(json!({"verb": verb, "requestURI": uri, "responseStatus": {"code": code}}))
}

fn denied(code: u16, message: &str) -> String {
    with(json!({"annotations": null, "responseStatus": {"code": code, "message": message}}))
}

fn check(table: &[(u8, String, &[&str])]) {
    for (number, log, expected) in table {
        assert_eq!(said(&read(log.as_bytes())), *expected, "pitfall {number}: {log:.2000}");
    }
}

const GET: &str = "get pods p in n";

#[test]
fn reading() {
    let event = base().to_string();
    let bare = with(json!({"kind": null, "apiVersion": null}));
    let pretty = format!("{:#}\n", base());
    let core = "apiVersion: v1\nkind: Event\ninvolvedObject:\n  kind: Pod\n";
    let (head, tail) = event.split_at(40);
    let huge = with(json!({"requestObject": {"a": "x".repeat(300_000)}}));
    let stage = |stage: &str| with(json!({"stage": stage}));
    check(&[
        (1, format!("\u{feff}{event}\n"), &[GET]),
        (2, format!("{event}\r\n\r\n{event}\r\n{head}"), &["get pods p in n x2", "1 audit event cut short"]),
        (3, pretty.repeat(2), &["get pods p in n x2"]),
        (4, format!("[{bare},{bare}]"), &["get pods p in n x2"]),
        (4, format!("{{\"kind\":\"List\",\"items\":[{bare}]}}"), &[GET]),
        (
            5,
            format!("---\nkind: EventList\nitems:\n- {bare}\n---\n{event}\n---\n{core}"),
            &["get pods p in n x2", "1 core/v1 Event"],
        ),
        (7, format!("master-0 {event}\n2024-01-01T00:00:00.000Z {event}"), &["get pods p in n x2"]),
        (7, format!("2024 stdout P {head}\n2024 stdout F {tail}"), &[GET]),
        (8, huge, &[GET]),
        (
            9,
            format!("{}\"requestObject\":{{\"a[Truncated...]", event.replace('}', ",").replace(",,", ",")),
            &["1 audit event cut short"],
        ),
        (10, format!("I0101 00:00:00.000000 1 x.go:1] up\n{event}"), &[GET, "1 klog line"]),
        (11, [stage("RequestReceived"), stage("ResponseStarted"), stage("ResponseComplete")].join("\n"), &[GET]),
        (12, format!("{event}\n{}", call("get", "/api/v1/namespaces/n/pods/q", 200)), &[GET, "get pods q in n"]),
        // A line over the limit (8), gzip by its bytes and files given twice (6, 11): `framing` and `input::log`.
    ]);
}

#[test]
fn attribution() {
    let impersonate = r#"users "jane" is forbidden: User "u" cannot impersonate resource "users" in API group "" at the cluster scope"#;
    let allowed = |code| with(json!({"responseStatus": {"code": code}}));
    let by = |user: &str| with(json!({"user": {"username": user}}));
    check(&[
        (
            13,
            with(json!({"user": {"username": "system:admin"}, "impersonatedUser": {"username": ACCOUNT}})),
            &["system:admin: impersonate serviceaccounts op in op-ns", GET],
        ),
        (14, denied(403, impersonate), &["get pods p in n (undecided)", "impersonate users jane (denied)"]),
        (
            15,
            with(json!({"annotations": null, "user": {}, "responseStatus": {"code": 401}})),
            &[": get pods p in n (undecided)"],
        ),
        (15, denied(429, "slow down"), &["get pods p in n (undecided)"]),
        (
            16,
            with(json!({"annotations": {"authorization.k8s.io/decision": "forbid"}, "responseStatus": {"code": 403}})),
            &["get pods p in n (denied)"],
        ),
        (17, allowed(403), &[GET]),
        (18, [allowed(404), allowed(409), allowed(422), allowed(500)].join("\n"), &["get pods p in n x4"]),
        (
            19,
            by("system:serviceaccounts:default:default"),
            &["system:serviceaccounts:default:default: get pods p in n"],
        ),
    ]);
    // 21, 23: the reason is kept as it was written; what it means is for the analysis.
    for reason in ["", "EKS Access Policy: allowed by ClusterRoleBinding \"a+b\" of ClusterRole \"b\" to User \"AROA\""]
    {
        let annotations = json!({"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": reason});
        let usage = read(with(json!({"annotations": annotations})).as_bytes());
        let reasons: Vec<_> =
            usage.calls[0].reasons.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
        assert_eq!(reasons, [reason].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>());
    }
    // 24: another Pod of the same account is the same account.
    let pod = |name: &str| {
        with(json!({"user": {"username": ACCOUNT, "extra": {"authentication.kubernetes.io/pod-name": [name]}}}))
    };
    let both = format!("{}\n{}", pod("a"), pod("b"));
    let pods = read(both.as_bytes()).clients[ACCOUNT].pods.clone();
    assert_eq!(pods, ["a", "b"].map(str::to_owned).into());
    check(&[(24, both, &["get pods p in n x2"])]);
}

#[test]
fn attributes() {
    let body = |uri: &str, name: Value| {
        let object = json!({"resource": "configmaps", "namespace": "n", "name": name, "apiVersion": "v1"});
        with(json!({"verb": "create", "requestURI": uri, "objectRef": object, "responseStatus": {"code": 201}}))
    };
    let exec = "/api/v1/namespaces/n/pods/p/exec?command=ls";
    let object = |object: Value, verb: &str| with(json!({"requestURI": null, "verb": verb, "objectRef": object}));
    let deployment = "/apis/apps/v1/namespaces/n/deployments/d?fieldManager=op";
    check(&[
        (25, body("/api/v1/namespaces/n/configmaps", json!("cm")), &["create configmaps in n"]),
        (26, body("/api/v1/namespaces/n/configmaps", Value::Null), &["create configmaps in n"]),
        (27, call("create", exec, 101).replace("ResponseComplete", "ResponseStarted"), &["create pods/exec p in n"]),
        (28, call("get", exec, 101), &["get pods/exec p in n", "+ create pods/exec p in n"]),
        (29, call("get", "/api/v1/namespaces/n", 200), &["get namespaces n in n"]),
        (30, call("list", "/apis/apps/v1/deployments?watch=0", 200), &["list deployments.apps"]),
        (
            30,
            call("watch", "/apis/apps/v1/deployments?watch=1", 200),
            &["watch deployments.apps", "+ list deployments.apps"],
        ),
        (30, call("watch", "/api/v1/watch/pods", 200), &["watch pods", "+ list pods"]),
        (31, call("list", "/api/v1/pods?fieldSelector=metadata.name%3Dfoo", 200), &["list pods foo"]),
        (31, call("list", "/api/v1/pods?fieldSelector=metadata.name%21%3Dfoo", 200), &["list pods"]),
        (32, call("watch", "/api/v1/pods?watch=true&sendInitialEvents=true", 200), &["watch pods", "+ list pods"]),
        (33, call("patch", deployment, 201), &["patch deployments.apps d in n", "+ create deployments.apps d in n"]),
        (33, call("patch", deployment, 200), &["patch deployments.apps d in n"]),
        (
            34,
            call("update", "/apis/coordination.k8s.io/v1/namespaces/n/leases/l", 201),
            &[
                "update leases.coordination.k8s.io l in n",
                "+ create leases.coordination.k8s.io l in n",
                "+ create leases.coordination.k8s.io in n",
            ],
        ),
        (35, call("create", "/api/v1/namespaces/n/pods?dryRun=All", 201), &["create pods in n"]),
        (
            36,
            call("deletecollection", "/api/v1/namespaces/n/pods?labelSelector=a%3Db", 200),
            &["deletecollection pods in n"],
        ),
        (
            37,
            call("get", "/api/v1/namespaces/n/services/https:foo:443/proxy/metrics", 200),
            &["get services/proxy https:foo:443 in n"],
        ),
        (38, call("list", "/apis/metrics.k8s.io/v1beta1/nodes", 200), &["list nodes.metrics.k8s.io"]),
        (
            39,
            format!("{}\n{}", call("head", "/healthz/ping", 200), call("propfind", "/x", 404)),
            &["head /healthz/ping", "propfind /x"],
        ),
        (
            40,
            object(json!({"resource": "deployments", "apiVersion": "apps/v1beta1"}), "list")
                .replace("audit.k8s.io/v1", "audit.k8s.io/v1alpha1"),
            &["list deployments.apps"],
        ),
        (
            41,
            call("patch", "/apis/cert-manager.io/v1/namespaces/a/certificates/x/status", 200),
            &["patch certificates/status.cert-manager.io x in a"],
        ),
        (
            42,
            object(json!({"resource": "pods/exec", "namespace": "n", "name": "p"}), "create"),
            &["create pods/exec p in n"],
        ),
        (
            44,
            format!(
                "{}\n{}",
                call("list", "/api/v1/pods?limit=500", 200),
                call("list", "/api/v1/pods?limit=500&continue=x", 200)
            ),
            &["list pods x2"],
        ),
        (
            46,
            with(json!({"stage": "RequestReceived", "annotations": null, "responseStatus": null})),
            &["get pods p in n (undecided)"],
        ),
    ]);
}

fn gke(method: &str, resource: &str, more: Value) -> String {
    let mut payload = json!({"serviceName": "k8s.io", "methodName": method, "resourceName": resource, "authenticationInfo": {"principalEmail": ACCOUNT}});
    for (key, value) in more.as_object().unwrap() {
        payload[key] = value.clone();
    }
    json!({"insertId": "1", "timestamp": "2026-12-01T00:00:00Z", "protoPayload": payload}).to_string()
}

#[test]
fn clouds() {
    let event = base().to_string();
    let none = || json!({});
    let granted = |code: i64| json!({"status": {"code": code}, "authorizationInfo": [{"granted": true}]});
    let get = |more| gke("io.k8s.core.v1.pods.get", "core/v1/namespaces/n/pods/p", more);
    let roles = "rbac.authorization.k8s.io/v1/clusterroles/r";
    let exec = |end: &str| {
        let entry = gke("io.k8s.core.v1.pods.exec.create", "core/v1/namespaces/n/pods/p/exec/p", granted(2));
        let mut entry: Value = serde_json::from_str(&entry).unwrap();
        entry["operation"] = json!({"id": "o", end: true});
        entry.to_string()
    };
    let aks = |log: Value| json!({"category": "kube-audit", "properties": {"log": log}}).to_string();
    let message = |stream: &str, text: &str| json!({"logStreamName": stream, "timestamp": 1, "message": text});
    let row = json!({"insertid": "1", "protopayload_auditlog": {"servicename": "k8s.io", "methodname": "io.k8s.core.v1.pods.get", "resourcename": "core/v1/namespaces/n/pods/p", "authenticationinfo": {"principalemail": ACCOUNT}, "requestJson": "{}"}});
    let azure = json!({"AuditId": "1", "Stage": "ResponseComplete", "RequestUri": "/api/v1/namespaces/n/pods/p", "Verb": "get", "User": json!({"username": ACCOUNT}).to_string(), "ResponseStatus": "{\"code\":200}", "RequestObject": "skipped-too-big-size-object"});
    let cells = azure.as_object().unwrap();
    let cell = |value: &Value| format!("\"{}\"", value.as_str().unwrap().replace('"', "\"\""));
    let csv = format!(
        "{}\n{}\n",
        cells.keys().map(String::as_str).collect::<Vec<_>>().join(","),
        cells.values().map(cell).collect::<Vec<_>>().join(",")
    );
    let push = |kind: &str, text: &str| {
        json!({"messageType": kind, "logEvents": [{"id": "1", "timestamp": 1, "message": text}]}).to_string()
    };
    check(&[
        (47, gke("io.k8s.authorization.rbac.v1.clusterroles.create", roles, none()), &["create clusterroles.rbac.authorization.k8s.io"]),
        (47, gke("io.k8s.rbac.v1.clusterroles.create", roles, none()), &["create clusterroles.rbac.authorization.k8s.io"]),
        (47, gke("io.k8s.authorization.v1.subjectaccessreviews.create", "authorization.k8s.io/v1/subjectaccessreviews", none()), &["create subjectaccessreviews.authorization.k8s.io"]),
        (48, format!("{}\n{}", exec("first"), exec("last")), &["create pods/exec p in n"]),
        (49, [get(none()), get(json!({"status": {}})), get(json!({"status": {"code": 0}}))].join("\n"), &["get pods p in n x3"]),
        (49, get(json!({"status": {"code": 7}})), &["get pods p in n (denied)"]),
        (49, get(granted(7)), &[GET]),
        (49, get(json!({"status": {"code": 10, "message": "already exists"}})), &[GET]),
        (50, gke("io.k8s.core.v1.namespaces.create", "core/v1/namespaces/x", none()), &["create namespaces"]),
        (50, gke("io.k8s.core.v1.namespaces.get", "core/v1/namespaces/x", none()), &["get namespaces x in x"]),
        (51, gke("io.k8s.get", "readyz", none()), &["get /readyz"]),
        (52, gke("io.k8s.core.v1.pods.create", "core/v1/namespaces/default/pods", none()), &["create pods in default"]),
        (53, gke("google.container.v1.ClusterManager.GetCluster", "x", json!({"serviceName": "container.googleapis.com"})), &["1 Cloud Logging entry of another service"]),
        (55, row.to_string(), &[GET]),
        (56, [aks(format!("{event}\n").into()), aks(base()), aks("I0101 00:00:00 1 x.go:1] up\n".into())].join("\n"), &["get pods p in n x2", "1 klog line"]),
        (57, csv, &[GET]),
        (57, aks(with(json!({"requestObject": "skipped-too-big-size-object"})).into()), &[GET]),
        (59, "{\"log_source\":\"auditd\",\"message\":\"type=X msg=audit(1): x\"}".to_owned(), &["1 Linux auditd record"]),
        (60, json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": event}}]}]}]}).to_string(), &[GET]),
        (61, event.replace("authorization.k8s.io/", "authorization_k8s_io/"), &[GET]),
        (63, json!({"events": [message("authenticator-1", "time=\"x\" level=info msg=\"x\""), message("kube-apiserver-audit-1", &event)]}).to_string(), &[GET, "1 text log of another program"]),
        (64, push("CONTROL_MESSAGE", "CWL CONTROL MESSAGE: Checking health") + &push("DATA_MESSAGE", &event) + &push("DATA_MESSAGE", &event), &["get pods p in n x2", "1 CloudWatch control message"]),
        (65, "{\"auditID\":\"1\",\"requestURI\":\"/k8s/clusters/c-1/api/v1/pods\",\"user\":{\"name\":\"u\",\"group\":[]},\"method\":\"GET\",\"responseCode\":200}".to_owned(), &["1 Rancher API audit log"]),
    ]);
    let level = |fields: Value| read(with(fields).as_bytes()).calls[0].level.clone();
    assert_eq!(level(json!({"level": "default", "k8s_audit_level": "Metadata"})), "Metadata", "pitfall 59");
    let panther = read(with(json!({"requestReceivedTimestamp": "2022-11-29 00:09:04.38"})).as_bytes());
    assert_eq!(panther.calls[0].first, "2022-11-29T00:09:04.38Z", "pitfall 62");
    // The same in what a function is given.
    let data = json!({"awslogs": {"data": BASE64_STANDARD.encode(push("DATA_MESSAGE", &event))}}).to_string();
    check(&[(64, data, &[GET])]);
}
