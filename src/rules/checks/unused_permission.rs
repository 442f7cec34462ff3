//! RC181: verbs, resources and groups of a rule entry that the log could have shown and did not.

use std::collections::BTreeMap;

use super::Input;
use crate::analysis::{Confidence, Grant, RoleState, Verdict};
use crate::finding::{Finding, LocationOf};
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, class, label};
use crate::rules::entries::{self, Entry, Mark, Slice, role_of, slices};
use crate::rules::evidence::{counted, some_of};

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    for entry in input.entries {
        // A whole entry is RC187.
        for slice in slices(entry, mark).into_iter().filter(|slice| slice.of != LocationOf::Entry) {
            let message = format!("{}: {} in {}", doc.title, subject_of(&slice), label(&entry.role));
            let mut draft = Draft::new(assessment, class(&slice.grants), message);
            draft.role = label(&entry.role);
            draft.permission = entries::permission(&slice.grants);
            draft.evidence = counted(assessment, 0);
            let action = match slice.partial {
                false => format!("Remove `{}` from this entry", slice.token),
                true => format!("Split the entry, so that `{}` is granted only where it is used", slice.token),
            };
            draft.remedy = advice(input, entry, &slice.grants, &action);
            draft.at = slice.location();
            draft.grants = slice.grants;
            findings.extend(draft.finish(doc));
        }
    }
    whole_roles(input, doc, findings, false);
}

/// Unused counts; dead does not matter; anything else keeps its tokens.
pub(super) fn mark(grant: &Grant) -> Mark {
    match grant.verdict {
        Verdict::Unused => Mark::Hit,
        Verdict::Dead => Mark::Neutral,
        Verdict::Needed | Verdict::Used | Verdict::Unobservable | Verdict::Unjudged => Mark::Miss,
    }
}

fn subject_of(slice: &Slice<'_>) -> String {
    let things = some_of(entries::things(&slice.grants));
    match slice.of {
        LocationOf::Group => format!("API group `{}` ({things})", slice.token),
        LocationOf::Resource => format!("`{}` ({})", slice.token, some_of(entries::verbs(&slice.grants))),
        _ if slice.partial => format!("verb `{}` on {things}, while other resources of the entry need it", slice.token),
        _ => format!("verb `{}` on {things}", slice.token),
    }
}

/// The action, and a warning where another subject that holds the same tokens uses them.
pub(super) fn advice(input: &Input<'_>, entry: &Entry<'_>, grants: &[&Grant], action: &str) -> String {
    let users = input.uses.others(input.assessment, grants);
    let advice = match users.is_empty() {
        true => format!("{action}, or keep it and say why."),
        false => {
            format!("{} also uses {}: give each its own role, then: {action}.", some_of(users), label(&entry.role))
        }
    };
    format!("{advice}{}", caution(grants))
}

/// What keeps the least sure of the grants from being surely unused.
fn caution(grants: &[&Grant]) -> String {
    let least = grants.iter().filter(|grant| grant.verdict == Verdict::Unused).min_by_key(|grant| grant.confidence);
    match least.and_then(|grant| Some((grant.confidence?, &grant.reason))) {
        Some((confidence, missing)) if confidence < Confidence::High => {
            let sure = if confidence == Confidence::Low { "Low" } else { "Medium" };
            format!(" {sure} confidence, and kept in the generated role: {missing}.")
        }
        _ => String::new(),
    }
}

/// Roles that are nobody's to edit (built in): one finding a binding, in RC187 (`all`) where nothing of the role
/// was used, else in RC181.
pub(super) fn whole_roles(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>, all: bool) {
    let assessment = input.assessment;
    let mut by_binding: BTreeMap<usize, Vec<&Grant>> = BTreeMap::new();
    for grant in &assessment.grants {
        by_binding.entry(grant.binding).or_default().push(grant);
    }
    for (index, grants) in by_binding {
        let Some(binding) = assessment.bindings.get(index) else {
            continue;
        };
        // Of cluster-admin, RC003 says it all.
        let said = !all && binding.role.name == "cluster-admin";
        if binding.role_state != RoleState::BuiltIn || binding.via_group.is_some() || said {
            continue;
        }
        let unused: Vec<&Grant> = grants.iter().copied().filter(|grant| grant.verdict == Verdict::Unused).collect();
        let kept = grants.iter().any(|grant| mark(grant) == Mark::Miss);
        let Some(first) = unused.first().filter(|_| kept != all) else {
            continue;
        };
        let role = role_of(assessment, first).map(|role| label(&role)).unwrap_or_default();
        let message = match all {
            true => format!("{}: nothing of the built-in {role}", doc.title),
            false => format!("{}: {} of {} grants of the built-in {role}", doc.title, unused.len(), grants.len()),
        };
        let mut draft = Draft::new(assessment, class(&unused), message);
        draft.role = role;
        draft.permission = "what is unused of the role".to_owned();
        draft.evidence = counted(assessment, 0);
        draft.remedy = match all {
            true => "Remove this binding, or keep it and say why.".to_owned(),
            false => "Bind a role of your own that holds only what is used (`rolecall role` writes it).".to_owned(),
        };
        draft.at = binding.role_ref_location.clone().map(|location| (location, LocationOf::Name));
        draft.grants = unused;
        findings.extend(draft.finish(doc));
    }
}
