//! One PolicyRule and Kubernetes' matching of it
//! (`pkg/apis/rbac/v1/evaluation_helpers.go`, `plugin/pkg/auth/authorizer/rbac/rbac.go` `RuleAllows`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Request, ResourceRequest};

/// Every group, resource, verb or path.
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
            Request::Resource(request) => {
                matches(&self.verbs, &request.verb)
                    && matches(&self.api_groups, &request.api_group)
                    && self.resources.iter().any(|rule| resource_matches(rule, request))
                    && (self.resource_names.is_empty() || self.resource_names.contains(&request.name))
            }
            Request::NonResource(request) => {
                matches(&self.verbs, &request.verb)
                    && self.non_resource_urls.iter().any(|rule| url_matches(rule, &request.path))
            }
        }
    }
}

/// `VerbMatches`, `APIGroupMatches`: exact or `*`.
fn matches(rules: &[String], asked: &str) -> bool {
    rules.iter().any(|rule| rule == ALL || rule == asked)
}

/// `ResourceMatches`: `*`, the exact `resource[/subresource]`, or `*/subresource`. `pods/*` is no wildcard.
fn resource_matches(rule: &str, asked: &ResourceRequest) -> bool {
    if rule == ALL {
        return true;
    }
    if asked.subresource.is_empty() {
        return rule == asked.resource;
    }
    let of_any = rule.strip_prefix("*/") == Some(asked.subresource.as_str());
    of_any
        || rule.strip_suffix(asked.subresource.as_str()).and_then(|rule| rule.strip_suffix('/'))
            == Some(&asked.resource)
}

/// `NonResourceURLMatches`: `*`, exact, or a prefix before trailing `*`.
fn url_matches(rule: &str, asked: &str) -> bool {
    rule == ALL || rule == asked || (rule.ends_with('*') && asked.starts_with(rule.trim_end_matches('*')))
}
