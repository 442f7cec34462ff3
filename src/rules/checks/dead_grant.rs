//! RC173: tokens of a rule entry that match nothing which any API serves or checks.

use std::collections::BTreeSet;

use super::Input;
use crate::analysis::{Grant, Meant, Verdict};
use crate::finding::{Finding, LocationOf};
use crate::rbac::Rule;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, class, label};
use crate::rules::entries::{self, Mark, Slice, slices};
use crate::rules::evidence::some_of;
use crate::rules::held::Held;

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    for entry in input.entries {
        let mark = |grant: &Grant| {
            if grant.verdict == Verdict::Dead { Mark::Hit } else { Mark::Miss }
        };
        for slice in slices(entry, mark).into_iter().filter(|slice| !is_finalizers(input.held, slice)) {
            let (role, standing) = (label(&entry.role), standing(input.held, &slice));
            let message = format!("{}: {} in {role}{}{standing}", doc.title, subject_of(&slice), reasons(&slice));
            let mut draft = Draft::new(assessment, class(&slice.grants), message);
            draft.role = role;
            draft.permission = entries::permission(&slice.grants);
            draft.at = slice.location();
            draft.grants = slice.grants;
            findings.extend(draft.finish(doc));
        }
    }
}

/// Whether it speaks only of verbs beside `update` on finalizers: the one that is checked is held, and the others came
/// along with it.
fn is_finalizers(held: &Held<'_>, slice: &Slice<'_>) -> bool {
    slice.grants.iter().all(|grant| {
        let update = Rule { verbs: vec!["update".to_owned()], ..grant.rule.clone() };
        entries::thing(grant).ends_with("/finalizers") && held.holds(&grant.scope, &update)
    })
}

fn subject_of(slice: &Slice<'_>) -> String {
    let verbs: BTreeSet<&str> = slice.grants.iter().map(|grant| entries::verb(grant)).collect();
    let things = some_of(entries::things(&slice.grants));
    match slice.of {
        LocationOf::Entry if things.is_empty() || verbs.contains("") => "the whole entry".to_owned(),
        LocationOf::Entry => format!("the whole entry, {} on {things},", some_of(verbs)),
        LocationOf::Group => format!("API group `{}` with {things}", slice.token),
        LocationOf::Resource => format!("`{}` with {}", slice.token, some_of(verbs)),
        _ => format!("verb `{}` on {things}", slice.token),
    }
}

/// Whether the subject holds by other grants what was meant, where that is evident.
fn standing(held: &Held<'_>, slice: &Slice<'_>) -> String {
    let is_held = |meant: &Meant| meant.rules.iter().all(|rule| held.holds(&meant.scope, rule));
    let guessed: Vec<&&Grant> = slice.grants.iter().filter(|grant| !grant.meant.is_empty()).collect();
    let missing = guessed.iter().filter(|grant| !grant.meant.iter().any(is_held));
    let missing: BTreeSet<&str> = missing.map(|grant| entries::verb(grant)).collect();
    let nothing = guessed.iter().flat_map(|grant| &grant.meant).all(|meant| meant.rules.is_empty());
    match () {
        () if guessed.is_empty() => String::new(),
        () if !missing.is_empty() => {
            format!(". What was meant by {} is granted nowhere: broken", some_of(missing))
        }
        () if nothing => ". Nothing like it exists to be granted: noise".to_owned(),
        () => ". What was meant is granted elsewhere: noise".to_owned(),
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
