//! RC169: a binding names a service account that the package does not ship, next to accounts that it ships.

use super::Input;
use crate::analysis::{Assessment, BindingPlace};
use crate::finding::{Finding, LocationOf, Related, ScopeClass};
use crate::rbac::Scope;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::evidence::some_of;

/// Accounts that a cluster makes in every namespace: Kubernetes, and OpenShift.
const EVERYWHERE: [&str; 4] = ["default", "builder", "deployer", "pipeline"];

/// One finding an account: at the first binding that names it.
pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    if !is_missing(input) {
        return;
    }
    let by_name: Vec<(usize, &BindingPlace)> =
        assessment.bindings.iter().enumerate().filter(|(_, binding)| binding.via_group.is_none()).collect();
    let Some((_, first)) = by_name.first() else { return };
    let account = &assessment.subject.name;
    let elsewhere = by_name.iter().all(|(_, binding)| is_bound_elsewhere(input, binding));
    let standing = if elsewhere {
        "another account is bound to the same: noise"
    } else {
        "nobody else is bound to the same: broken"
    };
    let runs =
        assessment.workloads.first().map(|place| format!(", as which {} runs", label(place))).unwrap_or_default();
    let message = format!(
        "{}: {} names `{account}`{runs}; the package ships {} there; {standing}",
        doc.title,
        label(&first.binding),
        some_of(assessment.accounts_beside.iter().map(String::as_str))
    );
    let class = match by_name.iter().any(|(_, binding)| binding.scope == Scope::Cluster) {
        true => ScopeClass::Cluster,
        false => ScopeClass::Namespace,
    };
    let mut draft = Draft::new(assessment, class, message);
    draft.role = label(&first.role);
    draft.permission = format!("names ServiceAccount {account}");
    draft.at = first.subject_location.clone().map(|location| (location, LocationOf::Name));
    draft.bindings = by_name.iter().map(|(index, _)| *index).collect();
    let also = by_name.iter().skip(1).filter_map(|(_, binding)| binding.subject_location.clone());
    draft.related =
        also.map(|location| Related { label: format!("ServiceAccount {account}"), location: Some(location) }).collect();
    findings.extend(draft.finish(doc));
}

/// Whether the account is nowhere, as far as the input tells: the package ships others beside it, and neither every
/// cluster, nor another package, nor the log has it.
fn is_missing(input: &Input<'_>) -> bool {
    let assessment = input.assessment;
    let Some((namespace, name)) = assessment.subject.name.split_once('/') else { return false };
    let elsewhere = |other: &Assessment| other.account.is_some() && other.subject.name == assessment.subject.name;
    !assessment.accounts_beside.is_empty()
        && assessment.calls.is_empty()
        && namespace != "kube-system"
        && !EVERYWHERE.contains(&name)
        && !input.all.iter().any(elsewhere)
}

/// Whether a subject that exists is bound to the same role in the same scope.
fn is_bound_elsewhere(input: &Input<'_>, binding: &BindingPlace) -> bool {
    let others = input.all.iter().filter(|other| other.package == input.assessment.package && other.account.is_some());
    let mut bindings = others.flat_map(|other| &other.bindings);
    bindings.any(|other| other.scope == binding.scope && other.role == binding.role)
}
