//! What is checked but never served: no audit event ever carries it. One table of data; each row says who checks.

/// A row: verbs on a resource of a group. `*` stands for any, `prefix*` for any with that prefix.
struct Check {
    group: &'static str,
    /// `resource`, `resource/subresource`, or `*/subresource`.
    resource: &'static str,
    verbs: &'static [&'static str],
}

const fn check(group: &'static str, resource: &'static str, verbs: &'static [&'static str]) -> Check {
    Check { group, resource, verbs }
}

const CHECKS: [Check; 24] = [
    // pkg/registry/rbac/escalation_check.go, {role,rolebinding}/policybased
    check("rbac.authorization.k8s.io", "roles", &["bind", "escalate"]),
    check("rbac.authorization.k8s.io", "clusterroles", &["bind", "escalate"]),
    // staging/src/k8s.io/apiserver/pkg/endpoints/filters/impersonation
    check("", "users", &["impersonate"]),
    check("", "groups", &["impersonate"]),
    check("", "serviceaccounts", &["impersonate"]),
    check("authentication.k8s.io", "*", &["impersonate*"]),
    check("authentication.k8s.io", "userextras/*", &["impersonate*"]),
    check("*", "*", &["impersonate-on:*"]),
    // plugin/pkg/admission/certificates
    check("certificates.k8s.io", "signers", &["approve", "sign", "attest"]),
    // plugin/pkg/admission/gc/gc_admission.go asks for `update` only
    check("*", "*/finalizers", &["update", "*"]),
    // pkg/kubelet/server/auth.go, by HTTP method
    check("", "nodes/metrics", KUBELET),
    check("", "nodes/stats", KUBELET),
    check("", "nodes/log", KUBELET),
    check("", "nodes/spec", KUBELET),
    check("", "nodes/checkpoint", KUBELET),
    check("", "nodes/configz", KUBELET),
    check("", "nodes/healthz", KUBELET),
    check("", "nodes/pods", KUBELET),
    check("", "nodes/statusz", KUBELET),
    // staging/src/k8s.io/apiserver/pkg/endpoints/handlers/delete.go
    check("*", "*", &["unsafe-delete-ignore-read-errors"]),
    // pkg/registry/resource/utils.go
    check("resource.k8s.io", "resourceclaims/binding", &["update", "patch", "*"]),
    check("resource.k8s.io", "resourceclaims/driver", &["associated-node:*", "arbitrary-node:*", "*"]),
    // OpenShift: openshift-kube-apiserver/admission/network/restrictedendpoints
    check("", "endpoints/restricted", &["create", "*"]),
    check("discovery.k8s.io", "endpointslices/restricted", &["create", "*"]),
];

const KUBELET: &[&str] = &["get", "create", "update", "patch", "delete", "*"];

/// Whether (apiGroup, resource[/subresource], verb), taken literally, is only ever checked on behalf of a
/// caller and so can never be an event of its own (`bind`, `escalate`, `impersonate`, `*/finalizers`, signers …).
pub fn is_check_only(api_group: &str, resource: &str, verb: &str) -> bool {
    CHECKS.iter().any(|check| {
        fits(check.group, api_group) && fits_resource(check.resource, resource) && check.verbs.iter().any(|v| fits(v, verb))
    })
}

/// Whether some check asks for this subresource of this resource (`*` for any group or resource as written).
pub(super) fn is_checked_resource(api_group: &str, resource: &str) -> bool {
    CHECKS.iter().any(|check| {
        check.resource != "*" && (fits(check.group, api_group) || api_group == "*") && fits_resource(check.resource, resource)
    })
}

fn fits(pattern: &str, text: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => text.starts_with(prefix),
        None => pattern == text,
    }
}

fn fits_resource(pattern: &str, resource: &str) -> bool {
    match pattern.strip_prefix("*/") {
        Some(subresource) => resource.split_once('/').is_some_and(|(_, own)| own == subresource),
        None => fits(pattern, resource),
    }
}
