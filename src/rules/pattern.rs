//! What a capability rule looks for, as its front matter writes it.

use serde::Deserialize;

use crate::rbac::{Rule, Scope};

/// What a capability rule looks for; exactly one of the two lists is given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Match {
    /// Any of these is enough.
    #[serde(default)]
    pub any_of: Vec<Pattern>,
    /// All of these are needed, joined over the bindings of one subject within one scope.
    #[serde(default)]
    pub all_of: Vec<Pattern>,
    /// Where one of these is held in the same scope, a graver rule speaks instead.
    #[serde(default)]
    pub none_of: Vec<Pattern>,
}

/// Permissions, one of which must intersect what is held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(from = "RawPattern")]
pub struct Pattern {
    /// The permissions as a rule.
    pub rule: Rule,
    /// Whether a grant that is limited to names counts.
    pub named: Named,
    /// Counts only where held cluster-wide (the resource is cluster-scoped).
    pub cluster_only: bool,
    /// Held in a namespace, it counts only in these; empty is any.
    pub namespaces: Vec<String>,
}

/// Whether a grant that is limited to object names counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Named {
    /// It counts, in class `named`.
    #[default]
    Any,
    /// Only grants without names count.
    Unnamed,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct RawPattern {
    #[serde(default)]
    api_groups: Vec<String>,
    #[serde(default)]
    resources: Vec<String>,
    #[serde(default)]
    resource_names: Vec<String>,
    #[serde(default, rename = "nonResourceURLs")]
    non_resource_urls: Vec<String>,
    verbs: Vec<String>,
    #[serde(default)]
    named: Named,
    scope: Option<OnlyScope>,
    #[serde(default)]
    namespaces: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum OnlyScope {
    Cluster,
}

impl From<RawPattern> for Pattern {
    fn from(raw: RawPattern) -> Self {
        Self {
            rule: Rule {
                api_groups: raw.api_groups,
                resources: raw.resources,
                resource_names: raw.resource_names,
                non_resource_urls: raw.non_resource_urls,
                verbs: raw.verbs,
            },
            named: raw.named,
            cluster_only: matches!(raw.scope, Some(OnlyScope::Cluster)),
            namespaces: raw.namespaces,
        }
    }
}

impl Pattern {
    /// Whether what is held there counts.
    pub(super) fn counts_in(&self, scope: &Scope) -> bool {
        match scope {
            Scope::Cluster => true,
            Scope::Namespace(own) => {
                !self.cluster_only && (self.namespaces.is_empty() || self.namespaces.contains(own))
            }
        }
    }

    /// Whether it has verbs and either groups and resources or URLs.
    pub(super) fn is_whole(&self) -> bool {
        let resources = !self.rule.api_groups.is_empty() && !self.rule.resources.is_empty();
        let urls = !self.rule.non_resource_urls.is_empty();
        let bare = self.rule.api_groups.is_empty() && self.rule.resources.is_empty();
        !self.rule.verbs.is_empty() && if urls { bare } else { resources }
    }
}
