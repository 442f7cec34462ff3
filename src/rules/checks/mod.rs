//! Checks: analyses that no declarative match can express, one file each, found by the id of their document.

mod cluster_admin;
mod create_under_names;
mod dangling_binding;
mod dead_grant;
mod denied_call;
mod duplicate_rule;
mod full_authority;
mod list_watch_under_names;
mod missing_account;
mod missing_companion;
mod over_scope;
mod owner_finalizers;
mod stale_role;
mod unbound_role;
mod unexplained_call;
mod unused_entry;
mod unused_permission;
mod wildcard;

use std::collections::{BTreeMap, BTreeSet};

use super::document::RuleDoc;
use super::entries::Entry;
use super::held::Held;
use crate::analysis::{Assessment, Grant, Place};
use crate::finding::Finding;
use crate::source::Location;

/// What a check looks at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    /// The subject.
    pub(super) assessment: &'a Assessment,
    /// Its rule entries that somebody could edit.
    pub(super) entries: &'a [Entry<'a>],
    /// What it holds.
    pub(super) held: &'a Held<'a>,
    /// All subjects of the run.
    pub(super) all: &'a [Assessment],
    /// Who uses which tokens, over all subjects of the run.
    pub(super) uses: &'a Uses<'a>,
}

impl<'a> Input<'a> {
    /// Rule entries of the input that bindings give to the subject by its name; what it holds as a member of a group is
    /// told of the group.
    fn own_entries(&self) -> Vec<Entry<'a>> {
        let bindings = &self.assessment.bindings;
        let by_name = |grant: &&Grant| bindings.get(grant.binding).is_some_and(|binding| binding.via_group.is_none());
        let mut entries = self.entries.to_vec();
        entries.iter_mut().for_each(|entry| entry.grants.retain(by_name));
        entries.retain(|entry| !entry.grants.is_empty());
        entries
    }
}

/// What is to be known of all subjects of the run.
#[derive(Debug, Default)]
pub(super) struct Uses<'a> {
    /// Subjects that use or need a grant, by package and by the places of its verb and resource.
    users: BTreeMap<Tokens<'a>, BTreeSet<&'a str>>,
    /// The first subject that holds a role by its own name, by package: it speaks where a role is spoken of once.
    first: BTreeMap<(&'a str, &'a Place), &'a str>,
}

type Tokens<'a> = (&'a str, &'a Location, &'a Location);

impl<'a> Uses<'a> {
    pub(super) fn of(assessments: &'a [Assessment]) -> Self {
        let mut uses = Self::default();
        for assessment in assessments {
            for binding in assessment.bindings.iter().filter(|binding| binding.via_group.is_none()) {
                uses.first.entry((&assessment.package, &binding.role)).or_insert(&assessment.subject.name);
            }
            for grant in assessment.grants.iter().filter(|grant| grant.is_used()) {
                if let Some(tokens) = tokens(assessment, grant) {
                    uses.users.entry(tokens).or_default().insert(&assessment.subject.name);
                }
            }
        }
        uses
    }

    /// Whether no subject before this one is bound to the role. Of a role that another one aggregates, each tells.
    fn is_first(&self, assessment: &Assessment, role: &Place) -> bool {
        self.first.get(&(assessment.package.as_str(), role)).is_none_or(|first| *first == assessment.subject.name)
    }

    /// Other subjects that use one of the grants where it is written.
    fn others(&self, assessment: &Assessment, grants: &[&Grant]) -> BTreeSet<&'a str> {
        let found = grants.iter().filter_map(|grant| self.users.get(&tokens(assessment, grant)?));
        found.flatten().copied().filter(|subject| *subject != assessment.subject.name).collect()
    }
}

fn tokens<'a>(assessment: &'a Assessment, grant: &'a Grant) -> Option<Tokens<'a>> {
    grant.places.as_ref().map(|places| (assessment.package.as_str(), &places.verb, &places.resource))
}

type Check = fn(&Input<'_>, &RuleDoc, &mut Vec<Finding>);

const CHECKS: [(&str, Check); 19] = [
    ("RC001", full_authority::check),
    ("RC003", cluster_admin::check),
    ("RC017", wildcard::verb),
    ("RC018", wildcard::resource),
    ("RC020", wildcard::group),
    ("RC167", unbound_role::check),
    ("RC168", dangling_binding::check),
    ("RC169", missing_account::check),
    ("RC170", duplicate_rule::check),
    ("RC172", create_under_names::check),
    ("RC173", dead_grant::check),
    ("RC176", over_scope::check),
    ("RC181", unused_permission::check),
    ("RC182", denied_call::check),
    ("RC187", unused_entry::check),
    ("RC188", unexplained_call::check),
    ("RC190", stale_role::check),
    ("RC191", list_watch_under_names::check),
    ("RC192", missing_companion::check),
];

/// Whether a check of this id is built in.
pub(super) fn exists(id: &str) -> bool {
    CHECKS.iter().any(|(own, _)| *own == id)
}

/// Runs the check of the document's id.
pub(super) fn run(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    if let Some((_, check)) = CHECKS.iter().find(|(own, _)| *own == doc.id) {
        check(input, doc, findings);
    }
}

#[cfg(test)]
mod tests;
