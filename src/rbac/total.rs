//! Total functions on strings that differ from a default at finitely many places: one dimension of a permission
//! set. Nested, they are closed under every pointwise operation, and equal sets have equal representations.

use std::collections::BTreeMap;

/// A value that can be combined pointwise: `bool` at the bottom, [`Total`] above.
pub(super) trait Pointwise: Clone + PartialEq {
    /// The value that holds nothing.
    fn nothing() -> Self;

    /// `op` at every point; `op(false, false)` is `false`.
    fn combine(&self, other: &Self, op: fn(bool, bool) -> bool) -> Self;

    /// Whether both hold some point.
    fn meets(&self, other: &Self) -> bool;
}

impl Pointwise for bool {
    fn nothing() -> Self {
        false
    }

    fn combine(&self, other: &Self, op: fn(bool, bool) -> bool) -> Self {
        op(*self, *other)
    }

    fn meets(&self, other: &Self) -> bool {
        *self && *other
    }
}

/// A total function: the values of the strings that are named, and the value of all others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Total<T> {
    known: BTreeMap<String, T>,
    rest: T,
}

impl<T: Pointwise> Default for Total<T> {
    fn default() -> Self {
        Self { known: BTreeMap::new(), rest: T::nothing() }
    }
}

/// Which strings a part of a rule speaks of.
#[derive(Debug, Clone, Copy)]
pub(super) enum Which<'a> {
    All,
    One(&'a str),
}

impl<T: Pointwise> Total<T> {
    pub(super) fn at(&self, key: &str) -> &T {
        self.known.get(key).unwrap_or(&self.rest)
    }

    /// The values of the strings that are named, in order, then that of all others (`None`).
    pub(super) fn iter(&self) -> impl Iterator<Item = (Option<&str>, &T)> {
        let known = self.known.iter().map(|(key, value)| (Some(key.as_str()), value));
        known.chain([(None, &self.rest)])
    }

    /// Changes the values of one string or of all. Leaves the function to be [`tidied`](Self::tidy).
    pub(super) fn change(&mut self, which: Which<'_>, change: &mut dyn FnMut(&mut T)) {
        match which {
            Which::One(key) => match self.known.get_mut(key) {
                Some(value) => change(value),
                None => {
                    let mut value = self.rest.clone();
                    change(&mut value);
                    self.known.insert(key.to_owned(), value);
                }
            },
            Which::All => {
                change(&mut self.rest);
                self.known.values_mut().for_each(change);
            }
        }
    }

    /// Tidies the values with `inner`, then forgets the strings whose value is that of all others.
    pub(super) fn tidy(&mut self, inner: fn(&mut T)) {
        inner(&mut self.rest);
        let rest = &self.rest;
        self.known.retain(|_, value| {
            inner(value);
            value != rest
        });
    }
}

impl<T: Pointwise> Pointwise for Total<T> {
    fn nothing() -> Self {
        Self::default()
    }

    fn combine(&self, other: &Self, op: fn(bool, bool) -> bool) -> Self {
        let rest = self.rest.combine(&other.rest, op);
        let mut known = BTreeMap::new();
        for key in self.known.keys().chain(other.known.keys().filter(|key| !self.known.contains_key(*key))) {
            let value = self.at(key).combine(other.at(key), op);
            if value != rest {
                known.insert(key.clone(), value);
            }
        }
        Self { known, rest }
    }

    fn meets(&self, other: &Self) -> bool {
        self.rest.meets(&other.rest)
            || self.known.iter().any(|(key, value)| value.meets(other.at(key)))
            || other.known.iter().any(|(key, value)| value.meets(self.at(key)))
    }
}
