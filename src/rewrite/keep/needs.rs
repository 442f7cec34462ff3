//! What one subject holds in the files, and what its minimal role has inside each grant.

use std::collections::{BTreeMap, BTreeSet};

use super::meet::{Key, atom, key, meet};
use crate::analysis::{Assessment, Basis, Grant, MinimalRule};
use crate::manifest::Role;
use crate::rbac::cover::Entry;
use crate::rbac::{PermissionSet, Rule, Scope};
use crate::source::{Location, Span};

pub(super) fn is_at(role: &Role, location: Option<&Location>) -> bool {
    location.and_then(|location| location.span) == Some(role.name.span)
}

/// The entry of a file that a grant stands in.
fn entry_of(grant: &Grant) -> Option<Span> {
    let places = grant.places.as_ref()?;
    places.generated.as_ref().unwrap_or(&places.entry).span
}

/// A subject with what its minimal role holds, by verb, group and resource.
pub(super) struct Needs<'a> {
    pub(super) assessment: &'a Assessment,
    pub(super) by_entry: BTreeMap<Span, Vec<&'a Grant>>,
    wanted: BTreeMap<Key, Vec<(&'a Scope, Entry)>>,
    /// What grants hold in single namespaces.
    in_namespaces: BTreeMap<&'a str, PermissionSet>,
}

impl<'a> Needs<'a> {
    pub(super) fn of(assessment: &'a Assessment) -> Self {
        let mut by_entry: BTreeMap<Span, Vec<&Grant>> = BTreeMap::new();
        let mut rules: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
        for grant in &assessment.grants {
            if let Some(entry) = entry_of(grant) {
                by_entry.entry(entry).or_default().push(grant);
            }
            if let Scope::Namespace(namespace) = &grant.scope {
                rules.entry(namespace).or_default().push(&grant.rule);
            }
        }
        let mut wanted: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for scoped in assessment.minimal.iter().flat_map(|minimal| &minimal.scopes) {
            for rule in scoped.rules.iter().filter(|rule| rule.basis != Basis::Unexplained) {
                for entry in rule.rule.singles().iter().filter_map(atom) {
                    wanted.entry(key(&entry)).or_default().push((&scoped.scope, entry));
                }
            }
        }
        let in_namespaces =
            rules.into_iter().map(|(namespace, rules)| (namespace, PermissionSet::from_rules(rules))).collect();
        Self { assessment, by_entry, wanted, in_namespaces }
    }

    pub(super) fn subject(&self) -> &'a str {
        &self.assessment.subject.name
    }

    pub(super) fn holds(&self, role: &Role) -> bool {
        let bound = self.assessment.bindings.iter().any(|binding| is_at(role, binding.role.location.as_ref()));
        bound || self.grants_of(role).next().is_some()
    }

    pub(super) fn grants_of(&self, role: &Role) -> impl Iterator<Item = &&'a Grant> {
        role.rules.iter().filter_map(|rule| self.by_entry.get(&rule.span)).flatten()
    }

    /// Rules of the minimal role on this basis, each with its scope.
    pub(super) fn on(&self, basis: Basis) -> impl Iterator<Item = (&'a Scope, &'a MinimalRule)> {
        let scopes = self.assessment.minimal.iter().flat_map(|minimal| &minimal.scopes);
        let rules = scopes.flat_map(|scoped| scoped.rules.iter().map(move |rule| (&scoped.scope, rule)));
        rules.filter(move |(_, rule)| rule.basis == basis)
    }

    /// What the minimal role has inside a grant.
    pub(super) fn inside(&self, grant: &Grant, own: &Entry) -> BTreeSet<Entry> {
        let mut found = BTreeSet::new();
        for (scope, wanted) in self.candidates(own).flatten() {
            let Some(both) = meet(own, wanted) else { continue };
            let reached = match (&grant.scope, scope) {
                (grant, wanted) if grant == *wanted => true,
                // What is held in the namespace alone needs no grant in the whole cluster.
                (Scope::Cluster, Scope::Namespace(namespace)) => {
                    let there = self.in_namespaces.get(namespace.as_str());
                    there.is_none_or(|there| !there.covers(&PermissionSet::from_rules([&both.rule()])))
                }
                _ => false,
            };
            if reached {
                found.insert(both);
            }
        }
        found
    }

    /// Entries of the minimal role that may meet this one: by key where nothing in it is a wildcard.
    fn candidates(&self, own: &Entry) -> Box<dyn Iterator<Item = &Vec<(&'a Scope, Entry)>> + '_> {
        let (verb, group, thing) = key(own);
        if [&verb, &group, &thing].iter().any(|word| word.contains('*')) || matches!(own, Entry::NonResource { .. }) {
            return Box::new(self.wanted.values());
        }
        let all = || "*".to_owned();
        let of_any = thing.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
        let things: Vec<String> = [Some(thing), of_any, Some(all())].into_iter().flatten().collect();
        let mut keys = Vec::new();
        for verb in [verb, all()] {
            for group in [group.clone(), all()] {
                keys.extend(things.iter().map(|thing| (verb.clone(), group.clone(), thing.clone())));
            }
        }
        Box::new(keys.into_iter().filter_map(|key| self.wanted.get(&key)))
    }
}
