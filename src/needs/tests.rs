use super::*;
use crate::api::CustomResource;
use crate::audit::Behind;

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
        attributed: 0,
        behind: Vec::new(),
        unread: 1,
        more_than: None,
    }
}

fn with_cluster<T>(minor: (u32, u32), platform: Platform, run: impl Fn(&Cluster<'_>) -> T) -> T {
    let mut table = Table::for_minor("1.36").unwrap();
    table.add_custom(&CustomResource {
        api_group: "example.com".to_owned(),
        plural: "widgets".to_owned(),
        singular: "widget".to_owned(),
        short_names: Vec::new(),
        kind: "Widget".to_owned(),
        versions: vec!["v1".to_owned()],
        namespaced: true,
        status: true,
        scale: false,
    });
    run(&Cluster { minor, platform, table: &table, roles: &Known })
}

/// Knows one role.
#[derive(Debug)]
struct Known;

impl Roles for Known {
    fn rules(&self, role_kind: &str, _: &str, name: &str) -> Option<Vec<Rule>> {
        (role_kind == "ClusterRole" && name == "view").then(|| vec![rule("get,list", "", "pods")])
    }
}

fn rule(verbs: &str, group: &str, resources: &str) -> Rule {
    let list = |text: &str| text.split(',').map(str::to_owned).collect();
    Rule { verbs: list(verbs), api_groups: list(group), resources: list(resources), ..Rule::default() }
}

fn needed(call: &Observed, minor: (u32, u32)) -> Vec<(String, NeedKind)> {
    let needs = with_cluster(minor, Platform::Vanilla, |cluster| of(call, cluster));
    needs.into_iter().map(|need| (need.ways[0][0].request().verb().to_owned(), need.kind)).collect()
}

/// Every way of every need in words: `verb resource [name] in namespace`, ways apart by ` | `.
fn ways(call: &Observed, platform: Platform, refused: bool) -> Vec<String> {
    let find = if refused { super::refused } else { super::of };
    let ask = |ask: &Ask| {
        let Request::Resource(r) = ask.request() else { return ask.request().verb().to_owned() };
        let place = if r.namespace.is_empty() { String::new() } else { format!(" in {}", r.namespace) };
        let name = if r.name.is_empty() { String::new() } else { format!(" [{}]", r.name) };
        format!("{} {}{name}{place}", r.verb, r.combined())
    };
    let way = |way: &Way| way.iter().map(ask).collect::<Vec<_>>().join(", ");
    let needs = with_cluster(NOW, platform, |cluster| find(call, cluster));
    let of_need = |need: &Need| {
        let ways = need.ways.iter().map(way).collect::<Vec<_>>().join(" | ");
        format!("{:?}: {ways}", need.kind)
    };
    needs.iter().map(of_need).collect()
}

/// The call with this behind it.
fn behind(mut call: Observed, what: What, refused: bool) -> Observed {
    call.behind = vec![Behind { what, refused }];
    call
}

const RBAC: &str = "rbac.authorization.k8s.io";

#[test]
fn a_write_that_made_its_object_needs_create_with_its_name() {
    for verb in ["patch", "update"] {
        let made = call(verb, "apps", "deployments", 201);
        assert_eq!(ways(&made, Platform::Vanilla, false), ["Checked: create deployments [x] in ns"]);
        assert_eq!(needed(&call(verb, "apps", "deployments", 200), NOW), []);
    }
    assert_eq!(needed(&call("create", "apps", "deployments", 201), NOW), []);
}

#[test]
fn a_websocket_needs_create_since_1_35() {
    for subresource in ["exec", "attach", "portforward"] {
        let upgraded = call("get", "", &format!("pods/{subresource}"), 101);
        let (checked, likely) = (("create".to_owned(), NeedKind::Checked), ("create".to_owned(), NeedKind::Likely));
        assert_eq!(needed(&upgraded, (1, 35)), [checked, likely.clone()]);
        assert_eq!(needed(&upgraded, (1, 34)), [likely]);
    }
    assert_eq!(needed(&call("get", "", "pods/log", 101), NOW), []);
    assert_eq!(needed(&call("get", "", "pods/exec", 500), NOW), [("create".to_owned(), NeedKind::Likely)]);
}

#[test]
fn a_watch_is_one_half_of_a_pair() {
    assert_eq!(needed(&call("watch", "", "pods", 200), NOW), [("list".to_owned(), NeedKind::Pair)]);
    assert_eq!(needed(&call("list", "", "pods", 200), NOW), []);
}

#[test]
fn events_and_leases_are_written_by_two_verbs() {
    for group in ["", "events.k8s.io"] {
        assert_eq!(needed(&call("create", group, "events", 201), NOW), [("patch".to_owned(), NeedKind::Pair)]);
        assert_eq!(needed(&call("patch", group, "events", 200), NOW), [("create".to_owned(), NeedKind::Pair)]);
    }
    let lease = call("update", "coordination.k8s.io", "leases", 200);
    assert_eq!(ways(&lease, Platform::Vanilla, false), ["Pair: create leases in ns"]);
    assert_eq!(needed(&call("update", "example.com", "leases", 200), NOW), []);
}

#[test]
fn a_role_s_writer_holds_its_rules_or_escalates() {
    let rules =
        || What::Rules { name: "r".to_owned(), rules: vec![rule("get,*", "", "secrets"), rule("get", "apps", "*")] };
    let create = behind(call("create", RBAC, "roles", 201), rules(), false);
    let wanted = "* secrets in ns, get secrets in ns, get * in ns | escalate roles in ns";
    assert_eq!(ways(&create, Platform::Vanilla, false), [format!("Checked: {wanted}")]);
    // An update may have changed nothing.
    let update = behind(call("update", RBAC, "clusterroles", 200), rules(), false);
    let update = ways(&update, Platform::Vanilla, false);
    assert!(
        update[0].starts_with("Likely: ") && update[0].ends_with("| escalate clusterroles [x] in ns"),
        "{update:?}"
    );
    let refused = behind(call("update", RBAC, "roles", 403), rules(), true);
    assert_eq!(ways(&refused, Platform::Vanilla, false), Vec::<String>::new());
    assert!(ways(&refused, Platform::Vanilla, true)[0].starts_with("Checked: "));
    let aggregates = behind(call("create", RBAC, "clusterroles", 201), What::Aggregates, false);
    assert!(
        ways(&aggregates, Platform::Vanilla, false)[0].starts_with("Checked: escalate clusterroles in ns | *, * *")
    );
}

#[test]
fn a_binding_s_writer_binds_or_holds() {
    let to = |name: &str| What::RoleRef { role_kind: "ClusterRole".to_owned(), name: name.to_owned() };
    let bind = |name| ways(&behind(call("create", RBAC, "rolebindings", 201), to(name), false), Platform::Auto, false);
    assert_eq!(bind("view"), ["Checked: bind clusterroles [view] in ns | get pods in ns, list pods in ns"]);
    assert_eq!(bind("unknown"), ["Likely: bind clusterroles [unknown] in ns"]);
}

#[test]
fn owners_are_checked_where_the_platform_does() {
    let owner = |kind: &str| What::BlocksOwner {
        api_version: "example.com/v1".to_owned(),
        owner_kind: kind.to_owned(),
        name: "w".to_owned(),
    };
    let create = behind(call("create", "", "configmaps", 201), owner("Widget"), false);
    let finalizers = "update widgets/finalizers [w] in ns";
    assert_eq!(ways(&create, Platform::OpenShift, false), [format!("Checked: {finalizers}")]);
    assert_eq!(ways(&create, Platform::Auto, false), [format!("Likely: {finalizers}")]);
    assert_eq!(ways(&create, Platform::Vanilla, false), Vec::<String>::new());
    let refused = behind(call("create", "", "configmaps", 403), owner("Widget"), true);
    assert_eq!(ways(&refused, Platform::Vanilla, true), [format!("Checked: {finalizers}")]);
    // Of a kind that nothing tells of, the resource is a guess.
    for (kind, resource) in [("Gadget", "gadgets"), ("Policy", "policies"), ("Class", "classes")] {
        let guessed = behind(call("create", "", "configmaps", 201), owner(kind), false);
        let expected = format!("Likely: update {resource}/finalizers [w] | update {resource}/finalizers [w] in ns");
        assert_eq!(ways(&guessed, Platform::OpenShift, false), [expected]);
    }
    let unknown = behind(call("create", "", "configmaps", 403), owner("Nothing"), true);
    assert_eq!(ways(&unknown, Platform::Vanilla, true), ["Checked: update */finalizers [w]"]);
}

#[test]
fn a_change_of_owners_is_checked_as_a_delete() {
    let has = |uid: &str, made| What::HasOwners { uids: vec![uid.to_owned()], made };
    let patch = |whats: &[What]| {
        let mut patch = call("patch", "", "configmaps", 200);
        patch.behind.extend(whats.iter().map(|what| Behind { what: what.clone(), refused: false }));
        patch
    };
    let delete = ["Likely: delete configmaps [x] in ns"];
    let nothing = Vec::<String>::new();
    assert_eq!(ways(&patch(&[has("1", false)]), Platform::OpenShift, false), delete);
    assert_eq!(ways(&patch(&[has("1", false)]), Platform::Auto, false), nothing);
    // Made with them, and applied again with the same: nothing changed.
    assert_eq!(ways(&patch(&[has("1", true)]), Platform::OpenShift, false), nothing);
    assert_eq!(ways(&patch(&[has("1", false), has("1", true)]), Platform::OpenShift, false), nothing);
    assert_eq!(ways(&patch(&[has("1", true), has("2", false)]), Platform::OpenShift, false), delete);
    let many = Observed { more_than: Some(1), ..patch(&[has("1", false), has("1", true)]) };
    assert_eq!(ways(&many, Platform::OpenShift, false), delete);
    let refused = behind(call("update", "", "configmaps", 403), What::HasOwners { uids: vec![], made: false }, true);
    assert_eq!(ways(&refused, Platform::Vanilla, true), ["Checked: delete configmaps [x] in ns"]);
}

#[test]
fn signers_parameters_and_hosts_are_checked() {
    let certificates = "certificates.k8s.io";
    let signer = || What::Signer { name: "example.com/sign".to_owned() };
    let of = |resource: &str| {
        let call = behind(call("update", certificates, resource, 200), signer(), false);
        ways(&call, Platform::Vanilla, false)
    };
    let both = |kind: &str, verb: &str| {
        [format!("{kind}: {verb} signers [example.com/sign] | {verb} signers [example.com/*]")]
    };
    assert_eq!(of("certificatesigningrequests/approval"), both("Checked", "approve"));
    assert_eq!(of("certificatesigningrequests/status"), both("Likely", "sign"));
    assert_eq!(of("clustertrustbundles"), both("Likely", "attest"));
    let kind = What::ParamKind { api_version: "v1".to_owned(), param_kind: "ConfigMap".to_owned() };
    let policy = call("create", "admissionregistration.k8s.io", "validatingadmissionpolicies", 201);
    let policy = ways(&behind(policy, kind, false), Platform::Vanilla, false);
    assert_eq!(policy, ["Checked: get configmaps [*] in *"]);
    let route = behind(call("update", "route.openshift.io", "routes", 200), What::Host, false);
    let hosts = "Likely: update routes/custom-host [x] in ns | create routes/custom-host [x] in ns";
    assert_eq!(ways(&route, Platform::OpenShift, false), [hosts]);
}

#[test]
fn what_it_asks_for_is_needed_where_it_is_held() {
    let asks = |decision| Observed { origin: Origin::Asked, decision, ..call("list", "", "secrets", 201) };
    for decision in [Decision::Allowed, Decision::Undecided] {
        assert_eq!(ways(&asks(decision), Platform::Vanilla, false), ["Likely: list secrets [x] in ns"]);
    }
    assert_eq!(ways(&asks(Decision::Denied), Platform::Vanilla, false), Vec::<String>::new());
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
    // With the body there is nothing left to suspect.
    assert_eq!(suspected(&Observed { unread: 0, ..call("create", rbac, "roles", 201) }), None);
    assert_eq!(unread(&call("create", rbac, "roles", 201)), Some(Unread::Rules));
    let denied = Observed { decision: Decision::Denied, ..call("create", rbac, "roles", 403) };
    assert_eq!(suspected(&denied), None);
}
