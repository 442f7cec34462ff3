//! What is checked but never served: no audit event ever carries it.

use super::table::REQUEST_VERBS;
use crate::rbac::Rule;

/// One kind of check, as (group, resource, verbs). In each, `*` stands for anything and a trailing `*` for any
/// ending; a resource may also be `*/sub`. A resource without subresource means just that one.
type Check = (&'static str, &'static str, &'static [&'static str]);

/// The verbs of the kubelet's API (Kubernetes `pkg/kubelet/server/auth.go`): from the method of the request.
const KUBELET: &[&str] = &["get", "create", "update", "patch", "delete"];

/// Constrained impersonation (Kubernetes `apiserver/pkg/endpoints/filters/impersonation`, 1.35 and later).
const IMPERSONATE: &[&str] = &["impersonate", "impersonate:*"];

const RBAC: &str = "rbac.authorization.k8s.io";
const AUTHENTICATION: &str = "authentication.k8s.io";

#[rustfmt::skip]
const CHECKS: &[Check] = &[
    // Kubernetes apiserver/pkg/endpoints/filters/impersonation
    ("", "users", IMPERSONATE),
    ("", "groups", IMPERSONATE),
    ("", "serviceaccounts", IMPERSONATE),
    (AUTHENTICATION, "users", IMPERSONATE),
    (AUTHENTICATION, "groups", IMPERSONATE),
    (AUTHENTICATION, "serviceaccounts", IMPERSONATE),
    (AUTHENTICATION, "nodes", IMPERSONATE),
    (AUTHENTICATION, "uids", IMPERSONATE),
    (AUTHENTICATION, "userextras", IMPERSONATE),
    (AUTHENTICATION, "userextras/*", IMPERSONATE),
    // pkg/registry/rbac/escalation_check.go
    (RBAC, "roles", &["bind", "escalate"]),
    (RBAC, "clusterroles", &["bind", "escalate"]),
    // pkg/certauthorization, admission plugins CertificateApproval, CertificateSigning, ClusterTrustBundleAttest
    ("certificates.k8s.io", "signers", &["approve", "sign", "attest"]),
    // pkg/controller/certificates/approver, and Karmada's in its likeness
    ("certificates.k8s.io", "certificatesigningrequests/nodeclient", &["create"]),
    ("certificates.k8s.io", "certificatesigningrequests/selfnodeclient", &["create"]),
    ("certificates.k8s.io", "certificatesigningrequests/selfnodeserver", &["create"]),
    ("certificates.k8s.io", "certificatesigningrequests/clusteragent", &["create"]),
    ("certificates.k8s.io", "certificatesigningrequests/selfclusteragent", &["create"]),
    // pkg/kubelet/server/auth.go
    ("", "nodes/checkpoint", KUBELET),
    ("", "nodes/configz", KUBELET),
    ("", "nodes/healthz", KUBELET),
    ("", "nodes/log", KUBELET),
    ("", "nodes/metrics", KUBELET),
    ("", "nodes/pods", KUBELET),
    ("", "nodes/spec", KUBELET),
    ("", "nodes/stats", KUBELET),
    ("", "nodes/statusz", KUBELET),
    // pkg/registry/resource/utils.go
    ("resource.k8s.io", "resourceclaims/binding", &["update", "patch"]),
    ("resource.k8s.io", "resourceclaims/driver", &["associated-node:*", "arbitrary-node:*"]),
    // OpenShift: openshift/kubernetes openshift-kube-apiserver/admission, apiserver-library-go
    ("security.openshift.io", "securitycontextconstraints", &["use"]),
    ("", "endpoints/restricted", &["create"]),
    ("discovery.k8s.io", "endpointslices/restricted", &["create"]),
    ("network.openshift.io", "service/externalips", &["create"]),
    ("route.openshift.io", "routes/custom-host", &["create", "update"]),
    ("build.openshift.io", "builds/custom", &["create"]),
    ("build.openshift.io", "builds/docker", &["create"]),
    ("build.openshift.io", "builds/jenkinspipeline", &["create"]),
    ("build.openshift.io", "builds/optimizeddocker", &["create"]),
    ("build.openshift.io", "builds/source", &["create"]),
    // Components that ask the API server about their own endpoints
    ("image.openshift.io", "registry/metrics", &["get"]),
    ("image.openshift.io", "imagestreams/layers", &["update"]),
    ("route.openshift.io", "routers/metrics", &["get"]),
    ("monitoring.coreos.com", "alertmanagers/api", &["get", "create", "update", "patch", "delete"]),
    ("monitoring.coreos.com", "prometheuses/api", &["get", "create", "update", "patch", "delete"]),
    // OpenShift's monitoring: who may query the metrics of a namespace's pods, by GET or POST (cluster-monitoring-operator
    // assets/thanos-querier)
    ("metrics.k8s.io", "pods", &["create"]),
    // Open Cluster Management
    ("", "serviceaccounts/token", &["subscribe"]),
    // plugin/pkg/admission/gc: owner references that block deletion
    ("*", "*/finalizers", &["update"]),
];

/// Checks on whatever resource a request is about: group and verb.
#[rustfmt::skip]
const CHECKS_ANYWHERE: &[(&str, &str)] = &[
    // plugin/pkg/admission/noderestriction: the resource is the audience asked for
    ("", "request-serviceaccounts-token-audience"),
    // apiserver/pkg/endpoints/filters/impersonation: what may be done while impersonating
    ("*", "impersonate-on:*"),
    // apiserver/pkg/endpoints/handlers/delete.go
    ("*", "unsafe-delete-ignore-read-errors"),
];

/// Whether (apiGroup, resource[/subresource], verb), taken literally, is only ever checked on behalf of a
/// caller and so can never be an event of its own (`bind`, `escalate`, `impersonate`, `*/finalizers`, signers …).
/// Verbs that no request carries are, whatever the resource.
pub fn is_check_only(api_group: &str, resource: &str, verb: &str) -> bool {
    let request_verb = verb == "*" || REQUEST_VERBS.contains(&verb);
    !request_verb || find(api_group, resource, verb, covers)
}

/// Whether a permission that shows in events of its own is checked by others too, on behalf of who calls them: the
/// kubelet (`pkg/kubelet/server/auth.go`) asks for `nodes/proxy`, components that guard their own paths ask for those
/// (`apiserver/pkg/server/options/authorization.go`, kube-rbac-proxy, the metrics of controller-runtime).
pub fn is_checked_elsewhere(rule: &Rule) -> bool {
    let by_kubelet = rule.api_groups.iter().any(String::is_empty)
        && rule.resources.iter().any(|resource| resource == "nodes/proxy")
        && rule.verbs.iter().any(|verb| verb == "*" || KUBELET.contains(&verb.as_str()));
    by_kubelet || !rule.non_resource_urls.is_empty()
}

/// Whether some check is in what a rule writes, wildcards in any place. The verb `*` does not stand for the checks
/// that are made on every resource: they are no reason why this one should exist.
pub fn is_checked(api_group: &str, resource: &str, verb: &str) -> bool {
    let meets = |pattern: &str, written: &str| written == "*" || covers(pattern, written);
    CHECKS_ANYWHERE.iter().any(|(group, known)| meets(group, api_group) && covers(known, verb))
        || find(api_group, resource, verb, meets)
}

/// The verbs for which this very resource is checked.
pub(super) fn checked_verbs(api_group: &str, resource: &str) -> Vec<&'static str> {
    CHECKS
        .iter()
        .filter(|(group, checked, _)| covers(group, api_group) && resource_matches(checked, resource, covers))
        .flat_map(|(_, _, verbs)| verbs.iter().copied())
        .collect()
}

/// The checks that the table names word for word: (apiGroup, resource[/subresource], verb).
pub fn exact_checks() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let exact = |word: &str| !word.contains('*');
    CHECKS
        .iter()
        .flat_map(|(group, resource, verbs)| verbs.iter().map(move |verb| (*group, *resource, *verb)))
        .filter(move |(group, resource, verb)| exact(group) && exact(resource) && exact(verb))
}

fn find(api_group: &str, resource: &str, verb: &str, matches: fn(&str, &str) -> bool) -> bool {
    CHECKS.iter().any(|(group, checked, verbs)| {
        matches(group, api_group)
            && resource_matches(checked, resource, matches)
            && verbs.iter().any(|known| matches(known, verb))
    })
}

fn resource_matches(pattern: &str, written: &str, matches: fn(&str, &str) -> bool) -> bool {
    match (pattern.split_once('/'), written.split_once('/')) {
        // `*/*` is a slip and not meant for the one check with a literal `*` (all `userextras` at once).
        (Some((resource, "*")), Some((written, "*"))) => covers(resource, written),
        (Some((resource, subresource)), Some((written_resource, written_subresource))) => {
            matches(resource, written_resource) && covers(subresource, written_subresource)
        }
        (None, Some(_)) => false,
        (_, None) => matches(pattern, written),
    }
}

/// Whether everything that a rule writes is in a pattern of the table.
fn covers(pattern: &str, written: &str) -> bool {
    pattern.strip_suffix('*').map_or(pattern == written, |start| written.starts_with(start))
}
