//! The permission graph of one package: workload → subject → binding → role (→ aggregated role) → rule entry.
//! It ends at the rule entry: points are computed by `analysis`, not stored as nodes.

mod build;
mod subject;

use petgraph::Direction;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeFiltered, EdgeRef, Walker};

use std::collections::{BTreeMap, BTreeSet};

use crate::manifest::{BindingKind, RoleKind};
use crate::rbac::{Rule, Scope};

pub use subject::SubjectKey;

/// A node; facts are named by their index in the package's `Facts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A workload.
    Workload(usize),
    /// A subject: a service account, a user or a group.
    Subject(SubjectKey),
    /// A binding.
    Binding(usize),
    /// A role.
    Role(RoleNode),
    /// A rule entry of a role.
    Entry(Entry),
}

/// A role, shipped or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleNode {
    /// Kind.
    pub kind: RoleKind,
    /// Namespace, empty for a ClusterRole.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// What is known of it.
    pub known: RoleKnown,
}

/// What is known of a role's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoleKnown {
    /// In the package: its index in `Facts::roles`.
    Shipped(usize),
    /// Built into Kubernetes, rules known.
    BuiltIn,
    /// Built into Kubernetes by its name, rules not known to this build.
    BuiltInUnknown,
    /// In neither.
    Missing,
}

/// A rule entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its index in the role's `rules`.
    pub index: usize,
    /// The rule.
    pub rule: Rule,
    /// Index in `Facts::roles` of the role that it is written in; `None` for built-in roles.
    pub role: Option<usize>,
}

/// Why two nodes are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edge {
    /// Workload → subject it runs as.
    RunsAs,
    /// Subject → group it is a member of.
    MemberOf,
    /// Subject → binding that names it (index of the subject in the binding).
    BoundBy(usize),
    /// Binding → role it refers to.
    Refers,
    /// Aggregated role → contributing ClusterRole.
    Aggregates,
    /// Role → rule entry.
    Has,
}

/// The permission graph of one package.
#[derive(Debug, Default)]
pub struct Graph {
    graph: DiGraph<Node, Edge>,
    subjects: BTreeMap<SubjectKey, NodeIndex>,
    roles: BTreeMap<(RoleKind, String, String), NodeIndex>,
}

/// One way from a subject to a rule entry.
#[derive(Debug, Clone)]
pub struct Held<'a> {
    /// Index of the binding in `Facts::bindings`; `None` for a role bound to nobody, judged by itself.
    pub binding: Option<usize>,
    /// Index of the subject within the binding.
    pub subject: usize,
    /// The group through which the binding reaches the subject.
    pub via_group: Option<&'a str>,
    /// The role that the binding names.
    pub role: &'a RoleNode,
    /// The ClusterRole that contributes the entry, when the role aggregates.
    pub contributor: Option<&'a RoleNode>,
    /// The rule entries.
    pub entries: Vec<&'a Entry>,
    /// Where they hold.
    pub scope: Scope,
}

impl Graph {
    /// Subjects that a workload runs as.
    pub fn workload_subjects(&self) -> BTreeSet<&SubjectKey> {
        self.subjects_where(|node| {
            self.graph.edges_directed(node, Direction::Incoming).any(|edge| *edge.weight() == Edge::RunsAs)
        })
    }

    /// Subjects that a binding names.
    pub fn bound_subjects(&self) -> BTreeSet<&SubjectKey> {
        self.subjects_where(|node| self.graph.edges(node).any(|edge| matches!(edge.weight(), Edge::BoundBy(_))))
    }

    fn subjects_where(&self, keep: impl Fn(NodeIndex) -> bool) -> BTreeSet<&SubjectKey> {
        self.subjects.iter().filter(|(_, node)| keep(**node)).map(|(key, _)| key).collect()
    }

    /// Workloads (indices in `Facts::workloads`) that run as the subject.
    pub fn workloads_of(&self, subject: &SubjectKey) -> Vec<usize> {
        let Some(&node) = self.subjects.get(subject) else { return Vec::new() };
        let mut found: Vec<usize> = self
            .graph
            .neighbors_directed(node, Direction::Incoming)
            .filter_map(|node| match self.graph.node_weight(node) {
                Some(Node::Workload(index)) => Some(*index),
                _ => None,
            })
            .collect();
        found.sort_unstable();
        found
    }

    /// Whether any binding names the subject itself.
    pub fn is_bound(&self, subject: &SubjectKey) -> bool {
        let node = self.subjects.get(subject);
        node.is_some_and(|&node| self.graph.edges(node).any(|edge| matches!(edge.weight(), Edge::BoundBy(_))))
    }

    /// Everything that the subject holds, by name and through its groups: in order of binding, then of role entry.
    pub fn held_by<'a>(&'a self, subject: &'a SubjectKey, scope_of: impl Fn(usize) -> Scope) -> Vec<Held<'a>> {
        let mut held = Vec::new();
        let own = self.subjects.get(subject).map(|&node| (node, None));
        let groups = subject.groups();
        let through_groups = groups.iter().filter_map(|group| {
            let (key, &node) = self.subjects.get_key_value(&SubjectKey::Group(group.clone()))?;
            Some((node, Some(key.name())))
        });
        for (node, via_group) in own.into_iter().chain(through_groups) {
            for edge in self.graph.edges(node) {
                let (Edge::BoundBy(place), Some(Node::Binding(binding))) =
                    (edge.weight(), self.graph.node_weight(edge.target()))
                else {
                    continue;
                };
                for role in self.graph.neighbors(edge.target()) {
                    self.entries_of(role, &mut |role, contributor, entries| {
                        held.push(Held {
                            binding: Some(*binding),
                            subject: *place,
                            via_group,
                            role,
                            contributor,
                            entries,
                            scope: scope_of(*binding),
                        });
                    });
                }
            }
        }
        held.sort_by_key(|held| (held.binding, held.subject));
        held
    }

    /// The entries of a role of the package, as if it were bound (cluster-wide, or in its own namespace).
    pub fn held_by_role(&self, kind: RoleKind, namespace: &str, name: &str) -> Vec<Held<'_>> {
        let Some(&node) = self.roles.get(&(kind, namespace.to_owned(), name.to_owned())) else { return Vec::new() };
        let scope = match kind {
            RoleKind::ClusterRole => Scope::Cluster,
            RoleKind::Role => Scope::Namespace(namespace.to_owned()),
        };
        let mut held = Vec::new();
        self.entries_of(node, &mut |role, contributor, entries| {
            held.push(Held {
                binding: None,
                subject: 0,
                via_group: None,
                role,
                contributor,
                entries,
                scope: scope.clone(),
            });
        });
        held
    }

    /// Roles of the package that no binding refers to and no aggregated role of it takes in.
    pub fn unbound_roles(&self) -> Vec<&RoleNode> {
        self.roles
            .values()
            .filter(|&&node| self.graph.edges_directed(node, Direction::Incoming).next().is_none())
            .filter_map(|&node| match self.graph.node_weight(node) {
                Some(Node::Role(role @ RoleNode { known: RoleKnown::Shipped(_), .. })) => Some(role),
                _ => None,
            })
            .collect()
    }

    /// Own entries first, then those of contributing ClusterRoles; aggregated roles may aggregate each other.
    fn entries_of<'a>(
        &'a self,
        node: NodeIndex,
        found: &mut dyn FnMut(&'a RoleNode, Option<&'a RoleNode>, Vec<&'a Entry>),
    ) {
        let Some(Node::Role(role)) = self.graph.node_weight(node) else { return };
        found(role, None, self.own_entries(node));
        let contributes = EdgeFiltered::from_fn(&self.graph, |edge| *edge.weight() == Edge::Aggregates);
        let mut contributors: Vec<NodeIndex> =
            Dfs::new(&contributes, node).iter(&contributes).filter(|&contributor| contributor != node).collect();
        contributors.sort_unstable();
        for contributor in contributors {
            if let Some(Node::Role(contributing)) = self.graph.node_weight(contributor) {
                found(role, Some(contributing), self.own_entries(contributor));
            }
        }
    }

    fn own_entries(&self, role: NodeIndex) -> Vec<&Entry> {
        let mut entries: Vec<&Entry> = self
            .graph
            .edges(role)
            .filter_map(|edge| match self.graph.node_weight(edge.target()) {
                Some(Node::Entry(entry)) => Some(entry),
                _ => None,
            })
            .collect();
        entries.sort_by_key(|entry| entry.index);
        entries
    }
}

/// Where a binding grants.
pub fn binding_scope(kind: BindingKind, namespace: &str) -> Scope {
    match kind {
        BindingKind::ClusterRoleBinding => Scope::Cluster,
        BindingKind::RoleBinding => Scope::Namespace(namespace.to_owned()),
    }
}

#[cfg(test)]
mod tests;
