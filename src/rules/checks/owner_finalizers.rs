//! RC192, on OpenShift: own custom resources that become owners, without `update` on their finalizers.
//! (Kubernetes `plugin/pkg/admission/gc`, OwnerReferencesPermissionEnforcement: off by default, on in OpenShift.)

use super::Input;
use crate::analysis::{Grant, Platform, Verdict};
use crate::finding::{Finding, LocationOf};
use crate::rbac::Rule;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, class, label};
use crate::rules::entries::{self, Entry};
use crate::rules::evidence::some_of;

/// Created for the operator itself, or for one request: nobody owns them.
const UNOWNED: [&str; 6] = [
    "events",
    "leases",
    "tokenreviews",
    "subjectaccessreviews",
    "localsubjectaccessreviews",
    "selfsubjectaccessreviews",
];

/// One finding a subject, at the first of the resources.
pub(super) fn find(input: &Input<'_>, doc: &RuleDoc, own: &[Entry<'_>]) -> Option<Finding> {
    let grants = || own.iter().flat_map(|entry| entry.grants.iter().copied());
    if input.assessment.platform != Platform::OpenShift || !grants().any(creates) {
        return None;
    }
    let owners: Vec<&Grant> = grants().filter(|grant| is_watched(input, grant) && !may_own(input, grant)).collect();
    let first = owners.first()?;
    let role = own.iter().find(|entry| entry.grants.iter().any(|grant| grant.index == first.index))?;
    let all: Vec<String> = entries::things(&owners).into_iter().map(|thing| format!("{thing}/finalizers")).collect();
    let finalizers = some_of(all.iter().map(String::as_str));
    let role = label(&role.role);
    let message = format!(
        "{}: in {role}, {} without `update` on {finalizers}, which OpenShift checks of owners; no other grant allows it",
        doc.title,
        some_of(entries::things(&owners))
    );
    let mut draft = Draft::new(input.assessment, class(&owners), message);
    draft.role = role;
    draft.permission = format!("update {}", all.join(","));
    draft.remedy = format!("Grant `update` on {finalizers}.");
    draft.at = first.places.as_ref().map(|places| (places.resource.clone(), LocationOf::Resource));
    draft.grants = owners;
    draft.finish(doc)
}

fn creates(grant: &Grant) -> bool {
    matches!(entries::verb(grant), "create" | "*")
        && entries::group(grant).is_some()
        && !UNOWNED.contains(&entries::thing(grant))
}

/// A custom resource of the package that the subject reconciles.
fn is_watched(input: &Input<'_>, grant: &Grant) -> bool {
    let crd = entries::group(grant).map(|group| format!("{}.{group}", entries::thing(grant)));
    let own = crd.is_some_and(|crd| input.assessment.crds.contains(&crd));
    own && entries::verb(grant) == "watch" && grant.verdict != Verdict::Dead
}

fn may_own(input: &Input<'_>, grant: &Grant) -> bool {
    let finalizers = Rule {
        resources: vec![format!("{}/finalizers", entries::thing(grant))],
        verbs: vec!["update".to_owned()],
        ..grant.rule.clone()
    };
    input.held.holds(&grant.scope, &finalizers)
}
