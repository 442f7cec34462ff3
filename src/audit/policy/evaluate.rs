//! What a policy makes of one request, as `policyRuleEvaluator` does (`pkg/audit/policy/checker.go`). The oracle of
//! `tests/suite/judge` holds the two together.

use std::collections::BTreeSet;

use super::{GroupResources, Level, Policy, PolicyRule, Stage};
use crate::rbac::{Request, ResourceRequest};

/// Who asks: of an impersonated request, who impersonates, for the policy is asked before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Requester<'a> {
    /// User name.
    pub user: &'a str,
    /// All groups of the user.
    pub groups: &'a [String],
}

/// What is recorded of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recorded<'p> {
    /// The rule that says so; `None` where no rule matches.
    pub rule: Option<&'p PolicyRule>,
    /// How much.
    pub level: Level,
    /// The stages that are left out.
    pub omit_stages: &'p BTreeSet<Stage>,
    /// Whether bodies come without `managedFields`.
    pub omit_managed_fields: bool,
}

impl Policy {
    /// What becomes of a request: its first matching rule says, and without one nothing is recorded.
    pub fn evaluate(&self, requester: Requester<'_>, request: &Request) -> Recorded<'_> {
        match self.rules.iter().find(|rule| rule.is_about(requester) && rule.matches(request)) {
            Some(rule) => Recorded {
                rule: Some(rule),
                level: rule.level,
                omit_stages: &rule.omit_stages,
                omit_managed_fields: rule.omit_managed_fields,
            },
            None => Recorded {
                rule: None,
                level: Level::None,
                omit_stages: &self.omit_stages,
                omit_managed_fields: self.omit_managed_fields,
            },
        }
    }
}

impl PolicyRule {
    /// Whether the rule is about this user.
    pub(super) fn is_about(&self, requester: Requester<'_>) -> bool {
        self.names_user(requester)
            && (self.user_groups.is_empty() || requester.groups.iter().any(|group| self.user_groups.contains(group)))
    }

    /// Whether the rule is about this user, groups aside.
    pub(super) fn names_user(&self, requester: Requester<'_>) -> bool {
        self.users.is_empty() || self.users.iter().any(|user| user == requester.user)
    }

    /// Whether the rule matches the request, whoever asks.
    pub(super) fn matches(&self, request: &Request) -> bool {
        if !self.verbs.is_empty() && !self.verbs.iter().any(|verb| verb == request.verb()) {
            return false;
        }
        if !self.namespaces.is_empty() || !self.resources.is_empty() {
            let Request::Resource(request) = request else { return false };
            return (self.namespaces.is_empty() || self.namespaces.contains(&request.namespace))
                && (self.resources.is_empty() || self.resources.iter().any(|resources| resources.matches(request)));
        }
        if self.non_resource_urls.is_empty() {
            return true;
        }
        let Request::NonResource(request) = request else { return false };
        self.non_resource_urls.iter().any(|url| path_matches(url, &request.path))
    }
}

impl GroupResources {
    fn matches(&self, request: &ResourceRequest) -> bool {
        if self.group != "*" && self.group != request.api_group {
            return false;
        }
        // Validation has seen that names stand beside resources only.
        if self.resources.is_empty() {
            return true;
        }
        (self.resource_names.is_empty() || self.resource_names.contains(&request.name))
            && self.resources.iter().any(|resource| resource_matches(resource, request))
    }
}

fn resource_matches(pattern: &str, request: &ResourceRequest) -> bool {
    let of_any = !request.subresource.is_empty() && pattern.strip_prefix("*/") == Some(&request.subresource);
    // Also without a subresource.
    let any_of = pattern.strip_suffix("/*") == Some(&request.resource);
    pattern == "*" || of_any || any_of || pattern == request.combined()
}

fn path_matches(pattern: &str, path: &str) -> bool {
    pattern == "*" || pattern == path || (pattern.ends_with('*') && path.starts_with(pattern.trim_end_matches('*')))
}
