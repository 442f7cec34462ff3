//! `rolecall verify`: whose the roles are, what the log leaves open, and what is no waste though nothing asks for it.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Answer, rolecall, text};

const RBAC: &str = "apiVersion: rbac.authorization.k8s.io/v1";

/// Role files and a log of `ns/op`.
struct Case(TempDir);

impl Case {
    fn new(role: &str, events: &[Value]) -> Self {
        let case = Self(TempDir::new().unwrap());
        let log: String = events.iter().map(|event| format!("{event}\n")).collect();
        case.write("audit.log", &log);
        case.write("role.yaml", role);
        case
    }

    fn write(&self, name: &str, content: &str) -> String {
        let path = self.0.path().join(name);
        fs::write(&path, content).unwrap();
        text(&path).to_owned()
    }

    fn path(&self, name: &str) -> String {
        text(&self.0.path().join(name)).to_owned()
    }

    fn verify(&self, args: &[&str]) -> Answer {
        let own =
            ["verify", "--role", &self.path("role.yaml"), "--subject", "ns/op", "--audit", &self.path("audit.log")];
        rolecall(&[&own, args].concat())
    }

    fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.verify(&[&["-o", "json"], args].concat()).stdout).unwrap()
    }

    /// Exit codes as it is, and under --strict.
    fn codes(&self, args: &[&str]) -> (i32, i32) {
        (self.verify(args).code, self.verify(&[&["--strict"], args].concat()).code)
    }

    /// What `role` makes of manifests and this log is the role.
    fn cut(&self, manifests: &str) -> Answer {
        let manifests = self.write("manifests.yaml", manifests);
        let cut = rolecall(&["role", &manifests, "--audit", &self.path("audit.log"), "--subject", "ns/op"]);
        assert_eq!(cut.code, 0, "{}", cut.stderr);
        self.write("role.yaml", &cut.stdout);
        cut
    }
}

/// An event of `ns/op` with a body; `null` is level Metadata.
fn event(verb: &str, code: u16, uri: &str, body: Value) -> Value {
    let level = if body.is_null() { "Metadata" } else { "RequestResponse" };
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": level, "auditID": format!("{verb}{uri}"),
        "stage": "ResponseComplete", "requestURI": uri, "verb": verb,
        "user": {"username": "system:serviceaccount:ns:op"}, "responseStatus": {"code": code},
        "requestReceivedTimestamp": "2026-12-03T00:00:01.000000Z",
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
    });
    if !body.is_null() {
        event["requestObject"] = body;
    }
    event
}

fn role(kind: &str, name: &str, rules: &str) -> String {
    format!("{RBAC}\nkind: {kind}\nmetadata: {{name: {name}}}\nrules: [{rules}]\n---\n")
}

/// A binding of that kind, of a role to a subject as YAML.
fn binding(kind: &str, role: &str, subject: &str) -> String {
    format!(
        "{RBAC}\nkind: {kind}\nmetadata: {{name: b}}\nroleRef: {{apiGroup: rbac.authorization.k8s.io, {role}}}\n\
         subjects: [{subject}]\n---\n"
    )
}

const OP: &str = "{kind: ServiceAccount, name: op, namespace: ns}";
const READS: &str = "{apiGroups: [''], resources: [configmaps], verbs: [get]}";
const SECRETS: &str = "{apiGroups: [''], resources: [secrets], verbs: [get]}";
const BINDS: &str = "{apiGroups: [rbac.authorization.k8s.io], resources: [rolebindings], verbs: [create]}";
const WRITES: &str = "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [update]}";

fn reads() -> [Value; 2] {
    ["configmaps", "secrets"]
        .map(|resource| event("get", 200, &format!("/api/v1/namespaces/ns/{resource}/a"), Value::Null))
}

fn missing(answer: &Value) -> Vec<String> {
    let missing = answer["missing"].as_array().unwrap();
    missing.iter().map(|missing| missing["permission"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_role_bound_to_nobody_or_to_others_is_not_the_subjects() {
    let manager =
        role("ClusterRole", "manager", READS) + &binding("ClusterRoleBinding", "kind: ClusterRole, name: manager", OP);
    let people = role("ClusterRole", "people", SECRETS);
    let others =
        people.clone() + &binding("ClusterRoleBinding", "kind: ClusterRole, name: people", "{kind: User, name: me}");
    for beside in [people, others] {
        let case = Case::new(&(manager.clone() + &beside), &reads());
        assert_eq!(missing(&case.json(&[])), ["get secrets"], "{beside}");
        assert_eq!(case.verify(&[]).code, 1);
    }
}

#[test]
fn a_role_counts_without_a_binding_only_where_there_is_none_at_all() {
    let roles = role("Role", "r", READS) + &role("ClusterRole", "s", SECRETS);
    let case = Case::new(&roles, &reads());
    let answer = case.verify(&[]);
    assert_eq!(case.codes(&[]), (0, 0));
    let note = "note: the input has no binding: the rules of ClusterRole s, Role ns/r are taken as those of ns/op";
    assert!(answer.stdout.contains(note), "{}", answer.stdout);
    // Of another.
    let other = binding("RoleBinding", "kind: Role, name: r", "{kind: ServiceAccount, name: other, namespace: ns}");
    case.write("role.yaml", &(roles + &other));
    let answer = case.verify(&[]);
    assert_eq!((answer.code, missing(&case.json(&[])).len()), (1, 2));
    let note = "note: no binding of the input names ns/op, so none of its roles counts; they name ns/other";
    assert!(answer.stdout.contains(note), "{}", answer.stdout);
    // In another file: one input.
    let binding = case.write("binding.yaml", &binding("RoleBinding", "kind: Role, name: r", OP));
    case.write("role.yaml", &role("Role", "r", READS));
    assert_eq!(missing(&case.json(&["--role", &binding])), ["get secrets"]);
}

#[test]
fn a_binding_that_kubernetes_refuses_grants_nothing() {
    let refused = |binding: String, why: &str| {
        let roles = role("Role", "r", READS) + &role("ClusterRole", "r", READS);
        let case = Case::new(&(roles + &binding), &reads()[..1]);
        let answer = case.verify(&[]);
        assert_eq!((answer.code, answer.stdout.contains(why)), (i32::from(!why.is_empty()), true), "{}", answer.stdout);
    };
    let without = "{kind: ServiceAccount, name: op}";
    refused(binding("ClusterRoleBinding", "kind: Role, name: r", OP), "b grants nothing: it names Role r");
    refused(binding("ClusterRoleBinding", "kind: ClusterRole, name: r", without), "its account op has no namespace");
    let both = format!("{OP}, {{kind: ServiceAccount, name: other}}");
    refused(binding("ClusterRoleBinding", "kind: ClusterRole, name: r", &both), "its account other has no namespace");
    refused(binding("ClusterRoleBinding", "kind: ClusterRole, name: r", OP), "");
    // A RoleBinding's account is in its namespace.
    refused(binding("RoleBinding", "kind: Role, name: r", without), "");
    refused(binding("RoleBinding", "kind: ClusterRole, name: r", OP), "");
    let nothing = binding("RoleBinding", "kind: Role, name: gone", OP);
    refused(nothing, "binding b names Role ns/gone, which is not in the input");
}

/// It binds the ClusterRole `handed` in another namespace.
fn binds() -> [Value; 1] {
    let body = json!({
        "kind": "RoleBinding", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "x"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "handed"}, "subjects": [],
    });
    [event("create", 201, "/apis/rbac.authorization.k8s.io/v1/namespaces/other/rolebindings", body)]
}

fn op(rules: &str) -> String {
    role("ClusterRole", "r", rules) + &binding("ClusterRoleBinding", "kind: ClusterRole, name: r", OP)
}

#[test]
fn a_bound_role_of_unknown_rules_is_a_doubt_unless_the_role_has_rules_to_spare_or_bind() {
    let case = Case::new(&op(BINDS), &binds());
    let answer = case.verify(&[]);
    assert_eq!(answer.code, 3, "{}", answer.stdout);
    let doubt = "  bind clusterroles.rbac.authorization.k8s.io `handed` in other, or the rules of ClusterRole handed: binds a role";
    assert!(answer.stdout.contains(doubt), "{}", answer.stdout);
    let json = case.json(&[]);
    assert_eq!((&json["missing"], &json["doubtful"][0]["boundRole"]), (&json!([]), &json!("ClusterRole handed")));
    // What is to spare may be those rules, and is not to be cut.
    case.write("role.yaml", &op(&format!("{BINDS}, {SECRETS}")));
    assert_eq!(case.codes(&[]), (0, 3));
    let answer = case.json(&[]);
    assert_eq!((&answer["doubtful"], &answer["leftover"]), (&json!([]), &json!([])));
    assert_eq!(answer["mayBeNeeded"][0]["rule"]["resources"], json!(["secrets"]), "{answer}");
    let text = case.verify(&[]).stdout;
    assert!(
        text.contains("but may be needed (1): it binds roles") && text.contains("  get secrets (cluster)"),
        "{text}"
    );
    // In another namespace it is none.
    let elsewhere = op(BINDS)
        + &role("Role", "s", SECRETS)
        + &binding("RoleBinding", "kind: Role, name: s", OP).replace("name: b", "name: c");
    case.write("role.yaml", &elsewhere);
    assert_eq!(case.codes(&[]), (3, 3));
    let bind =
        "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [handed], verbs: [bind]}";
    case.write("role.yaml", &op(&format!("{BINDS}, {bind}")));
    assert_eq!(case.codes(&[]), (0, 0), "{}", case.verify(&[]).stdout);
}

#[test]
fn manifests_beside_the_role_tell_the_rules_of_bound_roles_and_give_it_nothing() {
    let manifests = op(&format!("{BINDS}, {SECRETS}")) + &role("ClusterRole", "handed", SECRETS);
    let case = Case::new(&op(BINDS), &binds());
    let beside = case.write("m.yaml", &manifests);
    assert_eq!(case.codes(&[&beside]), (1, 1));
    // By both ways.
    assert_eq!(missing(&case.json(&[&beside])), ["bind clusterroles.rbac.authorization.k8s.io"]);
    let cut = case.cut(&manifests);
    assert!(cut.stdout.contains("secrets"), "{}", cut.stdout);
    assert_eq!(case.codes(&[&beside]), (0, 0), "{}", case.verify(&[&beside]).stdout);
    assert_eq!(case.codes(&[]), (0, 3), "without them it is not verified");
}

fn updates(body: bool) -> [Value; 1] {
    let rules = json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]);
    let body = json!({
        "kind": "ClusterRole", "apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "x"}, "rules": rules,
    })
    .as_object()
    .filter(|_| body)
    .map_or(Value::Null, |body| Value::Object(body.clone()));
    [event("update", 200, "/apis/rbac.authorization.k8s.io/v1/clusterroles/x", body)]
}

#[test]
fn rules_of_an_update_are_a_doubt_for_a_role_without_them() {
    let case = Case::new(&op(WRITES), &updates(true));
    let answer = case.verify(&[]);
    assert_eq!(answer.code, 3, "{}", answer.stdout);
    let doubt =
        "  get secrets at cluster scope, or escalate clusterroles.rbac.authorization.k8s.io `x` at cluster scope: ";
    assert!(
        answer.stdout.contains(doubt) && answer.stdout.contains("unless the call changed nothing"),
        "{}",
        answer.stdout
    );
    // Another call is definite.
    let mut events = updates(true).to_vec();
    events.push(event("get", 200, "/api/v1/namespaces/ns/configmaps/a", Value::Null));
    assert_eq!(Case::new(&op(WRITES), &events).codes(&[]), (1, 1));
    // The role under which it worked does not hold them either.
    let works = case.write("m.yaml", &op(WRITES));
    assert_eq!(case.codes(&[&works]), (0, 3));
    for rules in [SECRETS, "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}"] {
        case.cut(&op(&format!("{WRITES}, {rules}")));
        assert_eq!(case.codes(&[]), (0, 0), "{}", case.verify(&[]).stdout);
        assert_eq!(case.json(&[])["leftover"], json!([]));
    }
}

#[test]
fn what_a_missing_body_would_show_is_told_and_fails_only_under_strict() {
    let case = Case::new(&op(WRITES), &updates(false));
    let told = "not verified (1):\n  writes roles: it must hold every rule that it hands out, or `escalate` (update \
                clusterroles); the log does not show which\n";
    assert_eq!(case.codes(&[]), (0, 3));
    assert!(case.verify(&[]).stdout.contains(told), "{}", case.verify(&[]).stdout);
    case.cut(&op(&format!("{WRITES}, {SECRETS}")));
    let answer = case.json(&[]);
    assert_eq!((case.verify(&[]).code, &answer["leftover"]), (0, &json!([])), "{answer}");
    assert!(answer["mayBeNeeded"][0]["reason"].as_str().unwrap().starts_with("it writes roles"), "{answer}");
    // Free of it, what is left over is.
    let escalate = "{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}";
    case.write("role.yaml", &op(&format!("{WRITES}, {SECRETS}, {escalate}")));
    let answer = case.json(&[]);
    assert_eq!((case.codes(&[]), &answer["notVerified"]), ((0, 0), &json!([])));
    assert_eq!(answer["leftover"][0]["rule"]["resources"], json!(["secrets"]), "{answer}");
}

#[test]
fn a_question_that_was_answered_with_yes_is_a_doubt_and_openshifts_checks_are_told() {
    let asked = json!({
        "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1", "metadata": {},
        "spec": {"resourceAttributes": {"namespace": "ns", "verb": "get", "resource": "secrets"}},
    });
    let uri = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let mut answered = event("create", 201, uri, asked.clone());
    answered["responseObject"] = asked;
    answered["responseObject"]["status"] = json!({"allowed": true});
    let case = |event: Value| Case::new(&op(READS), &[event, reads()[0].clone()]);
    assert_eq!(case(answered.clone()).codes(&[]), (3, 3));
    let text = case(answered.clone()).verify(&[]).stdout;
    assert!(text.contains("get secrets in ns: asks whether it may") && text.contains("the answer was yes"), "{text}");
    let mut silent = answered.clone();
    silent["level"] = json!("Request");
    silent.as_object_mut().unwrap().remove("responseObject");
    assert_eq!(case(silent).codes(&[]), (0, 3));
    answered["responseObject"]["status"] = json!({"allowed": false});
    assert_eq!(case(answered).codes(&[]), (0, 0));
    // An owner whose deletion is blocked.
    let owner =
        json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "u", "blockOwnerDeletion": true}]);
    let made = json!({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "ownerReferences": owner}});
    let makes = "{apiGroups: [''], resources: [configmaps], verbs: [create]}";
    let case = Case::new(&op(makes), &[event("create", 201, "/api/v1/namespaces/ns/configmaps", made)]);
    assert_eq!(case.codes(&[]), (0, 3), "{}", case.verify(&[]).stdout);
    assert!(case.verify(&[]).stdout.contains("it would need update deployments/finalizers.apps `d` in ns"));
    assert_eq!(case.codes(&["--platform", "vanilla"]), (0, 0));
    assert_eq!(case.codes(&["--platform", "openshift"]), (1, 1));
}

#[test]
fn a_run_under_the_role_is_compared_with_the_run_that_it_was_cut_from() {
    let call = |verb: &str, code: u16, what: &str| {
        let mut event = event(verb, code, &format!("/api/v1/namespaces/ns/{what}"), Value::Null);
        let decision = if code == 403 { "forbid" } else { "allow" };
        event["annotations"]["authorization.k8s.io/decision"] = json!(decision);
        event
    };
    let pods = |verb: &str, code: u16| call(verb, code, "pods/p");
    let secrets = |code: u16| call("get", code, "secrets/s");
    let case = Case::new(
        &op("{apiGroups: [''], resources: [pods], verbs: [get, delete]}"),
        &[pods("get", 200), pods("delete", 200), secrets(403)],
    );
    let against = |events: &[Value]| {
        let log: String = events.iter().map(|event| format!("{event}\n")).collect();
        let new = case.write("new.log", &log);
        let answer = case.verify(&["--new-log", &new]);
        (answer.code, answer.stdout)
    };
    let (code, text) = against(&[pods("get", 200), secrets(403)]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("In the new run nothing was refused that was not before (2 calls)\n"), "{text}");
    assert!(text.contains("refused in both runs (1): get secrets\n"), "{text}");
    assert!(text.contains("not tried again, so not proven (1): delete pods\n"), "{text}");
    // Refused now: the role is too small.
    let (code, text) = against(&[pods("get", 200), pods("delete", 403)]);
    assert!(
        code == 1 && text.contains("1 permission was refused that was not before:\n  delete pods (1×)\n"),
        "{text}"
    );
    // Another role was there too.
    let (code, text) = against(&[pods("get", 200), secrets(200)]);
    assert!(code == 3 && text.contains("not under this role alone (1): get secrets\n"), "{text}");
    assert_eq!(against(&[]).0, 3);
}
