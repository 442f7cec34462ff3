//! One PolicyRule and Kubernetes' matching of it
//! (`pkg/apis/rbac/v1/evaluation_helpers.go`, `plugin/pkg/auth/authorizer/rbac/rbac.go` `RuleAllows`).

use schemars::JsonSchema;
use serde::Serialize;

use super::Request;

/// A `rbac.authorization.k8s.io/v1` PolicyRule without positions.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rule {
    /// API groups; `*` is all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// Resources; `*` is all with all subresources, `*/sub` is that subresource of all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Object names; empty is no restriction, there is no wildcard.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// URL paths; `*` is all, a trailing `*` is a prefix.
    #[serde(rename = "nonResourceURLs", skip_serializing_if = "Vec::is_empty")]
    pub non_resource_urls: Vec<String>,
    /// Verbs; `*` is all.
    pub verbs: Vec<String>,
}

impl Rule {
    /// Whether this rule allows the request, scope aside (Kubernetes `RuleAllows`).
    pub fn allows(&self, request: &Request) -> bool {
        let _ = request;
        unimplemented!()
    }
}
