//! Sets of URL paths: everything that exact paths and prefixes can build.
//!
//! Paths are ordered byte by byte; a prefix is then one interval and so is a single path, and a set is
//! the sorted list of the points where membership changes.

use std::fmt;

use super::dimension::{Connective, Dimension};

/// A set of paths.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PathSet {
    /// Strictly ascending; paths before the first are outside, each point flips.
    turns: Vec<Vec<u8>>,
}

impl PathSet {
    /// What the entries of a rule's `nonResourceURLs` match: exact, or a prefix before trailing `*`s.
    pub(super) fn from_written(written: &[String]) -> Self {
        // By halves, so that many entries cost their sorted length and not its square.
        match written {
            [] => Self { turns: Vec::new() },
            [pattern] => Self::pattern(pattern),
            _ => {
                let (left, right) = written.split_at(written.len() / 2);
                Self::from_written(left).union(&Self::from_written(right))
            }
        }
    }

    fn pattern(pattern: &str) -> Self {
        let mut turns = Vec::with_capacity(2);
        if pattern.ends_with('*') {
            let prefix = pattern.trim_end_matches('*').as_bytes();
            turns.push(prefix.to_vec());
            turns.extend(after_prefix(prefix));
        } else {
            turns.push(pattern.as_bytes().to_vec());
            turns.push(after_path(pattern.as_bytes()));
        }
        Self { turns }
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.turns
            .partition_point(|turn| turn.as_slice() <= path.as_bytes())
            % 2
            == 1
    }
}

/// The first string behind all that begin with the prefix; none behind the empty prefix.
fn after_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = prefix.to_vec();
    while let Some(last) = bytes.pop() {
        if let Some(next) = last.checked_add(1) {
            bytes.push(next);
            return Some(bytes);
        }
    }
    None
}

/// The next string behind this one.
fn after_path(path: &[u8]) -> Vec<u8> {
    let mut bytes = path.to_vec();
    bytes.push(0);
    bytes
}

impl Dimension for PathSet {
    fn all() -> Self {
        Self {
            turns: vec![Vec::new()],
        }
    }

    fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    fn combine(&self, other: &Self, connective: Connective) -> Self {
        let (mut left, mut right) = (self.turns.iter().peekable(), other.turns.iter().peekable());
        let (mut in_left, mut in_right, mut inside) = (false, false, false);
        let mut turns = Vec::new();
        loop {
            let turn = match (left.peek(), right.peek()) {
                (None, None) => return Self { turns },
                (Some(turn), None) | (None, Some(turn)) => *turn,
                (Some(a), Some(b)) => *a.min(b),
            };
            in_left ^= left.next_if_eq(&turn).is_some();
            in_right ^= right.next_if_eq(&turn).is_some();
            if connective(in_left, in_right) != inside {
                inside = !inside;
                turns.push(turn.clone());
            }
        }
    }
}

impl fmt::Debug for PathSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_set();
        let mut turns = self.turns.iter();
        while let Some(from) = turns.next() {
            let (text, to) = (String::from_utf8_lossy(from), turns.next());
            match to {
                Some(to) if *to == after_path(from) => list.entry(&format_args!("{text}")),
                to if to.cloned() == after_prefix(from) => list.entry(&format_args!("{text}*")),
                Some(to) => list.entry(&format_args!("{text} to {}", String::from_utf8_lossy(to))),
                None => list.entry(&format_args!("{text} and behind")),
            };
        }
        list.finish()
    }
}
