//! The roles that controller-gen writes for markers (controller-tools `pkg/rbac/parser.go`, `GenerateRoles`): a role
//! per namespace and role name, its rules merged and sorted as there. Each rule keeps the markers that it comes from.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{Marker, RoleKind};
use crate::rbac::Rule;

/// A role as controller-gen writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedRole {
    /// A Role where the markers name a namespace.
    pub kind: RoleKind,
    /// `namespace` of the markers.
    pub namespace: Option<String>,
    /// `roleName` of the markers, else that of the command line.
    pub name: String,
    /// Its rules in order.
    pub rules: Vec<GeneratedRule>,
}

/// A rule of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneratedRule {
    /// The rule.
    pub rule: Rule,
    /// The markers that it comes from: their indices.
    pub markers: BTreeSet<usize>,
    /// Merging makes two rules alike but for their verbs, and controller-gen keeps one of them, not always the same.
    /// Both are here.
    pub clashes: bool,
}

/// The roles of the markers, when controller-gen runs with `rbac:roleName=role_name`.
pub fn derive(markers: &[Marker], role_name: &str) -> Vec<GeneratedRole> {
    let mut roles: BTreeMap<(&str, &str), Vec<Merged>> = BTreeMap::new();
    for (index, marker) in markers.iter().enumerate() {
        let namespace = marker.namespace.as_ref().map_or("", |namespace| namespace.as_str());
        let name = marker.role_name.as_ref().map_or("", |name| name.as_str());
        let name = if name.is_empty() { role_name } else { name };
        roles.entry((namespace, name)).or_default().extend(Merged::of(index, marker));
    }
    let role = |((namespace, name), rules): ((&str, &str), Vec<Merged>)| GeneratedRole {
        kind: if namespace.is_empty() { RoleKind::ClusterRole } else { RoleKind::Role },
        namespace: (!namespace.is_empty()).then(|| namespace.to_owned()),
        name: name.to_owned(),
        rules: normalize(rules),
    };
    roles.into_iter().map(role).collect()
}

const GROUPS: usize = 0;
const RESOURCES: usize = 1;
const URLS: usize = 3;

type Words = BTreeSet<String>;

/// A rule while rules are merged.
#[derive(Debug, Clone, Default)]
struct Merged {
    /// Groups, resources, names, URLs.
    parts: [Words; 4],
    verbs: Words,
    markers: BTreeSet<usize>,
    clashes: bool,
}

impl Merged {
    /// One rule for each resource of a marker.
    fn of(index: usize, marker: &Marker) -> Vec<Self> {
        let Rule { api_groups, resources, resource_names, non_resource_urls, verbs } = marker.rule.to_rule();
        let words = |list: Vec<String>| list.into_iter().collect::<Words>();
        let all = Self {
            parts: [words(api_groups), Words::new(), words(resource_names), words(non_resource_urls)],
            verbs: words(verbs),
            markers: BTreeSet::from([index]),
            clashes: false,
        };
        if resources.is_empty() {
            return vec![all];
        }
        let one = |resource: String| {
            let mut one = all.clone();
            one.parts[RESOURCES].insert(resource);
            one
        };
        resources.into_iter().map(one).collect()
    }

    /// The texts that make a rule the same as another, those of one part left out.
    fn key(&self, without: Option<usize>) -> [String; 4] {
        let joined = |words: &Words| words.iter().map(String::as_str).collect::<Vec<_>>().join("&");
        let mut key = self.parts.each_ref().map(joined);
        if let Some(part) = without.and_then(|part| key.get_mut(part)) {
            *part = joined(&self.verbs);
        }
        key
    }

    fn into_rule(self) -> GeneratedRule {
        let list = |words: Words| words.into_iter().collect::<Vec<_>>();
        let [api_groups, resources, resource_names, non_resource_urls] = self.parts.map(list);
        let all = self.verbs.contains("*");
        let verbs = if all { vec!["*".to_owned()] } else { list(self.verbs) };
        GeneratedRule {
            rule: Rule { api_groups, resources, resource_names, non_resource_urls, verbs },
            markers: self.markers,
            clashes: self.clashes,
        }
    }
}

/// First the verbs of what is otherwise the same are united, then the resources of what is otherwise the same, then the
/// groups, then the URLs.
fn normalize(rules: Vec<Merged>) -> Vec<GeneratedRule> {
    let mut rules = merge(rules, None);
    for part in [RESOURCES, GROUPS, URLS] {
        rules = merge(rules, Some(part));
        mark_clashes(&mut rules);
    }
    rules.sort_by_cached_key(|rule| (rule.key(None).join(" + "), rule.verbs.clone()));
    rules.into_iter().map(Merged::into_rule).collect()
}

/// Unites one part (`None`: the verbs) of rules that are the same in all others.
fn merge(rules: Vec<Merged>, part: Option<usize>) -> Vec<Merged> {
    let mut merged: BTreeMap<[String; 4], Merged> = BTreeMap::new();
    for rule in rules {
        let known = merged.entry(rule.key(part)).or_insert_with(|| rule.clone());
        match part.and_then(|part| known.parts.get_mut(part).zip(rule.parts.get(part))) {
            Some((known, more)) => known.extend(more.iter().cloned()),
            None => known.verbs.extend(rule.verbs),
        }
        known.markers.extend(rule.markers);
        known.clashes |= rule.clashes;
    }
    merged.into_values().collect()
}

fn mark_clashes(rules: &mut [Merged]) {
    let mut count: BTreeMap<[String; 4], usize> = BTreeMap::new();
    for rule in rules.iter() {
        *count.entry(rule.key(None)).or_default() += 1;
    }
    for rule in rules {
        rule.clashes |= count.get(&rule.key(None)).is_some_and(|count| *count > 1);
    }
}
