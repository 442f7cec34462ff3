//! Authority over all scopes, and how two compare.

use std::collections::BTreeSet;

use super::{asks, named, rule, urls};
use crate::rbac::{Authority, Comparison, Names, Request, Rule, Scope};

fn cluster(rule: Rule) -> (Scope, Rule) {
    (Scope::Cluster, rule)
}

fn within(namespace: &str, rule: Rule) -> (Scope, Rule) {
    (Scope::Namespace(namespace.to_owned()), rule)
}

fn authority(held: &[(Scope, Rule)]) -> Authority {
    Authority::new(held.iter().map(|(scope, rule)| (scope, rule)))
}

fn at(namespace: &str, request: Request) -> Request {
    match request {
        Request::Resource(request) => {
            Request::Resource(crate::rbac::ResourceRequest { namespace: namespace.to_owned(), ..request })
        }
        other @ Request::NonResource(_) => other,
    }
}

#[test]
fn comparisons_follow_from_what_is_allowed() {
    use Comparison::{Equal, Incomparable, Narrower, Wider};
    let pods = || rule("-", "pods", "get list");
    for (before, after, expected) in [
        (vec![cluster(pods())], vec![cluster(pods())], Equal),
        (vec![cluster(pods())], vec![within("a", pods())], Narrower),
        (vec![within("a", pods())], vec![cluster(pods())], Wider),
        (vec![within("a", pods())], vec![within("b", pods())], Incomparable),
        (vec![cluster(pods())], vec![cluster(pods()), within("a", pods())], Equal),
        (vec![cluster(rule("-", "pods", "*"))], vec![cluster(pods())], Narrower),
        (vec![cluster(pods())], vec![cluster(named("-", "pods", "get list", &["x"]))], Narrower),
        (vec![cluster(pods())], vec![], Narrower),
        (vec![], vec![], Equal),
        // Two entries for one, as a formatter writes them.
        (vec![cluster(pods())], vec![cluster(rule("-", "pods", "get")), cluster(rule("-", "pods", "list"))], Equal),
        // A path is never asked for in a namespace, and nothing in a namespace without a name.
        (vec![within("a", urls(&["/metrics"], &["get"]))], vec![], Equal),
        (vec![within("", pods())], vec![], Equal),
        (vec![cluster(urls(&["/metrics*"], &["get"]))], vec![cluster(urls(&["/metrics"], &["get"]))], Narrower),
    ] {
        assert_eq!(authority(&before).compare(&authority(&after)), expected, "{before:?} to {after:?}");
    }
}

#[test]
fn what_is_left_of_the_cluster_is_left_in_every_namespace_but_one() {
    let before = authority(&[cluster(rule("-", "secrets", "get"))]);
    let lost = before.subtract(&authority(&[within("own", rule("-", "secrets", "get"))]));
    for (namespace, expected) in [("", true), ("other", true), ("own", false)] {
        assert_eq!(lost.allows(&at(namespace, asks("", "get", "secrets"))), expected, "{namespace}");
    }
    assert!(lost.in_namespaces().all(|(namespace, set)| namespace == "own" && set.is_empty()));
}

#[test]
fn parts_say_what_is_in_a_set_and_for_which_names() {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
    let before = authority(&[cluster(rule("-", "secrets pods/exec", "get"))]);
    let lost = before.subtract(&authority(&[cluster(named("-", "secrets", "get", &["own"]))]));
    let parts = lost.elsewhere().parts();
    let shown: Vec<_> = parts.iter().map(|part| (part.resource, part.subresource, &part.names)).collect();
    assert_eq!(
        shown,
        [
            (Some("pods"), Some("exec"), &Names::AllBut(names(&[]))),
            (Some("secrets"), Some(""), &Names::AllBut(names(&["own"]))),
        ]
    );
    assert_eq!(lost.elsewhere().names("", "secrets", "get"), Names::AllBut(names(&["own"])));
    assert!(lost.elsewhere().names("", "secrets", "list").is_empty());

    let all = authority(&[cluster(rule("*", "*", "*")), cluster(urls(&["*"], &["*"]))]);
    let left = all.subtract(&authority(&[cluster(rule("-", "pods", "get")), cluster(urls(&["/healthz*"], &["get"]))]));
    let open = left.elsewhere().parts();
    assert!(open.iter().any(|part| part.verb.is_none() && part.api_group.is_none() && part.resource.is_none()));
    assert!(!open.iter().any(|part| part.verb == Some("get")
        && part.resource == Some("pods")
        && part.api_group == Some("")
        && part.subresource == Some("")));
    let paths = left.elsewhere().paths();
    let get = paths.iter().find(|paths| paths.verb == Some("get")).unwrap();
    assert_eq!((get.path.as_str(), get.except.as_slice()), ("*", ["/healthz*".to_owned()].as_slice()));
}
