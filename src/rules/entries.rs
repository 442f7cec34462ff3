//! The grants of a subject by the rule entry they come from, and the smallest tokens of an entry whose whole
//! slice is of one kind (all unused, all dead): what a finding points at.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Assessment, Grant, Place, RoleState};
use crate::finding::LocationOf;
use crate::source::Location;

/// The role whose entry a grant is: the contributor, where the bound role aggregates others.
pub(super) fn role_of(assessment: &Assessment, grant: &Grant) -> Option<Place> {
    let bound = &assessment.bindings.get(grant.binding)?.role;
    Some(match &grant.aggregated_from {
        Some(name) => {
            Place { kind: "ClusterRole".to_owned(), namespace: String::new(), name: name.clone(), location: None }
        }
        None => bound.clone(),
    })
}

/// One rule entry as this subject holds it, through one or more bindings.
#[derive(Debug, Clone)]
pub(super) struct Entry<'a> {
    /// The role it is written in.
    pub(super) role: Place,
    /// Its grants, over all bindings.
    pub(super) grants: Vec<&'a Grant>,
}

/// Entries of roles of the input, in order; those of built-in roles are nobody's to edit and left out.
pub(super) fn shipped(assessment: &Assessment) -> Vec<Entry<'_>> {
    let mut entries: Vec<Entry<'_>> = Vec::new();
    let mut index: BTreeMap<(Place, usize), usize> = BTreeMap::new();
    // Most grants come through the binding and from the entry of the one before.
    let mut known: BTreeMap<(usize, usize, Option<&str>), Option<usize>> = BTreeMap::new();
    for grant in &assessment.grants {
        let way = (grant.binding, grant.entry, grant.aggregated_from.as_deref());
        let at = *known.entry(way).or_insert_with(|| {
            let built_in = assessment
                .bindings
                .get(grant.binding)
                .is_none_or(|binding| binding.role_state != RoleState::Shipped && grant.places.is_none());
            let role = role_of(assessment, grant).filter(|_| !built_in)?;
            Some(*index.entry((role.clone(), grant.entry)).or_insert_with(|| {
                entries.push(Entry { role, grants: Vec::new() });
                entries.len() - 1
            }))
        });
        if let Some(entry) = at.and_then(|at| entries.get_mut(at)) {
            entry.grants.push(grant);
        }
    }
    entries
}

/// A part of an entry that a finding speaks of.
#[derive(Debug)]
pub(super) struct Slice<'a> {
    /// What it is the whole slice of; [`LocationOf::Entry`] is the whole entry.
    pub(super) of: LocationOf,
    /// The token; for the rest of a verb (`partial`) the verb.
    pub(super) token: &'a str,
    /// Whether the token also has a part that is not meant.
    pub(super) partial: bool,
    /// The grants that it speaks of.
    pub(super) grants: Vec<&'a Grant>,
}

impl Slice<'_> {
    /// Where its token stands.
    pub(super) fn location(&self) -> Option<(Location, LocationOf)> {
        let places = self.grants.iter().find_map(|grant| grant.places.as_ref())?;
        let location = match self.of {
            LocationOf::Entry => &places.entry,
            LocationOf::Resource => &places.resource,
            LocationOf::Group => places.group.as_ref().unwrap_or(&places.entry),
            LocationOf::Verb | LocationOf::Name | LocationOf::LogLine => &places.verb,
        };
        Some((location.clone(), self.of))
    }
}

/// How one grant counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// What the finding is about.
    Hit,
    /// Does not matter either way.
    Neutral,
    /// Keeps its tokens where they are.
    Miss,
}

#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    hits: bool,
    misses: bool,
}

impl Tally {
    fn add(&mut self, mark: Mark) {
        self.hits |= mark == Mark::Hit;
        self.misses |= mark == Mark::Miss;
    }

    fn whole(self) -> bool {
        self.hits && !self.misses
    }
}

pub(super) fn verb(grant: &Grant) -> &str {
    grant.rule.verbs.first().map(String::as_str).unwrap_or_default()
}

pub(super) fn thing(grant: &Grant) -> &str {
    grant
        .rule
        .resources
        .first()
        .or_else(|| grant.rule.non_resource_urls.first())
        .map(String::as_str)
        .unwrap_or_default()
}

pub(super) fn group(grant: &Grant) -> Option<&str> {
    grant.rule.api_groups.first().map(String::as_str)
}

/// The smallest tokens whose whole slice is marked: the entry; else verbs, resources and groups; else, for what
/// is left, the verb with the resources it means. A (verb, resource) pair counts over all groups of the entry,
/// since `apiGroups × resources` also writes pairs that nobody meant.
pub(super) fn slices<'a>(entry: &Entry<'a>, mark: impl Fn(&Grant) -> Mark) -> Vec<Slice<'a>> {
    let marked: Vec<(&'a Grant, Mark)> = entry.grants.iter().map(|grant| (*grant, mark(grant))).collect();
    let mut all = Tally::default();
    let mut verbs: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut things: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut groups: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut pairs: BTreeMap<(&str, &str), Tally> = BTreeMap::new();
    for (grant, mark) in &marked {
        all.add(*mark);
        verbs.entry(verb(grant)).or_default().add(*mark);
        things.entry(thing(grant)).or_default().add(*mark);
        pairs.entry((verb(grant), thing(grant))).or_default().add(*mark);
        if let Some(group) = group(grant) {
            groups.entry(group).or_default().add(*mark);
        }
    }
    let whole = |tallies: &BTreeMap<&str, Tally>, token: &str| tallies.get(token).is_some_and(|tally| tally.whole());
    let mut found: BTreeMap<(LocationOf, bool, &'a str), Vec<&'a Grant>> = BTreeMap::new();
    for (grant, _) in marked.iter().filter(|(_, mark)| *mark == Mark::Hit) {
        let (verb, thing) = (verb(grant), thing(grant));
        let mut add = |of, partial, token| found.entry((of, partial, token)).or_default().push(*grant);
        if all.whole() {
            add(LocationOf::Entry, false, "");
            continue;
        }
        let of_group = group(grant).filter(|group| whole(&groups, group));
        if whole(&verbs, verb) {
            add(LocationOf::Verb, false, verb);
        }
        if whole(&things, thing) {
            add(LocationOf::Resource, false, thing);
        }
        if let Some(group) = of_group {
            add(LocationOf::Group, false, group);
        }
        let pair = pairs.get(&(verb, thing)).is_some_and(|tally| tally.whole());
        if pair && of_group.is_none() && !whole(&verbs, verb) && !whole(&things, thing) {
            add(LocationOf::Verb, true, verb);
        }
    }
    let slice = |((of, partial, token), grants)| Slice { of, token, partial, grants };
    let mut slices: Vec<Slice<'a>> = found.into_iter().map(slice).collect();
    slices.sort_by_key(|slice| slice.grants.first().map(|grant| grant.index));
    slices
}

/// What the grants permit, as `list,watch secrets; get pods.apps`, names included.
pub(super) fn permission(grants: &[&Grant]) -> String {
    let mut verbs_of: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for grant in grants {
        let dotted = match group(grant) {
            Some(group) if !group.is_empty() => format!("{}.{group}", thing(grant)),
            _ => thing(grant).to_owned(),
        };
        let names = grant.rule.resource_names.join(",");
        let text = if names.is_empty() { dotted } else { format!("{dotted} ({names})") };
        verbs_of.entry(text).or_default().insert(verb(grant));
    }
    let clause = |(thing, verbs): (String, BTreeSet<&str>)| {
        format!("{} {thing}", verbs.into_iter().collect::<Vec<_>>().join(","))
    };
    verbs_of.into_iter().map(clause).collect::<Vec<_>>().join("; ")
}

/// The resources (or URLs) among the grants, each with its group.
pub(super) fn things<'a>(grants: &[&'a Grant]) -> BTreeSet<&'a str> {
    grants.iter().map(|grant| thing(grant)).collect()
}

/// The verbs among the grants.
pub(super) fn verbs<'a>(grants: &[&'a Grant]) -> BTreeSet<&'a str> {
    grants.iter().map(|grant| verb(grant)).collect()
}

#[cfg(test)]
mod tests;
