//! Writing a finite set of exact permissions as few, readable rules whose product is exactly that set.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::Rule;
use super::rule::ALL;

/// One exact permission of one scope, as a rule will write it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entry {
    /// A verb on a resource.
    Resource {
        /// API group, empty for core.
        api_group: String,
        /// `resource` or `resource/subresource`, or a wildcard form that is to be kept as written.
        resource: String,
        /// Verb, or `*` when a wildcard is kept as written.
        verb: String,
        /// Object names; empty is unrestricted. Verbs are never merged over different name sets.
        names: Vec<String>,
    },
    /// A verb on a path.
    NonResource {
        /// Path or pattern.
        url: String,
        /// Verb.
        verb: String,
    },
}

impl Entry {
    /// Of a rule of one verb on one (group, resource) or one URL, its names as they stand; `None` for one that grants
    /// nothing.
    pub fn of(rule: &Rule) -> Option<Self> {
        let verb = rule.verbs.first()?.clone();
        match (rule.api_groups.first(), rule.resources.first(), rule.non_resource_urls.first()) {
            (Some(api_group), Some(resource), _) => Some(Self::Resource {
                api_group: api_group.clone(),
                resource: resource.clone(),
                verb,
                names: rule.resource_names.clone(),
            }),
            (_, _, Some(url)) => Some(Self::NonResource { url: url.clone(), verb }),
            _ => None,
        }
    }

    /// The rule that grants it.
    pub fn rule(&self) -> Rule {
        let one = |text: &String| vec![text.clone()];
        match self {
            Self::Resource { api_group, resource, verb, names } => Rule {
                api_groups: one(api_group),
                resources: one(resource),
                resource_names: names.clone(),
                verbs: one(verb),
                ..Rule::default()
            },
            Self::NonResource { url, verb } => {
                Rule { non_resource_urls: one(url), verbs: one(verb), ..Rule::default() }
            }
        }
    }
}

/// The order in which people write verbs; others follow alphabetically.
const CUSTOMARY: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/// Up to this many different verb sets in one group are searched for one that smaller ones make up.
const SEARCHED_VERB_SETS: usize = 64;

type Words = BTreeSet<String>;

/// Verbs of each resource of each group, all over one set of names.
type Rows = BTreeMap<String, BTreeMap<String, Words>>;

/// Rules that grant exactly the given entries (duplicates allowed), in a stable readable order.
pub fn rules(entries: impl IntoIterator<Item = Entry>) -> Vec<Rule> {
    let mut resources: BTreeMap<(String, String), BTreeMap<String, Names>> = BTreeMap::new();
    let mut paths: BTreeMap<String, Words> = BTreeMap::new();
    for entry in entries {
        match entry {
            Entry::Resource { api_group, resource, verb, names } => {
                let verbs = resources.entry((api_group, resource)).or_default();
                verbs.entry(verb).and_modify(|known| known.add(&names)).or_insert_with(|| Names::of(&names));
            }
            Entry::NonResource { url, verb } => {
                paths.entry(url).or_default().insert(verb);
            }
        }
    }
    let mut by_names: BTreeMap<Words, Rows> = BTreeMap::new();
    for ((group, resource), mut verbs) in resources {
        drop_under_wildcard(&mut verbs);
        for (verb, names) in verbs {
            let rows = by_names.entry(names.listed()).or_default();
            rows.entry(group.clone()).or_default().entry(resource.clone()).or_default().insert(verb);
        }
    }
    let mut written: Vec<Rule> = by_names.iter().flat_map(|(names, rows)| resource_rules(names, rows)).collect();
    written.sort_by(|a, b| {
        let key = |rule: &Rule| (rule.api_groups.clone(), rule.resources.clone(), rule.resource_names.clone());
        key(a).cmp(&key(b))
    });
    written.extend(path_rules(paths));
    written
}

/// The names that one verb on one resource is granted for.
enum Names {
    Any,
    Only(Words),
}

impl Names {
    fn of(names: &[String]) -> Self {
        if names.is_empty() { Self::Any } else { Self::Only(names.iter().cloned().collect()) }
    }

    fn add(&mut self, names: &[String]) {
        match self {
            Self::Only(known) if !names.is_empty() => known.extend(names.iter().cloned()),
            _ => *self = Self::Any,
        }
    }

    /// As `resourceNames` writes it: empty for any.
    fn listed(self) -> Words {
        match self {
            Self::Any => Words::new(),
            Self::Only(names) => names,
        }
    }
}

/// Leaves out what the verb `*` on the same resource already grants.
fn drop_under_wildcard(verbs: &mut BTreeMap<String, Names>) {
    let Some(wildcard) = verbs.remove(ALL) else { return };
    verbs.retain(|_, names| match (&wildcard, names) {
        (Names::Any, _) => false,
        (Names::Only(_), Names::Any) => true,
        (Names::Only(all), Names::Only(names)) => {
            names.retain(|name| !all.contains(name));
            !names.is_empty()
        }
    });
    verbs.insert(ALL.to_owned(), wildcard);
}

/// Of the plain grouping and the one without composed verb sets, the one with fewer rules; plain on a tie,
/// since it names each resource once.
fn resource_rules(names: &Words, rows: &Rows) -> Vec<Rule> {
    let plain = grouped(names, rows, false);
    let decomposed = grouped(names, rows, true);
    if decomposed.len() < plain.len() { decomposed } else { plain }
}

fn grouped(names: &Words, rows: &Rows, decompose: bool) -> Vec<Rule> {
    // (resources, verbs) that several groups have in common become one rule.
    let mut products: BTreeMap<(Words, Words), Vec<String>> = BTreeMap::new();
    for (group, resources) in rows {
        let mut by_verbs: BTreeMap<Words, Words> = BTreeMap::new();
        for (resource, verbs) in resources {
            by_verbs.entry(verbs.clone()).or_default().insert(resource.clone());
        }
        if decompose && by_verbs.len() <= SEARCHED_VERB_SETS {
            by_verbs = without_composed(by_verbs);
        }
        for (verbs, resources) in by_verbs {
            products.entry((resources, verbs)).or_default().push(group.clone());
        }
    }
    products
        .into_iter()
        .map(|((resources, verbs), api_groups)| Rule {
            api_groups,
            resources: resources.into_iter().collect(),
            resource_names: names.iter().cloned().collect(),
            non_resource_urls: Vec::new(),
            verbs: in_customary_order(verbs),
        })
        .collect()
}

/// A verb set that is the union of smaller ones needs no rule of its own: its resources join theirs.
fn without_composed(mut by_verbs: BTreeMap<Words, Words>) -> BTreeMap<Words, Words> {
    let mut largest_first: Vec<Words> = by_verbs.keys().cloned().collect();
    largest_first.sort_by_key(|verbs| Reverse(verbs.len()));
    for (position, whole) in largest_first.iter().enumerate() {
        let mut missing = whole.clone();
        let mut parts = Vec::new();
        for part in largest_first.iter().skip(position + 1).filter(|part| part.is_subset(whole)) {
            let before = missing.len();
            missing.retain(|verb| !part.contains(verb));
            if missing.len() < before {
                parts.push(part);
            }
        }
        if missing.is_empty()
            && let Some(resources) = by_verbs.remove(whole)
        {
            for part in parts {
                by_verbs.entry(part.clone()).or_default().extend(resources.iter().cloned());
            }
        }
    }
    by_verbs
}

fn path_rules(paths: BTreeMap<String, Words>) -> Vec<Rule> {
    let mut by_verbs: BTreeMap<Words, Vec<String>> = BTreeMap::new();
    for (url, mut verbs) in paths {
        if verbs.contains(ALL) {
            verbs = Words::from([ALL.to_owned()]);
        }
        by_verbs.entry(verbs).or_default().push(url);
    }
    let mut written: Vec<Rule> = by_verbs
        .into_iter()
        .map(|(verbs, non_resource_urls)| Rule {
            non_resource_urls,
            verbs: in_customary_order(verbs),
            ..Rule::default()
        })
        .collect();
    written.sort_by(|a, b| a.non_resource_urls.cmp(&b.non_resource_urls));
    written
}

fn in_customary_order(verbs: Words) -> Vec<String> {
    let mut verbs: Vec<String> = verbs.into_iter().collect();
    let rank = |verb: &String| CUSTOMARY.iter().position(|known| known == verb).unwrap_or(CUSTOMARY.len());
    verbs.sort_by_key(rank);
    verbs
}
