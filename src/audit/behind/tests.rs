use super::*;
use crate::audit::{Collector, Observed, Origin, Usage};
use serde_json::{Value, json};

fn read(events: &[Value]) -> Usage {
    let lines: Vec<String> = events.iter().map(Value::to_string).collect();
    let mut collector = Collector::new();
    collector.read("audit.log", &mut lines.join("\n").as_bytes());
    collector.finish()
}

fn event(verb: &str, uri: &str, code: u16, message: &str, body: Value) -> Value {
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": uri,
        "stage": "ResponseComplete", "requestURI": uri, "verb": verb, "user": {"username": "u"},
        "requestReceivedTimestamp": "2026-12-01T00:00:00Z", "responseStatus": {"code": code, "message": message},
        "requestObject": body, "annotations": {"authorization.k8s.io/decision": "allow"},
    })
}

fn one(event: Value) -> Observed {
    let usage = read(&[event]);
    assert_eq!(usage.calls.len(), 1, "{:?}", usage.calls);
    (*usage.calls[0]).clone()
}

fn shown(verb: &str, uri: &str, code: u16, body: Value) -> (Vec<What>, u64) {
    let call = one(event(verb, uri, code, "", body));
    (call.behind.into_iter().map(|behind| behind.what).collect(), call.unread)
}

fn rule(verb: &str, resource: &str) -> Rule {
    let list = |text: &str| vec![text.to_owned()];
    Rule { verbs: list(verb), api_groups: list(""), resources: list(resource), ..Rule::default() }
}

const ROLES: &str = "/apis/rbac.authorization.k8s.io/v1/namespaces/ns/roles";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";

#[test]
fn written_roles_show_their_rules() {
    let body = json!({"metadata": {"name": "r"}, "rules": [
        {"verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": null}]});
    let rules = What::Rules { name: "r".to_owned(), rules: vec![rule("get", "pods")] };
    assert_eq!(shown("create", ROLES, 201, body.clone()), (vec![rules.clone()], 0));
    assert_eq!(shown("update", &format!("{ROLES}/r"), 200, body.clone()), (vec![rules.clone()], 0));
    // A merge patch replaces the rules, or leaves those that were there.
    assert_eq!(shown("patch", &format!("{ROLES}/r"), 200, body.clone()), (vec![rules.clone()], 0));
    let labels = json!({"metadata": {"labels": {"a": "b"}}});
    assert_eq!(shown("patch", &format!("{ROLES}/r"), 200, labels.clone()), (vec![], 1));
    assert_eq!(shown("patch", &format!("{ROLES}/r"), 200, json!([{"op": "add"}])), (vec![], 1));
    let mut answered = event("patch", &format!("{ROLES}/r"), 200, "", labels);
    answered["responseObject"] = body.clone();
    assert_eq!(one(answered).behind, [Behind { what: rules, refused: false }]);
    assert_eq!(shown("create", ROLES, 201, json!({"rules": []})), (vec![], 0));
    assert_eq!(shown("create", ROLES, 201, Value::Null), (vec![], 1));
    assert_eq!(shown("create", ROLES, 201, json!("a[Truncated...]")), (vec![], 1));
    let aggregates = json!({"aggregationRule": {"clusterRoleSelectors": [{}]}});
    assert_eq!(
        shown("create", "/apis/rbac.authorization.k8s.io/v1/clusterroles", 201, aggregates).0,
        [What::Aggregates]
    );
    // Reads and other groups decide nothing.
    assert_eq!(shown("get", &format!("{ROLES}/r"), 200, body.clone()), (vec![], 0));
    assert_eq!(shown("create", "/apis/example.com/v1/namespaces/ns/roles", 201, body), (vec![], 0));
}

#[test]
fn bindings_signers_policies_and_routes_show_whom_they_name() {
    let role = json!({"roleRef": {"kind": "ClusterRole", "name": "view"}});
    let what = What::RoleRef { role_kind: "ClusterRole".to_owned(), name: "view".to_owned() };
    assert_eq!(shown("create", BINDINGS, 201, role), (vec![what], 0));
    let csr = "/apis/certificates.k8s.io/v1/certificatesigningrequests/c";
    let signer = json!({"spec": {"signerName": "example.com/x"}});
    let what = || vec![What::Signer { name: "example.com/x".to_owned() }];
    assert_eq!(shown("update", &format!("{csr}/approval"), 200, signer.clone()), (what(), 0));
    assert_eq!(shown("update", &format!("{csr}/status"), 200, signer.clone()), (what(), 0));
    assert_eq!(shown("create", "/apis/certificates.k8s.io/v1/certificatesigningrequests", 201, signer), (vec![], 0));
    assert_eq!(shown("patch", &format!("{csr}/approval"), 200, json!({"status": {}})), (vec![], 1));
    let policies = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
    let kind = What::ParamKind { api_version: "v1".to_owned(), param_kind: "ConfigMap".to_owned() };
    let with = json!({"spec": {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}});
    assert_eq!(shown("create", policies, 201, with), (vec![kind], 0));
    assert_eq!(shown("create", policies, 201, json!({"spec": {}})), (vec![], 0));
    let routes = "/apis/route.openshift.io/v1/namespaces/ns/routes";
    assert_eq!(shown("create", routes, 201, json!({"spec": {"host": "a.example.com"}})), (vec![What::Host], 0));
    assert_eq!(shown("create", routes, 201, json!({"spec": {"host": 1, "to": {}}})), (vec![], 0));
}

#[test]
fn owners_are_read_out_of_every_write() {
    let owners = |block: Value| {
        json!({"metadata": {"ownerReferences": [
            {"apiVersion": "example.com/v1", "kind": "Widget", "name": "w", "uid": "1", "blockOwnerDeletion": block}]}})
    };
    let what = || What::BlocksOwner {
        api_version: "example.com/v1".to_owned(),
        owner_kind: "Widget".to_owned(),
        name: "w".to_owned(),
    };
    let maps = "/api/v1/namespaces/ns/configmaps";
    assert_eq!(shown("create", maps, 201, owners(true.into())), (vec![what()], 0));
    assert_eq!(shown("create", maps, 201, owners(false.into())), (vec![], 0));
    assert_eq!(shown("create", maps, 201, owners(Value::Null)), (vec![], 0));
    let update = shown("update", &format!("{maps}/x"), 200, owners(true.into()));
    let has = |made| What::HasOwners { uids: vec!["1".to_owned()], made };
    assert_eq!(update, (vec![what(), has(false)], 0));
    let apply = shown("patch", &format!("{maps}/x"), 201, owners(true.into()));
    assert_eq!(apply, (vec![what(), has(true)], 0));
    // Whatever else the object has, under names that mean something elsewhere.
    for (field, value) in [("rules", json!(["a"])), ("roleRef", json!("edit")), ("spec", json!({"paramKind": "Foo"}))] {
        let mut odd = owners(true.into());
        odd[field] = value;
        assert_eq!(shown("create", "/apis/example.com/v1/namespaces/ns/widgets", 201, odd), (vec![what()], 0));
    }
    // The words alone make no owner.
    assert_eq!(shown("create", maps, 201, json!({"data": {"ownerReferences": "x"}})), (vec![], 0));
}

#[test]
fn a_refusal_tells_which_check_said_no() {
    let refusal = |verb: &str, uri: &str, message: &str, body: Value| one(event(verb, uri, 403, message, body)).behind;
    let refused = |what: What| Behind { what, refused: true };
    let message = "roles.rbac.authorization.k8s.io \"made\" is forbidden: user \"u\" (groups=[\"g\"]) is attempting to \
        grant RBAC permissions not currently held:\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}";
    let body = json!({
        "metadata": {"name": "made"}, "rules": [{"verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"]}],
    });
    let whole = Rule { verbs: vec!["get".to_owned(), "list".to_owned()], ..rule("get", "pods") };
    let rules = |name: &str, rule| refused(What::Rules { name: name.to_owned(), rules: vec![rule] });
    let both = [rules("", rule("list", "pods")), rules("made", whole)];
    assert_eq!(refusal("create", ROLES, message, body), both);
    assert_eq!(refusal("create", ROLES, message, Value::Null), both[..1]);
    let message = "configmaps \"ssa\" is forbidden: User \"u\" cannot create resource \"configmaps\" in API group \"\" \
        in the namespace \"ns\"";
    let check = What::Check {
        request: Request::Resource(crate::rbac::ResourceRequest {
            resource: "configmaps".to_owned(),
            verb: "create".to_owned(),
            namespace: "ns".to_owned(),
            name: "ssa".to_owned(),
            ..Default::default()
        }),
    };
    let maps = "/api/v1/namespaces/ns/configmaps/ssa";
    assert_eq!(refusal("patch", maps, message, json!({})), [refused(check)]);
    let exec = "/api/v1/namespaces/ns/pods/p/exec";
    assert_eq!(refusal("get", exec, "pods \"p\" is forbidden: ", Value::Null), [refused(What::Upgrade)]);
    let csr = "/apis/certificates.k8s.io/v1/certificatesigningrequests/c/approval";
    let message = "certificatesigningrequests.certificates.k8s.io \"c\" is forbidden: user not permitted to approve \
        requests with signerName \"example.com/sign\"";
    let signer = || refused(What::Signer { name: "example.com/sign".to_owned() });
    assert_eq!(refusal("update", csr, message, Value::Null), [signer()]);
    assert_eq!(refusal("update", csr, message, json!({"spec": {"signerName": "example.com/sign"}})), [signer()]);
    for (by, message) in [
        (Refuser::Quota, "configmaps \"x\" is forbidden: exceeded quota: q, requested: count/configmaps=1"),
        (
            Refuser::Terminating,
            "configmaps \"x\" is forbidden: unable to create new content in namespace n because it is being terminated",
        ),
        (Refuser::PodSecurity, "pods \"x\" is forbidden: violates PodSecurity \"restricted:latest\": privileged"),
        (
            Refuser::AdmissionPolicy,
            "configmaps \"x\" is forbidden: ValidatingAdmissionPolicy 'v' with binding 'b' denied request: no",
        ),
        (Refuser::Webhook, "admission webhook \"w.example.com\" denied the request: no"),
        (Refuser::Other, "nobody knows"),
    ] {
        let owners = json!({"metadata": {"ownerReferences": [{"kind": "K", "blockOwnerDeletion": true}]}});
        assert_eq!(
            refusal("create", "/api/v1/namespaces/n/configmaps", message, owners),
            [refused(What::NotPermission { by })]
        );
    }
}

#[test]
fn what_others_write_into_a_refusal_is_not_taken_for_kubernetes_words() {
    let grants = "user \"u\" (groups=[]) is attempting to grant RBAC permissions not currently held:\n\
                  {APIGroups:[\"*\"], Resources:[\"*\"], Verbs:[\"*\"]}";
    let denial = "User \"u\" cannot delete resource \"secrets\" in API group \"\" at the cluster scope";
    let owner = "cannot set blockOwnerDeletion in this case";
    let services = "/api/v1/namespaces/ns/services";
    for text in [grants, denial, owner] {
        for (by, message) in [
            (Refuser::Webhook, format!("admission webhook \"w\" denied the request: {text}")),
            (
                Refuser::Webhook,
                format!("admission webhook \"w\" denied the request: services \"a\" is forbidden: {text}"),
            ),
            (
                Refuser::AdmissionPolicy,
                format!(
                    "services \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: {text}"
                ),
            ),
            (Refuser::Other, format!("services \"is forbidden: {text}\" is forbidden: no")),
            (Refuser::Other, format!("no: services \"a\" is forbidden: {text}")),
        ] {
            let behind = one(event("create", services, 403, &message, json!({}))).behind;
            assert_eq!(behind, [Behind { what: What::NotPermission { by }, refused: true }], "{message}");
        }
    }
    // Nor are rules handed out but by roles and bindings.
    let behind =
        one(event("create", services, 403, &format!("services \"a\" is forbidden: {grants}"), json!({}))).behind;
    assert_eq!(behind, [Behind { what: What::NotPermission { by: Refuser::Other }, refused: true }]);
}

#[test]
fn an_answer_of_less_than_the_object_does_not_say_what_it_holds() {
    let answered = |uri: &str, answer: Value| {
        let mut event = event("patch", uri, 200, "", json!({"metadata": {"labels": {"a": "b"}}}));
        event["responseObject"] = answer;
        let call = one(event);
        (call.behind.into_iter().map(|behind| behind.what).collect::<Vec<_>>(), call.unread)
    };
    let role = format!("{ROLES}/r");
    let rules = json!([{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}]);
    let whole = json!({"kind": "Role", "metadata": {"name": "r"}, "rules": rules});
    let what = What::Rules { name: "r".to_owned(), rules: vec![rule("get", "pods")] };
    assert_eq!(answered(&role, whole), (vec![what], 0));
    for kind in ["PartialObjectMetadata", "Table"] {
        assert_eq!(answered(&role, json!({"kind": kind, "metadata": {"name": "r"}})), (vec![], 1), "{kind}");
    }
    // Owners are metadata.
    let owned = json!({"ownerReferences": [{"kind": "K", "name": "k", "uid": "1"}]});
    let of_metadata =
        answered("/api/v1/namespaces/ns/configmaps/c", json!({"kind": "PartialObjectMetadata", "metadata": owned}));
    assert_eq!(of_metadata, (vec![What::HasOwners { uids: vec!["1".to_owned()], made: false }], 0));
}

#[test]
fn reviews_are_calls_that_are_only_asked_about() {
    let uri = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let attributes = json!({"namespace": "ns", "verb": "update", "group": "g", "resource": "widgets/status"});
    let body = json!({"spec": {"resourceAttributes": attributes}, "status": {"allowed": false}});
    let asked = |event: Value| {
        let usage = read(&[event]);
        let found = usage.calls.iter().find(|call| matches!(call.origin, Origin::Asked | Origin::AskedBy)).cloned();
        found.map(|call| (call.user.clone(), call.origin, call.decision, call.request.clone()))
    };
    let (user, origin, decision, request) = asked(event("create", uri, 201, "", body.clone())).unwrap();
    assert_eq!((&*user, origin, decision), ("u", Origin::Asked, Decision::Undecided));
    let Request::Resource(request) = request else { panic!("a resource") };
    assert_eq!((&*request.resource, &*request.subresource, &*request.verb), ("widgets", "status", "update"));
    for (allowed, decision) in [(true, Decision::Allowed), (false, Decision::Denied)] {
        let mut answered = event("create", uri, 201, "", body.clone());
        answered["responseObject"] = json!({"spec": {}, "status": {"allowed": allowed}});
        assert_eq!(asked(answered).unwrap().2, decision);
    }
    let uri = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    let body = json!({"spec": {"user": "other", "nonResourceAttributes": {"path": "/metrics", "verb": "get"}}});
    let (user, origin, ..) = asked(event("create", uri, 201, "", body)).unwrap();
    assert_eq!((&*user, origin), ("other", Origin::AskedBy));
    assert_eq!(asked(event("create", uri, 201, "", Value::Null)), None);
    assert_eq!(read(&[event("create", uri, 201, "", Value::Null)]).calls[0].unread, 1);
}
