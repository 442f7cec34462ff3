//! Builds the graph of a package from its facts.

use std::collections::BTreeMap;

use petgraph::graph::NodeIndex;

use super::{Edge, Entry, Graph, Node, RoleKnown, RoleNode, SubjectKey};
use crate::api::builtin;
use crate::manifest::{BindingKind, LabelSelector, Package, RoleKind, Subject, SubjectKind};
use crate::rbac::Rule;

impl Graph {
    /// The graph of a package; `minor` chooses the built-in roles.
    pub fn build(package: &Package, minor: &str) -> Self {
        let mut graph = Self::default();
        graph.add_roles(package);
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
            // The controller overwrites the rules of an aggregated role, so what is written there grants nothing.
            if role.aggregation.is_none() {
                let rules = role.rules.iter().map(crate::manifest::PolicyRule::to_rule);
                self.add_entries(node, rules, Some(index));
            }
            // Of two with one name the later counts, as `kubectl apply` would have it.
            self.roles.insert((role.kind, namespace, role.name.value.clone()), node);
        }
        let by_role: BTreeMap<usize, NodeIndex> = self
            .roles
            .values()
            .filter_map(|&node| match self.graph.node_weight(node) {
                Some(Node::Role(RoleNode { known: RoleKnown::Shipped(index), .. })) => Some((*index, node)),
                _ => None,
            })
            .collect();
        for (&index, &node) in &by_role {
            let Some(selectors) = package.facts.roles.get(index).and_then(|role| role.aggregation.as_ref()) else {
                continue;
            };
            for (&other, &contributor) in &by_role {
                let Some(role) = package.facts.roles.get(other) else { continue };
                let picked = role.kind == RoleKind::ClusterRole && other != index;
                if picked && selectors.iter().any(|selector| selector.matches(&role.labels)) {
                    self.graph.add_edge(node, contributor, Edge::Aggregates);
                }
            }
        }
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
            let role = self.role(binding.role_kind, role_namespace, binding.role_name.as_str(), minor);
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

    fn role(&mut self, kind: RoleKind, namespace: String, name: &str, minor: &str) -> NodeIndex {
        let key = (kind, namespace, name.to_owned());
        if let Some(&node) = self.roles.get(&key) {
            return node;
        }
        let rules = match kind {
            RoleKind::ClusterRole => builtin::cluster_role(minor, name),
            RoleKind::Role => builtin::role(minor, &key.1, name),
        };
        let known = match &rules {
            Some(_) => RoleKnown::BuiltIn,
            None if builtin::is_builtin_name(name) => RoleKnown::BuiltInUnknown,
            None => RoleKnown::Missing,
        };
        let role = RoleNode { kind, namespace: key.1.clone(), name: name.to_owned(), known };
        let node = self.graph.add_node(Node::Role(role));
        self.add_entries(node, rules.unwrap_or_default().into_iter(), None);
        self.roles.insert(key, node);
        node
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
