//! What a subject holds: its bindings, and one grant per verb × group × resource (or URL) of each rule entry.

use super::generated;
use super::subjects::{located, place};
use super::{BindingPlace, Context, Grant, GrantPlaces, Place, RoleState, Selection};
use crate::graph::{Entry, Held, RoleKnown, RoleNode, binding_scope};
use crate::manifest::{BindingKind, PolicyRule, RoleKind};
use crate::rbac::{Rule, Scope};
use crate::source::{Location, Spanned};

/// The bindings of a subject, each with the entries that it grants.
#[derive(Debug, Default)]
pub(super) struct HeldRoles<'a> {
    pub(super) bindings: Vec<BindingPlace>,
    /// (index into `bindings`, what is held).
    held: Vec<(usize, Held<'a>)>,
}

pub(super) fn held<'a>(cx: &Context<'a>, selection: &'a Selection) -> HeldRoles<'a> {
    let mut all: Vec<Held<'a>> = Vec::new();
    if let Some(key) = &selection.key {
        all.extend(cx.graph.held_by(key, |binding| scope_of(cx, binding)));
    }
    for role in &selection.unbound {
        all.extend(cx.graph.held_by_role(role.kind, &role.namespace, &role.name));
    }
    let mut roles = HeldRoles::default();
    let mut last: Option<(Option<usize>, usize, &RoleNode)> = None;
    for held in all {
        // Contributors of an aggregated role come one after the other and share their binding.
        if last != Some((held.binding, held.subject, held.role)) {
            last = Some((held.binding, held.subject, held.role));
            roles.bindings.push(binding_place(cx, &held));
        }
        roles.held.push((roles.bindings.len() - 1, held));
    }
    roles
}

fn scope_of(cx: &Context<'_>, binding: usize) -> Scope {
    match cx.package.facts.bindings.get(binding) {
        Some(binding) => binding_scope(binding.kind, cx.package.resolve(binding.namespace.as_ref())),
        None => Scope::Cluster,
    }
}

fn binding_place(cx: &Context<'_>, held: &Held<'_>) -> BindingPlace {
    let role = role_place(cx, held.role);
    let role_state = match held.role.known {
        RoleKnown::Shipped(_) => RoleState::Shipped,
        RoleKnown::BuiltIn => RoleState::BuiltIn,
        RoleKnown::BuiltInUnknown => RoleState::BuiltInUnknown,
        RoleKnown::Missing if cx.package.kustomized || cx.package.facts.incomplete => RoleState::Unrendered,
        RoleKnown::Missing => RoleState::Missing,
    };
    let via_group = held.via_group.map(str::to_owned);
    let scope = held.scope.clone();
    let drift = generated::drift(cx, held.role);
    let Some(binding) = held.binding.and_then(|index| cx.package.facts.bindings.get(index)) else {
        let nobody =
            Place { kind: "(unbound)".to_owned(), namespace: String::new(), name: String::new(), location: None };
        return BindingPlace {
            binding: nobody,
            role,
            subject_location: None,
            role_ref_location: None,
            scope,
            role_state,
            via_group,
            drift,
        };
    };
    let (kind, namespace) = match binding.kind {
        BindingKind::ClusterRoleBinding => ("ClusterRoleBinding", ""),
        BindingKind::RoleBinding => ("RoleBinding", cx.package.resolve(binding.namespace.as_ref())),
    };
    BindingPlace {
        binding: place(cx, kind, namespace, &binding.name),
        role,
        subject_location: binding.subjects.get(held.subject).map(|subject| located(cx, subject.name.span)),
        role_ref_location: Some(located(cx, binding.role_name.span)),
        scope,
        role_state,
        via_group,
        drift,
    }
}

fn role_place(cx: &Context<'_>, role: &RoleNode) -> Place {
    let kind = match role.kind {
        RoleKind::Role => "Role",
        RoleKind::ClusterRole => "ClusterRole",
    };
    let location = match role.known {
        RoleKnown::Shipped(index) => cx.package.facts.roles.get(index).map(|role| located(cx, role.name.span)),
        _ => None,
    };
    Place { kind: kind.to_owned(), namespace: role.namespace.clone(), name: role.name.clone(), location }
}

/// All grants, not judged yet, in order of binding, entry, verb, group and resource as written. Entries that no
/// longer fit in the budget of the run are left out; how many is the second value.
pub(super) fn grants(cx: &Context<'_>, held: &HeldRoles<'_>) -> (Vec<Grant>, u64) {
    let mut grants = Vec::new();
    let mut left_out = 0;
    for (binding, held) in &held.held {
        for entry in &held.entries {
            if !cx.budget.take(size(&entry.rule).max(1)) {
                left_out += 1;
                continue;
            }
            let written = entry
                .role
                .and_then(|role| cx.package.facts.roles.get(role))
                .and_then(|role| role.rules.get(entry.index));
            for (rule, places) in single_rules(cx, entry, written) {
                grants.push(Grant {
                    index: grants.len(),
                    binding: *binding,
                    entry: entry.index,
                    aggregated_from: held.contributor.map(|role| role.name.clone()),
                    places,
                    ..Grant::new(held.scope.clone(), rule)
                });
            }
        }
    }
    (grants, left_out)
}

/// What an entry multiplies out to: its grants, each with its names.
pub(super) fn size(rule: &Rule) -> u64 {
    let [verbs, groups, resources, names, urls] =
        [&rule.verbs, &rule.api_groups, &rule.resources, &rule.resource_names, &rule.non_resource_urls]
            .map(|list| list.len() as u64);
    let pairs = groups.saturating_mul(resources).saturating_mul(names + 1);
    verbs.saturating_mul(pairs.saturating_add(urls))
}

/// An entry that grants nothing, for want of a verb or of what it is about, is its own only token.
fn whole(entry: Location) -> GrantPlaces {
    GrantPlaces { verb: entry.clone(), resource: entry.clone(), group: None, entry, also: Vec::new(), generated: None }
}

/// The entry as rules of one verb and one (group, resource) or one URL, with the places of those tokens.
fn single_rules(cx: &Context<'_>, entry: &Entry, written: Option<&PolicyRule>) -> Vec<(Rule, Option<GrantPlaces>)> {
    let rule = &entry.rule;
    let source = entry.role.and_then(|role| cx.package.generated(role));
    let token = |list: Option<&Vec<Spanned<String>>>, index: usize| {
        list.and_then(|list| list.get(index)).map(|token| located(cx, token.span))
    };
    let mut singles = Vec::new();
    for (v, verb) in rule.verbs.iter().enumerate() {
        let verb_place = token(written.map(|rule| &rule.verbs), v);
        let places = |resource, group| {
            written.zip(verb_place.clone()).zip(resource).map(|((written, verb), resource)| GrantPlaces {
                verb,
                resource,
                group,
                entry: located(cx, written.span),
                generated: None,
                also: Vec::new(),
            })
        };
        for (g, group) in rule.api_groups.iter().enumerate() {
            for (r, resource) in rule.resources.iter().enumerate() {
                let single = Rule {
                    api_groups: vec![group.clone()],
                    resources: vec![resource.clone()],
                    resource_names: rule.resource_names.clone(),
                    non_resource_urls: Vec::new(),
                    verbs: vec![verb.clone()],
                };
                let resource = token(written.map(|rule| &rule.resources), r);
                singles.push((single, places(resource, token(written.map(|rule| &rule.api_groups), g))));
            }
        }
        for (u, url) in rule.non_resource_urls.iter().enumerate() {
            let single = Rule { non_resource_urls: vec![url.clone()], verbs: vec![verb.clone()], ..Rule::default() };
            singles.push((single, places(token(written.map(|rule| &rule.non_resource_urls), u), None)));
        }
    }
    if singles.is_empty() {
        singles.push((rule.clone(), written.map(|written| whole(located(cx, written.span)))));
    }
    // What is generated is changed at its source.
    for (single, places) in &mut singles {
        if let (Some(source), Some(places)) = (source, places) {
            generated::point_at_markers(cx, source, single, places);
        }
    }
    singles
}
