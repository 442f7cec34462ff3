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

impl Rule {
    /// Whether a user with this rule may hand out `part`, which has one verb, and one (group, resource) or one URL
    /// (Kubernetes `pkg/registry/rbac/validation/policy_comparator.go`, `ruleCovers`). Wildcards in `part` are words
    /// that must be held as they are.
    pub fn covers_part(&self, part: &Self) -> bool {
        let names = &self.resource_names;
        let named = names.is_empty()
            || (!part.resource_names.is_empty() && part.resource_names.iter().all(|name| names.contains(name)));
        part.verbs.iter().all(|verb| matches(&self.verbs, verb))
            && part.api_groups.iter().all(|group| matches(&self.api_groups, group))
            && part.resources.iter().all(|resource| resource_covers(&self.resources, resource))
            && part.non_resource_urls.iter().all(|url| self.non_resource_urls.iter().any(|own| url_matches(own, url)))
            && (part.resources.is_empty() || named)
    }

    /// This rule as rules of one verb on one (group, resource) or one URL.
    pub fn singles(&self) -> Vec<Self> {
        let one = |text: &String| vec![text.clone()];
        let mut singles = Vec::new();
        for verb in &self.verbs {
            for (group, resource) in self.api_groups.iter().flat_map(|g| self.resources.iter().map(move |r| (g, r))) {
                singles.push(Self {
                    api_groups: one(group),
                    resources: one(resource),
                    resource_names: self.resource_names.clone(),
                    non_resource_urls: Vec::new(),
                    verbs: one(verb),
                });
            }
            let on_url = |url| Self { non_resource_urls: one(url), verbs: one(verb), ..Self::default() };
            singles.extend(self.non_resource_urls.iter().map(on_url));
        }
        singles
    }

    /// The same with one name at most.
    pub fn parts(&self) -> Vec<Self> {
        let named = |single: Self| -> Vec<Self> {
            if single.resource_names.is_empty() {
                return vec![single];
            }
            let names = single.resource_names.iter();
            names.map(|name| Self { resource_names: vec![name.clone()], ..single.clone() }).collect()
        };
        self.singles().into_iter().flat_map(named).collect()
    }
}

/// `resourceCoversAll` of one resource.
fn resource_covers(rules: &[String], asked: &str) -> bool {
    let of_any = |rule: &String| {
        asked.split_once('/').is_some_and(|(_, subresource)| rule.strip_prefix("*/") == Some(subresource))
    };
    rules.iter().any(|rule| rule == ALL || rule == asked || of_any(rule))
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
