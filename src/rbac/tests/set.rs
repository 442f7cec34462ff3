//! Sets of permissions on chosen cases; the laws in general are in `laws`.

use super::{asks, gets, named, rule, urls};
use crate::rbac::{PermissionSet, Rule};

fn set(rules: &[Rule]) -> PermissionSet {
    PermissionSet::from_rules(rules)
}

fn same(left: &PermissionSet, right: &PermissionSet) -> bool {
    left == right
}

#[test]
fn a_wildcard_minus_exact_entries_keeps_all_the_rest() {
    let left = set(&[rule("*", "*", "*")]).subtract(&set(&[
        rule("-", "pods pods/exec", "get"),
        rule("-", "*/log", "*"),
        named("-", "secrets", "get", &["a"]),
    ]));
    for (group, verb, resource, expected) in [
        ("", "get", "pods", false),
        ("", "list", "pods", true),
        ("apps", "get", "pods", true),
        ("", "get", "pods/exec", false),
        ("", "get", "pods/log", false),
        ("", "zzz", "nodes/log", false),
        ("apps", "get", "pods/log", true),
        ("", "get", "secrets@a", false),
        ("", "get", "secrets@b", true),
        ("", "get", "secrets", true),
    ] {
        assert_eq!(left.allows(&asks(group, verb, resource)), expected, "{group} {verb} {resource}");
    }
}

#[test]
fn covering_needs_no_single_rule_that_covers() {
    let rows = set(&[rule("-", "pods", "get list"), rule("-", "secrets", "get list")]);
    let columns = set(&[rule("-", "pods secrets", "get"), rule("-", "pods secrets", "list")]);
    assert!(rows.covers(&columns) && columns.covers(&rows));
    assert!(!rows.covers(&set(&[rule("-", "pods secrets", "get watch")])));
    assert!(set(&[rule("-", "*/exec", "get")]).covers(&set(&[rule("-", "pods/exec */exec", "get")])));
    assert!(!set(&[rule("-", "*/exec", "get")]).covers(&set(&[rule("-", "pods", "get")])));
    assert!(!set(&[named("-", "pods", "get", &["a"])]).covers(&set(&[rule("-", "pods", "get")])));
    assert!(set(&[rule("*", "*", "*")]).covers(&columns));
    assert!(!set(&[rule("*", "pods/* */*", "*")]).covers(&set(&[rule("-", "pods/exec", "get")])));
}

#[test]
fn equal_sets_print_the_same_however_they_were_built() {
    let rows = set(&[rule("-", "pods", "get list"), rule("-", "secrets", "get list")]);
    let columns = set(&[rule("-", "pods secrets", "get"), rule("-", "pods secrets", "list")]);
    assert!(same(&rows, &columns));
    let all = set(&[rule("*", "*", "*")]);
    assert!(same(&all, &all.subtract(&columns).union(&rows)));
    assert!(same(&all, &set(&[rule("*", "*", "*"), named("-", "pods", "get", &["x"]), rule("-", "*/log", "*")])));
    let paths = set(&[urls(&["/a*"], &["get"])]);
    let rebuilt = paths.subtract(&set(&[urls(&["/a", "/abc/*"], &["get"])]));
    assert!(same(&paths, &rebuilt.union(&set(&[urls(&["/abc/*", "/a"], &["get"])]))));
    assert!(!same(&paths, &rebuilt));
}

#[test]
fn nothing_is_empty_and_everything_is_not() {
    assert!(set(&[]).is_empty());
    assert!(set(&[Rule::default(), rule("-", "pods", "get")]).subtract(&set(&[rule("*", "pods", "*")])).is_empty());
    assert!(set(&[Rule { verbs: vec![], ..rule("-", "pods", "get") }]).is_empty());
    assert!(!set(&[named("-", "pods", "get", &[""])]).is_empty());
    assert!(!set(&[rule("-", "-", "-")]).is_empty());
    // Only a review can ask for a resource that ends in a slash, and then literally.
    assert!(!set(&[rule("*", "*", "get")]).subtract(&set(&[rule("*", "pods/ */", "get")])).is_empty());
}

#[test]
fn a_capability_meets_a_grant_through_wildcards_on_either_side() {
    let exec = set(&[rule("-", "pods/exec", "create get")]);
    for (grant, expected) in [
        (rule("*", "*", "*"), true),
        (rule("-", "*/exec", "create"), true),
        (rule("-", "pods/*", "*"), false),
        (rule("-", "pods", "*"), false),
        (named("-", "pods/exec", "create", &["x"]), true),
        (rule("apps", "*", "*"), false),
    ] {
        let grant = set(&[grant]);
        assert_eq!(exec.intersects(&grant), expected, "{grant:?}");
        assert_eq!(grant.intersects(&exec), expected, "{grant:?}");
        assert_eq!(!grant.intersect(&exec).is_empty(), expected, "{grant:?}");
    }
}

#[test]
fn paths_subtract_by_prefix() {
    let left = set(&[urls(&["*"], &["get", "post"])]).subtract(&set(&[urls(&["/metrics/*", "/healthz"], &["get"])]));
    for (path, expected) in [("/metrics", true), ("/metrics/a", false), ("/healthz", false), ("/healthz/a", true)] {
        assert_eq!(left.allows(&gets(path)), expected, "{path}");
    }
}

#[test]
fn a_hostile_name_of_slashes_stays_small() {
    let slashes = "a/".repeat(20_000);
    let long = set(&[rule("-", &format!("{slashes}a"), "get")]);
    let left = long.subtract(&set(&[rule("-", "*/a", "get")]));
    assert!(left.covers(&long) && long.covers(&left));
}

#[test]
fn two_thousand_rules_minus_five_hundred_entries_stays_small() {
    let rules: Vec<Rule> = (0..2_000)
        .map(|i| {
            rule(
                &format!("g{}", i % 40),
                &format!("r{} q{}/status", i % 700, i % 90),
                ["get list", "*", "watch"][i % 3],
            )
        })
        .collect();
    let used: Vec<Rule> =
        (0..500).map(|i| rule(&format!("g{}", i % 37), &format!("r{}", i * 3 % 700), "get")).collect();
    let (granted, used) = (set(&rules), set(&used));
    let excess = granted.subtract(&used);
    assert!(!excess.intersects(&used));
    assert!(granted.covers(&excess));
    assert!(excess.union(&granted.intersect(&used)).covers(&granted));
}

#[test]
fn paths_are_added_in_any_order() {
    let paths = ["/a*", "/a", "/abc", "/abc/*", "/b", "/b*", "/", "/c/*", "/c"];
    let of = |paths: &[&str]| set(&[urls(paths, &["get"])]);
    let expected = of(&["/"]).union(&of(&["/a*"])).union(&of(&["/b*"])).union(&of(&["/c"])).union(&of(&["/c/*"]));
    for turn in 0..paths.len() {
        let mut turned = paths;
        turned.rotate_left(turn);
        let one_by_one = turned.iter().fold(PermissionSet::default(), |sum, path| sum.union(&of(&[*path])));
        turned.reverse();
        assert!(same(&of(&turned), &expected) && same(&one_by_one, &expected), "{turned:?}");
    }
    assert!(same(&of(&["/x", "/y", "*"]), &of(&["*"])));
}
