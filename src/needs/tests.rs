use super::*;
use crate::audit::{Decision, Observed};

fn call(verb: &str, group: &str, resource: &str, code: u16) -> Observed {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Observed {
        user: "u".into(),
        request: Request::Resource(ResourceRequest {
            api_group: group.into(),
            resource: resource.into(),
            subresource: subresource.into(),
            verb: verb.into(),
            namespace: "ns".into(),
            name: "x".into(),
        }),
        origin: Origin::Call,
        decision: Decision::Allowed,
        count: 1,
        codes: [(code, 1)].into(),
        first: String::new(),
        last: String::new(),
        samples: Vec::new(),
        reasons: Vec::new(),
        object_namespace: String::new(),
        level: "Metadata".into(),
    }
}

fn verbs(call: &Observed, minor: (u32, u32)) -> Vec<String> {
    of(call, minor).iter().map(|need| need.request.verb().to_owned()).collect()
}

#[test]
fn create_is_checked_behind_a_patch_or_update_that_creates() {
    assert_eq!(verbs(&call("patch", "apps", "deployments", 201), (1, 36)), ["create"]);
    assert_eq!(verbs(&call("update", "coordination.k8s.io", "leases", 201), (1, 36)), ["create"]);
    assert!(verbs(&call("patch", "apps", "deployments", 200), (1, 36)).is_empty());
    assert!(verbs(&call("create", "apps", "deployments", 201), (1, 36)).is_empty());
    let need = &of(&call("patch", "apps", "deployments", 201), (1, 36))[0];
    let Request::Resource(request) = &need.request else { panic!() };
    assert_eq!((request.name.as_str(), request.namespace.as_str()), ("x", "ns"), "the check carries the name");
}

#[test]
fn a_websocket_exec_needs_create_since_1_35() {
    assert_eq!(verbs(&call("get", "", "pods/exec", 101), (1, 35)), ["create"]);
    assert!(verbs(&call("get", "", "pods/exec", 101), (1, 34)).is_empty());
    assert!(verbs(&call("get", "", "pods/log", 101), (1, 36)).is_empty());
    assert!(verbs(&call("create", "", "pods/exec", 101), (1, 36)).is_empty());
}

#[test]
fn a_watch_brings_its_list() {
    assert_eq!(verbs(&call("watch", "", "pods", 200), (1, 36)), ["list"]);
    assert!(verbs(&call("list", "", "pods", 200), (1, 36)).is_empty());
}

#[test]
fn writes_of_rbac_objects_hint_at_more() {
    assert!(suspected(&call("create", "rbac.authorization.k8s.io", "rolebindings", 201)).unwrap().contains("`bind`"));
    assert!(suspected(&call("get", "rbac.authorization.k8s.io", "rolebindings", 200)).is_none());
    assert!(suspected(&call("update", "certificates.k8s.io", "certificatesigningrequests/approval", 200)).is_some());
    assert!(suspected(&call("update", "certificates.k8s.io", "certificatesigningrequests", 200)).is_none());
    assert!(suspected(&call("create", "", "roles", 201)).is_none());
}
