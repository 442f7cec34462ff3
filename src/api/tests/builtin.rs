//! Built-in roles and default bindings.

use super::RBAC;
use crate::api::{DEFAULT_MINOR, MINORS, Table, builtin};
use crate::rbac::{NonResourceRequest, Request, ResourceRequest};

#[test]
fn the_built_in_cluster_roles_have_their_aggregated_rules() {
    let asks = |group: &str, resource: &str, verb: &str| {
        Request::Resource(ResourceRequest {
            api_group: group.into(),
            resource: resource.into(),
            verb: verb.into(),
            ..ResourceRequest::default()
        })
    };
    let allows = |role: &str, request: &Request| {
        builtin::cluster_role(DEFAULT_MINOR, role).unwrap().rules.iter().any(|rule| rule.allows(request))
    };
    let (secrets, roles, nodes) = (asks("", "secrets", "get"), asks(RBAC, "roles", "create"), asks("", "nodes", "get"));
    let pods = asks("", "pods", "list");
    for (role, of_secrets, of_roles, of_nodes) in [
        ("cluster-admin", true, true, true),
        ("admin", true, true, false),
        ("edit", true, false, false),
        ("view", false, false, false),
    ] {
        assert_eq!(allows(role, &secrets), of_secrets, "{role}");
        assert_eq!(allows(role, &roles), of_roles, "{role}");
        assert_eq!(allows(role, &nodes), of_nodes, "{role}");
        assert!(allows(role, &pods), "{role}");
    }
    assert!(builtin::cluster_role(DEFAULT_MINOR, "system:controller:job-controller").is_some());
    assert!(builtin::cluster_role(DEFAULT_MINOR, "my-role").is_none());
    assert!(builtin::cluster_role("1.12", "admin").is_none());
    assert!(builtin::role(DEFAULT_MINOR, "kube-system", "extension-apiserver-authentication-reader").is_some());
    assert!(builtin::role(DEFAULT_MINOR, "default", "extension-apiserver-authentication-reader").is_none());
    assert!(builtin::role(DEFAULT_MINOR, "", "admin").is_none());
}

#[test]
fn built_in_names_are_known_by_their_form() {
    for name in ["cluster-admin", "admin", "edit", "view", "system:auth-delegator", "system:whatever"] {
        assert!(builtin::is_builtin_name(name), "{name}");
    }
    for name in ["administrator", "viewer", "systems", "my-admin", ""] {
        assert!(!builtin::is_builtin_name(name), "{name}");
    }
}

#[test]
fn every_service_account_holds_discovery_and_reviews_of_itself() {
    let rules = builtin::authenticated_rules(DEFAULT_MINOR);
    let allows = |request: Request| rules.iter().any(|rule| rule.allows(&request));
    let path = |path: &str| Request::NonResource(NonResourceRequest { path: path.into(), verb: "get".into() });
    let resource = |group: &str, resource: &str, verb: &str| {
        Request::Resource(ResourceRequest {
            api_group: group.into(),
            resource: resource.into(),
            verb: verb.into(),
            ..ResourceRequest::default()
        })
    };
    for open in ["/api", "/apis/apps/v1", "/openapi/v3", "/version", "/healthz", "/openid/v1/jwks"] {
        assert!(allows(path(open)), "{open}");
    }
    assert!(!allows(path("/metrics")) && !allows(path("/logs/")));
    assert!(allows(resource("authorization.k8s.io", "selfsubjectaccessreviews", "create")));
    assert!(allows(resource("authentication.k8s.io", "selfsubjectreviews", "create")));
    assert!(!allows(resource("authorization.k8s.io", "subjectaccessreviews", "create")));
    assert!(!allows(resource("", "pods", "get")));
    assert!(builtin::authenticated_rules("1.12").is_empty());
}

#[test]
fn default_bindings_name_their_role_and_subjects() {
    let bindings = builtin::default_bindings(DEFAULT_MINOR);
    let admin = bindings.iter().find(|binding| binding.name == "cluster-admin").unwrap();
    assert_eq!((admin.namespace.as_deref(), admin.role_name.as_str()), (None, "cluster-admin"));
    assert_eq!((admin.subjects[0].kind.as_str(), admin.subjects[0].name.as_str()), ("Group", "system:masters"));
    let signer = bindings.iter().find(|binding| binding.namespace.as_deref() == Some("kube-public")).unwrap();
    assert_eq!((signer.role_kind.as_str(), signer.subjects[0].namespace.as_deref()), ("Role", Some("kube-system")));
    for minor in MINORS {
        for binding in builtin::default_bindings(minor) {
            let namespace = binding.namespace.as_deref().unwrap_or_default();
            let rules = if binding.role_kind == "Role" {
                builtin::role(minor, namespace, &binding.role_name)
            } else {
                builtin::cluster_role(minor, &binding.role_name)
            };
            assert!(rules.is_some(), "{minor} {}", binding.name);
        }
    }
}

#[test]
fn built_in_roles_hold_nothing_dead_but_what_kubernetes_removed() {
    for minor in MINORS {
        let table = Table::for_minor(minor).unwrap();
        let roles = builtin::default_bindings(minor).iter().map(|binding| binding.role_name.as_str());
        let mut dead = std::collections::BTreeSet::new();
        for rule in roles
            .chain(["admin", "edit", "view"])
            .filter_map(|name| builtin::cluster_role(minor, name))
            .flat_map(|role| role.rules.iter().cloned())
        {
            let groups: Vec<&str> = rule.api_groups.iter().map(String::as_str).collect();
            let resources: Vec<&str> = rule.resources.iter().map(String::as_str).collect();
            for (group, resource) in
                groups.iter().flat_map(|group| resources.iter().map(move |resource| (group, resource)))
            {
                for verb in &rule.verbs {
                    let found = table.entry(&groups, &resources).of(group, resource, verb);
                    if found.is_dead() {
                        dead.insert(format!("{group} {resource} {verb}"));
                    }
                }
            }
        }
        // Kubernetes' own slips: what no version of these minors serves or checks.
        let known = |entry: &String| {
            entry.starts_with("extensions ")
                || entry.starts_with("apps deployments/rollback ")
                || entry == "networking.k8s.io servicecidrs/finalizers patch"
                || (entry.contains("/status ") && (entry.ends_with(" list") || entry.ends_with(" watch")))
        };
        dead.retain(|entry| !known(entry));
        assert!(dead.is_empty(), "{minor}: {dead:#?}");
    }
}
