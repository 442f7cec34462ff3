//! Sets of (resource, subresource) pairs: everything that `*`, `*/sub` and `resource/sub` can build.
//!
//! Kubernetes compares a rule's entry with the *combined* name `resource/sub` of the request, and `*/sub`
//! with its subresource alone. So a point here is a combined name and where in it the subresource begins.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::dimension::{Connective, Dimension};
use super::strings::StringSet;

/// A set of resources.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ResourceSet {
    /// For combined names not in `exact`: the subresources with which they are in the set.
    stars: StringSet,
    /// For each of these combined names: the splits with which it is in the set.
    /// Only names for which that is not what `stars` says.
    exact: BTreeMap<Arc<str>, Vec<Split>>,
}

/// Where the subresource begins in a combined name; the name's length when it has none.
type Split = usize;

/// Every way to read a combined name as resource and subresource: one for a plain name, two for `pods/log`
/// (a request whose *resource* is `pods/log` is possible and matches too).
fn splits(combined: &str) -> impl Iterator<Item = (Split, &str)> {
    combined
        .match_indices('/')
        .filter_map(|(slash, _)| Some((slash + 1, combined.get(slash + 1..)?)))
        .filter(|(_, subresource)| !subresource.is_empty())
        .chain(std::iter::once((combined.len(), "")))
}

impl ResourceSet {
    /// What the entries of a rule's `resources` match.
    pub(super) fn from_written(written: &[String]) -> Self {
        if written.iter().any(|entry| entry == "*") {
            return Self::all();
        }
        let stars: Vec<String> = written
            .iter()
            .filter_map(|entry| entry.strip_prefix("*/"))
            .filter(|subresource| !subresource.is_empty())
            .map(str::to_owned)
            .collect();
        let exact = written
            .iter()
            .map(|entry| {
                (
                    Arc::from(entry.as_str()),
                    splits(entry).map(|(split, _)| split).collect(),
                )
            })
            .collect();
        Self {
            stars: StringSet::only(&stars),
            exact,
        }
        .canonical()
    }

    pub(super) fn contains(&self, combined: &str, subresource: &str) -> bool {
        match self.exact.get(combined) {
            Some(held) => held.contains(&(combined.len() - subresource.len())),
            None => self.stars.contains(subresource),
        }
    }

    fn canonical(mut self) -> Self {
        let stars = &self.stars;
        self.exact
            .retain(|combined, held| !same_as_stars(stars, combined, held));
        self
    }

    fn held<'a>(&'a self, combined: &'a str) -> Held<'a> {
        match self.exact.get(combined) {
            Some(held) => Held::Exact(held),
            None => Held::Stars(&self.stars),
        }
    }
}

fn same_as_stars(stars: &StringSet, combined: &str, held: &[Split]) -> bool {
    splits(combined).all(|(split, subresource)| stars.contains(subresource) == held.contains_split(split))
}

/// What a set says of one combined name.
enum Held<'a> {
    Exact(&'a [Split]),
    Stars(&'a StringSet),
}

impl Held<'_> {
    fn contains(&self, split: Split, subresource: &str) -> bool {
        match self {
            Self::Exact(held) => held.contains_split(split),
            Self::Stars(stars) => stars.contains(subresource),
        }
    }
}

/// Splits are sorted, so that a hostile name with very many slashes is not searched again and again.
trait SortedSplits {
    fn contains_split(&self, split: Split) -> bool;
}

impl SortedSplits for [Split] {
    fn contains_split(&self, split: Split) -> bool {
        self.binary_search(&split).is_ok()
    }
}

impl Dimension for ResourceSet {
    fn all() -> Self {
        Self {
            stars: StringSet::all(),
            exact: BTreeMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        // An exact name that holds nothing is kept only where the stars hold something.
        self.stars.is_empty() && self.exact.is_empty()
    }

    fn combine(&self, other: &Self, connective: Connective) -> Self {
        let combined_names = self.exact.keys().chain(other.exact.keys());
        let exact = combined_names
            .map(|combined| {
                let (left, right) = (self.held(combined), other.held(combined));
                let held = splits(combined)
                    .filter(|(split, sub)| {
                        connective(left.contains(*split, sub), right.contains(*split, sub))
                    })
                    .map(|(split, _)| split)
                    .collect();
                (combined.clone(), held)
            })
            .collect();
        Self {
            stars: self.stars.combine(&other.stars, connective),
            exact,
        }
        .canonical()
    }

    fn intersects(&self, other: &Self) -> bool {
        let (few, many) = if self.exact.len() <= other.exact.len() {
            (self, other)
        } else {
            (other, self)
        };
        let meet = |combined: &str| {
            let (left, right) = (few.held(combined), many.held(combined));
            splits(combined).any(|(split, sub)| left.contains(split, sub) && right.contains(split, sub))
        };
        few.stars.intersects(&many.stars)
            || few.exact.keys().any(|combined| meet(combined))
            || (!few.stars.is_empty() && many.exact.keys().any(|combined| meet(combined)))
    }
}

impl fmt::Debug for ResourceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_set();
        if self.stars.is_all() {
            list.entry(&format_args!("*"));
        } else if !self.stars.is_empty() {
            list.entry(&format_args!("*/{:?}", self.stars));
        }
        for (combined, held) in &self.exact {
            if held.is_empty() {
                list.entry(&format_args!("not {combined}"));
            } else if held.len() == splits(combined).count() {
                list.entry(&format_args!("{combined}"));
            } else {
                list.entry(&format_args!("{combined} split at {held:?}"));
            }
        }
        list.finish()
    }
}
