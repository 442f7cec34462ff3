//! Small inputs on which other tools go wrong, each with the right answer. The numbers are those of the list of such
//! inputs in `../shared/reference/peer-faults.md` (section 4) that concern native JSON lines.

use std::fs;

use rolecall::analysis::{Assessment, Names, Options};
use rolecall::rewrite::role_yaml;

use crate::cli::audit_inputs::rules;
use crate::common::{assess, load, text};

const PODS: &str = "/api/v1/namespaces/op-ns/pods";
const MAPS: &str = "/api/v1/namespaces/op-ns/configmaps";
const SECRETS: &str = "/api/v1/namespaces/op-ns/secrets";

/// One event; what a case needs otherwise is replaced in its text.
fn event(id: &str, code: u16, verb: &str, uri: &str) -> String {
    let decision = if code == 403 { "forbid" } else { "allow" };
    serde_json::json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": id, "stage": "ResponseComplete",
        "requestURI": uri, "verb": verb, "user": {"username": "system:serviceaccount:op-ns:op"},
        "responseStatus": {"code": code}, "requestReceivedTimestamp": "2026-11-03T09:00:00.000000Z",
        "annotations": {"authorization.k8s.io/decision": decision}
    })
    .to_string()
}

/// The same call before its answer.
fn received(id: &str, verb: &str, uri: &str) -> String {
    let mut event: serde_json::Value = serde_json::from_str(&event(id, 200, verb, uri)).unwrap();
    event["stage"] = "RequestReceived".into();
    event.as_object_mut().unwrap().retain(|key, _| key != "responseStatus" && key != "annotations");
    event.to_string()
}

fn judged(log: impl AsRef<[u8]>, manifests: &str, names: Names) -> Assessment {
    let folder = tempfile::tempdir().unwrap();
    let (file, yaml) = (folder.path().join("audit.log"), folder.path().join("m.yaml"));
    fs::write(&file, log).unwrap();
    fs::write(&yaml, manifests).unwrap();
    let paths = if manifests.is_empty() { vec![] } else { vec![text(&yaml)] };
    let loaded = load(&paths, &[text(&file)]);
    assess(&loaded, "op-ns/op", Options { names, ..Options::default() })
}

/// The minimal role of these lines, in short.
fn role(lines: &[String]) -> Vec<String> {
    let assessment = judged(lines.join("\n"), "", Names::Shipped);
    assessment.minimal.as_ref().map(|minimal| rules(&role_yaml::render(&assessment, minimal))).unwrap_or_default()
}

fn named(lines: &[String]) -> Vec<String> {
    let assessment = judged(lines.join("\n"), "", Names::All);
    rules(&role_yaml::render(&assessment, assessment.minimal.as_ref().unwrap()))
}

fn get(name: &str) -> String {
    event(name, 200, "get", &format!("{PODS}/{name}"))
}

#[test]
fn p1_to_p3_and_p7_lines_that_are_cut_garbled_blank_or_long_cost_themselves() {
    let pods = ["ns op-ns: pods get"];
    let cut = get("b")[..120].to_owned();
    assert_eq!(role(&[get("a"), cut]), pods);
    assert_eq!(
        role(&[get("a"), "garbage".to_owned(), event("n", 200, "list", "/api/v1/nodes")]),
        ["cluster: nodes list", pods[0]]
    );
    assert_eq!(role(&[String::new(), get("a")]), pods);
    assert_eq!(role(&[format!("\u{feff}{}\r", get("a")), format!("{}\r", get("b"))]), pods);
    let big =
        get("b").replace("\"level\"", &format!("\"requestObject\":{{\"data\":\"{}\"}},\"level\"", "x".repeat(5 << 20)));
    assert_eq!(named(&[get("a"), big, get("c")]), ["ns op-ns: pods [a,b,c] get"]);
}

#[test]
fn p9_to_p14_what_counts_as_use_follows_the_authorizer() {
    let none: Vec<String> = vec![];
    let secret = format!("{SECRETS}/s");
    // 9, 10: stages of one request.
    let denied = [received("d", "delete", &secret), event("d", 403, "delete", &secret), get("a")];
    assert_eq!(role(&denied), ["ns op-ns: pods get"]);
    assert_eq!(judged(denied.join("\n"), "", Names::Shipped).minimal.unwrap().denied, ["delete secrets in op-ns (1×)"]);
    let twice = judged([received("a", "get", &secret), event("a", 200, "get", &secret)].join("\n"), "", Names::Shipped);
    assert_eq!(twice.evidence.unwrap().calls, 1);
    // 11: a watch still open when the log ends.
    let started =
        event("w", 200, "watch", &format!("{SECRETS}?watch=true")).replace("ResponseComplete", "ResponseStarted");
    assert_eq!(role(&[started]), ["ns op-ns: secrets list,watch"]);
    // 12: allowed and then refused by something else.
    for code in [404, 409, 422, 400, 429, 500, 504] {
        assert_eq!(role(&[event("x", code, "get", &secret)]), ["ns op-ns: secrets get"], "{code}");
    }
    let bare = |code: u16| {
        let event = event("x", code, "get", &secret);
        event
            .replace(r#""authorization.k8s.io/decision":"allow""#, "")
            .replace(r#""authorization.k8s.io/decision":"forbid""#, "")
    };
    assert_eq!(role(&[bare(401)]), none);
    assert_eq!(role(&[bare(429)]), none);
    // 13: 403 of admission after allow.
    let admission = event("x", 403, "create", SECRETS).replace("\"forbid\"", "\"allow\"");
    assert_eq!(role(&[admission]), ["ns op-ns: secrets create"]);
    // 14: a refused impersonation says nothing of the object.
    let message = r#""responseStatus":{"code":403,"message":"users \"bob\" is forbidden: User \"system:serviceaccount:op-ns:op\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope"}"#;
    let refused = bare(403).replace(r#""responseStatus":{"code":403}"#, message);
    let assessment = judged([refused, get("a")].join("\n"), "", Names::Shipped);
    assert_eq!(assessment.minimal.unwrap().denied, ["impersonate users at cluster scope (1×)"]);
}

#[test]
fn p15_to_p23_verbs_subresources_and_names_stay_what_they_are() {
    // 15
    let exec = event("e", 101, "get", &format!("{PODS}/p/exec?command=sh"));
    assert_eq!(role(&[exec]), ["ns op-ns: pods/exec get,create"]);
    // 16
    assert_eq!(role(&[event("l", 200, "get", &format!("{PODS}/p/log"))]), ["ns op-ns: pods/log get"]);
    // 17, 18: create has a name for subresources only.
    let token = event("t", 201, "create", "/api/v1/namespaces/op-ns/serviceaccounts/agent/token");
    assert_eq!(named(&[token]), ["ns op-ns: serviceaccounts/token [agent] create"]);
    assert_eq!(named(&[event("c", 201, "create", MAPS)]), ["ns op-ns: configmaps create"]);
    // 19: server-side apply and create on update, by their answer.
    let web = "/apis/apps/v1/namespaces/op-ns/deployments/web";
    assert_eq!(named(&[event("p", 201, "patch", web)]), ["ns op-ns: apps deployments [web] create,patch"]);
    assert_eq!(named(&[event("p", 200, "patch", web)]), ["ns op-ns: apps deployments [web] patch"]);
    let lease = "/apis/coordination.k8s.io/v1/namespaces/op-ns/leases/lock";
    assert_eq!(
        named(&[event("u", 201, "update", lease)]),
        ["ns op-ns: coordination.k8s.io leases [lock] create,update"]
    );
    // 20: names are not shared between verbs.
    let maps = [
        event("1", 200, "get", &format!("{MAPS}/a")),
        event("2", 200, "get", &format!("{MAPS}/b")),
        event("3", 200, "update", &format!("{MAPS}/a")),
    ];
    assert_eq!(named(&maps), ["ns op-ns: configmaps [a,b] get", "ns op-ns: configmaps [a] update"]);
    // 21
    let one = event("l", 200, "list", &format!("{SECRETS}?fieldSelector=metadata.name%3Ds"));
    assert_eq!(named(&[one]), ["ns op-ns: secrets [s] list"]);
    // 22, 23
    let informer = [event("l", 200, "list", SECRETS), event("w", 200, "watch", &format!("{SECRETS}?watch=1"))];
    assert_eq!(role(&informer), ["ns op-ns: secrets list,watch"]);
    assert_eq!(role(&[event("d", 200, "deletecollection", PODS)]), ["ns op-ns: pods deletecollection"]);
    assert_eq!(role(&[event("d", 200, "delete", &format!("{PODS}/p"))]), ["ns op-ns: pods delete"]);
}

#[test]
fn p24_to_p28_scope_paths_and_impersonation() {
    // 24, 25
    let two = [
        event("1", 200, "get", "/api/v1/namespaces/ns1/secrets/s"),
        event("2", 200, "get", "/api/v1/namespaces/ns2/secrets/s"),
    ];
    assert_eq!(role(&two), ["ns ns1: secrets get", "ns ns2: secrets get"]);
    let wide = [event("1", 200, "list", "/api/v1/pods"), event("2", 200, "get", "/api/v1/namespaces/ns1/pods/p")];
    assert_eq!(role(&wide), ["cluster: pods list", "ns ns1: pods get"]);
    // 26
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x";
    assert_eq!(
        role(&[event("1", 200, "get", "/api/v1/nodes/n"), event("2", 200, "get", crd)]),
        ["cluster: apiextensions.k8s.io customresourcedefinitions get", "cluster: nodes get"]
    );
    // 27
    let paths =
        ["/metrics?x=1", "/version?timeout=32s", "/readyz?verbose", "/apis"].map(|uri| event(uri, 200, "get", uri));
    assert_eq!(role(&paths), ["cluster: /metrics get"]);
    // 28
    let alice = event("1", 200, "list", "/api/v1/secrets").replace(
        "\"verb\"",
        r#""impersonatedUser":{"username":"alice","uid":"7","groups":["dev","system:authenticated"],"extra":{"team":["x"]}},"verb""#,
    );
    assert_eq!(
        named(&[alice]),
        [
            "cluster: authentication.k8s.io uids [7] impersonate",
            "cluster: authentication.k8s.io userextras/team [x] impersonate",
            "cluster: groups [dev] impersonate",
            "cluster: users [alice] impersonate"
        ]
    );
}

/// A role with this rule, bound to this subject by this kind of binding.
fn bound(rule: &str, binding: &str, subject: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: c}}\nrules: [{rule}]\n---\n\
         apiVersion: rbac.authorization.k8s.io/v1\nkind: {binding}\nmetadata: {{name: c, namespace: op-ns}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: c}}\nsubjects: [{subject}]\n"
    )
}

const OP: &str = "{kind: ServiceAccount, name: op, namespace: op-ns}";

fn verdicts(rule: &str, binding: &str, subject: &str, lines: &[String]) -> Vec<String> {
    let assessment = judged(lines.join("\n"), &bound(rule, binding, subject), Names::Shipped);
    assessment.grants.iter().map(|grant| format!("{:?}", grant.verdict)).collect()
}

#[test]
fn p29_to_p36_and_p39_grants_are_judged_as_kubernetes_matches_them() {
    let cluster = "ClusterRoleBinding";
    let lists = [event("l", 200, "list", "/api/v1/pods")];
    // 29, 32: checked without an event.
    for rule in [
        "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [view], verbs: [bind]}",
        "{apiGroups: [security.openshift.io], resources: [securitycontextconstraints], verbs: [use]}",
        "{apiGroups: [certificates.k8s.io], resources: [signers], verbs: [approve, sign]}",
    ] {
        let verdicts = verdicts(rule, cluster, OP, &lists);
        assert!(
            !verdicts.is_empty() && verdicts.iter().all(|verdict| verdict == "Unobservable"),
            "{rule}: {verdicts:?}"
        );
    }
    // 33
    let scale = [event("s", 200, "update", "/apis/apps/v1/namespaces/op-ns/deployments/web/scale")];
    for (rule, lines, expected) in [
        ("{apiGroups: ['*'], resources: ['*'], verbs: ['*']}", &lists, "Used"),
        ("{apiGroups: ['*'], resources: [pods], verbs: [list]}", &lists, "Used"),
        ("{apiGroups: [apps], resources: ['*/scale'], verbs: [update]}", &scale, "Used"),
        ("{apiGroups: [''], resources: ['pods/*'], verbs: [list]}", &lists, "Dead"),
        ("{apiGroups: [core], resources: [pods], verbs: [list]}", &lists, "Dead"),
        ("{apiGroups: [''], resources: [pods], resourceNames: [], verbs: [list]}", &lists, "Used"),
        ("{apiGroups: [''], resources: [pods], resourceNames: [a], verbs: [list]}", &lists, "Unused"),
    ] {
        assert_eq!(verdicts(rule, cluster, OP, lines), [expected], "{rule}");
    }
    // 34: granted in one namespace, called in another.
    let secrets = "{apiGroups: [''], resources: [secrets], verbs: [get]}";
    let elsewhere = [event("g", 200, "get", "/api/v1/namespaces/other-ns/secrets/s")];
    assert_eq!(verdicts(secrets, "RoleBinding", OP, &elsewhere), ["Unused"]);
    // 35, 36: who is meant.
    let here = [event("g", 200, "get", &format!("{SECRETS}/s"))];
    for (subject, expected) in [
        ("{kind: ServiceAccount, name: op}", vec!["Used"]),
        ("{kind: ServiceAccount, name: op, namespace: other}", vec![]),
        ("{kind: Group, name: 'system:serviceaccounts:op-ns'}", vec!["Used"]),
        ("{kind: Group, name: 'system:authenticated'}", vec!["Used"]),
        ("{kind: Group, name: 'system:serviceaccounts:other'}", vec![]),
    ] {
        assert_eq!(verdicts(secrets, "RoleBinding", subject, &here), expected, "{subject}");
    }
}

#[test]
fn p48_a_role_fed_back_with_its_log_leaves_nothing_unused_and_nothing_unexplained() {
    let lines = [
        get("a"),
        event("l", 200, "list", "/api/v1/nodes"),
        event("m", 200, "get", "/metrics"),
        event("c", 201, "create", MAPS),
    ];
    let first = judged(lines.join("\n"), "", Names::Shipped);
    let yaml = role_yaml::render(&first, first.minimal.as_ref().unwrap());
    let second = judged(lines.join("\n"), &yaml, Names::Shipped);
    assert_eq!(second.grants.len(), 4);
    assert!(second.grants.iter().all(|grant| format!("{:?}", grant.verdict) == "Used"), "{:?}", second.grants);
    assert!(second.calls.iter().all(|call| format!("{:?}", call.verdict) == "Covered"));
    assert_eq!((second.points.held, second.points.used), (3, Some(3)));
}
