//! What a dead grant was probably meant to be, for asking whether the subject holds that elsewhere.

use super::verdict::void_in_namespace;
use super::{Grant, Meant};
use crate::api::Table;
use crate::rbac::{Rule, Scope};

/// One guess each; none where nothing is evident. In a group whose resources are known, a guess without rules says that
/// it has nothing of the kind.
pub(super) fn of(table: &Table, grant: &Grant) -> Vec<Meant> {
    let rule = &grant.rule;
    let Some(verb) = rule.verbs.first() else { return Vec::new() };
    let in_cluster = |rule: &Rule| vec![Meant { scope: Scope::Cluster, rules: vec![rule.clone()] }];
    let (Some(group), Some(resource)) = (rule.api_groups.first(), rule.resources.first()) else {
        return if rule.non_resource_urls.is_empty() { Vec::new() } else { in_cluster(rule) };
    };
    let nothing = || vec![Meant { scope: grant.scope.clone(), rules: Vec::new() }];
    if grant.scope != Scope::Cluster && void_in_namespace(table, group, resource, verb) {
        return if table.liveness(group, resource, verb).is_dead() { nothing() } else { in_cluster(rule) };
    }
    let single = |(group, resource, verb)| Rule {
        api_groups: vec![group],
        resources: vec![resource],
        verbs: vec![verb],
        ..rule.clone()
    };
    let guesses = table.meant(group, resource, verb).into_iter().map(|guess| {
        // Where the guess is cluster-scoped, a RoleBinding would be a second fault.
        let void = guess.iter().any(|(group, resource, verb)| void_in_namespace(table, group, resource, verb));
        let scope = if void { Scope::Cluster } else { grant.scope.clone() };
        Meant { scope, rules: guess.into_iter().map(single).collect() }
    });
    let guesses: Vec<Meant> = guesses.collect();
    if guesses.is_empty() && table.knows_group(group) { nothing() } else { guesses }
}
