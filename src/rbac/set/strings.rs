//! Sets of strings that are finite or have a finite complement: verbs, API groups, object names.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use super::dimension::{Connective, Dimension};

/// All strings but some, or none but some.
///
/// Of object names the empty one is that of a request without a name; only an unrestricted rule, or one that
/// lists the empty name, holds it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StringSet {
    /// Whether strings that are not listed are in the set.
    rest: bool,
    /// The strings for which it is the other way round.
    listed: BTreeSet<Arc<str>>,
}

impl StringSet {
    /// The listed strings; `*` among them stands for all.
    pub(super) fn with_wildcard(written: &[String]) -> Self {
        if written.iter().any(|entry| entry == "*") {
            Self::all()
        } else {
            Self::only(written)
        }
    }

    /// Exactly the listed strings.
    pub(super) fn only(written: &[String]) -> Self {
        Self {
            rest: false,
            listed: written.iter().map(|entry| Arc::from(entry.as_str())).collect(),
        }
    }

    pub(super) fn contains(&self, value: &str) -> bool {
        self.rest != self.listed.contains(value)
    }

    pub(super) fn is_all(&self) -> bool {
        self.rest && self.listed.is_empty()
    }
}

impl Dimension for StringSet {
    fn all() -> Self {
        Self {
            rest: true,
            listed: BTreeSet::new(),
        }
    }

    fn is_empty(&self) -> bool {
        !self.rest && self.listed.is_empty()
    }

    fn combine(&self, other: &Self, connective: Connective) -> Self {
        let rest = connective(self.rest, other.rest);
        let listed = self
            .listed
            .union(&other.listed)
            .filter(|value| connective(self.contains(value), other.contains(value)) != rest)
            .cloned()
            .collect();
        Self { rest, listed }
    }

    fn intersects(&self, other: &Self) -> bool {
        match (self.rest, other.rest) {
            (true, true) => true,
            (false, true) => self.listed.iter().any(|value| other.contains(value)),
            (true, false) => other.listed.iter().any(|value| self.contains(value)),
            (false, false) if self.listed.len() <= other.listed.len() => {
                self.listed.iter().any(|value| other.contains(value))
            }
            (false, false) => other.listed.iter().any(|value| self.contains(value)),
        }
    }

    fn covers(&self, other: &Self) -> bool {
        match (self.rest, other.rest) {
            (_, false) => other.listed.iter().all(|value| self.contains(value)),
            (true, true) => self.listed.iter().all(|value| !other.contains(value)),
            (false, true) => false,
        }
    }
}

impl fmt::Debug for StringSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.rest, self.listed.is_empty()) {
            (true, true) => f.write_str("*"),
            (true, false) => write!(f, "* without {:?}", self.listed),
            (false, _) => write!(f, "{:?}", self.listed),
        }
    }
}
