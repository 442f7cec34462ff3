//! Identity of a subject: what bindings name and what audit events carry.

use std::fmt;

/// A subject, ordered so that reports are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKey {
    /// A service account.
    ServiceAccount {
        /// Its namespace.
        namespace: String,
        /// Its name.
        name: String,
    },
    /// A user by name.
    User(String),
    /// A group by name.
    Group(String),
}

impl SubjectKey {
    /// Reads `NAMESPACE/NAME`, `system:serviceaccount:NAMESPACE:NAME` or any other user name.
    pub fn parse(text: &str) -> Self {
        if let Some(key) = Self::from_user(text) {
            return key;
        }
        match text.split_once('/') {
            Some((namespace, name)) if !namespace.is_empty() && !name.is_empty() && !name.contains('/') => {
                Self::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() }
            }
            _ => Self::User(text.to_owned()),
        }
    }

    /// The service account behind a user name such as `system:serviceaccount:NAMESPACE:NAME`
    /// (Kubernetes `staging/src/k8s.io/apiserver/pkg/authentication/serviceaccount/util.go`, `SplitUsername`).
    pub fn from_user(user: &str) -> Option<Self> {
        let (namespace, name) = user.strip_prefix("system:serviceaccount:")?.split_once(':')?;
        if namespace.is_empty() || name.is_empty() || name.contains(':') {
            return None;
        }
        Some(Self::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// User name of its requests; a group's own name.
    pub fn user(&self) -> String {
        match self {
            Self::ServiceAccount { namespace, name } => format!("system:serviceaccount:{namespace}:{name}"),
            Self::User(name) | Self::Group(name) => name.clone(),
        }
    }

    /// Groups that it is known to belong to (`MakeGroupNames` of the same file, and `system:authenticated`).
    pub fn groups(&self) -> Vec<String> {
        match self {
            Self::ServiceAccount { namespace, .. } => vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ],
            Self::User(name) if name == "system:anonymous" => vec!["system:unauthenticated".to_owned()],
            Self::User(_) => vec!["system:authenticated".to_owned()],
            Self::Group(_) => Vec::new(),
        }
    }

    /// Namespace of a service account.
    pub fn namespace(&self) -> Option<&str> {
        match self {
            Self::ServiceAccount { namespace, .. } => Some(namespace),
            Self::User(_) | Self::Group(_) => None,
        }
    }

    /// Name without namespace.
    pub fn name(&self) -> &str {
        match self {
            Self::ServiceAccount { name, .. } | Self::User(name) | Self::Group(name) => name,
        }
    }
}

impl fmt::Display for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServiceAccount { namespace, name } => write!(f, "{namespace}/{name}"),
            Self::User(name) | Self::Group(name) => f.write_str(name),
        }
    }
}
