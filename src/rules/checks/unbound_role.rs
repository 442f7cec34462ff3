//! RC167: a role of the input that no binding of the input names.

use super::Input;
use crate::finding::{Finding, LocationOf, ScopeClass};
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};

/// Endings of the roles that scaffolding writes for people, to be bound by whoever installs the operator.
const FOR_PEOPLE: [&str; 4] = ["-editor-role", "-viewer-role", "-admin-role", "metrics-reader"];

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    if !assessment.subject.unbound {
        return;
    }
    for (index, binding) in assessment.bindings.iter().enumerate() {
        let role = &binding.role;
        let Some(location) = &role.location else { continue };
        if FOR_PEOPLE.iter().any(|ending| role.name.ends_with(ending)) {
            continue;
        }
        let class = if role.kind == "ClusterRole" { ScopeClass::Cluster } else { ScopeClass::Namespace };
        let message = format!("{}: no binding of the input names {} `{}`", doc.title, role.kind, role.name);
        let mut draft = Draft::new(assessment, class, message);
        draft.role = label(role);
        draft.permission = "bound to nobody".to_owned();
        draft.at = Some((location.clone(), LocationOf::Name));
        draft.bindings = vec![index];
        findings.extend(draft.finish(doc));
    }
}
