use super::*;
use crate::analysis::Verdict;
use crate::rbac::Scope;
use crate::rules::fixture::{bind, entry, holding, judged};

fn found(assessment: &Assessment) -> Vec<String> {
    let mark = |grant: &Grant| match grant.verdict {
        Verdict::Unused => Mark::Hit,
        Verdict::Dead => Mark::Neutral,
        _ => Mark::Miss,
    };
    let entries = shipped(assessment);
    let slices = entries.iter().flat_map(|entry| slices(entry, mark));
    let text = |slice: Slice<'_>| {
        let partial = if slice.partial { " partly" } else { "" };
        format!("{:?} {}{partial}: {}", slice.of, slice.token, permission(&slice.grants))
    };
    slices.map(text).collect()
}

/// Everything unused but these `verb resource.group`.
fn used(groups: &str, resources: &str, verbs: &str, used: &[&str]) -> Vec<String> {
    let all = holding(Scope::Cluster, groups, resources, verbs);
    found(&judged(
        all,
        |grant| {
            if used.contains(&permission(&[grant]).as_str()) { Verdict::Used } else { Verdict::Unused }
        },
    ))
}

#[test]
fn an_entry_without_use_is_one_slice() {
    assert_eq!(used("core", "pods secrets", "get list", &[]), ["Entry : get,list pods; get,list secrets"]);
}

#[test]
fn nothing_is_found_where_all_is_used() {
    assert_eq!(used("core", "pods", "get", &["get pods"]), [""; 0]);
}

#[test]
fn a_verb_unused_on_all_resources_is_the_verb() {
    assert_eq!(
        used("core", "pods secrets", "get list", &["get pods", "get secrets"]),
        ["Verb list: list pods; list secrets"]
    );
}

#[test]
fn a_resource_unused_with_all_verbs_is_the_resource() {
    assert_eq!(
        used("core", "pods secrets", "get list", &["get pods", "list pods"]),
        ["Resource secrets: get,list secrets"]
    );
}

#[test]
fn a_group_without_use_is_the_group_and_the_pairs_nobody_meant_are_silent() {
    let found = used(
        "core apps",
        "pods deployments",
        "get list",
        &["get pods", "list pods", "get deployments.apps", "list deployments.apps"],
    );
    assert_eq!(found, [""; 0]);
    let found = used("apps extensions", "deployments", "get", &["get deployments.apps"]);
    assert_eq!(found, ["Group extensions: get deployments.extensions"]);
}

#[test]
fn what_is_left_is_told_by_verb() {
    let found = used("core", "pods secrets nodes", "get list", &["get pods", "list secrets", "get nodes"]);
    assert_eq!(found, ["Verb get partly: get secrets", "Verb list partly: list nodes; list pods"]);
}

#[test]
fn what_does_not_matter_neither_makes_nor_breaks_a_slice() {
    let dead = judged(holding(Scope::Cluster, "core", "pods secrets", "get list"), |grant| match thing(grant) {
        "pods" => Verdict::Dead,
        _ => Verdict::Unused,
    });
    assert_eq!(found(&dead), ["Entry : get,list secrets"]);
    assert_eq!(found(&judged(dead, |_| Verdict::Dead)), [""; 0]);
}

#[test]
fn a_role_bound_twice_is_one_entry_and_a_use_through_either_binding_counts() {
    let once = holding(Scope::Cluster, "core", "pods", "get");
    let second = bind(once, Scope::Namespace("b".to_owned()), "op-role", RoleState::Shipped);
    let mut twice = entry(second, 0, "core", "pods", "get");
    // It is the same role object.
    twice.bindings[1].role = twice.bindings[0].role.clone();
    assert_eq!(shipped(&twice).len(), 1);
    let mixed = judged(twice, |grant| if grant.binding == 0 { Verdict::Used } else { Verdict::Unused });
    assert_eq!(found(&mixed), [""; 0]);
}
