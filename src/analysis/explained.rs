//! The pieces of the minimal role as few rules, each with what its pieces are there for.

use std::collections::{BTreeMap, BTreeSet};

use super::minimal::{Piece, class};
use super::{Basis, MinimalRule, ScopedRules};
use crate::rbac::cover::{self, Entry};
use crate::rbac::{Rule, Scope};
use crate::source::some_of;

/// Writes the pieces as rules, scope by scope.
pub(super) fn rules(pieces: &[Piece]) -> Vec<ScopedRules> {
    let mut by_scope: BTreeMap<&Scope, BTreeMap<u8, Vec<&Piece>>> = BTreeMap::new();
    for piece in pieces {
        by_scope.entry(&piece.scope).or_default().entry(class(piece.basis)).or_default().push(piece);
    }
    let scopes = by_scope.into_iter().map(|(scope, classes)| ScopedRules {
        scope: scope.clone(),
        rules: classes.into_values().flat_map(|pieces| of_class(&pieces)).collect(),
    });
    scopes.collect()
}

/// Group, resource or URL, and verb.
type Key<'a> = (&'a str, &'a str, &'a str);

/// Few rules that grant exactly the pieces.
fn of_class(pieces: &[&Piece]) -> Vec<MinimalRule> {
    let rules = cover::rules(pieces.iter().map(|piece| piece.entry.clone()));
    // A cover may unite the names of one permission, and put it into two rules.
    let mut pieces_of: BTreeMap<Key<'_>, Vec<&Piece>> = BTreeMap::new();
    for piece in pieces {
        let key = match &piece.entry {
            Entry::Resource { api_group, resource, verb, .. } => (api_group.as_str(), resource.as_str(), verb.as_str()),
            Entry::NonResource { url, verb } => ("", url.as_str(), verb.as_str()),
        };
        pieces_of.entry(key).or_default().push(piece);
    }
    let explained = rules.into_iter().map(|rule| {
        let (basis, reason, unseen) = explain(&rule, &pieces_of);
        MinimalRule { rule, basis, reason, unseen }
    });
    explained.collect()
}

fn explain(rule: &Rule, pieces_of: &BTreeMap<Key<'_>, Vec<&Piece>>) -> (Basis, String, Vec<Rule>) {
    let groups = if rule.resources.is_empty() { &[String::new()][..] } else { &rule.api_groups };
    let things = if rule.resources.is_empty() { &rule.non_resource_urls } else { &rule.resources };
    let names: BTreeSet<&String> = rule.resource_names.iter().collect();
    let mut basis: Option<Basis> = None;
    let mut unseen = Vec::new();
    let mut reasons: BTreeMap<&str, BTreeSet<Key<'_>>> = BTreeMap::new();
    for (group, thing) in groups.iter().flat_map(|group| things.iter().map(move |thing| (group, thing))) {
        for verb in &rule.verbs {
            let key = (group.as_str(), thing.as_str(), verb.as_str());
            let mut seen = false;
            for piece in pieces_of.get(&key).into_iter().flatten().filter(|piece| named_by(&names, &piece.entry)) {
                basis = Some(basis.map_or(piece.basis, |basis| basis.min(piece.basis)));
                for reason in piece.reason.split('\n').filter(|reason| !reason.is_empty()) {
                    reasons.entry(reason).or_default().insert(key);
                }
                seen |= matches!(piece.basis, Basis::Used | Basis::Unexplained);
            }
            if !seen {
                unseen.push(entry(rule, group, thing, verb));
            }
        }
    }
    let all = groups.len() * things.len() * rule.verbs.len();
    let said = |(reason, of): (&str, BTreeSet<Key<'_>>)| match of.len() == all {
        true => reason.to_owned(),
        false => format!("{}: {reason}", label(rule, &of)),
    };
    let reasons: Vec<String> = reasons.into_iter().map(said).collect();
    (basis.unwrap_or(Basis::Used), reasons.join("\n"), unseen)
}

/// Which of the rule's entries these are: by their verbs, and by their resources where they are not all.
fn label(rule: &Rule, of: &BTreeSet<Key<'_>>) -> String {
    let thing = |group: &str, thing: &str| match (rule.api_groups.len() > 1, group) {
        (false, _) | (true, "") => thing.to_owned(),
        (true, group) => format!("{thing}.{group}"),
    };
    let verbs: BTreeSet<&str> = of.iter().map(|(.., verb)| *verb).collect();
    let things: BTreeSet<String> = of.iter().map(|(group, what, _)| thing(group, what)).collect();
    let quoted = |words: Vec<String>| some_of(words.into_iter().map(|word| format!("`{word}`")), 3);
    if verbs.len() * things.len() != of.len() {
        return quoted(of.iter().map(|(group, what, verb)| format!("{verb} {}", thing(group, what))).collect());
    }
    let in_order = rule.verbs.iter().filter(|verb| verbs.contains(verb.as_str())).cloned().collect();
    let all = rule.api_groups.len().max(1) * rule.resources.len().max(rule.non_resource_urls.len());
    match things.len() == all {
        true => quoted(in_order),
        false if verbs.len() == rule.verbs.len() => quoted(things.into_iter().collect()),
        false => format!("{} of {}", quoted(in_order), quoted(things.into_iter().collect())),
    }
}

/// One entry of a rule.
fn entry(rule: &Rule, group: &str, thing: &str, verb: &str) -> Rule {
    let one = |text: &str| vec![text.to_owned()];
    if rule.resources.is_empty() {
        return Rule { verbs: one(verb), non_resource_urls: one(thing), ..Rule::default() };
    }
    let resource_names = rule.resource_names.clone();
    Rule { verbs: one(verb), api_groups: one(group), resources: one(thing), resource_names, ..Rule::default() }
}

/// Whether a rule with these names speaks of the entry's.
fn named_by(names: &BTreeSet<&String>, entry: &Entry) -> bool {
    match entry {
        Entry::Resource { names: own, .. } => {
            own.is_empty() == names.is_empty() && own.iter().all(|name| names.contains(name))
        }
        Entry::NonResource { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(resource: &str, verb: &str, reason: &str) -> Piece {
        let (resource, api_group) = resource.split_once('.').unwrap_or((resource, ""));
        let entry = Entry::Resource {
            api_group: api_group.to_owned(),
            resource: resource.to_owned(),
            verb: verb.to_owned(),
            names: Vec::new(),
        };
        Piece { scope: Scope::Cluster, entry, basis: Basis::Needed, reason: reason.to_owned() }
    }

    #[test]
    fn a_reason_says_of_which_entries_it_speaks() {
        let reasons = |pieces: &[(&str, &str, &str)]| {
            let pieces: Vec<Piece> = pieces.iter().map(|(what, verb, why)| piece(what, verb, why)).collect();
            let rules = rules(&pieces).into_iter().flat_map(|scoped| scoped.rules);
            rules.map(|rule| rule.reason).collect::<Vec<_>>()
        };
        assert_eq!(reasons(&[("pods", "get", "why"), ("pods", "list", "why")]), ["why"]);
        assert_eq!(reasons(&[("pods", "get", "why"), ("pods", "list", "")]), ["`get`: why"]);
        let two = [("pods", "get", "why"), ("pods", "list", "why"), ("pods", "watch", "other")];
        assert_eq!(reasons(&two), ["`watch`: other\n`get`, `list`: why"]);
        let all = [
            ("events", "create", ""),
            ("events", "patch", "told again"),
            ("secrets", "create", ""),
            ("secrets", "patch", ""),
        ];
        assert_eq!(reasons(&all), ["`patch` of `events`: told again"]);
        let crossed = [("a", "get", "x"), ("a", "list", ""), ("b", "get", ""), ("b", "list", "x")];
        assert_eq!(reasons(&crossed), ["`get a`, `list b`: x"]);
        let groups = [("events", "patch", "x"), ("events.events.k8s.io", "patch", "")];
        assert_eq!(reasons(&groups), ["`events`: x"]);
    }
}
