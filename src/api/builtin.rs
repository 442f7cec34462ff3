//! Built-in roles and default bindings
//! (Kubernetes `plugin/pkg/auth/authorizer/rbac/bootstrappolicy`).

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::rbac::Rule;

/// Data files by minor, one JSON object a line; `tests/generated.rs` makes them out of Kubernetes' own files.
const DATA: [(&str, &str); 1] = [("1.36", include_str!("data/builtin-1.36.jsonl"))];

/// One built-in object.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind")]
enum Object {
    ClusterRole { name: String, rules: Vec<Rule> },
    Role { namespace: String, name: String, rules: Vec<Rule> },
    ClusterRoleBinding { role: String, groups: Vec<String> },
}

#[derive(Debug, Default)]
struct BuiltIns {
    /// (namespace, name) → rules; ClusterRoles have no namespace.
    roles: BTreeMap<(String, String), Vec<Rule>>,
    /// Rules that the default bindings give to every service account.
    authenticated: Vec<Rule>,
}

fn of_minor(minor: &str) -> Option<&'static BuiltIns> {
    static PARSED: OnceLock<BTreeMap<&'static str, BuiltIns>> = OnceLock::new();
    PARSED.get_or_init(|| DATA.iter().map(|(minor, data)| (*minor, parse(data))).collect()).get(minor)
}

fn parse(data: &str) -> BuiltIns {
    let mut builtins = BuiltIns::default();
    let mut bound_to_all = Vec::new();
    // A line that does not parse would be a fault of the build; a test reads every one.
    for object in data.lines().filter_map(|line| serde_json::from_str(line).ok()) {
        match object {
            Object::ClusterRole { name, rules } => {
                builtins.roles.insert((String::new(), name), rules);
            }
            Object::Role { namespace, name, rules } => {
                builtins.roles.insert((namespace, name), rules);
            }
            Object::ClusterRoleBinding { role, groups } => {
                if groups.iter().any(|group| group == "system:authenticated" || group == "system:serviceaccounts") {
                    bound_to_all.push(role);
                }
            }
        }
    }
    let of_all = bound_to_all.into_iter().filter_map(|role| builtins.roles.get(&(String::new(), role)));
    builtins.authenticated = of_all.flatten().cloned().collect();
    builtins
}

/// Rules of a built-in ClusterRole of this minor, aggregation resolved; `None` when it is not built in or
/// not known to this build.
pub fn cluster_role(minor: &str, name: &str) -> Option<Vec<Rule>> {
    role(minor, "", name)
}

/// Rules of a built-in Role (`namespace`, `name`).
pub fn role(minor: &str, namespace: &str, name: &str) -> Option<Vec<Rule>> {
    of_minor(minor)?.roles.get(&(namespace.to_owned(), name.to_owned())).cloned()
}

/// Whether this is a name that Kubernetes itself creates (`cluster-admin`, `admin`, `edit`, `view`, `system:*`), or
/// one of the roles of its namespaces.
pub fn is_builtin_name(name: &str) -> bool {
    matches!(name, "cluster-admin" | "admin" | "edit" | "view" | "extension-apiserver-authentication-reader")
        || name.starts_with("system:")
}

/// What every service account holds cluster-wide by the default bindings of `system:authenticated` and
/// `system:serviceaccounts`.
pub fn authenticated_rules(minor: &str) -> Vec<Rule> {
    of_minor(minor).map(|builtins| builtins.authenticated.clone()).unwrap_or_default()
}
