//! The laws of the algebra point by point, asked at the borders: strings of the rules and near misses.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::rbac::{NonResourceRequest, PermissionSet, Request, ResourceRequest, Rule};

const GROUPS: &[&str] = &["", "apps", "*", "core", "Apps"];
const RESOURCES: &[&str] = &[
    "pods",
    "pods/exec",
    "secrets",
    "*",
    "*/exec",
    "*/log",
    "pods/*",
    "*/*",
    "",
    "a/b/c",
    "*/b/c",
    "*/c",
    "PODS",
    "/exec",
    "pods/",
];
const NAMES: &[&str] = &["a", "b", "*", "", "A"];
const VERBS: &[&str] = &["get", "list", "*", "bind", "", "GET"];
const URLS: &[&str] = &["/", "/a", "/a*", "/a/*", "*", "**", "/ab", "/a**", "/a/b*", "", "/a*b", "/b"];

const ASKED_RESOURCES: &[&str] =
    &["pods", "pods/exec", "secrets", "*", "", "a", "a/b", "a/b/c", "PODS", "other", "*/exec", "pods/*"];
const ASKED_SUBRESOURCES: &[&str] = &["", "exec", "log", "*", "c", "b/c", "other", "EXEC"];
const ASKED_PATHS: &[&str] =
    &["/", "/a", "/ab", "/a/", "/a/b", "/a/bc", "", "*", "/a*", "/a*b", "/b", "/A", "/a\u{0}", "/é"];

fn some(of: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> {
    subsequence(of, 0..=most).prop_map(|list| list.into_iter().map(str::to_owned).collect())
}

fn one(of: &'static [&'static str]) -> impl Strategy<Value = String> {
    select(of).prop_map(str::to_owned)
}

fn any_rule() -> impl Strategy<Value = Rule> {
    (some(GROUPS, 2), some(RESOURCES, 3), some(NAMES, 2), some(URLS, 3), some(VERBS, 3)).prop_map(
        |(api_groups, resources, resource_names, non_resource_urls, verbs)| Rule {
            api_groups,
            resources,
            resource_names,
            non_resource_urls,
            verbs,
        },
    )
}

fn any_rules() -> impl Strategy<Value = Vec<Rule>> {
    prop::collection::vec(any_rule(), 0..5)
}

fn any_request() -> impl Strategy<Value = Request> {
    prop_oneof![
        3 => (one(GROUPS), one(ASKED_RESOURCES), one(ASKED_SUBRESOURCES), one(VERBS), one(NAMES)).prop_map(
            |(api_group, resource, subresource, verb, name)| Request::Resource(ResourceRequest {
                api_group, resource, subresource, verb, name, namespace: String::new(),
            })
        ),
        1 => (one(ASKED_PATHS), one(VERBS))
            .prop_map(|(path, verb)| Request::NonResource(NonResourceRequest { path, verb })),
    ]
}

/// Every request of the small universe above.
fn all_requests() -> Vec<Request> {
    let mut all = Vec::new();
    for verb in VERBS {
        for path in ASKED_PATHS {
            all.push(Request::NonResource(NonResourceRequest { path: (*path).into(), verb: (*verb).into() }));
        }
        for group in GROUPS {
            for resource in ASKED_RESOURCES {
                for subresource in ASKED_SUBRESOURCES {
                    for name in NAMES {
                        all.push(Request::Resource(ResourceRequest {
                            api_group: (*group).into(),
                            resource: (*resource).into(),
                            subresource: (*subresource).into(),
                            verb: (*verb).into(),
                            namespace: String::new(),
                            name: (*name).into(),
                        }));
                    }
                }
            }
        }
    }
    all
}

/// The request with the subresource behind the first slash: the same one, unless its resource has a slash.
fn as_the_set_reads(request: &Request) -> Request {
    let Request::Resource(asked) = request else {
        return request.clone();
    };
    let combined = asked.combined();
    let (resource, subresource) = combined.split_once('/').unwrap_or((&combined, ""));
    let read = ResourceRequest { resource: resource.into(), subresource: subresource.into(), ..asked.clone() };
    Request::Resource(read)
}

fn set(rules: &[Rule]) -> PermissionSet {
    PermissionSet::from_rules(rules)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn operations_are_the_connectives_point_by_point(
        a in any_rules(), b in any_rules(), requests in prop::collection::vec(any_request(), 40),
    ) {
        let (left, right) = (set(&a), set(&b));
        let (or, and, and_not) = (left.union(&right), left.intersect(&right), left.subtract(&right));
        for request in &requests {
            let read = as_the_set_reads(request);
            let (in_a, in_b) = (a.iter().any(|r| r.allows(&read)), b.iter().any(|r| r.allows(&read)));
            prop_assert_eq!(left.allows(request), in_a, "from_rules {:?}", request);
            prop_assert_eq!(or.allows(request), in_a || in_b, "union {:?}", request);
            prop_assert_eq!(and.allows(request), in_a && in_b, "intersect {:?}", request);
            prop_assert_eq!(and_not.allows(request), in_a && !in_b, "subtract {:?}", request);
        }
    }

    #[test]
    fn covering_meeting_and_emptiness_agree(a in any_rules(), b in any_rules()) {
        let (left, right) = (set(&a), set(&b));
        prop_assert_eq!(left.covers(&right), right.subtract(&left).is_empty());
        prop_assert_eq!(left.intersects(&right), !left.intersect(&right).is_empty());
        prop_assert!(left.union(&right).covers(&left));
        prop_assert!(left.covers(&left.intersect(&right)));
        prop_assert!(!left.subtract(&right).intersects(&right));
    }

    #[test]
    fn sets_are_equal_exactly_when_they_hold_the_same(a in any_rules(), b in any_rules(), c in any_rules()) {
        let (left, right, third) = (set(&a), set(&b), set(&c));
        let both = left.union(&right);
        prop_assert_eq!(&both, &right.union(&left));
        prop_assert_eq!(&both, &left.subtract(&right).union(&right));
        prop_assert_eq!(&both, &set(&[b, a].concat()));
        prop_assert_eq!(&left, &left.subtract(&right).union(&left.intersect(&right)));
        prop_assert_eq!(both.union(&third), left.union(&right.union(&third)));
        prop_assert_eq!(left.intersect(&right.union(&third)), left.intersect(&right).union(&left.intersect(&third)));
        prop_assert_eq!(left == right, left.covers(&right) && right.covers(&left));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_covers_grants_every_point_and_what_does_not_lacks_one(a in any_rules(), b in any_rules()) {
        let (left, right) = (set(&a), set(&b));
        let missing = all_requests().into_iter().any(|r| right.allows(&r) && !left.allows(&r));
        // The universe is finite, the sets are not: a missing point here refutes, its absence does not prove.
        prop_assert!(!(left.covers(&right) && missing));
    }
}
