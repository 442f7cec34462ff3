//! A shipped role beside the markers that it is generated from: where each permission is named, and which permissions
//! stand on one side alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::super::{Facts, Marker, PolicyRule, Role};
use super::GeneratedRole;
use super::link::{MOST, is_place_of, is_plain, size};
use crate::rbac::Rule;
use crate::source::{Span, Spanned};

/// A role of the package and the markers it is generated from.
#[derive(Debug, Clone)]
pub struct Generated {
    /// Index in `Facts::roles`.
    pub role: usize,
    /// What its markers say that it holds.
    pub wanted: GeneratedRole,
    /// Permissions of markers that the role lacks, each with its marker; the first 200.
    pub only_in_markers: Vec<(Permission, Span)>,
    /// Permissions of the role that no marker names, each with its verb; the first 200.
    pub only_in_role: Vec<(Permission, Span)>,
    /// The tokens of the markers by permission, names left out.
    tokens: BTreeMap<Permission, Vec<Token>>,
}

/// Differences that are kept of one role and side.
const MOST_TOLD: usize = 200;

/// One verb on one thing, as written.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// API group; `None` with a URL.
    pub group: Option<String>,
    /// Resource or URL.
    pub thing: String,
    /// Object name; `None` is any.
    pub name: Option<String>,
    /// Verb.
    pub verb: String,
}

impl fmt::Display for Permission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.thing)?;
        if let Some(group) = self.group.as_ref().filter(|group| !group.is_empty()) {
            write!(f, ".{group}")?;
        }
        self.name.iter().try_for_each(|name| write!(f, " ({name})"))
    }
}

/// Where a marker names a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Index in `Facts::markers`.
    pub index: usize,
    /// The whole marker.
    pub marker: Span,
    /// The verb.
    pub verb: Span,
    /// The API group; `None` with a URL.
    pub group: Option<Span>,
    /// The resource or the URL.
    pub thing: Span,
}

impl Generated {
    /// The last role of that kind, namespace and name, which is the one that counts.
    pub(super) fn find(facts: &Facts, wanted: GeneratedRole) -> Option<Self> {
        let is_it = |role: &Role| is_plain(role) && is_place_of(role, &wanted) && role.name.value == wanted.name;
        let index = facts.roles.iter().rposition(is_it)?;
        let role = facts.roles.get(index)?;
        let own: BTreeSet<usize> = wanted.rules.iter().flat_map(|rule| rule.markers.iter().copied()).collect();
        let markers: Vec<(usize, &Marker)> =
            own.into_iter().filter_map(|index| Some((index, facts.markers.get(index)?))).collect();
        let mut tokens: BTreeMap<Permission, Vec<Token>> = BTreeMap::new();
        for (index, marker) in &markers {
            for (permission, token) in nameless(*index, &marker.rule) {
                tokens.entry(permission).or_default().push(token);
            }
        }
        let mut generated = Self { role: index, wanted, tokens, only_in_markers: Vec::new(), only_in_role: Vec::new() };
        // What a marker that was not read says is not known.
        let comparable = role.rules.iter().map(size).fold(0, u64::saturating_add) <= MOST;
        if comparable && facts.markers_lost == 0 {
            let of_markers: Vec<&PolicyRule> = markers.iter().map(|(_, marker)| &marker.rule).collect();
            let of_role: Vec<&PolicyRule> = role.rules.iter().collect();
            let marker = |token: &Token| token.marker;
            generated.only_in_markers = lacking(&of_markers, &of_role, marker);
            generated.only_in_role = lacking(&of_role, &of_markers, |token| token.verb);
        }
        Some(generated)
    }

    /// Where markers grant exactly this: one verb, and one (group, resource) with these names or one URL.
    pub fn tokens<'a>(&'a self, markers: &'a [Marker], grant: &Rule) -> impl Iterator<Item = Token> + use<'a> {
        let names: BTreeSet<String> = grant.resource_names.iter().cloned().collect();
        let group = grant.api_groups.first().cloned();
        let thing = grant.resources.first().or(grant.non_resource_urls.first()).cloned().unwrap_or_default();
        let verb = grant.verbs.first().cloned().unwrap_or_default();
        let is_url = group.is_none();
        let found = self.tokens.get(&Permission { group, thing, name: None, verb });
        found.into_iter().flatten().copied().filter(move |token| {
            let same = |marker: &Marker| {
                let own = &marker.rule.resource_names;
                own.iter().all(|name| names.contains(&name.value)) && names.iter().all(|name| has(own, name))
            };
            is_url || markers.get(token.index).is_some_and(same)
        })
    }
}

fn has(list: &[Spanned<String>], text: &str) -> bool {
    list.iter().any(|item| item.value == text)
}

/// What a rule multiplies out to, names left out.
fn nameless(index: usize, rule: &PolicyRule) -> Vec<(Permission, Token)> {
    let mut all = Vec::new();
    for verb in &rule.verbs {
        let mut add = |group: Option<&Spanned<String>>, thing: &Spanned<String>| {
            let value = |text: &Spanned<String>| text.value.clone();
            let permission = Permission { group: group.map(value), thing: value(thing), name: None, verb: value(verb) };
            let group = group.map(|group| group.span);
            all.push((permission, Token { index, marker: rule.span, verb: verb.span, group, thing: thing.span }));
        };
        for resource in &rule.resources {
            rule.api_groups.iter().for_each(|group| add(Some(group), resource));
        }
        rule.non_resource_urls.iter().for_each(|url| add(None, url));
    }
    all
}

/// What one side grants and the other does not, each once, at the first place.
fn lacking(side: &[&PolicyRule], other: &[&PolicyRule], place: fn(&Token) -> Span) -> Vec<(Permission, Span)> {
    let exact: BTreeSet<(Permission, BTreeSet<&str>)> = other
        .iter()
        .flat_map(|rule| nameless(0, rule).into_iter().map(|(permission, _)| (permission, names(rule))))
        .collect();
    let mut lacking: BTreeMap<Permission, Span> = BTreeMap::new();
    for rule in side {
        for (permission, token) in nameless(0, rule) {
            let known = (permission, names(rule));
            if lacking.len() >= MOST_TOLD || exact.contains(&known) {
                continue;
            }
            let (permission, names) = known;
            let each: Vec<Option<String>> = match names.is_empty() || permission.group.is_none() {
                true => vec![None],
                false => names.iter().map(|name| Some((*name).to_owned())).collect(),
            };
            for name in each {
                let permission = Permission { name, ..permission.clone() };
                // What one rule grants, all names apart, no two rules together grant more.
                if !other.iter().any(|rule| grants(rule, &permission)) {
                    lacking.entry(permission).or_insert_with(|| place(&token));
                }
            }
        }
    }
    lacking.into_iter().take(MOST_TOLD).collect()
}

fn names(rule: &PolicyRule) -> BTreeSet<&str> {
    rule.resource_names.iter().map(Spanned::as_str).collect()
}

/// Whether a rule grants all that a permission says, wildcards of the permission included.
fn grants(rule: &PolicyRule, permission: &Permission) -> bool {
    let Permission { group, thing, name, verb } = permission;
    let holds = |list: &[Spanned<String>], text: &str| has(list, "*") || has(list, text);
    if !holds(&rule.verbs, verb) {
        return false;
    }
    let Some(group) = group else {
        let prefix = |url: &str| url.strip_suffix('*').is_some_and(|prefix| thing.starts_with(prefix));
        return rule.non_resource_urls.iter().any(|url| url.as_str() == thing || prefix(url.as_str()));
    };
    let of_any = thing.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
    let named = rule.resource_names.is_empty() || name.as_ref().is_some_and(|name| has(&rule.resource_names, name));
    let resource = holds(&rule.resources, thing) || of_any.is_some_and(|any| has(&rule.resources, &any));
    named && resource && holds(&rule.api_groups, group)
}
