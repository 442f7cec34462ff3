//! Single permissions, and what two of them have in common.

use crate::rbac::Rule;
use crate::rbac::cover::Entry;

/// Verb, group (none of a URL) and resource or URL.
pub(super) type Key = (String, String, String);

pub(super) fn key(entry: &Entry) -> Key {
    match entry {
        Entry::Resource { api_group, resource, verb, .. } => (verb.clone(), api_group.clone(), resource.clone()),
        Entry::NonResource { url, verb } => (verb.clone(), String::new(), url.clone()),
    }
}

pub(super) fn single_atom(rule: &Rule) -> Option<Entry> {
    let one = rule.verbs.len() == 1 && (rule.resources.len(), rule.non_resource_urls.len()) != (0, 0);
    if one { atom(rule) } else { None }
}

/// A rule of one verb and one (group, resource) or one URL.
pub(super) fn atom(rule: &Rule) -> Option<Entry> {
    let mut atom = Entry::of(rule)?;
    if let Entry::Resource { names, .. } = &mut atom {
        *names = sorted(std::mem::take(names));
    }
    Some(atom)
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

/// What two permissions have in common: of wildcards that overlap, one always holds the other.
pub(super) fn meet(a: &Entry, b: &Entry) -> Option<Entry> {
    let word = |a: &str, b: &str| match (a, b) {
        ("*", other) | (other, "*") => Some(other.to_owned()),
        _ => (a == b).then(|| a.to_owned()),
    };
    match (a, b) {
        (
            Entry::Resource { api_group, resource, verb, names },
            Entry::Resource { api_group: other_group, resource: other_resource, verb: other_verb, names: other_names },
        ) => Some(Entry::Resource {
            api_group: word(api_group, other_group)?,
            resource: word(resource, other_resource)
                .or_else(|| of_any(resource, other_resource))
                .or_else(|| of_any(other_resource, resource))?,
            verb: word(verb, other_verb)?,
            names: match (names.as_slice(), other_names.as_slice()) {
                ([], names) | (names, []) => sorted(names.to_vec()),
                (own, other) => {
                    let both: Vec<String> = own.iter().filter(|name| other.contains(name)).cloned().collect();
                    (!both.is_empty()).then(|| sorted(both))?
                }
            },
        }),
        (Entry::NonResource { url, verb }, Entry::NonResource { url: other_url, verb: other_verb }) => {
            let below = |pattern: &str, url: &str| {
                let prefix = pattern.strip_suffix('*').map(|_| pattern.trim_end_matches('*'));
                prefix.is_some_and(|prefix| url.starts_with(prefix))
            };
            let url = match (url, other_url) {
                (a, b) if a == b || below(a, b) => b,
                (a, b) if below(b, a) => a,
                _ => return None,
            };
            Some(Entry::NonResource { url: url.clone(), verb: word(verb, other_verb)? })
        }
        _ => None,
    }
}

/// `resource`, where `*/subresource` holds it.
fn of_any(pattern: &str, resource: &str) -> Option<String> {
    let subresource = pattern.strip_prefix("*/")?;
    let (_, own) = resource.split_once('/')?;
    (own == subresource).then(|| resource.to_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rbac::PermissionSet;

    fn entry() -> impl Strategy<Value = Entry> {
        let word = |words: &'static [&'static str]| prop::sample::select(words).prop_map(str::to_owned);
        let resource = word(&["pods", "*", "*/log", "pods/log", "nodes", "*/*", "pods/"]);
        let names = prop::sample::subsequence(vec!["a".to_owned(), "b".to_owned()], 0..=2);
        let of_resource = (word(&["", "*", "apps"]), resource, word(&["get", "*", "list"]), names);
        let of_resource = of_resource.prop_map(|(api_group, resource, verb, names)| Entry::Resource {
            api_group,
            resource,
            verb,
            names,
        });
        let of_url = (word(&["*", "/a", "/a*", "/a/b", "/a/*", "/b"]), word(&["get", "*"]));
        prop_oneof![of_resource, of_url.prop_map(|(url, verb)| Entry::NonResource { url, verb })]
    }

    proptest! {
        #[test]
        fn two_permissions_meet_as_their_sets_do(a in entry(), b in entry()) {
            let set = |entry: &Entry| PermissionSet::from_rules([&entry.rule()]);
            let met = meet(&a, &b).map_or_else(PermissionSet::default, |both| set(&both));
            prop_assert_eq!(met, set(&a).intersect(&set(&b)));
        }
    }
}
