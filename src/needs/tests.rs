use super::*;
use crate::rbac::NonResourceRequest;

const NOW: (u32, u32) = (1, 36);

fn call(verb: &str, group: &str, resource: &str, code: u16) -> Observed {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Observed {
        user: "u".to_owned(),
        request: Request::Resource(ResourceRequest {
            api_group: group.to_owned(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            verb: verb.to_owned(),
            namespace: "ns".to_owned(),
            name: "x".to_owned(),
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
        level: "Metadata".to_owned(),
        impersonators: Vec::new(),
        attributed_from: Vec::new(),
        more_than: None,
    }
}

fn needed(call: &Observed, minor: (u32, u32)) -> Vec<(String, NeedKind)> {
    of(call, minor).into_iter().map(|need| (need.request.verb().to_owned(), need.kind)).collect()
}

#[test]
fn a_write_that_made_its_object_needs_create_with_its_name() {
    for verb in ["patch", "update"] {
        let made = call(verb, "apps", "deployments", 201);
        let needs = of(&made, NOW);
        assert_eq!(needed(&made, NOW), [("create".to_owned(), NeedKind::Checked)]);
        let Request::Resource(request) = &needs[0].request else { panic!("a resource") };
        assert_eq!((&*request.resource, &*request.name, &*request.namespace), ("deployments", "x", "ns"));
        assert_eq!(needed(&call(verb, "apps", "deployments", 200), NOW), []);
    }
    assert_eq!(needed(&call("create", "apps", "deployments", 201), NOW), []);
}

#[test]
fn a_websocket_needs_create_since_1_35() {
    for subresource in ["exec", "attach", "portforward"] {
        let upgraded = call("get", "", &format!("pods/{subresource}"), 101);
        assert_eq!(needed(&upgraded, (1, 35)), [("create".to_owned(), NeedKind::Checked)]);
        assert_eq!(needed(&upgraded, (1, 34)), []);
    }
    assert_eq!(needed(&call("get", "", "pods/log", 101), NOW), []);
    assert_eq!(needed(&call("get", "", "pods/exec", 500), NOW), []);
}

#[test]
fn a_watch_is_one_half_of_a_pair() {
    assert_eq!(needed(&call("watch", "", "pods", 200), NOW), [("list".to_owned(), NeedKind::Pair)]);
    assert_eq!(needed(&call("list", "", "pods", 200), NOW), []);
}

#[test]
fn what_was_not_allowed_needs_nothing_more() {
    for decision in [Decision::Denied, Decision::Undecided] {
        let refused = Observed { decision, ..call("watch", "", "pods", 403) };
        assert_eq!(needed(&refused, NOW), []);
    }
    let check = Observed { origin: Origin::Impersonation, ..call("patch", "", "users", 201) };
    assert_eq!(needed(&check, NOW), []);
    let path = NonResourceRequest { path: "/x".to_owned(), verb: "watch".to_owned() };
    assert_eq!(needed(&Observed { request: Request::NonResource(path), ..check }, NOW), []);
}

#[test]
fn hidden_checks_are_suspected_where_they_exist() {
    let rbac = "rbac.authorization.k8s.io";
    let says = |call: &Observed, word: &str| suspected(call).is_some_and(|text| text.contains(word));
    assert!(says(&call("create", rbac, "roles", 201), "`escalate`"));
    assert!(says(&call("patch", rbac, "clusterroles", 200), "`escalate`"));
    assert!(says(&call("update", rbac, "rolebindings", 200), "`bind`"));
    assert!(says(&call("update", "certificates.k8s.io", "certificatesigningrequests/approval", 200), "`approve`"));
    assert!(says(&call("update", "certificates.k8s.io", "certificatesigningrequests/status", 200), "`sign`"));
    assert!(says(&call("create", "authorization.k8s.io", "selfsubjectaccessreviews", 201), "asks"));
    for (verb, group, resource) in [
        ("get", rbac, "roles"),
        ("delete", rbac, "rolebindings"),
        ("create", "example.com", "roles"),
        ("update", "certificates.k8s.io", "certificatesigningrequests"),
        ("create", "", "pods"),
    ] {
        assert_eq!(suspected(&call(verb, group, resource, 200)), None, "{verb} {resource}");
    }
    let denied = Observed { decision: Decision::Denied, ..call("create", rbac, "roles", 403) };
    assert_eq!(suspected(&denied), None);
}
