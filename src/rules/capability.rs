//! Capability rules: what is held intersects what the rule looks for. One finding per rule, subject and scope
//! class, at the most telling token. What meets what is in `matching`; scopes are joined here.

use std::collections::{BTreeMap, BTreeSet};

use super::document::RuleDoc;
use super::draft::{Draft, label};
use super::entries::role_of;
use super::evidence::{calls_of, counted, some_of};
use super::matching::{intersects, resources_meet, same_or_star, urls_meet};
use super::pattern::{Match, Named, Pattern};
use crate::analysis::{Assessment, Grant, Verdict};
use crate::finding::{Finding, LocationOf, Related, ScopeClass};
use crate::rbac::{Rule, Scope};
use crate::source::Location;

/// A grant that a pattern meets.
#[derive(Debug, Clone, Copy)]
struct Hit<'a> {
    grant: &'a Grant,
    pattern: &'a Pattern,
}

/// Runs one capability rule on one subject.
pub(super) fn find(assessment: &Assessment, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let Some(matches) = &doc.matches else { return };
    for (class, hits) in classes(assessment, matches) {
        findings.extend(finding(assessment, doc, class, &hits));
    }
}

/// Whether the grant holds everything in its scope: the rules on full authority speak of it, once, instead of
/// every capability that follows from it.
pub(super) fn is_full(rule: &Rule) -> bool {
    let star = |list: &[String]| list.iter().any(|text| text == "*");
    star(&rule.verbs) && star(&rule.api_groups) && star(&rule.resources) && rule.resource_names.is_empty()
}

/// What is met in one scope.
#[derive(Debug, Default)]
struct Met<'a> {
    any: Vec<Hit<'a>>,
    all: Vec<Hit<'a>>,
    graver: bool,
}

fn classes<'a>(assessment: &'a Assessment, matches: &'a Match) -> BTreeMap<ScopeClass, Vec<Hit<'a>>> {
    let mut scopes: BTreeMap<&Scope, Met<'a>> = BTreeMap::new();
    let live = |grant: &&Grant| grant.verdict != Verdict::Dead && !is_full(&grant.rule);
    for grant in assessment.grants.iter().filter(live) {
        let hits = |patterns: &'a [Pattern]| {
            let each = patterns.iter().map(move |pattern| Hit { grant, pattern });
            each.filter(|hit| hit.meets()).collect::<Vec<_>>()
        };
        let met = scopes.entry(&grant.scope).or_default();
        met.any.extend(hits(&matches.any_of));
        met.all.extend(hits(&matches.all_of));
        met.graver |= grant.rule.resource_names.is_empty() && !hits(&matches.none_of).is_empty();
    }
    let everywhere = scopes.remove(&Scope::Cluster).unwrap_or_default();
    let mut classes: BTreeMap<ScopeClass, Vec<Hit<'a>>> = BTreeMap::new();
    let mut add = |scope: &Scope, any: &[Hit<'a>], all: Vec<Hit<'a>>| {
        for hit in any {
            classes.entry(hit.class(scope)).or_default().push(*hit);
        }
        let class = joint_class(&matches.all_of, &all, scope);
        if let Some(class) = class {
            classes.entry(class).or_default().extend(all);
        }
        class
    };
    if everywhere.graver {
        return BTreeMap::new();
    }
    let joint = add(&Scope::Cluster, &everywhere.any, everywhere.all.clone());
    for (scope, met) in scopes.into_iter().filter(|(_, met)| !met.graver) {
        // What the cluster-wide grants hold together, a namespace adds nothing to.
        let adds = joint != Some(ScopeClass::Cluster) && !met.all.is_empty();
        let all = if adds { everywhere.all.iter().copied().chain(met.all).collect() } else { Vec::new() };
        add(scope, &met.any, all);
    }
    classes
}

/// The class in which every pattern is met: `named` when one of them is met only through names.
fn joint_class(patterns: &[Pattern], hits: &[Hit<'_>], scope: &Scope) -> Option<ScopeClass> {
    if patterns.is_empty() {
        return None;
    }
    let mut named = false;
    for pattern in patterns {
        let mut own = hits.iter().filter(|hit| hit.pattern == pattern).peekable();
        own.peek()?;
        named |= own.all(|hit| !hit.grant.rule.resource_names.is_empty());
    }
    if named {
        return Some(ScopeClass::Named);
    }
    Some(class_of(scope))
}

fn class_of(scope: &Scope) -> ScopeClass {
    match scope {
        Scope::Cluster => ScopeClass::Cluster,
        Scope::Namespace(_) => ScopeClass::Namespace,
    }
}

impl Hit<'_> {
    fn meets(&self) -> bool {
        let named = !self.grant.rule.resource_names.is_empty();
        intersects(&self.grant.rule, &self.pattern.rule)
            && !(named && self.pattern.named == Named::Unnamed)
            && self.pattern.counts_in(&self.grant.scope)
    }

    fn class(&self, scope: &Scope) -> ScopeClass {
        if self.grant.rule.resource_names.is_empty() { class_of(scope) } else { ScopeClass::Named }
    }

    /// Wildcards that the grant meets the pattern through: the fewer, the more telling.
    fn wildcards(&self) -> usize {
        let rule = &self.grant.rule;
        let all = rule.verbs.iter().chain(&rule.api_groups).chain(&rule.resources).chain(&rule.non_resource_urls);
        all.filter(|text| text.contains('*')).count()
    }

    /// What is in both, as `verb` and `resource.group` texts.
    fn common(&self) -> Vec<(String, String)> {
        let (rule, pattern) = (&self.grant.rule, &self.pattern.rule);
        let verbs = common(&rule.verbs, &pattern.verbs, same_or_star);
        let mut things = Vec::new();
        for resource in common(&rule.resources, &pattern.resources, resources_meet) {
            for group in common(&rule.api_groups, &pattern.api_groups, same_or_star) {
                things.push(if group.is_empty() { resource.clone() } else { format!("{resource}.{group}") });
            }
        }
        things.extend(common(&rule.non_resource_urls, &pattern.non_resource_urls, urls_meet));
        verbs.iter().flat_map(|verb| things.iter().map(|thing| (verb.clone(), thing.clone()))).collect()
    }
}

/// The narrower of each pair of texts that meet.
fn common(held: &[String], wanted: &[String], meet: fn(&str, &str) -> bool) -> Vec<String> {
    let pairs = held.iter().flat_map(|a| wanted.iter().map(move |b| (a, b)));
    pairs.filter(|(a, b)| meet(a, b)).map(|(a, b)| if a.contains('*') { b.clone() } else { a.clone() }).collect()
}

fn finding(assessment: &Assessment, doc: &RuleDoc, class: ScopeClass, hits: &[Hit<'_>]) -> Option<Finding> {
    let has_place = |hit: &Hit<'_>| hit.grant.places.is_some();
    let first = hits.iter().min_by_key(|hit| (!has_place(hit), hit.wildcards(), hit.grant.index))?;
    let permission = permission(hits);
    let mut grants: Vec<&Grant> = vec![first.grant];
    let mut seen = BTreeSet::from([first.grant.index]);
    grants.extend(hits.iter().map(|hit| hit.grant).filter(|grant| seen.insert(grant.index)));

    let through: BTreeSet<&str> = if first.wildcards() == 0 {
        BTreeSet::new()
    } else {
        let rule = &first.grant.rule;
        let all = rule.verbs.iter().chain(&rule.api_groups).chain(&rule.resources).chain(&rule.non_resource_urls);
        all.filter(|text| text.contains('*')).map(String::as_str).collect()
    };
    let through = if through.is_empty() { String::new() } else { format!(" (through {})", some_of(through)) };
    let message = format!("{}: `{permission}` {}{through}", doc.title, place_of(class, &grants));
    let mut draft = Draft::new(assessment, class, message);
    draft.evidence = counted(assessment, calls_of(assessment, &grants));
    draft.role = role_of(assessment, first.grant).map(|role| label(&role)).unwrap_or_default();
    draft.at = token(&grants);
    draft.related = others(assessment, &grants);
    draft.permission = permission;
    draft.grants = grants;
    draft.finish(doc)
}

/// The verbs of each resource in one clause: `list,watch secrets; get configmaps`.
fn permission(hits: &[Hit<'_>]) -> String {
    let mut verbs_of: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (verb, thing) in hits.iter().flat_map(Hit::common) {
        verbs_of.entry(thing).or_default().insert(verb);
    }
    let clause = |(thing, verbs): (String, BTreeSet<String>)| {
        format!("{} {thing}", verbs.into_iter().collect::<Vec<_>>().join(","))
    };
    verbs_of.into_iter().map(clause).collect::<Vec<_>>().join("; ")
}

pub(super) fn place_of(class: ScopeClass, grants: &[&Grant]) -> String {
    let namespaces: BTreeSet<&str> = grants
        .iter()
        .filter_map(|grant| match &grant.scope {
            Scope::Namespace(namespace) => Some(namespace.as_str()),
            Scope::Cluster => None,
        })
        .collect();
    let names = grants.iter().flat_map(|grant| grant.rule.resource_names.iter().map(String::as_str));
    match class {
        ScopeClass::Cluster => "in the whole cluster".to_owned(),
        ScopeClass::Namespace => format!("in namespace {}", some_of(namespaces)),
        ScopeClass::Named => format!("on the names {}", some_of(names.collect::<BTreeSet<_>>())),
        ScopeClass::OwnGroup => "in the operator's own API groups".to_owned(),
    }
}

/// The verb of the first grant; its resource, when several verbs on it are meant.
fn token(grants: &[&Grant]) -> Option<(Location, LocationOf)> {
    let first = grants.first()?;
    let places = first.places.as_ref()?;
    let same_thing = |grant: &&&Grant| {
        let other = grant.places.as_ref().map(|places| (&places.resource, &places.entry));
        other == Some((&places.resource, &places.entry))
    };
    let verbs: BTreeSet<_> = grants.iter().filter(same_thing).map(|grant| &grant.rule.verbs).collect();
    Some(if verbs.len() > 1 {
        (places.resource.clone(), LocationOf::Resource)
    } else {
        (places.verb.clone(), LocationOf::Verb)
    })
}

/// The other entries that grant it.
fn others(assessment: &Assessment, grants: &[&Grant]) -> Vec<Related> {
    let mut seen: BTreeSet<&Location> =
        grants.iter().take(1).filter_map(|grant| grant.places.as_ref().map(|p| &p.entry)).collect();
    let mut related = Vec::new();
    for grant in grants {
        let Some(places) = &grant.places else { continue };
        if seen.insert(&places.entry) {
            let role = role_of(assessment, grant).map(|role| label(&role)).unwrap_or_default();
            let label = format!("also through rule entry {} of {role}", grant.entry + 1);
            related.push(Related { label, location: Some(places.verb.clone()) });
        }
    }
    related
}

#[cfg(test)]
mod tests;
