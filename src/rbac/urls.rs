//! Sets of URL paths made of exact paths and prefixes: the most specific pattern that fits a path decides.

use std::collections::BTreeMap;

use super::total::Pointwise;

/// An exact path, or every path with a prefix. Two patterns are disjoint or one contains the other. Ordered so that
/// a pattern comes before those that it contains.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    text: String,
    exact: bool,
}

impl Pattern {
    /// As Kubernetes reads a nonResourceURL (`NonResourceURLMatches`): all trailing `*` go.
    fn of_rule(rule: &str) -> Self {
        let text = rule.trim_end_matches('*');
        Self { text: text.to_owned(), exact: text.len() == rule.len() }
    }

    fn contains(&self, other: &Self) -> bool {
        if self.exact { self == other } else { other.text.starts_with(&self.text) }
    }
}

/// A set of URL paths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Urls {
    patterns: BTreeMap<Pattern, bool>,
}

impl Urls {
    /// Adds the paths that a rule's URL matches. A literal `a*` in a rule also matches the path `a*`, as any with that
    /// prefix.
    pub(super) fn add(&mut self, rule: &str) {
        let pattern = Pattern::of_rule(rule);
        if self.value(&pattern, false) {
            return;
        }
        let inside = self.patterns.range(&pattern..).map(|(inside, _)| inside);
        let inside: Vec<Pattern> = inside.take_while(|inside| pattern.contains(inside)).cloned().collect();
        for inside in inside {
            self.patterns.remove(&inside);
        }
        if !self.value(&pattern, true) {
            self.patterns.insert(pattern, true);
        }
    }

    /// The patterns as a rule writes them, and whether what they match is in the set, until a longer one says otherwise.
    pub(super) fn patterns(&self) -> impl Iterator<Item = (String, bool)> {
        let text = |pattern: &Pattern| format!("{}{}", pattern.text, if pattern.exact { "" } else { "*" });
        self.patterns.iter().map(move |(pattern, within)| (text(pattern), *within))
    }

    pub(super) fn contains(&self, path: &str) -> bool {
        self.value(&Pattern { text: path.to_owned(), exact: true }, false)
    }

    /// The value of the most specific pattern that contains `at` (itself left out where `above`).
    fn value(&self, at: &Pattern, above: bool) -> bool {
        let mut probe = at.clone();
        if !above && let Some(value) = self.patterns.get(&probe) {
            return *value;
        }
        if at.exact {
            probe.exact = false;
            if let Some(value) = self.patterns.get(&probe) {
                return *value;
            }
        }
        while probe.text.pop().is_some() {
            if let Some(value) = self.patterns.get(&probe) {
                return *value;
            }
        }
        false
    }
}

impl Pointwise for Urls {
    fn nothing() -> Self {
        Self::default()
    }

    fn combine(&self, other: &Self, op: fn(bool, bool) -> bool) -> Self {
        let mut combined = Self::default();
        for pattern in self.patterns.keys().chain(other.patterns.keys()) {
            let value = op(self.value(pattern, false), other.value(pattern, false));
            combined.patterns.insert(pattern.clone(), value);
        }
        // Containing patterns come first, so each is compared with what is left above it.
        let mut tidy = Self::default();
        for (pattern, value) in combined.patterns {
            if tidy.value(&pattern, true) != value {
                tidy.patterns.insert(pattern, value);
            }
        }
        tidy
    }

    fn meets(&self, other: &Self) -> bool {
        self.combine(other, |a, b| a && b) != Self::default()
    }
}
