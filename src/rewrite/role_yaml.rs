//! The minimal role as manifests: a Role or ClusterRole and its binding per scope, each rule with its reason.

use std::fmt::Write as _;

use super::yaml_text::{comment, scalar};
use super::{head, rule_text};
use crate::analysis::{Assessment, MinimalRole, MinimalRule};
use crate::graph::SubjectKey;
use crate::rbac::Scope;

/// The manifests as one YAML stream.
pub fn render(assessment: &Assessment, minimal: &MinimalRole) -> String {
    let mut text = comment("", &head(assessment, minimal));
    let key = SubjectKey::parse(&assessment.subject.user);
    for scoped in minimal.scopes.iter().filter(|scoped| !scoped.rules.is_empty()) {
        text += "---\n";
        text += &role(&key, &scoped.scope, &scoped.rules);
        text += "---\n";
        text += &binding(&key, &scoped.scope);
    }
    text
}

/// Name of the role and its binding: the account's own, so that two accounts of one namespace do not meet. A
/// ClusterRole is not in a namespace, so it carries that of the account.
fn name(key: &SubjectKey, scope: &Scope) -> String {
    let own = match (scope, key.namespace()) {
        (Scope::Cluster, Some(namespace)) => format!("rolecall:{namespace}:{}", key.name()),
        _ => format!("rolecall:{}", key.name()),
    };
    // RBAC names are path segments: no `/` and no `%` (`ValidateRBACName`).
    own.replace(['/', '%'], "-")
}

fn role(key: &SubjectKey, scope: &Scope, rules: &[MinimalRule]) -> String {
    let kind = match scope {
        Scope::Cluster => "ClusterRole",
        Scope::Namespace(_) => "Role",
    };
    let mut text = object(kind, key, scope);
    text += "rules:\n";
    text.extend(rules.iter().map(|rule| rule_text::explained("", rule)));
    text
}

fn binding(key: &SubjectKey, scope: &Scope) -> String {
    let (kind, role_kind) = match scope {
        Scope::Cluster => ("ClusterRoleBinding", "ClusterRole"),
        Scope::Namespace(_) => ("RoleBinding", "Role"),
    };
    let mut text = object(kind, key, scope);
    let _ = writeln!(
        text,
        "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: {role_kind}\n  name: {}",
        scalar(&name(key, scope))
    );
    text += "subjects:\n";
    match key {
        SubjectKey::ServiceAccount { namespace, name } => {
            let _ =
                writeln!(text, "- kind: ServiceAccount\n  name: {}\n  namespace: {}", scalar(name), scalar(namespace));
        }
        SubjectKey::User(name) | SubjectKey::Group(name) => {
            let kind = if matches!(key, SubjectKey::Group(_)) { "Group" } else { "User" };
            let _ = writeln!(text, "- apiGroup: rbac.authorization.k8s.io\n  kind: {kind}\n  name: {}", scalar(name));
        }
    }
    text
}

fn object(kind: &str, key: &SubjectKey, scope: &Scope) -> String {
    let mut text = format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n  name: {}\n",
        scalar(&name(key, scope))
    );
    if let Scope::Namespace(namespace) = scope {
        let _ = writeln!(text, "  namespace: {}", scalar(namespace));
    }
    text
}
