//! Writing a finite set of exact permissions as few, readable rules whose products are exactly that set.

use std::collections::{BTreeMap, BTreeSet};

use super::Rule;

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

type Verbs = BTreeSet<String>;
type Names = BTreeSet<String>;

/// Rules that grant exactly the given entries (duplicates allowed), in a stable readable order: the core group
/// first, resources by name, non-resource URLs last.
///
/// Resources of one group with the same names and verbs share a rule, then groups with the same resources, names and
/// verbs do. A product is only ever formed of equal parts, so no rule grants more than its entries.
pub fn rules(entries: impl IntoIterator<Item = Entry>) -> Vec<Rule> {
    let mut verbs_of: BTreeMap<(String, String, Names), Verbs> = BTreeMap::new();
    let mut verbs_of_url: BTreeMap<String, Verbs> = BTreeMap::new();
    for entry in entries {
        match entry {
            Entry::Resource { api_group, resource, verb, names } => {
                verbs_of.entry((api_group, resource, names.into_iter().collect())).or_default().insert(verb);
            }
            Entry::NonResource { url, verb } => {
                verbs_of_url.entry(url).or_default().insert(verb);
            }
        }
    }

    let mut resources_of: BTreeMap<(String, Names, Verbs), BTreeSet<String>> = BTreeMap::new();
    for ((group, resource, names), verbs) in verbs_of {
        resources_of.entry((group, names, verbs)).or_default().insert(resource);
    }
    let mut groups_of: BTreeMap<(BTreeSet<String>, Names, Verbs), BTreeSet<String>> = BTreeMap::new();
    for ((group, names, verbs), resources) in resources_of {
        groups_of.entry((resources, names, verbs)).or_default().insert(group);
    }
    let mut rules: Vec<Rule> = groups_of
        .into_iter()
        .map(|((resources, names, verbs), groups)| Rule {
            api_groups: groups.into_iter().collect(),
            resources: resources.into_iter().collect(),
            resource_names: names.into_iter().collect(),
            non_resource_urls: Vec::new(),
            verbs: in_custom(verbs),
        })
        .collect();
    rules.sort();

    let mut urls_of: BTreeMap<Verbs, Vec<String>> = BTreeMap::new();
    for (url, verbs) in verbs_of_url {
        urls_of.entry(verbs).or_default().push(url);
    }
    let mut url_rules: Vec<Rule> = urls_of
        .into_iter()
        .map(|(verbs, urls)| Rule { non_resource_urls: urls, verbs: in_custom(verbs), ..Rule::default() })
        .collect();
    url_rules.sort();
    rules.extend(url_rules);
    rules
}

/// Verbs in the order in which people write them.
fn in_custom(verbs: Verbs) -> Vec<String> {
    const CUSTOM: [&str; 8] = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];
    let mut verbs: Vec<String> = verbs.into_iter().collect();
    // A stable sort leaves the others alphabetical.
    verbs.sort_by_key(|verb| CUSTOM.iter().position(|custom| custom == verb).unwrap_or(CUSTOM.len()));
    verbs
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn entry(api_group: &str, resource: &str, verb: &str, names: &[&str]) -> Entry {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        Entry::Resource { api_group: api_group.into(), resource: resource.into(), verb: verb.into(), names }
    }

    /// Every entry that the rules write, by multiplying them out.
    fn expand(rules: &[Rule]) -> BTreeSet<Entry> {
        let mut entries = BTreeSet::new();
        for rule in rules {
            for verb in &rule.verbs {
                for url in &rule.non_resource_urls {
                    entries.insert(Entry::NonResource { url: url.clone(), verb: verb.clone() });
                }
                for group in &rule.api_groups {
                    for resource in &rule.resources {
                        let names: Vec<&str> = rule.resource_names.iter().map(String::as_str).collect();
                        entries.insert(entry(group, resource, verb, &names));
                    }
                }
            }
        }
        entries
    }

    fn entries() -> impl Strategy<Value = BTreeSet<Entry>> {
        let resource = (0..3_usize, 0..4_usize, 0..4_usize, 0..3_usize).prop_map(|(group, resource, verb, names)| {
            let names: &[&str] = [&[][..], &["a"][..], &["a", "b"][..]][names];
            entry(["", "apps", "x"][group], ["a", "b", "c", "d/e"][resource], ["get", "list", "use", "create"][verb], names)
        });
        let url = (0..3_usize, 0..2_usize).prop_map(|(url, verb)| Entry::NonResource {
            url: ["/a", "/b*", "*"][url].to_owned(),
            verb: ["get", "head"][verb].to_owned(),
        });
        prop::collection::btree_set(prop_oneof![4 => resource, 1 => url], 0..30)
    }

    proptest! {
        #[test]
        fn the_rules_are_exactly_the_entries(entries in entries()) {
            let rules = rules(entries.clone());
            prop_assert_eq!(expand(&rules), entries.clone());
            prop_assert!(rules.len() <= entries.len());
            prop_assert!(rules.iter().all(|rule| rule.resources.is_empty() != rule.non_resource_urls.is_empty()));
        }
    }

    #[test]
    fn equal_verbs_share_a_rule_and_names_never_mix() {
        let rules = rules([
            entry("", "pods", "watch", &[]),
            entry("", "pods", "list", &[]),
            entry("", "services", "list", &[]),
            entry("", "services", "watch", &[]),
            entry("", "events", "create", &[]),
            entry("events.k8s.io", "events", "create", &[]),
            entry("", "configmaps", "get", &["b", "a"]),
            entry("", "configmaps", "update", &["a"]),
        ]);
        let short: Vec<String> = rules
            .iter()
            .map(|rule| format!("{:?} {:?} {:?} {:?}", rule.api_groups, rule.resources, rule.resource_names, rule.verbs))
            .collect();
        assert_eq!(
            short,
            [
                r#"[""] ["configmaps"] ["a"] ["update"]"#,
                r#"[""] ["configmaps"] ["a", "b"] ["get"]"#,
                r#"[""] ["pods", "services"] [] ["list", "watch"]"#,
                r#"["", "events.k8s.io"] ["events"] [] ["create"]"#,
            ]
        );
    }
}
