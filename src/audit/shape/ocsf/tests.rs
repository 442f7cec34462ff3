use super::super::tests::{ACCOUNT, CALL, read, said, shapes};
use super::*;

fn activity(class: &str, operation: &str, resource: &str, more: &str) -> String {
    format!(
        r#"{{"class_uid":{class},"metadata":{{"product":{{"name":"Amazon EKS"}}}},"api":{{"operation":"{operation}","request":{{"uid":"1"}},"response":{{"code":200}}}},"actor":{{"user":{{"name":"{ACCOUNT}","groups":[{{"name":"g"}}]}},"authorizations":[{{"decision":"allow","policy":{{"desc":"RBAC: allowed"}}}}]}},"resources":[{resource}],"time_dt":"2026-12-01T00:00:00Z"{more}}}"#
    )
}

#[test]
fn an_activity_is_an_event() {
    let secret = r#"{"type":"secrets","name":"s","namespace":"op-ns"}"#;
    let usage = read(&activity("6003", "get", secret, ""));
    assert_eq!((said(&usage), shapes(&usage)), (vec![CALL.to_owned()], vec![Shape::Ocsf.name()]));
    assert_eq!(usage.calls[0].reasons, ["RBAC: allowed"]);
    for (operation, resource, more, expected) in [
        (
            "create",
            r#"{"type":"pods/exec","name":"p","namespace":"n","group":{"name":""}}"#,
            "",
            "create pods/exec p in n 200 allowed",
        ),
        (
            "create",
            r#"{"type":"deployments","name":"d","namespace":"n","group":{"name":"apps"}}"#,
            "",
            "create deployments.apps in n 200 allowed",
        ),
        ("get", "", r#","http_request":{"url":{"path":"/metrics"}}"#, "get /metrics 200 allowed"),
    ] {
        assert_eq!(said(&read(&activity("6003", operation, resource, more))), [expected]);
    }
}

#[test]
fn stages_of_one_request_are_one_call() {
    let stage = |stage: &str| {
        let path = r#""http_request":{"url":{"path":"/api/v1/pods?watch=true"},"user_agent":"op/1"}"#;
        activity("6003", "watch", r#"{"type":"pods"}"#, &format!(r#",{path},"message":"{stage}""#))
    };
    let usage = read(&[stage("RequestReceived"), stage("ResponseStarted"), stage("ResponseComplete")].join("\n"));
    assert_eq!(said(&usage), ["watch pods 200 allowed"]);
    assert_eq!(usage.calls[0].count, 1);
    // What says no stage is an answer.
    assert_eq!(said(&read(&stage("Something else"))), ["watch pods 200 allowed"]);
}

#[test]
fn what_the_schema_has_no_place_for_is_read() {
    let role = r#"{"type":"roles","namespace":"n","group":{"name":"rbac.authorization.k8s.io"}}"#;
    let more = |unmapped: &str| {
        format!(
            r#","metadata":{{"log_level":"Request"}},"http_request":{{"url":{{"path":"/apis/rbac.authorization.k8s.io/v1/namespaces/n/roles"}}}},"start_time_dt":"2026-12-01T00:00:01Z","unmapped":{unmapped}"#
        )
    };
    let text = activity(
        "6003",
        "create",
        role,
        &more(r#"{"requestObject":{"rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}]}}"#),
    );
    let text = text.replacen(r#""metadata":{"product":{"name":"Amazon EKS"}},"#, "", 1);
    let usage = read(&text);
    let call = &usage.calls[0];
    assert_eq!((&*call.level, call.behind.len(), call.unread), ("Request", 1, 0));
    assert_eq!(call.first, "2026-12-01T00:00:01Z");
    let acting = text.replace(r#""requestObject""#, r#""impersonatedUser":{"username":"alice"},"requestObject""#);
    assert!(read(&acting).calls.iter().any(|call| call.user == "alice" && call.impersonators == [ACCOUNT]));
    // Kept as text, it tells nothing, and costs nothing else.
    let packed = read(&text.replace(r#""unmapped":{"#, r#""unmapped":["x"],"kept":{"#));
    assert_eq!((packed.calls.len(), packed.calls[0].behind.len(), packed.calls[0].unread), (1, 0, 1));
}

#[test]
fn other_activities_are_none() {
    let secret = r#"{"type":"secrets","name":"s"}"#;
    for (text, expected) in [
        (activity("3002", "get", secret, ""), "1 object of unknown shape"),
        (activity("6003", "", secret, ""), "1 object of unknown shape"),
        (activity("6003", "get", "", ""), "1 audit event without requestURI and objectRef"),
    ] {
        assert_eq!(said(&read(&text)), [expected], "{text}");
    }
}
