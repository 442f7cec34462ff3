//! The minimal role as the block of a ClusterServiceVersion from which the Operator Lifecycle Manager makes roles:
//! `spec.install.spec.clusterPermissions` and `permissions`.

use std::fmt::Write as _;

use super::yaml_text::{comment, scalar};
use super::{head, rule_text};
use crate::analysis::{Assessment, MinimalRole};
use crate::graph::SubjectKey;
use crate::rbac::Scope;

/// The block, to stand at `spec.install.spec`. OLM grants `permissions` in the namespaces that the operator watches, so
/// of other namespaces only a comment is written.
pub fn render(assessment: &Assessment, minimal: &MinimalRole) -> String {
    let mut text = comment("", &head(assessment, minimal));
    let key = SubjectKey::parse(&assessment.subject.user);
    let mut section = None;
    let mut elsewhere = Vec::new();
    for scoped in minimal.scopes.iter().filter(|scoped| !scoped.rules.is_empty()) {
        let wanted = match &scoped.scope {
            Scope::Cluster => "clusterPermissions",
            Scope::Namespace(namespace) if key.namespace() == Some(namespace) => "permissions",
            Scope::Namespace(namespace) => {
                elsewhere.push(namespace.as_str());
                continue;
            }
        };
        // Scopes differ, so each section comes once.
        section = Some(wanted);
        let _ = writeln!(text, "{wanted}:\n  - serviceAccountName: {}\n    rules:", scalar(key.name()));
        text.extend(scoped.rules.iter().map(|rule| rule_text::explained("      ", rule)));
    }
    if section.is_none() {
        text += "clusterPermissions: []\n";
    }
    if !elsewhere.is_empty() {
        text += &comment(
            "",
            &format!("Not in here, a ClusterServiceVersion cannot grant in other namespaces: {}", elsewhere.join(", ")),
        );
    }
    text
}
