//! The minimal role as lists of rules alone, to paste under the head that a Helm template (or any other) writes.

use super::yaml_text::comment;
use super::{head, rule_text};
use crate::analysis::{Assessment, MinimalRole};
use crate::rbac::Scope;

/// A document with `rules` for each scope.
pub fn render(assessment: &Assessment, minimal: &MinimalRole) -> String {
    let mut text = inert(&comment("", &head(assessment, minimal)));
    for scoped in minimal.scopes.iter().filter(|scoped| !scoped.rules.is_empty()) {
        let of = match &scoped.scope {
            Scope::Cluster => "Of a ClusterRole, bound by a ClusterRoleBinding".to_owned(),
            Scope::Namespace(namespace) => format!("Of a Role, bound by a RoleBinding in {namespace}"),
        };
        text += "---\n";
        text += &inert(&comment("", &of));
        text += "rules:\n";
        text.extend(scoped.rules.iter().map(|rule| inert(&rule_text::explained("  ", rule))));
    }
    text
}

/// Helm runs what stands between braces, also in a comment: they are written by an action that prints them.
fn inert(text: &str) -> String {
    text.replace("{{", "{{ \"{{\" }}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_run() {
        assert_eq!(inert("# in o{{ fail }}"), "# in o{{ \"{{\" }} fail }}");
    }
}
