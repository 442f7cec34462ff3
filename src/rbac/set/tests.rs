use proptest::prelude::*;

use super::*;
use crate::rbac::{NonResourceRequest, ResourceRequest};

fn pick(words: &'static [&'static str]) -> impl Strategy<Value = String> {
    prop::sample::select(words).prop_map(str::to_owned)
}

fn some(words: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(pick(words), 0..=most)
}

const VERBS: &[&str] = &["get", "list", "*", "create", "", "GET"];
const GROUPS: &[&str] = &["", "apps", "*", "core"];
const RESOURCES: &[&str] =
    &["pods", "*", "pods/exec", "*/exec", "pods/*", "*/*", "deployments", "deployments/scale", "", "*/", "pods/", "u/a/b", "Pods"];
const NAMES: &[&str] = &["a", "b", "", "*"];
const URLS: &[&str] = &["/metrics", "*", "/metrics/*", "/met*", "/healthz", "**", "/metrics/a", "", "/metrics/*/x"];
/// No slash: see `PermissionSet`.
const BASES: &[&str] = &["pods", "deployments", "", "*", "Pods", "u"];
const SUBRESOURCES: &[&str] = &["", "exec", "scale", "*", "a/b"];
const PATHS: &[&str] = &["/metrics", "/metrics/", "/metrics/a", "/met", "/healthz", "", "/", "/metrics/*", "/metrics/*/x", "*"];

fn rule() -> impl Strategy<Value = Rule> {
    (some(GROUPS, 2), some(RESOURCES, 3), some(NAMES, 2), some(URLS, 2), some(VERBS, 3)).prop_map(
        |(api_groups, resources, resource_names, non_resource_urls, verbs)| Rule {
            api_groups,
            resources,
            resource_names,
            non_resource_urls,
            verbs,
        },
    )
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(rule(), 0..5)
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let resource = (pick(VERBS), pick(GROUPS), pick(BASES), pick(SUBRESOURCES), pick(NAMES)).prop_map(
        |(verb, api_group, resource, subresource, name)| {
            Request::Resource(ResourceRequest { api_group, resource, subresource, verb, namespace: String::new(), name })
        },
    );
    let url = (pick(VERBS), pick(PATHS)).prop_map(|(verb, path)| Request::NonResource(NonResourceRequest { path, verb }));
    prop::collection::vec(prop_oneof![3 => resource, 1 => url], 40)
}

proptest! {
    #[test]
    fn a_set_of_rules_allows_what_some_rule_allows(rules in rules(), requests in requests()) {
        let set = PermissionSet::from_rules(&rules);
        for request in &requests {
            prop_assert_eq!(set.allows(request), rules.iter().any(|rule| rule.allows(request)), "{:?}", request);
        }
    }

    #[test]
    fn operations_hold_point_by_point(a in rules(), b in rules(), requests in requests()) {
        let (a, b) = (PermissionSet::from_rules(&a), PermissionSet::from_rules(&b));
        let (union, both, less) = (a.union(&b), a.intersect(&b), a.subtract(&b));
        for request in &requests {
            let (in_a, in_b) = (a.allows(request), b.allows(request));
            prop_assert_eq!(union.allows(request), in_a || in_b);
            prop_assert_eq!(both.allows(request), in_a && in_b);
            prop_assert_eq!(less.allows(request), in_a && !in_b);
        }
    }

    #[test]
    fn laws_of_sets(a in rules(), b in rules(), c in rules()) {
        let (a, b, c) = (PermissionSet::from_rules(&a), PermissionSet::from_rules(&b), PermissionSet::from_rules(&c));
        prop_assert_eq!(a.union(&b), b.union(&a));
        prop_assert_eq!(a.union(&b).union(&c), a.union(&b.union(&c)));
        prop_assert_eq!(a.intersect(&b), b.intersect(&a));
        prop_assert_eq!(a.intersect(&b.union(&c)), a.intersect(&b).union(&a.intersect(&c)));
        prop_assert_eq!(a.subtract(&b), a.subtract(&a.intersect(&b)));
        prop_assert_eq!(a.subtract(&b).union(&a.intersect(&b)), a.clone());
        prop_assert!(a.subtract(&a).is_empty());
        prop_assert_eq!(a.intersects(&b), !a.intersect(&b).is_empty());
        prop_assert_eq!(a.covers(&b), b.subtract(&a).is_empty());
        prop_assert!(a.union(&b).covers(&a));
    }

    #[test]
    fn the_normal_form_does_not_depend_on_how_it_was_built(rules in rules()) {
        let at_once = PermissionSet::from_rules(&rules);
        let one_by_one = rules.iter().rev().fold(PermissionSet::default(), |set, rule| set.union(&PermissionSet::from_rules([rule])));
        prop_assert_eq!(at_once, one_by_one);
    }
}

#[test]
fn a_wildcard_less_one_permission_still_holds_the_rest() {
    let all = Rule { api_groups: vec!["*".into()], resources: vec!["*".into()], verbs: vec!["*".into()], ..Rule::default() };
    let secrets = Rule { api_groups: vec!["".into()], resources: vec!["secrets".into()], verbs: vec!["get".into()], ..Rule::default() };
    let less = PermissionSet::from_rules([&all]).subtract(&PermissionSet::from_rules([&secrets]));
    let ask = |verb: &str, resource: &str| {
        Request::Resource(ResourceRequest { resource: resource.into(), verb: verb.into(), ..ResourceRequest::default() })
    };
    assert!(!less.allows(&ask("get", "secrets")));
    assert!(less.allows(&ask("list", "secrets")));
    assert!(less.allows(&ask("get", "pods")));
}
