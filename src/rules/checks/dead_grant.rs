//! RC173: tokens of a rule entry that match nothing which any API serves or checks.

use std::collections::BTreeSet;

use super::Input;
use super::unused_permission::class;
use crate::analysis::{Grant, Verdict};
use crate::finding::{Finding, LocationOf};
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::entries::{self, Mark, Slice, shipped, slices};
use crate::rules::evidence::some_of;

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    for entry in shipped(assessment) {
        let mark = |grant: &Grant| {
            if grant.verdict == Verdict::Dead { Mark::Hit } else { Mark::Miss }
        };
        for slice in slices(&entry, mark) {
            let message = format!("{}: {} in {}{}", doc.title, subject_of(&slice), label(&entry.role), reasons(&slice));
            let mut draft = Draft::new(assessment, class(&slice.grants), message);
            draft.role = label(&entry.role);
            draft.permission = entries::permission(&slice.grants);
            draft.at = slice.location();
            draft.grants = slice.grants;
            findings.extend(draft.finish(doc));
        }
    }
}

fn subject_of(slice: &Slice<'_>) -> String {
    let verbs: BTreeSet<&str> = slice.grants.iter().map(|grant| entries::verb(grant)).collect();
    let things = some_of(entries::things(&slice.grants));
    match slice.of {
        LocationOf::Entry => format!("the whole entry, {} on {things},", some_of(verbs)),
        LocationOf::Group => format!("API group `{}` with {things}", slice.token),
        LocationOf::Resource => format!("`{}` with {}", slice.token, some_of(verbs)),
        _ => format!("verb `{}` on {things}", slice.token),
    }
}

fn reasons(slice: &Slice<'_>) -> String {
    let reasons: BTreeSet<&str> =
        slice.grants.iter().map(|grant| grant.reason.as_str()).filter(|reason| !reason.is_empty()).collect();
    match reasons.len() {
        0 => String::new(),
        _ => format!(": {}", reasons.into_iter().take(3).collect::<Vec<_>>().join("; ")),
    }
}
