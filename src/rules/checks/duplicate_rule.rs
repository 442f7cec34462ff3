//! RC170: a rule entry that another entry of the same role covers, or a token written twice in one entry.

use std::collections::BTreeMap;

use super::Input;
use crate::analysis::{Grant, Place, Verdict};
use crate::finding::{Finding, LocationOf, Related};
use crate::rbac::{NonResourceRequest, PermissionSet, Request, ResourceRequest, Rule};
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, class, label};
use crate::rules::entries::{self, Entry};
use crate::rules::evidence::some_of;

/// Entries of roles that have more than any real one are not compared: that takes the square of their number.
const MOST_COMPARED: usize = 500;

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let mut roles: BTreeMap<Place, Vec<Part<'_>>> = BTreeMap::new();
    for entry in input.own_entries() {
        roles.entry(entry.role.clone()).or_default().extend(Part::of(entry));
    }
    // Of a role that several subjects hold, the first one tells.
    roles.retain(|role, _| input.uses.is_first(input.assessment, role));
    for parts in roles.values() {
        for (at, part) in parts.iter().enumerate() {
            findings.extend(match covering(parts, at) {
                Some(wider) => covered(input, doc, part, wider),
                None => twice(input, doc, part),
            });
        }
    }
}

/// A rule entry with what it grants.
struct Part<'a> {
    entry: Entry<'a>,
    set: PermissionSet,
    /// One request that it allows: who does not allow that does not cover it, which is quickly seen.
    sample: Request,
}

impl<'a> Part<'a> {
    /// Through one binding: others give the same. What is dead is RC173's.
    fn of(mut entry: Entry<'a>) -> Option<Self> {
        let binding = entry.grants.first()?.binding;
        entry.grants.retain(|grant| grant.binding == binding);
        let set = PermissionSet::from_rules(entry.grants.iter().map(|grant| &grant.rule));
        let alive = entry.grants.iter().any(|grant| grant.verdict != Verdict::Dead);
        let sample = sample(&entry.grants.first()?.rule);
        alive.then_some(Self { entry, set, sample })
    }

    fn number(&self) -> usize {
        self.entry.grants.first().map_or(0, |grant| grant.entry + 1)
    }
}

/// The first other entry that grants all of this one, and more or the same earlier.
fn covering<'p, 'a>(parts: &'p [Part<'a>], at: usize) -> Option<&'p Part<'a>> {
    let part = parts.get(at)?;
    let compared = if parts.len() > MOST_COMPARED { 0 } else { parts.len() };
    parts.iter().take(compared).enumerate().find_map(|(other, wider)| {
        let covers = other != at && wider.set.allows(&part.sample) && wider.set.covers(&part.set);
        (covers && (other < at || wider.set != part.set)).then_some(wider)
    })
}

/// A request that a rule allows; its wildcards ask for what has no other name.
fn sample(rule: &Rule) -> Request {
    let first = |list: &[String]| list.first().cloned().unwrap_or_default();
    let verb = first(&rule.verbs);
    match rule.non_resource_urls.first() {
        Some(path) => Request::NonResource(NonResourceRequest { path: path.clone(), verb }),
        None => Request::Resource(ResourceRequest {
            api_group: first(&rule.api_groups),
            resource: first(&rule.resources),
            name: first(&rule.resource_names),
            verb,
            ..ResourceRequest::default()
        }),
    }
}

fn covered(input: &Input<'_>, doc: &RuleDoc, part: &Part<'_>, wider: &Part<'_>) -> Option<Finding> {
    let grants = &part.entry.grants;
    let how = if wider.set == part.set { "repeats" } else { "is covered by" };
    let role = label(&part.entry.role);
    let message = format!(
        "{}: entry {} of {role} ({} on {}) {how} entry {}: noise",
        doc.title,
        part.number(),
        some_of(entries::verbs(grants)),
        some_of(entries::things(grants)),
        wider.number()
    );
    let mut draft = Draft::new(input.assessment, class(grants), message);
    draft.role = role;
    draft.permission = entries::permission(grants);
    draft.at = grants.iter().find_map(|grant| Some((grant.places.as_ref()?.entry.clone(), LocationOf::Entry)));
    let place = wider.entry.grants.iter().find_map(|grant| Some(grant.places.as_ref()?.entry.clone()));
    draft.related = vec![Related { label: format!("rule entry {}", wider.number()), location: place }];
    draft.grants = grants.clone();
    draft.finish(doc)
}

/// A token that stands twice in a list of the entry; the first of them, one finding an entry.
fn twice(input: &Input<'_>, doc: &RuleDoc, part: &Part<'_>) -> Option<Finding> {
    let mut seen: BTreeMap<&Rule, &Grant> = BTreeMap::new();
    let mut again = part.entry.grants.iter().filter_map(|grant| Some((seen.insert(&grant.rule, grant)?, *grant)));
    let (before, grant) = again.next()?;
    let (old, new) = (before.places.as_ref()?, grant.places.as_ref()?);
    let (token, first, second, of) = match () {
        () if old.verb != new.verb => (entries::verb(grant), &old.verb, &new.verb, LocationOf::Verb),
        () if old.resource != new.resource => {
            (entries::thing(grant), &old.resource, &new.resource, LocationOf::Resource)
        }
        () => (entries::group(grant)?, old.group.as_ref()?, new.group.as_ref()?, LocationOf::Group),
    };
    let role = label(&part.entry.role);
    let message = format!("{}: `{token}` stands twice in entry {} of {role}: noise", doc.title, part.number());
    let mut draft = Draft::new(input.assessment, class(&[grant]), message);
    draft.role = role;
    draft.permission = format!("{token} twice in {}", entries::permission(&part.entry.grants));
    draft.remedy = format!("Remove the second `{token}`.");
    draft.at = Some((second.clone(), of));
    draft.related = vec![Related { label: format!("the first `{token}`"), location: Some(first.clone()) }];
    draft.grants = vec![grant];
    draft.finish(doc)
}
