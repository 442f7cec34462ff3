//! RC176: held in the whole cluster, used in one namespace only.

use std::collections::{BTreeMap, BTreeSet};

use super::Input;
use crate::analysis::{Assessment, Grant, JudgedCall, Verdict};
use crate::finding::{Confidence, Finding, LocationOf, ScopeClass};
use crate::rbac::Scope;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::entries::{self, Entry};
use crate::rules::evidence::{calls_of, counted};

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    let calls = calls_by_grant(assessment);
    let mut narrow: BTreeMap<usize, Vec<(Entry<'_>, &str)>> = BTreeMap::new();
    let mut wide: BTreeSet<usize> = BTreeSet::new();
    for mut entry in input.entries.iter().cloned() {
        entry.grants.retain(|grant| grant.scope == Scope::Cluster);
        let used = entry.grants.iter().any(|grant| grant.is_used());
        let Some(binding) = entry.grants.first().map(|grant| grant.binding).filter(|_| used) else {
            continue;
        };
        match only_namespace(&entry.grants, &calls) {
            Some(namespace) => narrow.entry(binding).or_default().push((entry, namespace)),
            None => drop(wide.insert(binding)),
        }
    }
    for (binding, entries) in narrow {
        let namespaces: BTreeSet<&str> = entries.iter().map(|(_, namespace)| *namespace).collect();
        match namespaces.first().filter(|_| namespaces.len() == 1 && !wide.contains(&binding)) {
            Some(namespace) => findings.extend(of_binding(assessment, doc, binding, &entries, namespace)),
            None => findings
                .extend(entries.iter().filter_map(|(entry, namespace)| of_entry(assessment, doc, entry, namespace))),
        }
    }
}

/// Authorized calls by the grants that cover them.
fn calls_by_grant(assessment: &Assessment) -> BTreeMap<usize, Vec<&JudgedCall>> {
    let mut calls: BTreeMap<usize, Vec<&JudgedCall>> = BTreeMap::new();
    for call in &assessment.calls {
        for grant in &call.grants {
            calls.entry(*grant).or_default().push(call);
        }
    }
    calls
}

/// The one namespace in which all calls were that the grants cover; `None` when a call was made over all
/// namespaces or at cluster scope, or when a hidden check, whose namespace no event shows, rests on them.
fn only_namespace<'a>(grants: &[&Grant], calls: &BTreeMap<usize, Vec<&'a JudgedCall>>) -> Option<&'a str> {
    let mut only = None;
    for grant in grants {
        let pair = matches!(entries::verb(grant), "list" | "watch");
        if grant.verdict == Verdict::Needed && !pair {
            return None;
        }
        for call in calls.get(&grant.index).into_iter().flatten() {
            let namespace = call.observed.request.namespace();
            if namespace.is_empty() || only.is_some_and(|only| only != namespace) {
                return None;
            }
            only = Some(namespace);
        }
    }
    only
}

fn of_entry(assessment: &Assessment, doc: &RuleDoc, entry: &Entry<'_>, namespace: &str) -> Option<Finding> {
    let number = entry.grants.first().map(|grant| grant.entry + 1)?;
    let what = format!("entry {number} of {}", label(&entry.role));
    let mut draft = draft(assessment, doc, &entry.grants, namespace, &what);
    draft.role = label(&entry.role);
    draft.permission = entries::permission(&entry.grants);
    let places = entry.grants.iter().find_map(|grant| grant.places.as_ref());
    draft.at = places.map(|places| (places.entry.clone(), LocationOf::Entry));
    finish(draft, doc, namespace)
}

fn of_binding(
    assessment: &Assessment,
    doc: &RuleDoc,
    binding: usize,
    entries: &[(Entry<'_>, &str)],
    namespace: &str,
) -> Option<Finding> {
    let grants: Vec<&Grant> = entries.iter().flat_map(|(entry, _)| entry.grants.iter().copied()).collect();
    let place = assessment.bindings.get(binding)?;
    let what = format!("all that is used of {}", label(&place.role));
    let mut draft = draft(assessment, doc, &grants, namespace, &what);
    draft.role = label(&place.role);
    draft.permission = format!("{} in the whole cluster", label(&place.binding));
    draft.at = place.binding.location.clone().map(|location| (location, LocationOf::Name));
    finish(draft, doc, namespace)
}

fn draft<'a>(
    assessment: &'a Assessment,
    doc: &RuleDoc,
    grants: &[&'a Grant],
    namespace: &str,
    what: &str,
) -> Draft<'a> {
    let message = format!("{}: {what} was used in namespace `{namespace}` alone", doc.title);
    let mut draft = Draft::new(assessment, ScopeClass::Cluster, message);
    draft.evidence = counted(assessment, calls_of(assessment, grants));
    draft.remedy =
        format!("Grant it by a Role and a RoleBinding in `{namespace}`, if it is meant to work there alone.");
    draft.grants = grants.to_vec();
    draft
}

/// In the account's own namespace the operator looks after itself (a leader lease, its webhook secret); in another
/// one, the log may have shown only one of the namespaces that it serves.
fn finish(draft: Draft<'_>, doc: &RuleDoc, namespace: &str) -> Option<Finding> {
    let own = draft.assessment.subject.name.split_once('/').is_some_and(|(own, _)| own == namespace);
    let mut finding = draft.finish(doc)?;
    if !own {
        finding.confidence = Confidence::Low;
    }
    Some(finding)
}
