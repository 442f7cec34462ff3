//! Built-in roles and default bindings
//! (Kubernetes `plugin/pkg/auth/authorizer/rbac/bootstrappolicy`).
//!
//! Roles behind feature gates that are off by default are not in it; `admin`, `edit` and `view` have the rules
//! that aggregation gives them in a cluster without further roles, and the labels by which they take in more.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::data;
use crate::rbac::Rule;

/// A default ClusterRoleBinding or RoleBinding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultBinding {
    /// The namespace of a RoleBinding; `None` for a ClusterRoleBinding.
    pub namespace: Option<String>,
    /// Name of the binding.
    pub name: String,
    /// `ClusterRole` or `Role`.
    pub role_kind: String,
    /// Name of the role.
    pub role_name: String,
    /// Who holds it.
    pub subjects: Vec<DefaultSubject>,
}

/// A subject of a default binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultSubject {
    /// `User`, `Group` or `ServiceAccount`.
    pub kind: String,
    /// The namespace of a service account; `None` for others.
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

/// Labels by key.
pub type Labels = BTreeMap<String, String>;

/// A built-in role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuiltInRole {
    /// Aggregation among the built-in roles resolved.
    pub rules: Vec<Rule>,
    /// `metadata.labels`.
    pub labels: Labels,
    /// The `matchLabels` of each selector of its `aggregationRule`; none for most.
    pub aggregates: Vec<Labels>,
}

/// A built-in ClusterRole of this minor; `None` when it is not built in or not known to this build.
pub fn cluster_role(minor: &str, name: &str) -> Option<&'static BuiltInRole> {
    policy(minor)?.roles.get("")?.get(name)
}

/// A built-in Role (`namespace`, `name`).
pub fn role(minor: &str, namespace: &str, name: &str) -> Option<&'static BuiltInRole> {
    if namespace.is_empty() { None } else { policy(minor)?.roles.get(namespace)?.get(name) }
}

/// All built-in ClusterRoles of this minor by name.
pub fn cluster_roles(minor: &str) -> impl Iterator<Item = (&'static str, &'static BuiltInRole)> {
    let roles = policy(minor).and_then(|policy| policy.roles.get(""));
    roles.into_iter().flatten().map(|(name, role)| (*name, role))
}

/// Whether this is a name that Kubernetes itself creates (`cluster-admin`, `admin`, `edit`, `view`, `system:*`),
/// known to this build or not.
pub fn is_builtin_name(name: &str) -> bool {
    matches!(name, "cluster-admin" | "admin" | "edit" | "view" | "extension-apiserver-authentication-reader")
        || name.starts_with("system:")
}

/// What every service account holds cluster-wide by the default bindings of `system:authenticated` and
/// `system:serviceaccounts` (Kubernetes: discovery, own reviews, token issuer discovery).
pub fn authenticated_rules(minor: &str) -> Vec<Rule> {
    let everyone = |subject: &DefaultSubject| {
        subject.kind == "Group" && matches!(subject.name.as_str(), "system:authenticated" | "system:serviceaccounts")
    };
    default_bindings(minor)
        .iter()
        .filter(|binding| binding.namespace.is_none() && binding.subjects.iter().any(everyone))
        .filter_map(|binding| cluster_role(minor, &binding.role_name))
        .flat_map(|role| role.rules.iter().cloned())
        .collect()
}

/// The default bindings of this minor, ClusterRoleBindings first; none when the minor is not known to this build.
pub fn default_bindings(minor: &str) -> &'static [DefaultBinding] {
    policy(minor).map_or(&[], |policy| &policy.bindings)
}

/// The built-in policy of one minor.
#[derive(Default)]
struct Policy {
    /// By namespace and name; ClusterRoles have the empty namespace.
    roles: BTreeMap<&'static str, BTreeMap<&'static str, BuiltInRole>>,
    bindings: Vec<DefaultBinding>,
}

fn policy(minor: &str) -> Option<&'static Policy> {
    static POLICIES: [OnceLock<Policy>; data::MINORS.len()] = [const { OnceLock::new() }; data::MINORS.len()];
    let position = data::MINORS.iter().position(|known| *known == minor)?;
    let text = data::of(minor)?.builtin;
    Some(POLICIES.get(position)?.get_or_init(|| parse(text)))
}

/// A role is a line `role NAMESPACE NAME LABELS` (`-` for a ClusterRole or no labels) with indented lines below it:
/// `aggregates LABELS` for a selector, and one JSON rule a line; a binding is a line `binding NAMESPACE NAME ROLE-KIND ROLE-NAME` with one indented `KIND NAMESPACE NAME` a
/// subject below it.
fn parse(text: &'static str) -> Policy {
    enum Open {
        Role(&'static str, &'static str),
        Binding,
    }
    fn role<'a>(policy: &'a mut Policy, namespace: &'static str, name: &'static str) -> &'a mut BuiltInRole {
        policy.roles.entry(namespace).or_default().entry(name).or_default()
    }
    let mut policy = Policy::default();
    let mut open = None;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (&open, words.as_slice()) {
            (_, ["role", namespace, name, labels]) => {
                let namespace = if *namespace == "-" { "" } else { *namespace };
                role(&mut policy, namespace, name).labels = read_labels(labels);
                open = Some(Open::Role(namespace, name));
            }
            (Some(Open::Role(namespace, name)), ["aggregates", labels]) => {
                role(&mut policy, namespace, name).aggregates.push(read_labels(labels));
            }
            (_, ["binding", namespace, name, role_kind, role_name]) => {
                policy.bindings.push(DefaultBinding {
                    namespace: given(namespace),
                    name: (*name).to_owned(),
                    role_kind: (*role_kind).to_owned(),
                    role_name: (*role_name).to_owned(),
                    subjects: Vec::new(),
                });
                open = Some(Open::Binding);
            }
            (Some(Open::Role(namespace, name)), [json]) => {
                role(&mut policy, namespace, name).rules.extend(serde_json::from_str::<Rule>(json).ok());
            }
            (Some(Open::Binding), [kind, namespace, name]) => {
                if let Some(binding) = policy.bindings.last_mut() {
                    binding.subjects.push(DefaultSubject {
                        kind: (*kind).to_owned(),
                        namespace: given(namespace),
                        name: (*name).to_owned(),
                    });
                }
            }
            _ => {}
        }
    }
    policy
}

/// `KEY=VALUE,KEY=VALUE`.
fn read_labels(text: &str) -> Labels {
    text.split(',').filter_map(|pair| pair.split_once('=')).map(|(key, value)| (key.into(), value.into())).collect()
}

fn given(field: &str) -> Option<String> {
    (field != "-").then(|| field.to_owned())
}

/// How many rules the roles of a minor have together, to hold against its data file.
#[cfg(test)]
pub(super) fn rules_of(minor: &str) -> usize {
    policy(minor)
        .map_or(0, |policy| policy.roles.values().flat_map(BTreeMap::values).map(|role| role.rules.len()).sum())
}
