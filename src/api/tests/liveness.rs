//! The verdict of grants, positive and negative, row by row.

use super::{RBAC, table};
use crate::api::virtual_checks::is_checked;
use crate::api::{Liveness, Table, is_check_only};

const AUTHENTICATION: &str = "authentication.k8s.io";

fn word(liveness: &Liveness) -> &'static str {
    match liveness {
        Liveness::Live => "live",
        Liveness::CheckOnly => "check",
        Liveness::UnknownGroup => "unknown",
        Liveness::Dead(_) => "dead",
    }
}

fn all(rows: &[(&str, &str, &str)], expected: &str) {
    let table = table();
    for (group, resource, verb) in rows {
        let found = table.liveness(group, resource, verb);
        assert_eq!(word(&found), expected, "apiGroup {group:?} resource {resource:?} verb {verb:?}: {found:?}");
    }
}

#[test]
fn served_requests_are_live_wildcards_in_any_place() {
    all(
        &[
            ("", "pods", "get"),
            ("", "pods", "*"),
            ("", "*", "get"),
            ("*", "pods", "get"),
            ("*", "*", "*"),
            ("*", "*", "deletecollection"),
            ("", "pods/exec", "create"),
            ("", "pods/exec", "get"),
            ("", "*/exec", "create"),
            ("*", "*/status", "update"),
            ("apps", "*/scale", "update"),
            ("apps", "deployments/scale", "patch"),
            ("", "serviceaccounts/token", "create"),
            ("", "pods/eviction", "create"),
            ("", "nodes/proxy", "get"),
            ("", "namespaces/finalize", "update"),
            ("certificates.k8s.io", "certificatesigningrequests/approval", "update"),
            ("coordination.k8s.io", "leases", "update"),
            // Served, though not by default.
            ("scheduling.k8s.io", "workloads", "get"),
            ("internal.apiserver.k8s.io", "storageversions", "list"),
            ("example.com", "widgets", "watch"),
            ("example.com", "widgets/status", "update"),
            ("example.com", "*", "deletecollection"),
            ("example.com", "*/status", "patch"),
            ("example.com", "gadgets", "*"),
        ],
        "live",
    );
}

#[test]
fn what_is_only_checked_is_never_dead() {
    all(
        &[
            ("", "users", "impersonate"),
            ("", "groups", "impersonate"),
            ("", "serviceaccounts", "impersonate"),
            ("", "*", "impersonate"),
            ("*", "groups", "impersonate"),
            (AUTHENTICATION, "uids", "impersonate"),
            (AUTHENTICATION, "userextras", "impersonate"),
            (AUTHENTICATION, "userextras/scopes", "impersonate"),
            (AUTHENTICATION, "userextras/example.com/key", "impersonate"),
            (AUTHENTICATION, "userextras/*", "impersonate"),
            (AUTHENTICATION, "*/scopes", "impersonate"),
            (AUTHENTICATION, "users", "impersonate:user-info"),
            (AUTHENTICATION, "nodes", "impersonate:arbitrary-node"),
            ("", "pods", "impersonate-on:user-info:list"),
            ("example.com", "widgets", "impersonate-on:serviceaccount:get"),
            (RBAC, "roles", "bind"),
            (RBAC, "clusterroles", "escalate"),
            (RBAC, "*", "escalate"),
            ("*", "*", "bind"),
            ("certificates.k8s.io", "signers", "approve"),
            ("certificates.k8s.io", "signers", "sign"),
            ("certificates.k8s.io", "signers", "attest"),
            ("certificates.k8s.io", "signers", "*"),
            ("", "pods/finalizers", "update"),
            ("apps", "deployments/finalizers", "*"),
            ("apps", "*/finalizers", "update"),
            ("*", "*/finalizers", "update"),
            ("example.com", "widgets/finalizers", "update"),
            ("other.io", "things/finalizers", "update"),
            ("certificates.k8s.io", "certificatesigningrequests/nodeclient", "create"),
            ("", "serviceaccounts/token", "subscribe"),
            ("", "nodes/metrics", "get"),
            ("", "nodes/stats", "get"),
            ("", "nodes/log", "get"),
            ("", "nodes/checkpoint", "create"),
            ("", "nodes/configz", "get"),
            ("", "nodes/healthz", "get"),
            ("", "nodes/pods", "get"),
            ("", "nodes/spec", "*"),
            ("", "secrets", "unsafe-delete-ignore-read-errors"),
            ("", "vault-audience", "request-serviceaccounts-token-audience"),
            ("resource.k8s.io", "resourceclaims/driver", "associated-node:update"),
            ("resource.k8s.io", "resourceclaims/driver", "arbitrary-node:patch"),
            ("resource.k8s.io", "resourceclaims/binding", "update"),
            ("", "endpoints/restricted", "create"),
            ("discovery.k8s.io", "endpointslices/restricted", "create"),
            ("security.openshift.io", "securitycontextconstraints", "use"),
            ("route.openshift.io", "routes/custom-host", "create"),
            // Components of custom groups check verbs and resources of their own.
            ("example.com", "widgets", "knsubscribe"),
            ("example.com", "signers", "approve"),
            ("example.com", "*", "accept"),
            ("example.com", "widgets/api", "get"),
        ],
        "check",
    );
}

#[test]
fn unknown_groups_are_never_dead() {
    all(
        &[
            ("external.metrics.k8s.io", "queue_length", "get"),
            ("custom.metrics.k8s.io", "pods/queue_length", "get"),
            ("pipelines.kubeflow.org", "runs", "readArtifact"),
            ("*", "widgetz", "get"),
            ("*", "pods", "describe"),
            ("certmanager.k8s.io", "issuers", "get"),
            ("{{ .Values.group }}", "things", "get"),
            ("${GROUP}", "things", "get"),
            // The group is known by its CRDs, which need not be all that is served in it.
            ("example.com", "sprockets", "get"),
            ("example.com", "sprockets/status", "get"),
        ],
        "unknown",
    );
}

#[test]
#[rustfmt::skip]
fn what_matches_nothing_is_dead_and_says_what_was_meant() {
    // group, resource, verb, part of the message, part of the suggestion
    let rows = [
        ("apps", "pods", "get", "has no resource pods", "apiGroup \"\""),
        ("", "deployments", "get", "has no resource deployments", "apiGroup \"apps\""),
        ("", "ingresses", "get", "has no resource", "networking.k8s.io"),
        ("authentication.k8s.io", "serviceaccounts/token", "create", "has no resource", "apiGroup \"\""),
        ("policy", "pods/eviction", "create", "has no resource", "apiGroup \"\""),
        ("", "pod", "get", "has no resource pod", "pods"),
        ("", "Pods", "get", "has no resource Pods", "pods"),
        ("", "ConfigMap", "get", "has no resource ConfigMap", "configmaps"),
        ("apps", "Deployment/scale", "get", "has no resource", "deployments/scale"),
        ("networking.k8s.io", "networkpolicys", "get", "has no resource", "networkpolicies"),
        ("networking.k8s.io", "ingress", "get", "has no resource", "ingresses"),
        ("apps", "pod", "get", "has no resource", "pods in apiGroup \"\""),
        ("", "persistentvolumerclaims", "get", "has no resource", "persistentvolumeclaims in apiGroup \"\""),
        ("apps", "secrets/status", "get", "has no resource secrets/status", ""),
        ("", "nosuchthings", "get", "has no resource nosuchthings", ""),
        ("", "configmaps", "put", "no verb", "update"),
        ("", "pods", "describe", "no verb", "get"),
        ("", "pods", "Get", "no verb", "get"),
        ("", "pods", "delete-collection", "no verb", "deletecollection"),
        ("", "pods", "deletecollections", "no verb", "deletecollection"),
        ("", "pods", "creates", "no verb", "create"),
        ("", "pods", "impersonate", "no verb", ""),
        ("", "pods", "use", "no verb", ""),
        ("", "pods/log", "delete", "serves get and not delete", ""),
        ("apps", "deployments/status", "create", "serves get, patch, update and not create", ""),
        ("apps", "*/status", "create", "takes the verb create", ""),
        ("", "bindings", "get", "serves create", ""),
        ("", "configmaps/status", "update", "does not exist", ""),
        ("", "pods/logs", "get", "does not exist", "pods/log"),
        ("apps", "deployments/rollback", "create", "does not exist", ""),
        ("apps", "*/exec", "create", "has this subresource", ""),
        ("extensions", "ingresses", "get", "removed in Kubernetes 1.22", "networking.k8s.io"),
        ("extensions", "deployments/scale", "get", "removed in Kubernetes 1.16", "apps"),
        ("extensions", "*", "*", "removed in Kubernetes 1.22", ""),
        ("policy", "podsecuritypolicies", "use", "removed in Kubernetes 1.25", ""),
        ("extensions", "podsecuritypolicies", "use", "removed in Kubernetes 1.16", ""),
        ("settings.k8s.io", "podpresets", "get", "removed in Kubernetes 1.20", ""),
        ("resource.k8s.io", "resourceclasses", "get", "removed in Kubernetes 1.31", "deviceclasses"),
        ("scheduling.k8s.io", "compositepodgroups", "get", "only in 1.37", ""),
        (RBAC, "rolebindings", "bind", "not checked on rolebindings", "roles"),
        (RBAC, "rolebindings", "escalate", "not checked on rolebindings", "roles"),
        ("certificates.k8s.io", "certificatesigningrequests", "approve", "not checked", "signers"),
        ("", "pods/finalizers", "patch", "only ever checked for update", ""),
        ("apps", "*/finalizers", "get", "only ever checked for update", ""),
        ("", "podz/finalizers", "update", "has no resource", ""),
        ("", "nodes/metrics", "list", "only ever checked for get", ""),
        ("", "users", "get", "only ever checked for impersonate", ""),
        ("", "pods/*", "*", "called \"*\"", "*/SUBRESOURCE"),
        ("*", "*/*", "*", "called \"*\"", "*/SUBRESOURCE"),
        ("unknown.io", "pods/*", "get", "called \"*\"", ""),
        ("", "pods/", "get", "matches no request", ""),
        ("", "", "get", "empty resource", ""),
        ("", "pods", "", "empty verb", ""),
        ("core", "pods", "get", "no API group is called \"core\"", "apiGroup \"\""),
        ("v1", "pods", "get", "no API group is called \"v1\"", "apiGroup \"\""),
        ("apps/v1", "deployments", "get", "has no version", "apiGroup \"apps\""),
        ("/v1", "pods", "get", "has no version", "apiGroup \"\""),
        ("widgets.io/v1beta1", "widgets", "get", "has no version", "apiGroup \"widgets.io\""),
        ("admissionregistration", "x", "get", "no API group", "admissionregistration.k8s.io"),
        ("rbac", "roles", "get", "no API group", RBAC),
        ("Apps", "deployments", "get", "lower case", "apiGroup \"apps\""),
        ("*.k8s.io", "leases", "get", "lone \"*\"", ""),
        ("example.com", "gadgets/status", "update", "declares no status", ""),
        ("example.com", "widgets/scale", "get", "declares no scale", ""),
        ("example.com", "widgets/status", "list", "serves get, patch, update", ""),
        ("example.com", "widget", "get", "has no resource widget", "widgets"),
        ("example.com", "Gadget", "get", "has no resource Gadget", "gadgets"),
        ("example.com", "gadgetshort", "get", "has no resource gadgetshort", "gadgets"),
        ("apps", "deploy", "get", "has no resource deploy", "deployments"),
        ("", "svc", "get", "has no resource svc", "services"),
        ("example.com", "widgets/finalizers", "patch", "only ever checked for update", ""),
    ];
    let table = table();
    for (group, resource, verb, message, suggestion) in rows {
        let Liveness::Dead(reason) = table.liveness(group, resource, verb) else {
            panic!("apiGroup {group:?} resource {resource:?} verb {verb:?} is not dead");
        };
        assert!(
            reason.message.contains(message),
            "{group:?} {resource:?} {verb:?}: {}",
            reason.message
        );
        let suggested = reason.suggestion.as_deref().unwrap_or_default();
        assert!(
            suggested.contains(suggestion),
            "{group:?} {resource:?} {verb:?}: {suggested:?}"
        );
        assert!(
            !suggestion.is_empty() || !suggested.contains("apiGroup \"\""),
            "{resource}: {suggested:?}"
        );
    }
}

#[test]
fn what_a_minor_removes_is_live_or_dead_by_the_chosen_minor() {
    let (old, new) = (Table::for_minor("1.31").unwrap(), Table::for_minor("1.32").unwrap());
    assert_eq!(old.liveness("resource.k8s.io", "podschedulingcontexts", "get"), Liveness::Live);
    let Liveness::Dead(reason) = new.liveness("resource.k8s.io", "podschedulingcontexts", "get") else {
        panic!("removed in 1.32");
    };
    assert!(reason.message.contains("removed in Kubernetes 1.32"), "{}", reason.message);
}

#[test]
fn a_cross_product_excuses_pairs_but_not_what_no_pair_needs() {
    let table = table();
    let groups = ["", "apps", "extensions"];
    let resources = ["pods", "pods/log", "deployments", "configmaps/status"];
    for (group, resource, verb, expected) in [
        ("", "pods", "get", "live"),
        // Exists in another of the groups, and this group has others of the resources.
        ("", "deployments", "get", "live"),
        ("apps", "pods", "list", "live"),
        ("apps", "pods/log", "delete", "live"),
        // Taken by another of the resources.
        ("", "pods/log", "delete", "live"),
        // The group has none of the resources.
        ("extensions", "pods", "get", "dead"),
        ("extensions", "deployments", "get", "dead"),
        // The resource is in none of the groups.
        ("", "configmaps/status", "get", "dead"),
        ("apps", "configmaps/status", "get", "dead"),
        // The verb is of none of them.
        ("", "pods", "describe", "dead"),
    ] {
        let found = table.entry(&groups, &resources).of(group, resource, verb);
        assert_eq!(word(&found), expected, "{group:?} {resource} {verb}: {found:?}");
    }
    // Alone, the same pair has no excuse.
    let alone = table.entry(&[""], &["deployments"]).of("", "deployments", "get");
    assert!(alone.is_dead());
    let alone = table.entry(&[""], &["pods/log"]).of("", "pods/log", "delete");
    assert!(alone.is_dead());
}

#[test]
fn no_audit_event_carries_what_is_only_checked() {
    for (group, resource, verb, expected) in [
        ("", "users", "impersonate", true),
        (RBAC, "clusterroles", "bind", true),
        (RBAC, "clusterroles", "get", false),
        ("certificates.k8s.io", "signers", "approve", true),
        ("certificates.k8s.io", "certificatesigningrequests/approval", "update", false),
        ("example.com", "widgets/finalizers", "update", true),
        ("*", "*/finalizers", "update", true),
        ("", "nodes/metrics", "get", true),
        ("", "nodes/proxy", "get", false),
        ("security.openshift.io", "securitycontextconstraints", "use", true),
        ("eventing.knative.dev", "channels", "knsubscribe", true),
        ("", "endpoints/restricted", "create", true),
        ("", "pods", "get", false),
        ("*", "*", "*", false),
        ("", "*", "get", false),
        ("", "serviceaccounts/token", "create", false),
    ] {
        assert_eq!(is_check_only(group, resource, verb), expected, "{group:?} {resource} {verb}");
    }
}

#[test]
fn nothing_that_is_only_checked_is_served_as_well() {
    let table = table();
    for served in table.iter() {
        let resource = served.combined();
        for verb in &served.verbs {
            assert!(!is_checked(&served.api_group, &resource, verb), "{} {resource} {verb}", served.api_group);
        }
    }
}
