use super::*;
use crate::manifest::{self, Package};
use crate::source::SourceMap;

fn package(text: &str) -> Package {
    let mut sources = SourceMap::default();
    let id = sources.add("m.yaml", text);
    let reading = manifest::read(&sources, id);
    assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
    let mut packages = manifest::package::split(&["m.yaml".to_owned()], vec![("m.yaml".to_owned(), reading.facts)]);
    let mut package = packages.remove(0);
    package.choose_namespace(Some("ns"), &BTreeSet::new());
    package
}

/// `SCOPE ROLE[<CONTRIBUTOR][ via GROUP]: RESOURCES VERBS` of everything that the subject holds.
fn held(text: &str, subject: &str) -> Vec<String> {
    let package = package(text);
    let graph = Graph::build(&package, "1.36");
    let key = SubjectKey::parse(subject);
    let scope_of = |index: usize| {
        let binding = &package.facts.bindings[index];
        binding_scope(binding.kind, package.resolve(binding.namespace.as_ref()))
    };
    let held = graph.held_by(&key, scope_of);
    let lines = held.iter().flat_map(|held| {
        let from = held.contributor.map(|role| format!("<{}", role.name)).unwrap_or_default();
        let via = held.via_group.map(|group| format!(" via {group}")).unwrap_or_default();
        let head = format!("{} {}{from}{via}", held.scope, held.role.name);
        let rule = |entry: &&Entry| format!("{} {}", entry.rule.resources.join(","), entry.rule.verbs.join(","));
        held.entries.iter().map(move |entry| format!("{head}: {}", rule(entry))).collect::<Vec<_>>()
    });
    lines.collect()
}

const ROLES: &str = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: c}
rules: [{apiGroups: [''], resources: [pods], verbs: [get, list]}, {apiGroups: [''], resources: [nodes], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: c, namespace: other}
rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]
---
";

fn binding(kind: &str, namespace: &str, role_kind: &str, role: &str, subject: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: b, namespace: '{namespace}'}}\n\
         roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {role_kind}, name: {role}}}\nsubjects: [{subject}]\n---\n"
    )
}

#[test]
fn a_binding_gives_the_role_of_its_kind_in_its_scope() {
    let op = "{kind: ServiceAccount, name: op, namespace: ns}";
    let cluster = ROLES.to_owned() + &binding("ClusterRoleBinding", "", "ClusterRole", "c", op);
    assert_eq!(held(&cluster, "ns/op"), ["cluster c: pods get,list", "cluster c: nodes get"]);
    let narrow = ROLES.to_owned() + &binding("RoleBinding", "other", "ClusterRole", "c", op);
    assert_eq!(held(&narrow, "ns/op"), ["namespace/other c: pods get,list", "namespace/other c: nodes get"]);
    let role = ROLES.to_owned() + &binding("RoleBinding", "other", "Role", "c", op);
    assert_eq!(held(&role, "ns/op"), ["namespace/other c: secrets get"]);
    // A Role of another namespace is another role.
    let elsewhere = ROLES.to_owned() + &binding("RoleBinding", "ns", "Role", "c", op);
    assert_eq!(held(&elsewhere, "ns/op"), Vec::<String>::new());
    assert_eq!(held(&cluster, "other/op"), Vec::<String>::new());
}

#[test]
fn groups_and_user_names_of_an_account_reach_it() {
    for (subject, via) in [
        ("{kind: Group, name: 'system:serviceaccounts'}", " via system:serviceaccounts"),
        ("{kind: Group, name: 'system:serviceaccounts:ns'}", " via system:serviceaccounts:ns"),
        ("{kind: Group, name: 'system:authenticated'}", " via system:authenticated"),
        ("{kind: User, name: 'system:serviceaccount:ns:op'}", ""),
    ] {
        // The account is known to the graph through its workload alone.
        let pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: ns}\nspec: {serviceAccountName: op, containers: []}\n";
        let text = ROLES.to_owned() + &binding("ClusterRoleBinding", "", "ClusterRole", "c", subject) + pod;
        let expected = [format!("cluster c{via}: pods get,list"), format!("cluster c{via}: nodes get")];
        assert_eq!(held(&text, "ns/op"), expected, "{subject}");
    }
    let other =
        binding("ClusterRoleBinding", "", "ClusterRole", "c", "{kind: Group, name: 'system:serviceaccounts:zz'}");
    assert_eq!(held(&(ROLES.to_owned() + &other), "ns/op"), Vec::<String>::new());
}

#[test]
fn a_subject_without_namespace_is_of_the_namespace_of_its_binding() {
    let subject = "{kind: ServiceAccount, name: op}";
    let text = ROLES.to_owned() + &binding("RoleBinding", "other", "ClusterRole", "c", subject);
    assert_eq!(held(&text, "other/op").len(), 2);
    assert_eq!(held(&text, "ns/op").len(), 0);
}

#[test]
fn an_aggregated_role_holds_what_it_selects_and_not_what_is_written_in_it() {
    let text = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: all}}, {matchExpressions: [{key: also, operator: In, values: [x]}]}]}
rules: [{apiGroups: [''], resources: [overwritten], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: one, labels: {to: all}}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: two, labels: {also: x}}
rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: three, labels: {to: nobody}}
rules: [{apiGroups: [''], resources: [secrets], verbs: [get]}]
---
";
    let text = text.to_owned()
        + &binding("ClusterRoleBinding", "", "ClusterRole", "all", "{kind: ServiceAccount, name: op, namespace: ns}");
    assert_eq!(held(&text, "ns/op"), ["cluster all<one: pods get", "cluster all<two: nodes get"]);
}

#[test]
fn an_aggregated_role_that_selects_nothing_keeps_what_is_written_in_it() {
    let text = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {to: all}}]}
rules: [{apiGroups: [''], resources: [kept], verbs: [get]}]
---
";
    let text = text.to_owned()
        + &binding("ClusterRoleBinding", "", "ClusterRole", "all", "{kind: ServiceAccount, name: op, namespace: ns}");
    assert_eq!(held(&text, "ns/op"), ["cluster all: kept get"]);
}

#[test]
fn shipped_roles_extend_the_built_in_ones_and_take_them_in() {
    let text = "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: viewer, labels: {rbac.authorization.k8s.io/aggregate-to-view: 'true'}}
rules: [{apiGroups: [x.io], resources: [widgets], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: wide}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {rbac.authorization.k8s.io/aggregate-to-edit: 'true'}}]}
rules: []
---
";
    let holder = "{kind: ServiceAccount, name: op, namespace: ns}";
    // `admin` takes in `edit`, which takes in `view`.
    let admin = text.to_owned() + &binding("ClusterRoleBinding", "", "ClusterRole", "admin", holder);
    let admin = held(&admin, "ns/op");
    assert!(admin.contains(&"cluster admin<viewer: widgets get".to_owned()), "{admin:?}");
    let wide = text.to_owned() + &binding("ClusterRoleBinding", "", "ClusterRole", "wide", holder);
    let wide = held(&wide, "ns/op");
    for wanted in ["cluster wide<viewer: widgets get", "cluster wide<view: configmaps"] {
        assert!(wide.iter().any(|line| line.starts_with(wanted)), "{wanted}: {wide:?}");
    }
}

#[test]
fn built_in_roles_are_known_and_missing_ones_are_told_apart() {
    let op = "{kind: ServiceAccount, name: op, namespace: ns}";
    let state = |role: &str| {
        let package = package(&binding("ClusterRoleBinding", "", "ClusterRole", role, op));
        let graph = Graph::build(&package, "1.36");
        let key = SubjectKey::parse("ns/op");
        graph.held_by(&key, |_| Scope::Cluster).first().map(|held| (held.role.known, held.entries.len()))
    };
    assert_eq!(state("cluster-admin"), Some((RoleKnown::BuiltIn, 2)));
    assert!(matches!(state("system:auth-delegator"), Some((RoleKnown::BuiltIn, 2))));
    assert_eq!(state("system:something-of-another-minor"), Some((RoleKnown::BuiltInUnknown, 0)));
    assert_eq!(state("not-there"), Some((RoleKnown::Missing, 0)));
}

#[test]
fn names_of_subjects_are_read_in_both_forms() {
    let account = SubjectKey::ServiceAccount { namespace: "a".into(), name: "b".into() };
    assert_eq!(SubjectKey::parse("a/b"), account);
    assert_eq!(SubjectKey::parse("system:serviceaccount:a:b"), account);
    assert_eq!(account.user(), "system:serviceaccount:a:b");
    for user in [
        "alice",
        "system:serviceaccount:a",
        "system:serviceaccount:a:b:c",
        "a/b/c",
        "/b",
        "a/",
        "arn:aws:iam::1:role/x",
    ] {
        assert_eq!(SubjectKey::parse(user), SubjectKey::User(user.to_owned()));
    }
    for possible in ["a/b", "a-1/b.c", "alice", "Jane Doe", "arn:aws:iam::1:role/x", "https://host/realm/x#y", "a:b"] {
        assert!(SubjectKey::parse(possible).is_possible(), "{possible}");
    }
    let long = format!("{}/x", "n".repeat(64));
    for impossible in [
        "",
        " ",
        " a",
        "a\nb",
        "a/b/c",
        "/b",
        "A/b",
        "a.b/c",
        "a b/c",
        "-a/b",
        "a/b..c",
        "system:serviceaccount:a",
        &long,
    ] {
        assert!(!SubjectKey::parse(impossible).is_possible(), "{impossible}");
    }
    let anonymous = SubjectKey::User("system:anonymous".into());
    assert_eq!(anonymous.groups(), ["system:unauthenticated"]);
}
