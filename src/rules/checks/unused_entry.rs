//! RC187: a whole rule entry of which nothing was used.

use super::Input;
use super::unused_permission::{advice, mark, whole_roles};
use crate::finding::{Finding, LocationOf};
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, class, label};
use crate::rules::entries::{self, slices};
use crate::rules::evidence::{counted, plural, some_of};

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    for entry in input.entries {
        for slice in slices(entry, mark).into_iter().filter(|slice| slice.of == LocationOf::Entry) {
            let number = slice.grants.first().map(|grant| grant.entry + 1).unwrap_or_default();
            let message = format!(
                "{}: entry {number} of {} ({} on {})",
                doc.title,
                label(&entry.role),
                plural(entries::verbs(&slice.grants).len() as u64, "verb"),
                some_of(entries::things(&slice.grants))
            );
            let mut draft = Draft::new(assessment, class(&slice.grants), message);
            draft.role = label(&entry.role);
            draft.permission = entries::permission(&slice.grants);
            draft.evidence = counted(assessment, 0);
            draft.remedy = advice(input, entry, &slice.grants, "Remove this entry");
            draft.at = slice.location();
            draft.grants = slice.grants;
            findings.extend(draft.finish(doc));
        }
    }
    whole_roles(input, doc, findings, true);
}
