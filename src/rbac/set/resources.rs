//! Sets of resources with their subresources: everything that `*`, `*/sub` and `resource/sub` can build.
//!
//! A point is the *combined* name `resource/sub` that Kubernetes compares with a rule's entry. Its subresource is
//! what follows the first slash: no API request has a slash in its resource, only a SubjectAccessReview made by
//! hand can. (So `*/exec` covers `pods/exec`, as in Kubernetes' own escalation check.)

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::dimension::{Connective, Dimension};
use super::strings::StringSet;

/// A set of resources.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ResourceSet {
    /// The subresources that are in it of every resource; the empty one is the resource itself.
    stars: StringSet,
    /// The combined names for which it is the other way round.
    listed: BTreeSet<Arc<str>>,
}

fn subresource(combined: &str) -> &str {
    combined
        .split_once('/')
        .map_or("", |(_, subresource)| subresource)
}

impl ResourceSet {
    /// What the entries of a rule's `resources` match.
    pub(super) fn from_written(written: &[String]) -> Self {
        if written.iter().any(|entry| entry == "*") {
            return Self::all();
        }
        // `pods/` is the combined name of no request.
        let real = || {
            written
                .iter()
                .filter(|entry| !entry.ends_with('/') || entry.matches('/').count() > 1)
        };
        let stars: Vec<String> = real()
            .filter_map(|entry| entry.strip_prefix("*/"))
            .map(str::to_owned)
            .collect();
        let stars = StringSet::only(&stars);
        let listed = real()
            .filter(|entry| !stars.contains(subresource(entry)))
            .map(|entry| Arc::from(entry.as_str()))
            .collect();
        Self { stars, listed }
    }

    pub(super) fn contains(&self, combined: &str) -> bool {
        self.stars.contains(subresource(combined)) != self.listed.contains(combined)
    }
}

impl Dimension for ResourceSet {
    fn all() -> Self {
        Self {
            stars: StringSet::all(),
            listed: BTreeSet::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.stars.is_empty() && self.listed.is_empty()
    }

    fn combine(&self, other: &Self, connective: Connective) -> Self {
        let stars = self.stars.combine(&other.stars, connective);
        let differs = |combined: &&Arc<str>| {
            connective(self.contains(combined), other.contains(combined))
                != stars.contains(subresource(combined))
        };
        let listed = self
            .listed
            .union(&other.listed)
            .filter(differs)
            .cloned()
            .collect();
        Self { stars, listed }
    }

    fn intersects(&self, other: &Self) -> bool {
        let (few, many) = if self.listed.len() <= other.listed.len() {
            (self, other)
        } else {
            (other, self)
        };
        let meet = |combined: &Arc<str>| few.contains(combined) && many.contains(combined);
        few.stars.intersects(&many.stars)
            || few.listed.iter().any(meet)
            || (!few.stars.is_empty() && many.listed.iter().any(meet))
    }

    fn covers(&self, other: &Self) -> bool {
        self.stars.covers(&other.stars)
            && self
                .listed
                .union(&other.listed)
                .all(|combined| !other.contains(combined) || self.contains(combined))
    }
}

impl fmt::Debug for ResourceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.stars.is_all(), self.stars.is_empty(), self.listed.is_empty()) {
            (_, true, _) => write!(f, "{:?}", self.listed),
            (true, _, true) => f.write_str("*"),
            (true, _, false) => write!(f, "* without {:?}", self.listed),
            (false, false, true) => write!(f, "*/{:?}", self.stars),
            (false, false, false) => write!(f, "*/{:?} but for {:?}", self.stars, self.listed),
        }
    }
}
