//! What was probably meant by a resource or verb that does not exist.

use super::table::{Group, Origin, REQUEST_VERBS, Subresources, Table};

/// What people write for a verb.
const MEANT_VERB: &[(&str, &str)] = &[
    ("add", "create"),
    ("describe", "get"),
    ("edit", "update"),
    ("modify", "update"),
    ("post", "create"),
    ("put", "update"),
    ("read", "get"),
    ("remove", "delete"),
    ("view", "get"),
    ("watchlist", "watch"),
    ("write", "update"),
];

/// The verb meant by another word, case or number.
pub(super) fn verb(written: &str) -> Option<String> {
    let lower = written.to_ascii_lowercase().replace('-', "");
    let known = |word: &str| REQUEST_VERBS.iter().find(|known| **known == word).copied();
    let alias = MEANT_VERB.iter().find(|(alias, _)| *alias == lower).map(|(_, meant)| *meant);
    let meant = alias.or_else(|| known(&lower)).or_else(|| known(lower.trim_end_matches('s')))?;
    (meant != written).then(|| meant.to_owned())
}

/// The plural of a resource of this group that was written by its singular, kind or short name, with another ending
/// or in another case.
pub(super) fn plural<'a>(group: &'a Group, written: &str) -> Option<&'a str> {
    let lower = written.to_ascii_lowercase();
    let named = |plural: &str, subresources: &Subresources| {
        same_word(plural, &lower)
            || subresources.values().next().is_some_and(|main| {
                [Some(lower.as_str()), lower.strip_suffix('s')].contains(&Some(&main.singular))
                    || main.kind.eq_ignore_ascii_case(written)
                    || main.short_names.contains(&lower)
            })
    };
    group.resources.iter().find(|(plural, subresources)| named(plural, subresources)).map(|(plural, _)| plural.as_str())
}

/// As `plural`, together with the subresource, if that exists (or is only checked).
pub(super) fn resource(group: &Group, owner: &str, subresource: &str) -> Option<String> {
    let plural = plural(group, owner)?;
    match subresource {
        "" => Some(plural.to_owned()),
        "finalizers" => Some(format!("{plural}/finalizers")),
        _ => Some(format!("{plural}/{subresource}")).filter(|whole| group.any(whole, |_| true)),
    }
}

/// A resource of this group that is one letter off.
pub(super) fn slip(group: &Group, owner: &str) -> Option<String> {
    group.resources.keys().find(|plural| one_letter_off(plural, owner)).cloned()
}

/// The groups that a suggestion may be from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those of Kubernetes and of the CRDs in the input.
    Given,
    /// Those that only an extension has, which may not be installed.
    Extensions,
}

impl Reach {
    pub(super) fn has(self, group: &Group) -> bool {
        (self == Self::Extensions) == (group.origin == Origin::Extension)
    }
}

/// The groups in which something is found, as text.
pub(super) fn places(table: &Table, reach: Reach, find: impl Fn(&Group) -> Option<String>) -> Option<String> {
    let groups = table.groups().iter().filter(|(_, group)| reach.has(group));
    let found = groups.filter_map(|(name, group)| Some(format!("{} in apiGroup \"{name}\"", find(group)?)));
    let found: Vec<String> = found.collect();
    (!found.is_empty()).then(|| found.join(" or "))
}

/// The group whose first label this is, if only one extension has such a group.
pub(super) fn group(table: &Table, label: &str) -> Option<String> {
    let named = |reach: Reach| {
        let groups = table.groups().iter().filter(move |(_, group)| reach.has(group));
        groups.map(|(name, _)| name).filter(|name| name.split('.').next() == Some(label))
    };
    let mut extensions = named(Reach::Extensions);
    let only = match (extensions.next(), extensions.next()) {
        (Some(name), None) => Some(name),
        _ => None,
    };
    named(Reach::Given).next().or(only).cloned()
}

/// Whether two words differ at most in their plural ending.
pub(super) fn same_word(one: &str, other: &str) -> bool {
    stem(one) == stem(other)
}

fn stem(word: &str) -> &str {
    ["ies", "es", "s", "y"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word)
}

/// One letter too many, too few or another; short words are too close to each other for that.
fn one_letter_off(one: &str, other: &str) -> bool {
    let longer = one.len().max(other.len());
    let shorter = one.len().min(other.len());
    let alike = |pairs: &mut dyn Iterator<Item = (u8, u8)>| pairs.take_while(|(a, b)| a == b).count();
    let start = alike(&mut one.bytes().zip(other.bytes()));
    let end = alike(&mut one.bytes().rev().zip(other.bytes().rev())).min(shorter - start);
    shorter >= 5 && longer - start - end == 1
}
