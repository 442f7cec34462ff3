//! What is held over all scopes: a set of permissions in each namespace, closed under subtraction. Two of them compare
//! as Kubernetes would find if it were asked every possible request.

use schemars::JsonSchema;
use serde::Serialize;

use super::total::{Pointwise, Total, Which};
use super::{PermissionSet, Request, Rule, Scope};

/// Permissions in the whole cluster and in namespaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Authority {
    /// namespace → what is allowed there; requests at cluster scope are among "all others".
    namespaces: Total<PermissionSet>,
}

/// How the authority after a change stands to that before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Comparison {
    /// Every request has the same answer.
    Equal,
    /// Nothing is allowed that was not.
    Narrower,
    /// Nothing is refused that was allowed.
    Wider,
    /// Some was lost and some was won.
    Incomparable,
}

impl Authority {
    /// What the rules grant together, each where it holds.
    pub fn new<'a>(held: impl IntoIterator<Item = (&'a Scope, &'a Rule)>) -> Self {
        let (mut cluster, mut named) = (Vec::new(), Vec::new());
        for (scope, rule) in held {
            match scope {
                Scope::Cluster => cluster.push(rule),
                // No request is made in a namespace without a name (see `Scope::reaches`).
                Scope::Namespace(namespace) if namespace.is_empty() => {}
                Scope::Namespace(namespace) => named.push((namespace, rule)),
            }
        }
        named.sort_by_key(|(namespace, _)| *namespace);
        let mut namespaces = Total::default();
        let cluster = PermissionSet::from_rules(cluster);
        namespaces.change(Which::All, &mut |set: &mut PermissionSet| *set = cluster.clone());
        for group in named.chunk_by(|(a, _), (b, _)| a == b) {
            let Some((namespace, _)) = group.first() else { continue };
            let there = PermissionSet::from_rules(group.iter().map(|(_, rule)| *rule)).without_urls();
            namespaces.change(Which::One(namespace), &mut |set| *set = set.union(&there));
        }
        namespaces.tidy(|_| ());
        Self { namespaces }
    }

    /// Whether the request is allowed.
    pub fn allows(&self, request: &Request) -> bool {
        self.namespaces.at(request.namespace()).allows(request)
    }

    /// What is allowed here and not there.
    pub fn subtract(&self, other: &Self) -> Self {
        Self { namespaces: self.namespaces.combine(&other.namespaces, |a, b| a && !b) }
    }

    /// Whether nothing is allowed anywhere.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// How `after` stands to this authority.
    pub fn compare(&self, after: &Self) -> Comparison {
        match (self.subtract(after).is_empty(), after.subtract(self).is_empty()) {
            (true, true) => Comparison::Equal,
            (false, true) => Comparison::Narrower,
            (true, false) => Comparison::Wider,
            (false, false) => Comparison::Incomparable,
        }
    }

    /// What is allowed everywhere but in the namespaces of [`in_namespaces`](Self::in_namespaces).
    pub fn elsewhere(&self) -> &PermissionSet {
        self.namespaces.at("")
    }

    /// The namespaces in which something else is allowed than elsewhere: all that is allowed there.
    pub fn in_namespaces(&self) -> impl Iterator<Item = (&str, &PermissionSet)> {
        self.namespaces.iter().filter_map(|(namespace, set)| Some((namespace?, set)))
    }
}
