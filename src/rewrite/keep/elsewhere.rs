//! Who has a role beside those who are assessed with it: bindings and aggregated roles of other packages, and whom the
//! log shows under it through a binding that was not read. What they need of it is not known, so it stays as it is.

use std::collections::{BTreeMap, BTreeSet};

use super::needs::Needs;
use crate::analysis::CallVerdict;
use crate::audit::{Decision, Through, Usage};
use crate::graph::SubjectKey;
use crate::manifest::package::NamespaceFrom;
use crate::manifest::{Binding, BindingKind, Package, Role, RoleKind};
use crate::source::{SourceMap, Span};

type Names<'a> = (RoleKind, &'a str);

/// What reaches roles from outside of their packages.
#[derive(Debug)]
pub struct Elsewhere<'a> {
    sources: &'a SourceMap,
    /// Bindings of roles that their own packages do not have.
    bindings: BTreeMap<Names<'a>, Vec<(&'a Package, &'a Binding)>>,
    aggregated: Vec<(&'a Package, &'a Role)>,
    uses: BTreeMap<Names<'a>, BTreeSet<Use<'a>>>,
}

/// A user of the log under a role.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Use<'a> {
    user: &'a str,
    through: Through<'a>,
}

impl<'a> Elsewhere<'a> {
    /// Of all packages of the input, and all that the log shows.
    pub fn of(packages: &'a [Package], usage: Option<&'a Usage>, sources: &'a SourceMap) -> Self {
        let mut elsewhere = Self { sources, bindings: BTreeMap::new(), aggregated: Vec::new(), uses: BTreeMap::new() };
        for package in packages {
            let own: BTreeSet<(Names<'_>, &str)> =
                package.facts.roles.iter().map(|role| (names(role), namespace_of(package, role))).collect();
            for binding in &package.facts.bindings {
                let role = (binding.role_kind, binding.role_name.as_str());
                let namespace = match binding.role_kind {
                    RoleKind::Role => package.resolve(binding.namespace.as_ref()),
                    RoleKind::ClusterRole => "",
                };
                if !own.contains(&(role, namespace)) {
                    elsewhere.bindings.entry(role).or_default().push((package, binding));
                }
            }
            let aggregated = package.facts.roles.iter().filter(|role| role.aggregation.is_some());
            elsewhere.aggregated.extend(aggregated.map(|role| (package, role)));
        }
        let allowed = usage.iter().flat_map(|usage| &usage.calls).filter(|call| call.decision == Decision::Allowed);
        for call in allowed {
            for through in call.reasons.iter().filter_map(|reason| Through::of(reason)) {
                let role = (through.role_kind, through.role);
                elsewhere.uses.entry(role).or_default().insert(Use { user: &call.user, through });
            }
        }
        elsewhere
    }

    /// Why a role cannot be judged by its holders alone.
    pub(super) fn reaches(&self, package: &Package, role: &Role, holders: &[&Needs<'_>]) -> Option<String> {
        let bound = |role: &&Role| self.bound(package, role).or_else(|| self.used(package, role, holders));
        taking_in(package, role).iter().find_map(bound).or_else(|| self.taken_in(package, role))
    }

    fn taken_in(&self, package: &Package, role: &Role) -> Option<String> {
        let (_, aggregated) = self.aggregated.iter().find(|(other, aggregated)| {
            let has_own = || other.facts.roles.iter().any(|own| names(own) == names(role));
            other.name != package.name && picks(aggregated, role) && !has_own()
        })?;
        Some(format!("ClusterRole {} {APART}", self.named(&aggregated.name.value, aggregated.name.span)))
    }

    fn bound(&self, package: &Package, role: &Role) -> Option<String> {
        let candidates = self.bindings.get(&names(role))?;
        let (_, binding) = candidates.iter().find(|(other, binding)| {
            let there = other.resolve(binding.namespace.as_ref());
            let guessed = binding.namespace.is_none() && other.namespace_from == NamespaceFrom::Placeholder;
            other.name != package.name && (guessed || may_be_in(package, role, there))
        })?;
        Some(format!("{} {} {APART}", binding.kind.word(), self.named(&binding.name.value, binding.name.span)))
    }

    fn used(&self, package: &Package, role: &Role, holders: &[&Needs<'_>]) -> Option<String> {
        let unexplained = |one: &&Use<'_>| {
            let namespace_fits = role.kind == RoleKind::ClusterRole || may_be_in(package, role, one.through.namespace);
            namespace_fits && !self.is_read(package, role, one.through) && !is_covered(one, holders)
        };
        let Use { user, through } = self.uses.get(&names(role))?.iter().find(unexplained)?;
        let user = SubjectKey::from_user(user).map_or_else(|| (*user).to_owned(), |account| account.to_string());
        let within = if through.namespace.is_empty() { String::new() } else { format!(" in {}", through.namespace) };
        let binding = format!("{} {}{within}", through.kind.word(), through.name);
        Some(format!("the log shows {user} under it through {binding}, which the input does not have"))
    }

    /// Whether the package has the binding, so that its subjects are assessed.
    fn is_read(&self, package: &Package, role: &Role, through: Through<'_>) -> bool {
        package.facts.bindings.iter().any(|binding| {
            let names_role = (binding.role_kind, binding.role_name.as_str()) == names(role);
            let there = binding.kind == BindingKind::ClusterRoleBinding
                || package.resolve(binding.namespace.as_ref()) == through.namespace
                || (binding.namespace.is_none() && package.namespace_from == NamespaceFrom::Placeholder);
            names_role && binding.kind == through.kind && binding.name.value == through.name && there
        })
    }

    fn named(&self, name: &str, span: Span) -> String {
        let place = self.sources.locate(span);
        format!("{name} ({}:{})", place.path, place.line)
    }
}

const APART: &str = "of another folder or argument gives it to others too; files named one by one are judged together";

/// Whether what the user did under the role is what its known bindings grant.
fn is_covered(one: &Use<'_>, holders: &[&Needs<'_>]) -> bool {
    let mut own =
        holders.iter().map(|needs| needs.assessment).filter(|holder| holder.subject.user == one.user).peekable();
    let known = own.peek().is_some();
    let mut calls = own.flat_map(|holder| &holder.calls).filter(|call| call.verdict == CallVerdict::Unexplained);
    let through = |reason: &String| Through::of(reason).is_some_and(|through| through == one.through);
    known && !calls.any(|call| call.observed.reasons.iter().any(through))
}

/// The role, and the roles of its package that take it in.
fn taking_in<'p>(package: &'p Package, role: &'p Role) -> Vec<&'p Role> {
    let mut found = vec![role];
    let mut at = 0;
    while let Some(&next) = found.get(at) {
        let others = package.facts.roles.iter().filter(|other| picks(other, next));
        let new: Vec<&Role> = others.filter(|other| !found.iter().any(|known| known.span == other.span)).collect();
        found.extend(new);
        at += 1;
    }
    found
}

/// Whether an aggregated role takes this one in.
fn picks(aggregated: &Role, role: &Role) -> bool {
    let selectors = aggregated.aggregation.iter().flatten();
    role.kind == RoleKind::ClusterRole && selectors.into_iter().any(|selector| selector.matches(&role.labels))
}

fn names(role: &Role) -> Names<'_> {
    (role.kind, role.name.as_str())
}

fn namespace_of<'p>(package: &'p Package, role: &'p Role) -> &'p str {
    match role.kind {
        RoleKind::Role => package.resolve(role.namespace.as_ref()),
        RoleKind::ClusterRole => "",
    }
}

/// Whether the role can be bound in the namespace. Where nothing tells of its own, it may be any.
fn may_be_in(package: &Package, role: &Role, namespace: &str) -> bool {
    let guessed = role.namespace.is_none() && package.namespace_from == NamespaceFrom::Placeholder;
    role.kind == RoleKind::ClusterRole || guessed || namespace_of(package, role) == namespace
}
