//! Covers: exact, few, readable, stable.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::words;
use crate::rbac::cover::{Entry, rules};
use crate::rbac::{PermissionSet, Rule};

fn entries(group: &str, resource: &str, verbs: &str, names: &[&str]) -> Vec<Entry> {
    verbs
        .split(' ')
        .map(|verb| Entry::Resource {
            api_group: group.into(),
            resource: resource.into(),
            verb: verb.into(),
            names: words(names),
        })
        .collect()
}

fn show(rules: &[Rule]) -> Vec<String> {
    rules
        .iter()
        .map(|rule| {
            let parts = [&rule.api_groups, &rule.resources, &rule.resource_names, &rule.non_resource_urls, &rule.verbs];
            parts.map(|part| part.join(",")).join(" | ")
        })
        .collect()
}

fn as_rule(entry: &Entry) -> Rule {
    match entry.clone() {
        Entry::Resource { api_group, resource, verb, names } => Rule {
            api_groups: vec![api_group],
            resources: vec![resource],
            resource_names: names,
            non_resource_urls: vec![],
            verbs: vec![verb],
        },
        Entry::NonResource { url, verb } => Rule { non_resource_urls: vec![url], verbs: vec![verb], ..Rule::default() },
    }
}

#[test]
fn resources_with_equal_verbs_share_a_rule_and_core_comes_first() {
    let mut all = entries("apps", "deployments", "watch list get", &[]);
    all.extend(entries("", "secrets", "get list watch", &[]));
    all.extend(entries("", "configmaps", "get watch list", &[]));
    all.extend(entries("", "events", "patch create", &[]));
    all.push(Entry::NonResource { url: "/metrics".into(), verb: "get".into() });
    assert_eq!(
        show(&rules(all)),
        [
            " | configmaps,secrets |  |  | get,list,watch",
            " | events |  |  | create,patch",
            "apps | deployments |  |  | get,list,watch",
            " |  |  | /metrics | get",
        ]
    );
}

#[test]
fn groups_with_equal_resources_and_verbs_share_a_rule() {
    let mut all = entries("", "events", "create patch", &[]);
    all.extend(entries("events.k8s.io", "events", "create patch", &[]));
    assert_eq!(show(&rules(all)), [",events.k8s.io | events |  |  | create,patch"]);
}

#[test]
fn verbs_over_different_names_are_never_merged() {
    let mut all = entries("", "secrets", "get", &["a"]);
    all.extend(entries("", "secrets", "update", &["a", "b"]));
    all.extend(entries("", "secrets", "list", &[]));
    assert_eq!(
        show(&rules(all)),
        [" | secrets |  |  | list", " | secrets | a |  | get", " | secrets | a,b |  | update"]
    );
}

#[test]
fn names_of_one_verb_are_united_and_unrestricted_wins() {
    let mut all = entries("", "secrets", "get list", &["b"]);
    all.extend(entries("", "secrets", "get", &["a"]));
    all.extend(entries("", "secrets", "list", &[]));
    assert_eq!(show(&rules(all)), [" | secrets |  |  | list", " | secrets | a,b |  | get"]);
}

#[test]
fn a_kept_wildcard_swallows_what_it_grants_and_no_more() {
    let mut all = entries("", "secrets", "* get", &["a"]);
    all.extend(entries("", "secrets", "update", &["a", "b"]));
    all.extend(entries("", "pods", "list *", &[]));
    assert_eq!(show(&rules(all)), [" | pods |  |  | *", " | secrets | a |  | *", " | secrets | b |  | update"]);
}

#[test]
fn a_verb_set_made_of_two_others_needs_no_rule_of_its_own() {
    let mut all = entries("", "a", "get list", &[]);
    all.extend(entries("", "b", "create", &[]));
    all.extend(entries("", "c", "get list create", &[]));
    assert_eq!(show(&rules(all)), [" | a,c |  |  | get,list", " | b,c |  |  | create"]);
    // With one of them missing nothing is saved, and each resource is named once.
    let mut all = entries("", "a", "get list", &[]);
    all.extend(entries("", "c", "get list create", &[]));
    assert_eq!(show(&rules(all)), [" | a |  |  | get,list", " | c |  |  | get,list,create"]);
}

#[test]
fn other_verbs_follow_the_customary_ones_alphabetically() {
    let all = entries("", "x", "use deletecollection bind delete get", &[]);
    assert_eq!(show(&rules(all)), [" | x |  |  | get,delete,deletecollection,bind,use"]);
    assert!(rules([]).is_empty());
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let verbs = || select(&["get", "list", "update", "use", "*"][..]);
    prop_oneof![
        6 => (
            select(&["", "apps", "x.io"][..]),
            select(&["pods", "pods/log", "secrets", "jobs", "*", "*/log"][..]),
            verbs(),
            subsequence(&["a", "b"][..], 0..=2),
        ).prop_map(|(group, resource, verb, names)| Entry::Resource {
            api_group: group.into(), resource: resource.into(), verb: verb.into(), names: words(&names),
        }),
        1 => (select(&["/a", "/b", "/a/*"][..]), verbs())
            .prop_map(|(url, verb)| Entry::NonResource { url: url.into(), verb: verb.into() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cover_grants_exactly_its_entries(entries in prop::collection::vec(any_entry(), 0..40)) {
        let wanted: Vec<Rule> = entries.iter().map(as_rule).collect();
        let covered = rules(entries.clone());
        prop_assert!(covered.len() <= wanted.len());
        let (wanted, granted) = (PermissionSet::from_rules(&wanted), PermissionSet::from_rules(&covered));
        prop_assert!(wanted.covers(&granted) && granted.covers(&wanted), "{:?}", covered);
        let mut reversed = entries;
        reversed.reverse();
        prop_assert_eq!(rules(reversed), covered);
    }
}
