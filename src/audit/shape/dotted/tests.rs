use super::super::tests::{ACCOUNT, CALL, read, said, shapes};
use super::*;

#[test]
fn keys_with_dots_are_an_event() {
    let row = format!(
        r#"{{"@timestamp":"x","kubernetes.audit.auditID":"1","kubernetes.audit.stage":"ResponseComplete","kubernetes.audit.level":"Request","kubernetes.audit.verb":"get","kubernetes.audit.requestURI":"/api/v1/namespaces/op-ns/secrets/s","kubernetes.audit.user.username":"{ACCOUNT}","kubernetes.audit.user.groups":["a","b"],"kubernetes.audit.responseStatus.code":200,"kubernetes.audit.annotations.authorization_k8s_io/decision":"allow"}}"#
    );
    let listed = row.replace(r#":"get""#, r#":["get"]"#).replace(":200", ":[200]");
    let written = row.replace(":200", r#":"200""#);
    let searched = format!(r#"{{"hits":{{"hits":[{{"_source":{row}}}]}}}}"#);
    for text in [row, listed, written, searched] {
        let usage = read(&text);
        assert_eq!((said(&usage), shapes(&usage)), (vec![CALL.to_owned()], vec![Shape::Ecs.name()]), "{text}");
    }
    let table = format!(
        "kubernetes.audit.verb,kubernetes.audit.auditID,kubernetes.audit.stage,kubernetes.audit.requestURI,\
         kubernetes.audit.user.username,kubernetes.audit.responseStatus.code\n\
         get,1,ResponseComplete,/api/v1/namespaces/op-ns/secrets/s,{ACCOUNT},200\n"
    );
    assert_eq!(said(&read(&table)), [CALL]);
}

#[test]
fn other_keys_with_dots_are_none() {
    for text in [
        r#"{"kubernetes.pod.name":"p"}"#,
        r#"{"kubernetes.audit.verb":"get"}"#,
        r#"{"kubernetes.audit.verb":"get","kubernetes.audit.user.username":{"a":1},"kubernetes.audit.requestURI":"/x"}"#,
        r#"{"text":"\"kubernetes.audit.verb\""}"#,
    ] {
        assert_eq!(read(text).quality.events, 0, "{text}");
    }
}
