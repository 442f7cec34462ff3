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
