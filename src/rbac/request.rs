//! What one authorization check asks: the attributes that RBAC sees of a request.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Attributes of one authorization check
/// (Kubernetes `staging/src/k8s.io/apiserver/pkg/authorization/authorizer/interfaces.go`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Request {
    /// A request to an API resource.
    Resource(ResourceRequest),
    /// A request to any other path.
    NonResource(NonResourceRequest),
}

/// A request to an API resource. An empty string means "none" in every field, as in Kubernetes.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRequest {
    /// API group; empty is the core group.
    pub api_group: String,
    /// Plural resource name, without subresource.
    pub resource: String,
    /// Subresource, the part behind the slash.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subresource: String,
    /// Verb, lower case.
    pub verb: String,
    /// Namespace; empty for cluster-scoped resources and for requests over all namespaces.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Object name as RBAC saw it (from the URL or a `metadata.name` field selector, never from the body).
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
}

impl ResourceRequest {
    /// `resource` or `resource/subresource`, as a rule writes it.
    pub fn combined(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }
}

/// A request to a path that is no API resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NonResourceRequest {
    /// URL path without query.
    #[serde(rename = "nonResourceURL")]
    pub path: String,
    /// HTTP method in lower case.
    pub verb: String,
}

impl Request {
    /// The verb asked for.
    pub fn verb(&self) -> &str {
        match self {
            Self::Resource(request) => &request.verb,
            Self::NonResource(request) => &request.verb,
        }
    }

    /// The namespace asked in; empty at cluster scope and for non-resource requests.
    pub fn namespace(&self) -> &str {
        match self {
            Self::Resource(request) => &request.namespace,
            Self::NonResource(_) => "",
        }
    }
}
