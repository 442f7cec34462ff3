//! Whether a subject holds a permission, by whichever of its grants: what tells noise from what is missing.

use std::collections::BTreeSet;

use crate::analysis::{Assessment, Verdict};
use crate::rbac::{Rule, Scope};

/// Namespace (`None`: the whole cluster), API group (`None`: a URL), resource or URL, verb, object name (`None`: all).
type Key<'a> = (Option<&'a str>, Option<&'a str>, &'a str, &'a str, Option<&'a str>);

/// Everything that the live grants of a subject hold, token by token as written: a permission is found in them in
/// logarithmic time, whatever their number.
#[derive(Debug)]
pub(super) struct Held<'a>(BTreeSet<Key<'a>>);

impl<'a> Held<'a> {
    pub(super) fn of(assessment: &'a Assessment) -> Self {
        let live = assessment.grants.iter().filter(|grant| grant.verdict != Verdict::Dead);
        Self(live.flat_map(|grant| keys(&grant.scope, &grant.rule)).collect())
    }

    /// Whether everything in the rule is held in this scope. A wildcard in it is held by a wildcard only.
    pub(super) fn holds(&self, scope: &Scope, rule: &Rule) -> bool {
        keys(scope, rule).into_iter().all(|key| self.has(key))
    }

    fn has(&self, (namespace, group, thing, verb, name): Key<'_>) -> bool {
        let any_sub = group.and(thing.split_once('/')).map(|(_, subresource)| format!("*/{subresource}"));
        let things = [Some(thing), Some("*"), any_sub.as_deref()];
        let wider = |one: Option<&str>| one.is_some();
        for namespace in [namespace, None].into_iter().take(1 + usize::from(wider(namespace))) {
            for group in [group, Some("*")].into_iter().take(1 + usize::from(wider(group))) {
                for thing in things.iter().flatten().copied() {
                    for name in [name, None].into_iter().take(1 + usize::from(wider(name))) {
                        if [verb, "*"].iter().any(|verb| self.0.contains(&(namespace, group, thing, *verb, name))) {
                            return true;
                        }
                    }
                }
            }
        }
        false
    }
}

fn keys<'r>(scope: &'r Scope, rule: &'r Rule) -> Vec<Key<'r>> {
    let namespace = match scope {
        Scope::Cluster => None,
        Scope::Namespace(namespace) => Some(namespace.as_str()),
    };
    let names: Vec<Option<&str>> = match rule.resource_names.as_slice() {
        [] => vec![None],
        names => names.iter().map(|name| Some(name.as_str())).collect(),
    };
    let mut keys = Vec::new();
    for verb in &rule.verbs {
        for group in &rule.api_groups {
            for resource in &rule.resources {
                keys.extend(
                    names.iter().map(|name| (namespace, Some(group.as_str()), resource.as_str(), verb.as_str(), *name)),
                );
            }
        }
        keys.extend(rule.non_resource_urls.iter().map(|url| (namespace, None, url.as_str(), verb.as_str(), None)));
    }
    keys
}
