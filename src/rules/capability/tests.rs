use super::*;
use crate::analysis::RoleState;
use crate::finding::Severity;
use crate::rules::fixture::{bind, doc, entry, holding, in_ns, run, subject};

#[test]
fn the_class_is_that_of_the_binding_and_names_are_a_class_of_their_own() {
    for (scope, resource, severity) in [
        (Scope::Cluster, "secrets", Severity::Critical),
        (in_ns(), "secrets", Severity::High),
        (Scope::Cluster, "secrets:a,b", Severity::Info),
    ] {
        let findings = run("RC031", &holding(scope, "core", resource, "list"));
        assert_eq!(findings.iter().map(|f| f.severity).collect::<Vec<_>>(), [severity]);
    }
}

#[test]
fn a_finding_points_at_the_verb_or_at_the_resource_of_several_verbs() {
    let one = &run("RC031", &holding(Scope::Cluster, "core", "pods secrets", "get list"))[0];
    assert_eq!((one.location_of, one.location.line, one.location.column), (LocationOf::Verb, 12, 2));
    let two = &run("RC031", &holding(Scope::Cluster, "core", "pods secrets", "get list watch"))[0];
    assert_eq!((two.location_of, two.location.line, two.location.column), (LocationOf::Resource, 11, 2));
    assert_eq!(two.permission, "list,watch secrets");
}

#[test]
fn the_chain_leads_from_the_workload_to_the_entry() {
    let finding = &run("RC031", &holding(Scope::Cluster, "core", "secrets", "list"))[0];
    let chain: Vec<&str> = finding.chain.iter().map(|link| link.label.as_str()).collect();
    assert_eq!(
        chain,
        [
            "Deployment op-ns/op",
            "ServiceAccount op-ns/op",
            "ClusterRoleBinding op-binding",
            "ClusterRole op-role",
            "rule entry 1"
        ]
    );
    assert!(finding.chain.iter().all(|link| link.location.is_some()));
    assert!(finding.related.iter().any(|place| place.label == "ClusterRoleBinding op-binding"));
    assert_eq!(finding.controls.first().map(String::as_str), Some("AC-6"));
    assert_eq!(finding.message, "Secrets can be listed with their contents: `list secrets` in the whole cluster");
}

#[test]
fn a_wildcard_is_named_and_an_exact_grant_is_more_telling() {
    let wild = holding(Scope::Cluster, "core", "*", "list");
    assert!(run("RC031", &wild)[0].message.ends_with("(through `*`)"));
    let both = entry(wild, 1, "core", "secrets", "list");
    let finding = &run("RC031", &both)[0];
    assert_eq!(finding.location.line, 22);
    assert!(finding.related.iter().any(|place| place.label == "also through rule entry 1 of ClusterRole op-role"));
}

#[test]
fn all_of_joins_bindings_of_one_scope_only() {
    let rbac = "rbac.authorization.k8s.io";
    let other = Scope::Namespace("other".to_owned());
    let held = |first: Scope, second: Scope| {
        let bound = entry(bind(subject(), first, "a", RoleState::Shipped), 0, rbac, "roles", "escalate");
        entry(bind(bound, second, "b", RoleState::Shipped), 0, rbac, "roles", "create")
    };
    let classes =
        |assessment: Assessment| run("RC099", &assessment).iter().map(|finding| finding.scope).collect::<Vec<_>>();
    assert_eq!(classes(held(Scope::Cluster, Scope::Cluster)), [ScopeClass::Cluster]);
    assert_eq!(classes(held(Scope::Cluster, in_ns())), [ScopeClass::Namespace]);
    assert_eq!(classes(held(in_ns(), in_ns())), [ScopeClass::Namespace]);
    assert_eq!(classes(held(in_ns(), other)), []);
}

#[test]
fn what_is_dead_or_everything_is_not_a_capability() {
    let mut dead = holding(Scope::Cluster, "core", "secrets", "list");
    dead.grants[0].verdict = Verdict::Dead;
    assert!(run("RC031", &dead).is_empty());
    assert!(run("RC031", &holding(Scope::Cluster, "*", "*", "*")).is_empty());
}

#[test]
fn a_built_in_role_is_pointed_at_where_the_binding_names_it() {
    let edit = entry(bind(subject(), Scope::Cluster, "edit", RoleState::BuiltIn), 0, "core", "secrets", "get list");
    let finding = &run("RC031", &edit)[0];
    assert_eq!((finding.location_of, finding.location.line), (LocationOf::Name, 802));
}

#[test]
fn a_role_bound_to_nobody_is_less_certain() {
    let mut unbound = holding(Scope::Cluster, "core", "secrets", "list");
    unbound.subject.unbound = true;
    assert_eq!(doc("RC031").confidence, crate::finding::Confidence::High);
    assert_eq!(run("RC031", &unbound)[0].confidence, crate::finding::Confidence::Medium);
}
