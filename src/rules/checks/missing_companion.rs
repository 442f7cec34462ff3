//! RC192: one half of what clients use together: `list` without `watch`, events in one of their two API groups.

use std::collections::BTreeMap;

use super::{Input, owner_finalizers};
use crate::analysis::{Grant, Place, Verdict};
use crate::finding::{Finding, LocationOf};
use crate::rbac::Rule;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::entries::{self, Entry};
use crate::rules::evidence::some_of;
use crate::rules::held::Held;

/// Not watchable; read at the start; written by a recorder; written by leader election.
const NO_INFORMER: [&str; 4] = ["componentstatuses", "customresourcedefinitions", "events", "leases"];

/// The two API groups of events: client-go's first recorder writes to the one, its newer to the other.
const EVENTS: [(&str, &str); 2] = [("", "events.k8s.io"), ("events.k8s.io", "")];

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    // People and groups run no informers, and what goes with a role that nobody is bound to is not known.
    if !input.assessment.subject.user.starts_with("system:serviceaccount:") {
        return;
    }
    let entries = input.own_entries();
    if runs_informers(input, &entries) {
        for (verb, other) in [("list", "watch"), ("watch", "list")] {
            let mut roles: BTreeMap<&Place, Vec<&Grant>> = BTreeMap::new();
            for entry in &entries {
                let halves = entry.grants.iter().filter(|grant| is_half(input.held, entry, grant, verb, other));
                roles.entry(&entry.role).or_default().extend(halves);
            }
            for (role, halves) in roles {
                let things = some_of(entries::things(&halves));
                let what =
                    format!("`{verb}` on {things} without `{other}`, and informers use both; no other grant allows it");
                findings.extend(finding(input, doc, role, halves, &what, LocationOf::Verb));
            }
        }
    }
    findings.extend(owner_finalizers::find(input, doc, &entries));
    // Of all accounts of a package, the first one tells.
    let mut told = findings.iter().rev().take_while(|finding| finding.rule == doc.id);
    if !told.any(|told| told.package == input.assessment.package && told.permission.starts_with("create events")) {
        findings.extend(events(input, doc, &entries));
    }
}

fn events(input: &Input<'_>, doc: &RuleDoc, entries: &[Entry<'_>]) -> Option<Finding> {
    entries.iter().find_map(|entry| {
        let halves = entry.grants.iter().copied();
        let halves: Vec<&Grant> = halves.filter(|grant| other_events(input.held, grant).is_some()).collect();
        let (here, other) = (entries::group(halves.first()?)?, other_events(input.held, halves.first()?)?);
        let what = format!("`events` can be created in apiGroup \"{here}\", and by no grant in \"{other}\"; the client's recorder chooses which");
        finding(input, doc, &entry.role, halves, &what, LocationOf::Resource)
    })
}

/// Whether it is a controller: a workload of a package with CRDs, that watches something.
fn runs_informers(input: &Input<'_>, entries: &[Entry<'_>]) -> bool {
    let mut grants = entries.iter().flat_map(|entry| &entry.grants);
    let watches = grants.any(|grant| matches!(entries::verb(grant), "watch" | "*"));
    watches && !input.assessment.workloads.is_empty() && !input.assessment.crds.is_empty()
}

/// Of one role; `None` without grants.
fn finding(
    input: &Input<'_>,
    doc: &RuleDoc,
    role: &Place,
    grants: Vec<&Grant>,
    what: &str,
    of: LocationOf,
) -> Option<Finding> {
    let resource = grants.first()?.places.as_ref().map(|places| (places.resource.clone(), of));
    let message = format!("{}: in {}, {what}", doc.title, label(role));
    let mut draft = Draft::of_grants(input.assessment, message, role, grants);
    if of == LocationOf::Resource {
        draft.at = resource;
    }
    draft.finish(doc)
}

/// Whether it is what an informer holds, but for the other verb. One object under its name is RC191's. Without `get`,
/// `list` alone is a plain listing.
fn is_half(held: &Held<'_>, entry: &Entry<'_>, grant: &Grant, verb: &str, other: &str) -> bool {
    let open = entries::verb(grant) == verb && grant.served && grant.rule.resource_names.is_empty();
    let with = |verb: &str| Rule { verbs: vec![verb.to_owned()], ..grant.rule.clone() };
    open && !grant.is_used()
        && !NO_INFORMER.contains(&entries::thing(grant))
        && (verb == "watch" || has_get(entry, grant))
        && !held.holds(&grant.scope, &with(other))
}

fn has_get(entry: &Entry<'_>, grant: &Grant) -> bool {
    entry.grants.iter().any(|get| {
        entries::verb(get) == "get"
            && get.rule.api_groups == grant.rule.api_groups
            && get.rule.resources == grant.rule.resources
    })
}

/// The API group in which the events of this grant cannot be created too.
fn other_events(held: &Held<'_>, grant: &Grant) -> Option<&'static str> {
    let (_, other) = EVENTS.iter().find(|(group, _)| entries::group(grant) == Some(group))?;
    let creates = entries::verb(grant) == "create" && entries::thing(grant) == "events";
    let there = Rule { api_groups: vec![(*other).to_owned()], ..grant.rule.clone() };
    (creates && grant.verdict != Verdict::Used && !held.holds(&grant.scope, &there)).then_some(*other)
}
