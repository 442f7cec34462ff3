//! One PolicyRule and Kubernetes' matching of it
//! (`pkg/apis/rbac/v1/evaluation_helpers.go`, `plugin/pkg/auth/authorizer/rbac/rbac.go` `RuleAllows`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Request;

/// The wildcard of verbs, groups, resources and URLs. Names have none.
pub(super) const ALL: &str = "*";

/// A `rbac.authorization.k8s.io/v1` PolicyRule without positions.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
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
        match request {
            Request::Resource(asked) => {
                has_or_all(&self.verbs, &asked.verb)
                    && has_or_all(&self.api_groups, &asked.api_group)
                    && self.resource_matches(&asked.combined(), &asked.subresource)
                    && (self.resource_names.is_empty() || self.resource_names.contains(&asked.name))
            }
            Request::NonResource(asked) => {
                has_or_all(&self.verbs, &asked.verb)
                    && self
                        .non_resource_urls
                        .iter()
                        .any(|pattern| url_matches(pattern, &asked.path))
            }
        }
    }

    fn resource_matches(&self, combined: &str, subresource: &str) -> bool {
        self.resources.iter().any(|resource| {
            resource == ALL
                || resource == combined
                || (!subresource.is_empty() && resource.strip_prefix("*/") == Some(subresource))
        })
    }
}

fn has_or_all(list: &[String], asked: &str) -> bool {
    list.iter().any(|entry| entry == ALL || entry == asked)
}

fn url_matches(pattern: &str, path: &str) -> bool {
    pattern == path || (pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')))
}
