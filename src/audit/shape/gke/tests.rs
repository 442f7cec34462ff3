use super::super::tests::{ACCOUNT, read, said, shapes};
use super::*;

fn entry(method: &str, resource: &str, more: &str) -> String {
    format!(
        r#"{{"insertId":"1","logName":"projects/p/logs/cloudaudit.googleapis.com%2Factivity","timestamp":"2026-12-01T00:00:00Z","protoPayload":{{"@type":"type.googleapis.com/google.cloud.audit.AuditLog","serviceName":"k8s.io","methodName":"{method}","resourceName":"{resource}","authenticationInfo":{{"principalEmail":"{ACCOUNT}"}}{more}}}}}"#
    )
}

#[test]
fn a_resource_name_is_the_path_asked_for() {
    for (method, resource, expected) in [
        ("io.k8s.core.v1.pods.get", "core/v1/namespaces/n/pods/p", "get pods p in n"),
        ("io.k8s.core.v1.pods.list", "core/v1/pods", "list pods"),
        ("io.k8s.core.v1.pods.create", "core/v1/namespaces/n/pods/p", "create pods in n"),
        ("io.k8s.core.v1.pods.create", "core/v1/namespaces/n/pods", "create pods in n"),
        ("io.k8s.core.v1.pods.exec.create", "core/v1/namespaces/n/pods/p/exec/p", "create pods/exec p in n"),
        ("io.k8s.core.v1.pods.binding.create", "core/v1/namespaces/n/pods/p/binding/p", "create pods/binding p in n"),
        ("io.k8s.core.v1.namespaces.create", "core/v1/namespaces/x", "create namespaces"),
        ("io.k8s.core.v1.namespaces.get", "core/v1/namespaces/x", "get namespaces x in x"),
        (
            "io.k8s.core.v1.namespaces.finalize.update",
            "core/v1/namespaces/x/finalize",
            "update namespaces/finalize x in x",
        ),
        ("io.k8s.core.v1.nodes.proxy.get", "core/v1/nodes/n/proxy/metrics", "get nodes/proxy n"),
        (
            "io.k8s.apps.v1.deployments.scale.patch",
            "apps/v1/namespaces/n/deployments/d/scale",
            "patch deployments/scale.apps d in n",
        ),
        (
            "io.k8s.authorization.rbac.v1.clusterroles.create",
            "rbac.authorization.k8s.io/v1/clusterroles/c",
            "create clusterroles.rbac.authorization.k8s.io",
        ),
        (
            "io.k8s.rbac.v1.roles.update",
            "rbac.authorization.k8s.io/v1/namespaces/n/roles/r",
            "update roles.rbac.authorization.k8s.io r in n",
        ),
        (
            "io.k8s.authorization.v1.subjectaccessreviews.create",
            "authorization.k8s.io/v1/subjectaccessreviews",
            "create subjectaccessreviews.authorization.k8s.io",
        ),
        (
            "io.cert-manager.v1.certificates.status.patch",
            "cert-manager.io/v1/namespaces/n/certificates/c/status",
            "patch certificates/status.cert-manager.io c in n",
        ),
        ("io.k8s.get", "readyz", "get /readyz"),
        ("io.k8s.get", "api/v1", "get /api/v1"),
        ("io.k8s.post", "HNAP1", "post /HNAP1"),
    ] {
        let usage = read(&entry(method, resource, r#","authorizationInfo":[{"granted":true}]"#));
        assert_eq!((said(&usage), shapes(&usage)), (vec![format!("{expected} 200 allowed")], vec![Shape::Gke.name()]));
    }
}

#[test]
fn the_decision_is_the_label_else_what_was_granted_else_the_status() {
    let labels =
        |decision: &str| format!(r#"}},"labels":{{"authorization.k8s.io/decision":"{decision}"}},"x":{{"y":1"#);
    for (more, expected) in [
        (String::new(), "200 allowed"),
        (r#","status":{}"#.to_owned(), "200 allowed"),
        (r#","status":{"code":0}"#.to_owned(), "200 allowed"),
        (r#","authorizationInfo":[{"permission":"x"}]"#.to_owned(), "200 allowed"),
        (r#","status":{"code":7}"#.to_owned(), "403 denied"),
        (
            r#","status":{"code":7,"message":"Forbidden"},"authorizationInfo":[{"permission":"x"}]"#.to_owned(),
            "403 denied",
        ),
        (r#","status":{"code":7},"authorizationInfo":[{"granted":true}]"#.to_owned(), "403 allowed"),
        (r#","status":{"code":"7"},"authorizationInfo":[{"granted":"true"}]"#.to_owned(), "403 allowed"),
        (r#","status":{"code":7,"message":"pods \"p\" is forbidden: exceeded quota"}"#.to_owned(), "403 allowed"),
        (r#","status":{"code":5},"authorizationInfo":[{"granted":true}]"#.to_owned(), "404 allowed"),
        (r#","status":{"code":10,"message":"already exists"}"#.to_owned(), "409 allowed"),
        (r#","status":{"code":6}"#.to_owned(), "409 allowed"),
        (r#","status":{"code":16}"#.to_owned(), "401 undecided"),
        (r#","status":{"code":8}"#.to_owned(), "429 undecided"),
        (
            r#","status":{"code":2,"message":"UNKNOWN"},"authorizationInfo":[{"granted":true}]"#.to_owned(),
            "101 allowed",
        ),
        (r#","status":{"code":2}"#.to_owned(), "500 allowed"),
        (r#","status":{"code":404}"#.to_owned(), "404 allowed"),
        (r#","status":{"code":"odd"}"#.to_owned(), "0 undecided"),
        (labels("allow"), "200 allowed"),
        (r#","status":{"code":7}"#.to_owned() + &labels("allow"), "403 allowed"),
        (r#","status":{"code":7}"#.to_owned() + &labels("forbid"), "403 denied"),
    ] {
        let usage = read(&entry("io.k8s.core.v1.pods.get", "core/v1/namespaces/n/pods/p", &more));
        assert_eq!(said(&usage), [format!("get pods p in n {expected}")], "{more}");
    }
}

#[test]
fn the_entries_of_one_operation_are_one_call() {
    let pair = |first: &str, last: &str| {
        let operation = |ends: &str| format!(r#"}},"operation":{{"id":"o","producer":"k8s.io",{ends}}},"x":{{"y":1"#);
        let status = r#","status":{"code":2,"message":"UNKNOWN"},"authorizationInfo":[{"granted":true}]"#;
        let entry = |ends| {
            entry(
                "io.k8s.core.v1.pods.exec.create",
                "core/v1/namespaces/n/pods/p/exec/p",
                &(status.to_owned() + &operation(ends)),
            )
        };
        format!("{}\n{}", entry(first), entry(last))
    };
    assert_eq!(said(&read(&pair(r#""first":true"#, r#""last":true"#))), ["create pods/exec p in n 101 allowed"]);
    let whole = r#""first":true,"last":true"#;
    assert_eq!(said(&read(&pair(whole, whole))), ["create pods/exec p in n 101 allowed x2"]);
}

#[test]
fn rows_of_bigquery_and_dumps_are_entries() {
    let row = format!(
        r#"{{"insertid":"1","timestamp":"2026-12-01 00:00:00.5 UTC","labels":{{"authorization_k8s_io_decision":"allow","authorization_k8s_io_reason":"RBAC: x"}},"protopayload_auditlog":{{"servicename":"k8s.io","methodname":"io.k8s.core.v1.pods.get","resourcename":"core/v1/namespaces/n/pods/p","authenticationinfo":{{"principalemail":"{ACCOUNT}"}},"authorizationinfo":[{{"granted":"true"}}],"status":{{"code":"5"}},"requestjson":"{{}}"}}}}"#
    );
    let camel = row
        .replace("servicename", "serviceName")
        .replace("methodname", "methodName")
        .replace("requestjson", "requestJson");
    for text in [row, camel] {
        let usage = read(&text);
        assert_eq!(said(&usage), ["get pods p in n 404 allowed"], "{text}");
        let call = &usage.calls[0];
        assert_eq!(
            (&*call.first, &*call.level, &*call.reasons),
            ("2026-12-01T00:00:00.5Z", "Request", &["RBAC: x".to_owned()][..])
        );
    }
    let payload = r#"{\"serviceName\":\"k8s.io\",\"methodName\":\"io.k8s.core.v1.pods.get\",\"resourceName\":\"core/v1/namespaces/n/pods/p\",\"authenticationInfo\":{\"principalSubject\":\"jane\"}}"#;
    let dump =
        format!(r#"{{"Entry":{{"Timestamp":"2026-12-01T00:00:00Z","InsertID":"1"}},"AuditPayload":"{payload}"}}"#);
    assert_eq!(said(&read(&dump)), ["jane: get pods p in n 200 allowed"]);
}

#[test]
fn yaml_of_the_command_line_tool_is_read() {
    let yaml = format!(
        "---\ninsertId: '1'\nprotoPayload:\n  '@type': type.googleapis.com/google.cloud.audit.AuditLog\n  \
         authenticationInfo:\n    principalEmail: {ACCOUNT}\n  authorizationInfo:\n  - granted: true\n  \
         methodName: io.k8s.core.v1.pods.get\n  resourceName: core/v1/namespaces/n/pods/p\n  serviceName: k8s.io\n\
         timestamp: '2026-12-01T00:00:00Z'\n"
    );
    assert_eq!(said(&read(&yaml.repeat(2))), ["get pods p in n 200 allowed x2"]);
}

#[test]
fn entries_of_other_services_are_refused() {
    let container = entry("google.container.v1.ClusterManager.CreateCluster", "projects/p", "")
        .replace("k8s.io\"", "container.googleapis.com\"");
    let usage = read(&container);
    assert_eq!(said(&usage), ["1 Cloud Logging entry of another service"]);
    assert!(usage.diagnostics[0].message.contains("container.googleapis.com"), "{:?}", usage.diagnostics);
    for (text, expected) in [
        (entry("", "core/v1/pods", ""), "1 audit event without requestURI and objectRef"),
        (r#"{"protoPayload":{"serviceName":1}}"#.to_owned(), "1 audit event with a field of another type"),
        (r#"{"textPayload":"I1201 up"}"#.to_owned(), "1 object of unknown shape"),
    ] {
        assert_eq!(said(&read(&text)), [expected], "{text}");
    }
}
