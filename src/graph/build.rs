//! Builds the graph of a package from its facts.

use std::collections::BTreeMap;

use petgraph::graph::NodeIndex;

use super::{Edge, Entry, Graph, Node, RoleKnown, RoleNode, SubjectKey};
use crate::api::builtin::{self, BuiltInRole, Labels};
use crate::manifest::{BindingKind, LabelSelector, Package, PolicyRule, RoleKind, Subject, SubjectKind};
use crate::rbac::Rule;

impl Graph {
    /// The graph of a package; `minor` chooses the built-in roles.
    pub fn build(package: &Package, minor: &str) -> Self {
        let mut graph = Self::default();
        graph.add_roles(package);
        graph.aggregate(package, minor);
        graph.keep_unaggregated(package);
        graph.add_bindings(package, minor);
        graph.add_workloads(package);
        graph
    }

    fn add_roles(&mut self, package: &Package) {
        for (index, role) in package.facts.roles.iter().enumerate() {
            let namespace = match role.kind {
                RoleKind::Role => package.resolve(role.namespace.as_ref()).to_owned(),
                RoleKind::ClusterRole => String::new(),
            };
            let node = self.graph.add_node(Node::Role(RoleNode {
                kind: role.kind,
                namespace: namespace.clone(),
                name: role.name.value.clone(),
                known: RoleKnown::Shipped(index),
            }));
            // The controller overwrites the rules of an aggregated role (see `keep_unaggregated`).
            if role.aggregation.is_none() {
                let rules = role.rules.iter().map(PolicyRule::to_rule);
                self.add_entries(node, rules, Some(index));
            }
            // Of two with one name the later counts, as `kubectl apply` would have it.
            self.roles.insert((role.kind, namespace, role.name.value.clone()), node);
        }
    }

    /// What the aggregation controller would take in: shipped ClusterRoles, and those that every cluster has.
    fn aggregate(&mut self, package: &Package, minor: &str) {
        let shipped = self.shipped_cluster_roles();
        for &(index, node) in &shipped {
            let Some(role) = package.facts.roles.get(index) else { continue };
            let Some(selectors) = role.aggregation.as_ref() else { continue };
            let picks = |labels: &Labels| selectors.iter().any(|selector| selector.matches(labels));
            for &(other, contributor) in &shipped {
                if other != index && package.facts.roles.get(other).is_some_and(|role| picks(&role.labels)) {
                    self.graph.add_edge(node, contributor, Edge::Aggregates);
                }
            }
            for (name, builtin) in builtin::cluster_roles(minor) {
                let replaced = self.roles.get(&(RoleKind::ClusterRole, String::new(), name.to_owned()));
                if replaced.is_none_or(|&known| !shipped.iter().any(|&(_, node)| node == known))
                    && picks(&builtin.labels)
                {
                    let contributor = self.role(package, RoleKind::ClusterRole, String::new(), name, minor);
                    self.graph.add_edge(node, contributor, Edge::Aggregates);
                }
            }
        }
    }

    /// An aggregated role whose contributors have no rules keeps those written in it: the controller applies an empty
    /// list by server-side apply, which takes nothing away (`pkg/controller/clusterroleaggregation`, seen on 1.36).
    fn keep_unaggregated(&mut self, package: &Package) {
        let aggregated: Vec<(usize, NodeIndex)> = self
            .shipped_cluster_roles()
            .into_iter()
            .filter(|(index, _)| package.facts.roles.get(*index).is_some_and(|role| role.aggregation.is_some()))
            .collect();
        // Those that select nothing first: another may select them.
        for selects_nothing in [true, false] {
            for &(index, node) in &aggregated {
                let alone = !self.graph.edges(node).any(|edge| *edge.weight() == Edge::Aggregates);
                let mut has_rules = false;
                self.entries_of(node, &mut |_, _, entries| has_rules |= !entries.is_empty());
                if alone == selects_nothing
                    && !has_rules
                    && let Some(role) = package.facts.roles.get(index)
                {
                    self.add_entries(node, role.rules.iter().map(PolicyRule::to_rule), Some(index));
                }
            }
        }
    }

    /// Index in the facts and node; of several with one name, the one that counts.
    fn shipped_cluster_roles(&self) -> Vec<(usize, NodeIndex)> {
        let shipped = self.roles.values().filter_map(|&node| match self.graph.node_weight(node) {
            Some(Node::Role(RoleNode { kind: RoleKind::ClusterRole, known: RoleKnown::Shipped(index), .. })) => {
                Some((*index, node))
            }
            _ => None,
        });
        let mut shipped: Vec<_> = shipped.collect();
        shipped.sort_unstable();
        shipped
    }

    fn add_entries(&mut self, role_node: NodeIndex, rules: impl Iterator<Item = Rule>, role: Option<usize>) {
        for (index, rule) in rules.enumerate() {
            let entry = self.graph.add_node(Node::Entry(Entry { index, rule, role }));
            self.graph.add_edge(role_node, entry, Edge::Has);
        }
    }

    fn add_bindings(&mut self, package: &Package, minor: &str) {
        for (index, binding) in package.facts.bindings.iter().enumerate() {
            let namespace = package.resolve(binding.namespace.as_ref()).to_owned();
            let node = self.graph.add_node(Node::Binding(index));
            let role_namespace = match binding.role_kind {
                RoleKind::Role => namespace.clone(),
                RoleKind::ClusterRole => String::new(),
            };
            let role = self.role(package, binding.role_kind, role_namespace, binding.role_name.as_str(), minor);
            self.graph.add_edge(node, role, Edge::Refers);
            for (place, subject) in binding.subjects.iter().enumerate() {
                let key = subject_key(package, binding.kind, &namespace, subject);
                let subject = self.subject(key);
                self.graph.add_edge(subject, node, Edge::BoundBy(place));
            }
        }
    }

    fn add_workloads(&mut self, package: &Package) {
        for (index, workload) in package.facts.workloads.iter().enumerate() {
            let name = workload.service_account.as_ref().map_or("default", |name| name.as_str());
            let namespace = package.resolve(workload.namespace.as_ref());
            let node = self.graph.add_node(Node::Workload(index));
            let subject =
                self.subject(SubjectKey::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() });
            self.graph.add_edge(node, subject, Edge::RunsAs);
        }
    }

    fn subject(&mut self, key: SubjectKey) -> NodeIndex {
        if let Some(&node) = self.subjects.get(&key) {
            return node;
        }
        let node = self.graph.add_node(Node::Subject(key.clone()));
        self.subjects.insert(key.clone(), node);
        for group in key.groups() {
            let group = self.subject(SubjectKey::Group(group));
            self.graph.add_edge(node, group, Edge::MemberOf);
        }
        node
    }

    /// The node of a role, made when it is not there: one that Kubernetes makes, or none.
    fn role(&mut self, package: &Package, kind: RoleKind, namespace: String, name: &str, minor: &str) -> NodeIndex {
        let key = (kind, namespace, name.to_owned());
        if let Some(&node) = self.roles.get(&key) {
            return node;
        }
        let builtin = match kind {
            RoleKind::ClusterRole => builtin::cluster_role(minor, name),
            RoleKind::Role => builtin::role(minor, &key.1, name),
        };
        let known = match builtin {
            Some(_) => RoleKnown::BuiltIn,
            None if builtin::is_builtin_name(name) => RoleKnown::BuiltInUnknown,
            None => RoleKnown::Missing,
        };
        let role = RoleNode { kind, namespace: key.1.clone(), name: name.to_owned(), known };
        let node = self.graph.add_node(Node::Role(role));
        self.roles.insert(key, node);
        if let Some(builtin) = builtin {
            self.add_entries(node, builtin.rules.iter().cloned(), None);
            if !builtin.aggregates.is_empty() {
                self.extend_builtin(package, node, builtin, minor);
            }
        }
        node
    }

    /// Shipped roles with the label extend `admin`, `edit` and `view`, of which `edit` takes in `view`, and so on.
    fn extend_builtin(&mut self, package: &Package, node: NodeIndex, builtin: &BuiltInRole, minor: &str) {
        let picks = |labels: &Labels| {
            let has = |(key, value): (&String, &String)| labels.get(key) == Some(value);
            builtin.aggregates.iter().any(|selector| selector.iter().all(has))
        };
        let shipped = self.shipped_cluster_roles();
        for (index, contributor) in shipped {
            if contributor != node && package.facts.roles.get(index).is_some_and(|role| picks(&role.labels)) {
                self.graph.add_edge(node, contributor, Edge::Aggregates);
            }
        }
        for (name, other) in builtin::cluster_roles(minor) {
            if !other.aggregates.is_empty() && picks(&other.labels) {
                let contributor = self.role(package, RoleKind::ClusterRole, String::new(), name, minor);
                self.graph.add_edge(node, contributor, Edge::Aggregates);
            }
        }
    }
}

fn subject_key(package: &Package, kind: BindingKind, namespace: &str, subject: &Subject) -> SubjectKey {
    let name = subject.name.value.clone();
    match subject.kind {
        SubjectKind::ServiceAccount => {
            let namespace = match (&subject.namespace, kind) {
                (Some(own), _) => own.value.clone(),
                // Kubernetes defaults it to the binding's (`pkg/registry/rbac/validation/rule.go`).
                (None, BindingKind::RoleBinding) => namespace.to_owned(),
                (None, BindingKind::ClusterRoleBinding) => package.namespace.clone(),
            };
            SubjectKey::ServiceAccount { namespace, name }
        }
        SubjectKind::User => SubjectKey::from_user(&name).unwrap_or(SubjectKey::User(name)),
        SubjectKind::Group => SubjectKey::Group(name),
    }
}

impl LabelSelector {
    /// Whether the labels match (`k8s.io/apimachinery` `LabelSelectorAsSelector`; an empty selector matches all).
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let labelled = self.match_labels.iter().all(|(key, value)| labels.get(key) == Some(value));
        labelled
            && self.match_expressions.iter().all(|(key, operator, values)| {
                let value = labels.get(key);
                match operator.as_str() {
                    "In" => value.is_some_and(|value| values.contains(value)),
                    "NotIn" => !value.is_some_and(|value| values.contains(value)),
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }
}
