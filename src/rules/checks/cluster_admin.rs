//! RC003: a binding hands out the built-in `cluster-admin`.

use super::Input;
use crate::finding::{Finding, LocationOf, ScopeClass};
use crate::rbac::Scope;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    for (index, binding) in assessment.bindings.iter().enumerate() {
        if binding.role.kind != "ClusterRole" || binding.role.name != "cluster-admin" {
            continue;
        }
        let (class, reach) = match &binding.scope {
            Scope::Cluster => (ScopeClass::Cluster, "the whole cluster".to_owned()),
            Scope::Namespace(namespace) => (ScopeClass::Namespace, format!("namespace `{namespace}`")),
        };
        let group = binding.via_group.as_ref().map(|group| format!(" through group `{group}`")).unwrap_or_default();
        let message = format!("{}: everything in {reach}{group}", doc.title);
        let mut draft = Draft::new(assessment, class, message);
        draft.role = label(&binding.role);
        draft.permission = format!("{} binds cluster-admin", label(&binding.binding));
        draft.at = binding.role_ref_location.clone().map(|location| (location, LocationOf::Name));
        draft.bindings = vec![index];
        findings.extend(draft.finish(doc));
    }
}
