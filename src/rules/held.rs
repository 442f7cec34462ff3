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
        // A cluster-wide grant holds everywhere, one without names holds for each, a URL has no group.
        let groups = [group, group.and(Some("*"))];
        [namespace, None].iter().any(|namespace| {
            groups.iter().any(|group| {
                things.iter().flatten().any(|thing| {
                    [name, None].iter().any(|name| {
                        [verb, "*"].iter().any(|verb| self.0.contains(&(*namespace, *group, *thing, *verb, *name)))
                    })
                })
            })
        })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::RoleState;
    use crate::rules::fixture::{bind, entry, holding, in_ns, rule};

    #[test]
    fn wider_tokens_hold_narrower_ones_and_never_the_other_way_round() {
        let wide = holding(Scope::Cluster, "apps", "deployments */scale", "get *");
        let held = Held::of(&wide);
        for (resource, verb, expected) in [
            ("deployments", "get", true),
            ("deployments", "list", true),
            ("deployments", "*", true),
            ("statefulsets/scale", "update", true),
            ("deployments/status", "get", false),
            ("*", "get", false),
        ] {
            assert_eq!(held.holds(&in_ns(), &rule("apps", resource, verb, &[])), expected, "{resource} {verb}");
        }
        assert!(!held.holds(&Scope::Cluster, &rule("*", "deployments", "get", &[])));
    }

    #[test]
    fn names_and_namespaces_narrow() {
        let own = holding(in_ns(), "core", "secrets:a,b", "get");
        let both = entry(bind(own, Scope::Cluster, "wide", RoleState::Shipped), 0, "core", "pods", "get");
        let held = Held::of(&both);
        let a_secret = rule("", "secrets", "get", &["a"]);
        assert!(held.holds(&in_ns(), &a_secret) && !held.holds(&Scope::Cluster, &a_secret));
        assert!(held.holds(&in_ns(), &rule("", "secrets", "get", &["a", "b"])));
        assert!(!held.holds(&in_ns(), &rule("", "secrets", "get", &["a", "c"])));
        assert!(!held.holds(&in_ns(), &rule("", "secrets", "get", &[])));
        assert!(held.holds(&Scope::Namespace("other".to_owned()), &rule("", "pods", "get", &["x"])));
    }

    #[test]
    fn what_is_dead_holds_nothing() {
        let mut dead = holding(Scope::Cluster, "core", "pods", "get");
        dead.grants[0].verdict = Verdict::Dead;
        assert!(!Held::of(&dead).holds(&Scope::Cluster, &rule("", "pods", "get", &[])));
    }
}
