use super::*;
use crate::rbac::NonResourceRequest;

fn rule(groups: &[&str], resources: &[&str], names: &[&str], verbs: &[&str]) -> Rule {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    Rule {
        api_groups: owned(groups),
        resources: owned(resources),
        resource_names: owned(names),
        non_resource_urls: Vec::new(),
        verbs: owned(verbs),
    }
}

fn ask(verb: &str, group: &str, resource: &str, name: &str) -> Request {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Request::Resource(ResourceRequest {
        api_group: group.into(),
        resource: resource.into(),
        subresource: subresource.into(),
        verb: verb.into(),
        namespace: String::new(),
        name: name.into(),
    })
}

/// The rows of "matching semantics every rule must share" that concern matching.
#[test]
fn kubernetes_matching() {
    let exec = ask("create", "", "pods/exec", "p");
    for (resources, allowed) in [
        (&["pods"][..], false),
        (&["pods/exec"], true),
        (&["*/exec"], true),
        (&["*"], true),
        (&["pods/*"], false),
        (&["*/*"], false),
        (&["*/ex"], false),
        (&["Pods/exec"], false),
        (&["pod/exec"], false),
    ] {
        assert_eq!(rule(&[""], resources, &[], &["create"]).allows(&exec), allowed, "{resources:?}");
    }
    let pods = ask("get", "", "pods", "p");
    for (groups, allowed) in [(&[""][..], true), (&["*"], true), (&["core"], false), (&["v1"], false), (&[], false)] {
        assert_eq!(rule(groups, &["pods"], &[], &["get"]).allows(&pods), allowed, "{groups:?}");
    }
    for (verbs, allowed) in [(&["get"][..], true), (&["*"], true), (&["GET"], false), (&["ge*"], false), (&[], false)] {
        assert_eq!(rule(&[""], &["pods"], &[], verbs).allows(&pods), allowed, "{verbs:?}");
    }
    // `*/exec` covers no main resource, `pods/*` only a subresource that is literally named so.
    assert!(!rule(&[""], &["*/exec"], &[], &["get"]).allows(&pods));
    assert!(rule(&[""], &["pods/*"], &[], &["get"]).allows(&ask("get", "", "pods/*", "")));
}

#[test]
fn names_are_literal_and_an_empty_list_is_no_restriction() {
    let named = |names: &[&str]| rule(&[""], &["secrets"], names, &["get", "create", "list", "deletecollection"]);
    assert!(named(&[]).allows(&ask("get", "", "secrets", "a")));
    assert!(named(&["a"]).allows(&ask("get", "", "secrets", "a")));
    assert!(!named(&["a"]).allows(&ask("get", "", "secrets", "b")));
    assert!(!named(&["*"]).allows(&ask("get", "", "secrets", "a")), "`*` is a literal name");
    assert!(!named(&["a*"]).allows(&ask("get", "", "secrets", "ab")));
    // Requests whose URL names nothing: POST, a list without name selector, deletecollection.
    for verb in ["create", "list", "deletecollection"] {
        assert!(!named(&["a"]).allows(&ask(verb, "", "secrets", "")), "{verb}");
    }
    // A list by `metadata.name` and a create of a subresource carry the name.
    assert!(named(&["a"]).allows(&ask("list", "", "secrets", "a")));
    assert!(rule(&[""], &["serviceaccounts/token"], &["agent"], &["create"]).allows(&ask("create", "", "serviceaccounts/token", "agent")));
}

#[test]
fn non_resource_urls() {
    let allows = |url: &str, path: &str| {
        let rule = Rule { non_resource_urls: vec![url.to_owned()], verbs: vec!["get".to_owned()], ..Rule::default() };
        rule.allows(&Request::NonResource(NonResourceRequest { path: path.to_owned(), verb: "get".to_owned() }))
    };
    assert!(allows("/metrics", "/metrics"));
    assert!(!allows("/metrics", "/metrics/x"));
    assert!(allows("/metrics/*", "/metrics/x"));
    assert!(!allows("/metrics/*", "/metrics"));
    assert!(allows("/met*", "/metrics"));
    assert!(allows("*", "/anything"));
    assert!(allows("**", "/anything"), "all trailing stars go");
    assert!(!allows("/a*b", "/axb"), "only a trailing star is a wildcard");
    // A resource rule grants no URL, nor a URL rule a resource.
    assert!(!rule(&["*"], &["*"], &[], &["*"]).allows(&Request::NonResource(NonResourceRequest { path: "/metrics".into(), verb: "get".into() })));
    let urls = Rule { non_resource_urls: vec!["*".into()], verbs: vec!["*".into()], ..Rule::default() };
    assert!(!urls.allows(&ask("get", "", "pods", "")));
}
