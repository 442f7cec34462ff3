//! Checks: analyses that no declarative match can express, one file each, found by the id of their document.

mod cluster_admin;
mod dangling_binding;
mod dead_grant;
mod denied_call;
mod full_authority;
mod over_scope;
mod unbound_role;
mod unexplained_call;
mod unused_entry;
mod unused_permission;
mod wildcard;

use super::document::RuleDoc;
use crate::analysis::Assessment;
use crate::finding::Finding;

/// What a check looks at.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'a> {
    /// The subject.
    pub(super) assessment: &'a Assessment,
    /// Every subject of the run, for what others do with the same role.
    pub(super) all: &'a [Assessment],
}

type Check = fn(&Input<'_>, &RuleDoc, &mut Vec<Finding>);

const CHECKS: [(&str, Check); 13] = [
    ("RC001", full_authority::check),
    ("RC003", cluster_admin::check),
    ("RC017", wildcard::verb),
    ("RC018", wildcard::resource),
    ("RC020", wildcard::group),
    ("RC167", unbound_role::check),
    ("RC168", dangling_binding::check),
    ("RC173", dead_grant::check),
    ("RC176", over_scope::check),
    ("RC181", unused_permission::check),
    ("RC182", denied_call::check),
    ("RC187", unused_entry::check),
    ("RC188", unexplained_call::check),
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
