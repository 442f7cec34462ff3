//! Reading a set of permissions part by part, for people and for counting. A part speaks of the words that it names,
//! or, where it has none, of every word that the set names nowhere at that place.

use std::collections::BTreeSet;

use super::PermissionSet;
use super::set::{self, split};

/// The object names that a permission holds for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Names {
    /// These; requests without a name not.
    Only(BTreeSet<String>),
    /// All but these, and requests without a name; with none listed, without restriction.
    AllBut(BTreeSet<String>),
}

/// Part of a set: one verb, group and resource, each a word or `None` for every other one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Part<'a> {
    /// API group.
    pub api_group: Option<&'a str>,
    /// Resource without subresource.
    pub resource: Option<&'a str>,
    /// Subresource; empty for the resource itself.
    pub subresource: Option<&'a str>,
    /// Verb.
    pub verb: Option<&'a str>,
    /// Object names.
    pub names: Names,
}

/// Paths of one verb, or of every other one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Paths<'a> {
    /// Verb.
    pub verb: Option<&'a str>,
    /// Path, or a prefix before `*`.
    pub path: String,
    /// Longer patterns below it that are not in the set.
    pub except: Vec<String>,
}

impl Names {
    fn of(names: &set::Names) -> Self {
        let mut rest = false;
        let mut known = BTreeSet::new();
        for (name, within) in names.iter() {
            match name {
                Some(name) => {
                    known.insert(name.to_owned());
                }
                None => rest = *within,
            }
        }
        // In normal form, what is named differs from the rest.
        if rest { Self::AllBut(known) } else { Self::Only(known) }
    }

    /// Whether it holds for every name, and request without one, that `other` holds for.
    pub fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Only(own), Self::Only(asked)) => asked.is_subset(own),
            (Self::Only(_), Self::AllBut(_)) => false,
            (Self::AllBut(except), Self::Only(asked)) => asked.is_disjoint(except),
            (Self::AllBut(except), Self::AllBut(asked)) => except.is_subset(asked),
        }
    }

    /// Whether it holds for no name.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Only(names) if names.is_empty())
    }
}

impl PermissionSet {
    /// The names for which one permission is in the set; `resource` may hold a subresource.
    pub fn names(&self, api_group: &str, resource: &str, verb: &str) -> Names {
        let (base, subresource) = split(resource);
        Names::of(self.resources.at(verb).at(api_group).at(subresource).at(base))
    }

    /// Every part that holds for some name. The parts are disjoint and make up the set, paths aside.
    pub fn parts(&self) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for (verb, groups) in self.resources.iter() {
            for (api_group, subresources) in groups.iter() {
                for (subresource, bases) in subresources.iter() {
                    for (resource, names) in bases.iter() {
                        let names = Names::of(names);
                        if !names.is_empty() {
                            parts.push(Part { api_group, resource, subresource, verb, names });
                        }
                    }
                }
            }
        }
        parts.sort();
        parts
    }

    /// Every pattern of paths that is in the set.
    pub fn paths(&self) -> Vec<Paths<'_>> {
        let mut paths = Vec::new();
        for (verb, urls) in self.urls.iter() {
            let patterns: Vec<(String, bool)> = urls.patterns().collect();
            for (path, _) in patterns.iter().filter(|(_, within)| *within) {
                let below = patterns.iter().filter(|(other, within)| {
                    !within && path.ends_with('*') && other.starts_with(path.trim_end_matches('*'))
                });
                let except = below.map(|(other, _)| other.clone()).collect();
                paths.push(Paths { verb, path: path.clone(), except });
            }
        }
        paths.sort();
        paths
    }
}
