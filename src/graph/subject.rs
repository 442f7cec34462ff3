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
            // User names of clouds and of OpenID Connect have both: `arn:aws:iam::1:role/x`, `https://host/x#y`.
            Some((namespace, name))
                if !namespace.is_empty() && !namespace.contains(':') && !name.is_empty() && !name.contains('/') =>
            {
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

    /// Whether Kubernetes can know a subject of that name: accounts have names of DNS
    /// (`staging/src/k8s.io/apimachinery/pkg/api/validation/generic.go`), users any but such as were meant for an
    /// account's.
    pub fn is_possible(&self) -> bool {
        match self {
            Self::ServiceAccount { namespace, name } => {
                namespace.len() <= 63 && is_label(namespace) && name.len() <= 253 && name.split('.').all(is_label)
            }
            Self::User(name) | Self::Group(name) => {
                let meant = name.starts_with("system:serviceaccount:") || (name.contains('/') && !name.contains(':'));
                !meant && name.trim() == name && !name.is_empty() && !name.contains(char::is_control)
            }
        }
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

/// A part of a name of DNS, as Kubernetes takes them.
fn is_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(inner) && !text.starts_with('-') && !text.ends_with('-')
}

impl fmt::Display for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ServiceAccount { namespace, name } => write!(f, "{namespace}/{name}"),
            Self::User(name) | Self::Group(name) => f.write_str(name),
        }
    }
}
