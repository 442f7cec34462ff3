//! RC168: a binding names a role that is neither in the input nor built into Kubernetes.

use super::Input;
use crate::analysis::RoleState;
use crate::finding::{Finding, LocationOf, ScopeClass};
use crate::rbac::Scope;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    for (index, binding) in assessment.bindings.iter().enumerate() {
        if binding.role_state != RoleState::Missing {
            continue;
        }
        let class = match binding.scope {
            Scope::Cluster => ScopeClass::Cluster,
            Scope::Namespace(_) => ScopeClass::Namespace,
        };
        let (from, to) = (label(&binding.binding), label(&binding.role));
        let message = format!("{}: {from} names {to}, which is neither in the input nor built in", doc.title);
        let mut draft = Draft::new(assessment, class, message);
        draft.permission = format!("{from} names {to}");
        draft.role = to;
        draft.at = binding.role_ref_location.clone().map(|location| (location, LocationOf::Name));
        draft.bindings = vec![index];
        findings.extend(draft.finish(doc));
    }
}
