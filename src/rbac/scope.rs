//! Where a grant holds: the whole cluster or one namespace.

use std::fmt;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// Where a grant holds. Serialised as `cluster` or `namespace/NAME`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub enum Scope {
    /// Everywhere: through a ClusterRoleBinding.
    Cluster,
    /// In one namespace: through a RoleBinding there.
    Namespace(String),
}

impl Scope {
    /// Whether a request with this namespace ("" = cluster scope) is one that bindings of this scope are
    /// asked about (Kubernetes `pkg/registry/rbac/validation/rule.go`, `VisitRulesFor`).
    pub fn reaches(&self, namespace: &str) -> bool {
        match self {
            Self::Cluster => true,
            Self::Namespace(own) => !namespace.is_empty() && own == namespace,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cluster => f.write_str("cluster"),
            Self::Namespace(namespace) => write!(f, "namespace/{namespace}"),
        }
    }
}

impl Serialize for Scope {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
