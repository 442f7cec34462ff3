use super::super::tests::{ACCOUNT, CALL, quote, read, said, shapes};
use super::*;

fn azure(object: &str) -> String {
    let user = quote(&format!(r#"{{"username":"{ACCOUNT}"}}"#));
    let decision = quote(r#"{"authorization.k8s.io/decision":"allow"}"#);
    format!(
        r#"{{"AuditId":"1","Level":"Request","Stage":"ResponseComplete","RequestUri":"/api/v1/namespaces/op-ns/secrets/s","Verb":"get","User":{user},"ObjectRef":"","RequestObject":{object},"ResponseStatus":"{{\"code\":200}}","RequestReceivedTime":"","StageReceivedTime":"2026-12-01T00:00:00Z","Annotations":{decision},"TimeGenerated":"x"}}"#
    )
}

#[test]
fn rows_of_tables_are_events() {
    for object in [r#""{}""#, r#""skipped-too-big-size-object""#, "null"] {
        let usage = read(&azure(object));
        assert_eq!((said(&usage), shapes(&usage)), (vec![CALL.to_owned()], vec![Shape::AzureTable.name()]), "{object}");
        assert_eq!((&*usage.calls[0].first, &*usage.calls[0].level), ("2026-12-01T00:00:00Z", "Request"));
    }
    let service = format!(
        r#"{{"auditID":"1","level":"Metadata","stage":"ResponseComplete","requestURI":"/api/v1/namespaces/op-ns/secrets/s","verb":"get","user":"{{\"username\":\"jane\"}}","impersonatedUser":{},"responseStatus":"{{\"code\":200}}","annotations":"{{\"authorization.k8s.io/decision\":\"allow\"}}","__time__":"1"}}"#,
        quote(&format!(r#"{{"username":"{ACCOUNT}"}}"#)),
    );
    let usage = read(&service);
    assert_eq!(shapes(&usage), [Shape::Sls.name()]);
    let impersonation = "jane: impersonate serviceaccounts op in op-ns 200 allowed";
    assert_eq!(said(&usage), [impersonation, CALL]);
}

#[test]
fn a_cell_says_nothing_of_its_neighbours() {
    let text =
        azure("null").replace(&quote(r#"{"authorization.k8s.io/decision":"allow"}"#), &quote(r#"{},"verb":"delete""#));
    // Such a cell is a text, and no annotations.
    assert_eq!(said(&read(&text)), ["1 audit event with a field of another type"]);
}

#[test]
fn rows_of_other_tables_are_none() {
    for text in [r#"{"AuditID":"1","User":"{}"}"#, r#"{"auditID":"1","verb":"get"}"#, r#"{"AuditId":"1"}"#] {
        assert_eq!(read(text).quality.events, 0, "{text}");
    }
}
