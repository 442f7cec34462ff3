//! `Rule::allows` against Kubernetes' `RuleAllows`, and the set of that one rule against the rule.

use super::{asks, gets, named, rule, urls};
use crate::rbac::{PermissionSet, Request, ResourceRequest, Rule};

fn check(rule: &Rule, request: &Request, expected: bool) {
    assert_eq!(rule.allows(request), expected, "{rule:?} asked {request:?}");
    assert_eq!(PermissionSet::from_rules([rule]).allows(request), expected, "set of {rule:?} asked {request:?}");
}

#[test]
fn resource_matching_row_by_row() {
    // granted resource, asked resource, whether it matches
    for (granted, asked, expected) in [
        ("pods", "pods", true),
        ("pods", "pods/exec", false),
        ("pods", "pod", false),
        ("pods", "Pods", false),
        ("pods/exec", "pods/exec", true),
        ("pods/exec", "pods", false),
        ("pods/exec", "pods/log", false),
        ("*", "pods", true),
        ("*", "pods/exec", true),
        ("*/exec", "pods/exec", true),
        ("*/exec", "anything/exec", true),
        ("*/exec", "pods", false),
        ("*/exec", "pods/log", false),
        ("pods/*", "pods/exec", false),
        ("pods/*", "pods", false),
        ("pods/*", "pods/*", true),
        ("*/*", "pods/exec", false),
        ("*/*", "pods/*", true),
        ("pod*", "pods", false),
        ("*/a/b", "x/a/b", true),
        ("*/b", "x/a/b", false),
        ("x/a/b", "x/a/b", true),
        ("*/", "*", false),
        ("-", "-", false),
    ] {
        check(&rule("-", granted, "get"), &asks("", "get", asked), expected);
    }
    check(&rule("-", "-", "get"), &asks("", "get", ""), true);
}

#[test]
fn a_slash_in_the_asked_resource_itself_is_compared_as_one_name() {
    let odd = |resource: &str, subresource: &str| {
        Request::Resource(ResourceRequest {
            resource: resource.into(),
            subresource: subresource.into(),
            verb: "get".into(),
            ..ResourceRequest::default()
        })
    };
    // granted, asked resource and subresource, by the rule (as Kubernetes), by the set
    for (granted, resource, subresource, by_rule, by_set) in [
        ("pods/exec", "pods/exec", "", true, true),
        ("*", "pods/exec", "", true, true),
        ("pods", "pods/exec", "", false, false),
        ("a/b/c", "a/b", "c", true, true),
        ("a/b/c", "a", "b/c", true, true),
        ("*/c", "a", "b/c", false, false),
        ("*/b/c", "a", "b/c", true, true),
        ("/exec", "", "exec", true, true),
        ("*/exec", "", "exec", true, true),
        ("pods/", "pods", "", false, false),
        ("pods/", "pods/", "", true, true),
        // Here the set reads another request.
        ("*/exec", "pods/exec", "", false, true),
        ("*/c", "a/b", "c", true, false),
    ] {
        let rule = rule("-", granted, "get");
        let request = odd(resource, subresource);
        assert_eq!(rule.allows(&request), by_rule, "{granted} asked {request:?}");
        assert_eq!(PermissionSet::from_rules([&rule]).allows(&request), by_set, "{granted} asked {request:?}");
    }
}

#[test]
fn groups_and_verbs_match_exactly_or_by_a_lone_star() {
    for (granted, asked, expected) in [
        ("-", "", true),
        ("*", "", true),
        ("*", "apps", true),
        ("core", "", false),
        ("-", "core", false),
        ("v1", "", false),
        ("apps/v1", "apps", false),
        ("*.k8s.io", "storage.k8s.io", false),
        ("Apps", "apps", false),
    ] {
        check(&rule(granted, "pods", "get"), &asks(asked, "get", "pods"), expected);
    }
    for (granted, asked, expected) in [
        ("*", "bind", true),
        ("get list", "list", true),
        ("get", "GET", false),
        ("Get", "get", false),
        ("impersonate:*", "impersonate:user-info", false),
        ("impersonate-on:user-info:list", "impersonate-on:user-info:list", true),
    ] {
        // `-` would be taken for the empty string, so this rule is built by hand.
        let verbs = granted.split(' ').map(str::to_owned).collect();
        check(&Rule { verbs, ..rule("-", "pods", "get") }, &asks("", asked, "pods"), expected);
    }
}

#[test]
fn names_are_a_list_of_literals_and_an_empty_list_is_no_restriction() {
    for (names, asked, expected) in [
        (&[][..], "pods", true),
        (&[], "pods@a", true),
        (&["a"], "pods@a", true),
        (&["a", "b"], "pods@b", true),
        (&["a"], "pods@b", false),
        (&["a"], "pods", false),
        (&["*"], "pods@a", false),
        (&["*"], "pods@*", true),
        (&["*"], "pods", false),
        // Kubernetes compares the empty name like any other.
        (&[""], "pods", true),
        (&[""], "pods@a", false),
    ] {
        check(&named("-", "pods", "get", names), &asks("", "get", asked), expected);
    }
}

#[test]
fn create_with_names_serves_subresources_and_create_through_update_only() {
    let token = named("-", "serviceaccounts/token", "create", &["builder"]);
    check(&token, &asks("", "create", "serviceaccounts/token@builder"), true);
    let post = named("-", "configmaps", "create", &["settings"]);
    check(&post, &asks("", "create", "configmaps"), false);
    check(&post, &asks("", "create", "configmaps@settings"), true);
    let collection = named("-", "configmaps", "deletecollection list watch", &["settings"]);
    check(&collection, &asks("", "deletecollection", "configmaps"), false);
    check(&collection, &asks("", "list", "configmaps"), false);
    check(&collection, &asks("", "list", "configmaps@settings"), true);
}

#[test]
fn bind_and_escalate_are_verbs_of_the_role_and_not_of_the_binding() {
    let group = "rbac.authorization.k8s.io";
    let bindings = rule(group, "rolebindings", "bind");
    check(&bindings, &asks(group, "bind", "clusterroles@admin"), false);
    let roles = named(group, "clusterroles", "bind", &["admin"]);
    check(&roles, &asks(group, "bind", "clusterroles@admin"), true);
    check(&roles, &asks(group, "bind", "clusterroles@cluster-admin"), false);
}

#[test]
fn tokens_and_evictions_are_of_the_core_group() {
    for (group, expected) in [("-", true), ("authentication.k8s.io", false), ("policy", false)] {
        for resource in ["serviceaccounts/token", "pods/eviction"] {
            check(&rule(group, resource, "create"), &asks("", "create", resource), expected);
        }
    }
}

#[test]
fn paths_are_exact_or_prefixes_before_trailing_stars() {
    for (granted, asked, expected) in [
        ("*", "/metrics", true),
        ("*", "", true),
        ("**", "/metrics", true),
        ("/metrics", "/metrics", true),
        ("/metrics", "/metrics/", false),
        ("/metrics", "/metrics/x", false),
        ("/metrics/*", "/metrics", false),
        ("/metrics/*", "/metrics/", true),
        ("/metrics/*", "/metrics/a/b", true),
        ("/metrics*", "/metricsx", true),
        ("/metrics**", "/metricsx", true),
        ("/a*b", "/axb", false),
        ("/a*b", "/a*b", true),
        ("/a*b*", "/a*bc", true),
        ("/Metrics", "/metrics", false),
        ("/é*", "/éa", true),
        ("/é", "/e", false),
        ("", "", true),
        ("", "/", false),
    ] {
        check(&urls(&[granted], &["get"]), &gets(asked), expected);
    }
    check(&urls(&["/metrics"], &["post"]), &gets("/metrics"), false);
    check(&urls(&["/metrics"], &["*"]), &gets("/metrics"), true);
}

#[test]
fn resource_rules_and_path_rules_do_not_answer_each_other() {
    check(&rule("*", "*", "*"), &gets("/metrics"), false);
    check(&urls(&["*"], &["*"]), &asks("", "get", "pods"), false);
    check(&Rule::default(), &asks("", "get", "pods"), false);
    check(&Rule::default(), &gets("/"), false);
    let both = Rule { non_resource_urls: vec!["/x".into()], ..rule("-", "pods", "get") };
    check(&both, &gets("/x"), true);
    check(&both, &asks("", "get", "pods"), true);
}
