//! RC169: a binding names a service account that the package does not ship, next to accounts that it ships.

use std::collections::BTreeSet;

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
    let Some(neighbours) = neighbours(input) else { return };
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
        "{}: {} names `{account}`{runs}; the package ships {}; {standing}",
        doc.title,
        label(&first.binding),
        some_of(neighbours)
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

/// The accounts that the package ships in the namespace of an account that it does not ship; `None` where the account
/// is there, may be there, or is another package's.
fn neighbours<'a>(input: &Input<'a>) -> Option<BTreeSet<&'a str>> {
    let assessment = input.assessment;
    let (namespace, name) = service_account(assessment)?;
    let known = assessment.account.is_some() || !assessment.calls.is_empty() || EVERYWHERE.contains(&name);
    let shipped_by = |other: &Assessment| other.accounts.contains(&assessment.subject.name);
    if known || namespace == "kube-system" || input.all.iter().any(shipped_by) {
        return None;
    }
    let in_namespace = |account: &&str| account.split_once('/').is_some_and(|(own, _)| own == namespace);
    let shipped: BTreeSet<&str> = assessment.accounts.iter().map(String::as_str).filter(in_namespace).collect();
    (!shipped.is_empty()).then_some(shipped)
}

/// Namespace and name of a subject that is a service account.
fn service_account(assessment: &Assessment) -> Option<(&str, &str)> {
    assessment.subject.user.strip_prefix("system:serviceaccount:")?.split_once(':')
}

/// Whether a subject that exists is bound to the same role in the same scope.
fn is_bound_elsewhere(input: &Input<'_>, binding: &BindingPlace) -> bool {
    let others = input.all.iter().filter(|other| other.package == input.assessment.package && other.account.is_some());
    let mut bindings = others.flat_map(|other| &other.bindings);
    bindings.any(|other| other.scope == binding.scope && other.role == binding.role)
}
