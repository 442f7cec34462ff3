//! Built-in roles and default bindings
//! (Kubernetes `plugin/pkg/auth/authorizer/rbac/bootstrappolicy`).

use crate::rbac::Rule;

/// Rules of a built-in ClusterRole of this minor, aggregation resolved; `None` when it is not built in or
/// not known to this build.
pub fn cluster_role(minor: &str, name: &str) -> Option<Vec<Rule>> {
    let _ = (minor, name);
    unimplemented!()
}

/// Rules of a built-in Role (`namespace`, `name`).
pub fn role(minor: &str, namespace: &str, name: &str) -> Option<Vec<Rule>> {
    let _ = (minor, namespace, name);
    unimplemented!()
}

/// Whether this is a name that Kubernetes itself creates (`cluster-admin`, `admin`, `edit`, `view`, `system:*`).
pub fn is_builtin_name(name: &str) -> bool {
    let _ = name;
    unimplemented!()
}

/// What every authenticated user, so every service account, holds cluster-wide by the default bindings of
/// `system:authenticated` (and `system:serviceaccounts` where the default bindings name it).
pub fn authenticated_rules(minor: &str) -> Vec<Rule> {
    let _ = minor;
    unimplemented!()
}
