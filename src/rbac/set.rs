//! Sets of permissions of one scope: union, intersection, subtraction, covering. A set is always in normal form:
//! two sets with the same permissions are equal, however they were built.

use super::total::{Pointwise, Total, Which};
use super::urls::Urls;
use super::{Request, Rule};

pub(super) type Names = Total<bool>;
pub(super) type Bases = Total<Names>;
pub(super) type Subresources = Total<Bases>;
pub(super) type Groups = Total<Subresources>;

/// A set of permissions of one scope, closed under union, intersection and subtraction.
///
/// A resource is read as `base/subresource`, split at its first slash. A request whose resource itself holds a slash
/// (only a review can ask for one) is read the same way, where Kubernetes would let `*/sub` match the last part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PermissionSet {
    /// verb → group → subresource → base → name.
    pub(super) resources: Total<Groups>,
    /// verb → path.
    pub(super) urls: Total<Urls>,
}

impl PermissionSet {
    /// The permissions that the rules grant together.
    pub fn from_rules<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let mut set = Self::default();
        for rule in rules {
            for verb in &rule.verbs {
                set.resources.change(which(verb), &mut |groups| {
                    for group in &rule.api_groups {
                        groups.change(which(group), &mut |subresources| add_resources(subresources, rule));
                    }
                });
                set.urls.change(which(verb), &mut |urls| {
                    rule.non_resource_urls.iter().for_each(|url| urls.add(url));
                });
            }
        }
        set.resources.tidy(|groups| groups.tidy(|subs| subs.tidy(|bases| bases.tidy(|names| names.tidy(|_| ())))));
        set.urls.tidy(|_| ());
        set
    }

    /// Whether the request is in the set (scope aside).
    pub fn allows(&self, request: &Request) -> bool {
        match request {
            Request::Resource(request) => {
                let combined = request.combined();
                let (base, subresource) = split(&combined);
                *self.resources.at(&request.verb).at(&request.api_group).at(subresource).at(base).at(&request.name)
            }
            Request::NonResource(request) => self.urls.at(&request.verb).contains(&request.path),
        }
    }

    /// The permissions in either.
    pub fn union(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a || b)
    }

    /// The permissions in both.
    pub fn intersect(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a && b)
    }

    /// The permissions in `self` and not in `other`.
    pub fn subtract(&self, other: &Self) -> Self {
        self.combine(other, |a, b| a && !b)
    }

    /// Whether some permission is in both.
    pub fn intersects(&self, other: &Self) -> bool {
        self.resources.meets(&other.resources) || self.urls.meets(&other.urls)
    }

    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether every permission of `other` is in `self`.
    pub fn covers(&self, other: &Self) -> bool {
        other.subtract(self).is_empty()
    }

    /// The same without URL paths, which are never asked for in a namespace.
    pub(super) fn without_urls(self) -> Self {
        Self { urls: Total::default(), ..self }
    }
}

impl Pointwise for PermissionSet {
    fn nothing() -> Self {
        Self::default()
    }

    fn combine(&self, other: &Self, op: fn(bool, bool) -> bool) -> Self {
        Self { resources: self.resources.combine(&other.resources, op), urls: self.urls.combine(&other.urls, op) }
    }

    fn meets(&self, other: &Self) -> bool {
        self.intersects(other)
    }
}

fn add_resources(subresources: &mut Subresources, rule: &Rule) {
    let mut add_names = |names: &mut Names| {
        if rule.resource_names.is_empty() {
            names.change(Which::All, &mut |allowed| *allowed = true);
        }
        for name in &rule.resource_names {
            names.change(Which::One(name), &mut |allowed| *allowed = true);
        }
    };
    for resource in &rule.resources {
        let (subresource, base) = match resource.as_str() {
            "*" => (Which::All, Which::All),
            resource => match split(resource) {
                // `*/sub`; a lone `*/` is a literal.
                ("*", subresource) if !subresource.is_empty() => (Which::One(subresource), Which::All),
                (base, subresource) => (Which::One(subresource), Which::One(base)),
            },
        };
        subresources.change(subresource, &mut |bases| bases.change(base, &mut add_names));
    }
}

fn which(text: &str) -> Which<'_> {
    if text == "*" { Which::All } else { Which::One(text) }
}

/// `base/subresource`; what ends in a slash has no subresource.
pub(super) fn split(resource: &str) -> (&str, &str) {
    match resource.split_once('/') {
        Some((base, subresource)) if !subresource.is_empty() => (base, subresource),
        _ => (resource, ""),
    }
}
