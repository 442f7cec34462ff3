//! What role files give a subject, as Kubernetes would have it once they are applied.

use std::collections::BTreeSet;

use crate::graph::{Graph, Held, RoleKnown, RoleNode, SubjectKey, binding_scope};
use crate::manifest::{BindingKind, Package, RoleKind, SubjectKind};
use crate::rbac::{Rule, Scope};
use crate::source::some_of;

/// The rules that role files give a subject, with their scopes.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// The rules.
    pub rules: Vec<(Scope, Rule)>,
    /// What was assumed, and what grants nothing that looks as if it did.
    pub notes: Vec<String>,
}

/// The rules that the packages, which are one input, give a subject: those of the roles that bindings give to it or to a
/// group of it. A role that nobody is bound to is nobody's, also when it could be meant for the subject: a role for
/// people, or one that an aggregated role of another package takes, must not make up for what is missing.
///
/// Only where the whole input has no binding at all, as a file with just a role, its roles are taken as the subject's: a
/// Role in its namespace, a ClusterRole everywhere; and that is noted.
///
/// Bindings that Kubernetes refuses give nothing (`pkg/apis/rbac/validation/validation.go`): a ClusterRoleBinding of a
/// Role, and of an account without a namespace. The graph, which `scan` reads, counts both as if they were meant well;
/// here that would be a yes to a role that cannot be applied. A kustomization that was not built still gets its
/// namespaces.
pub fn rules_for(packages: &[Package], minor: &str, subject: &SubjectKey) -> Given {
    let mut given = Given::default();
    let mut notes = BTreeSet::new();
    let unbound = packages.iter().all(|package| package.facts.bindings.is_empty());
    let (mut assumed, mut named) = (BTreeSet::new(), BTreeSet::new());
    let mut is_bound = false;
    for package in packages {
        let graph = Graph::build(package, minor);
        let mut held = graph.held_by(subject, |binding| match package.facts.bindings.get(binding) {
            Some(binding) => binding_scope(binding.kind, package.resolve(binding.namespace.as_ref())),
            None => Scope::Cluster,
        });
        is_bound |= !held.is_empty();
        held.retain(|held| match refused(package, held) {
            Some(why) => !notes.insert(why),
            None => true,
        });
        notes.extend(held.iter().filter_map(|held| unknown(package, held)));
        if unbound {
            for role in graph.unbound_roles() {
                assumed.insert(described(role));
                held.extend(graph.held_by_role(role.kind, &role.namespace, &role.name));
            }
        }
        named.extend(graph.bound_subjects().iter().map(ToString::to_string));
        let rules = held.into_iter().flat_map(|held| held.entries.into_iter().map(move |e| (held.scope.clone(), e)));
        given.rules.extend(rules.map(|(scope, entry)| (scope, entry.rule.clone())));
    }
    if !assumed.is_empty() {
        notes.insert(format!(
            "the input has no binding: the rules of {} are taken as those of {subject}",
            some_of(&assumed, 5)
        ));
    }
    if !unbound && !is_bound {
        let whom = if named.is_empty() { "nobody".to_owned() } else { some_of(&named, 5) };
        notes.insert(format!("no binding of the input names {subject}, so none of its roles counts; they name {whom}"));
    }
    given.notes = notes.into_iter().collect();
    given
}

/// Why Kubernetes refuses the binding.
fn refused(package: &Package, held: &Held<'_>) -> Option<String> {
    let binding = package.facts.bindings.get(held.binding?)?;
    if binding.kind != BindingKind::ClusterRoleBinding {
        return None;
    }
    let name = binding.name.as_str();
    if binding.role_kind == RoleKind::Role {
        let role = binding.role_name.as_str();
        return Some(format!(
            "ClusterRoleBinding {name} grants nothing: it names Role {role}, and Kubernetes takes only a ClusterRole there"
        ));
    }
    let lost = |subject: &&crate::manifest::Subject| {
        // A ClusterServiceVersion holds the account's name and no subject: OLM writes that, in its namespace.
        let is_written = subject.span != subject.name.span;
        let nowhere = subject.namespace.as_ref().is_none_or(|at| at.value.is_empty());
        subject.kind == SubjectKind::ServiceAccount && nowhere && is_written
    };
    let nowhere = binding.subjects.iter().find(lost).filter(|_| !package.kustomized)?;
    Some(format!(
        "ClusterRoleBinding {name} grants nothing: its account {} has no namespace, and Kubernetes refuses that",
        nowhere.name.as_str()
    ))
}

/// A role whose rules are not known.
fn unknown(package: &Package, held: &Held<'_>) -> Option<String> {
    let binding = package.facts.bindings.get(held.binding?)?;
    let is_known = matches!(held.role.known, RoleKnown::Shipped(_) | RoleKnown::BuiltIn);
    (!is_known).then(|| {
        let (name, role) = (binding.name.as_str(), described(held.role));
        format!("binding {name} names {role}, which is not in the input: what it grants is not counted")
    })
}

fn described(role: &RoleNode) -> String {
    match role.kind {
        RoleKind::ClusterRole => format!("ClusterRole {}", role.name),
        RoleKind::Role => format!("Role {}/{}", role.namespace, role.name),
    }
}
