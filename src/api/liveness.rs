//! Whether a granted (group, resource, verb) can match any request or check at all.

use super::{Served, Table, is_check_only};
use crate::api::virtual_checks::is_checked_resource;

/// Whether a grant can ever matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Liveness {
    /// Some served (resource, verb) matches.
    Live,
    /// Matches no served request, but the API server or an admission plugin checks it
    /// (`bind`, `signers`, `*/finalizers`, `nodes/metrics`, `use` …).
    CheckOnly,
    /// The group is in neither the table nor the CRDs of the input: never called dead.
    UnknownGroup,
    /// Matches nothing that any API serves or checks.
    Dead(DeadReason),
}

/// Why a grant is dead, with a suggestion where one is evident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadReason {
    /// What is wrong: lower case, one clause.
    pub message: String,
    /// "did you mean" text.
    pub suggestion: Option<String>,
}

/// Groups that are no more, and what took their place.
const REMOVED_GROUPS: [(&str, &str); 4] = [
    ("extensions", "removed in 1.22 (apps, networking.k8s.io and policy have its resources)"),
    ("settings.k8s.io", "removed in 1.20 (PodPreset)"),
    ("auditregistration.k8s.io", "removed in 1.19 (AuditSink)"),
    ("componentconfig", "never served"),
];

/// Resources that are no more.
const REMOVED_RESOURCES: [(&str, &str, &str); 2] = [
    ("policy", "podsecuritypolicies", "PodSecurityPolicy was removed in 1.25"),
    ("apps", "controllerrevisions/status", "it has no status"),
];

impl Table {
    /// Judges one written (apiGroup, resource[/subresource], verb) of a rule; each may be a wildcard.
    pub fn liveness(&self, api_group: &str, resource: &str, verb: &str) -> Liveness {
        let found = self.candidates(api_group, resource);
        if found.iter().any(|served| verb == "*" || served.verbs.iter().any(|own| own == verb)) {
            return Liveness::Live;
        }
        if is_check_only(api_group, resource, verb) || (verb == "*" && is_checked_resource(api_group, resource)) {
            return Liveness::CheckOnly;
        }
        if api_group == "*" && resource != "*" && !resource.starts_with("*/") {
            // Some group of some cluster may have it.
            return Liveness::UnknownGroup;
        }
        if let Some((_, why)) = REMOVED_GROUPS.iter().find(|(group, _)| *group == api_group) {
            return dead(format!("the API group `{api_group}` was {why}").replace("was never", "was never"), self.elsewhere(resource, api_group));
        }
        if let Some(reason) = self.odd_group(api_group, resource) {
            return Liveness::Dead(reason);
        }
        if api_group != "*" && !self.knows_group(api_group) {
            return Liveness::UnknownGroup;
        }
        self.judge_known(api_group, resource, verb, &found)
    }

    /// Entries that the written group and resource match, whatever the verb.
    fn candidates(&self, api_group: &str, resource: &str) -> Vec<&Served> {
        let matches = |served: &&Served| match resource {
            "*" => true,
            resource => match resource.split_once('/') {
                Some(("*", subresource)) => !subresource.is_empty() && served.subresource == subresource,
                Some((main, subresource)) => served.resource == main && served.subresource == subresource,
                None => served.resource == resource && served.subresource.is_empty(),
            },
        };
        match api_group {
            "*" => self.iter().filter(matches).collect(),
            group => self.of_group(group).filter(matches).collect(),
        }
    }

    /// The group is known (or any), and nothing there serves or checks the verb.
    fn judge_known(&self, api_group: &str, resource: &str, verb: &str, found: &[&Served]) -> Liveness {
        let custom = self.of_group(api_group).any(|served| served.custom);
        let (main, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        if let Some(served) = found.first() {
            // Webhooks and aggregated servers ask for verbs of their own on custom resources.
            if custom && !is_kubernetes_verb(verb) {
                return Liveness::CheckOnly;
            }
            let message = match is_kubernetes_verb(verb) {
                true => format!("`{resource}` does not serve `{verb}` (only {})", served.verbs.join(", ")),
                false => format!("`{verb}` is no verb of the Kubernetes API"),
            };
            return dead(message, verb_hint(verb));
        }
        if resource == "*" || (resource.starts_with("*/") && api_group == "*") {
            return match resource {
                "*" => dead(format!("`{verb}` is no verb of the Kubernetes API"), verb_hint(verb)),
                _ => self.odd_subresource(resource, subresource),
            };
        }
        if subresource == "*" {
            return self.odd_subresource(resource, subresource);
        }
        if let Some((_, _, why)) = REMOVED_RESOURCES.iter().find(|(g, r, _)| *g == api_group && *r == resource) {
            return dead((*why).to_owned(), None);
        }
        // Aggregated servers beside a CRD of the same group may serve more than the CRDs declare.
        if custom && self.get(api_group, main, "").is_none() {
            if let Some(near) = self.nearest(api_group, main) {
                return dead(format!("no resource `{main}` in `{api_group}`"), Some(format!("did you mean `{near}`?")));
            }
            return Liveness::UnknownGroup;
        }
        if self.get(api_group, main, "").is_some() {
            if subresource == "finalizers" {
                return dead(format!("only `update` is ever checked on `{resource}`"), None);
            }
            if custom && !matches!(subresource, "status" | "scale") {
                return Liveness::CheckOnly;
            }
            let why = if custom { "its CRD does not declare it" } else { "the API has no such subresource" };
            return dead(format!("`{main}` has no subresource `{subresource}`: {why}"), None);
        }
        let suggestion = match self.nearest(api_group, main) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None => self.elsewhere(resource, api_group),
        };
        dead(format!("no resource `{main}` in {}", group_name(api_group)), suggestion)
    }

    fn odd_subresource(&self, resource: &str, subresource: &str) -> Liveness {
        let (message, hint) = match subresource {
            "*" => {
                let main = resource.split('/').next().unwrap_or_default();
                let hint = if main == "*" { "`*` covers every subresource".to_owned() } else { format!("`{main}/SUBRESOURCE`, or `*/SUBRESOURCE` for all resources") };
                (format!("`{resource}` matches nothing: the only partial wildcard is `*/SUBRESOURCE`"), Some(hint))
            }
            _ => (format!("no resource has the subresource `{subresource}`"), None),
        };
        dead(message, hint)
    }

    /// Ways to write a group that never match.
    fn odd_group(&self, api_group: &str, resource: &str) -> Option<DeadReason> {
        let (message, hint) = match api_group {
            "core" | "v1" | "corev1" => (format!("`{api_group}` is no API group: the core group is written \"\""), Some("did you mean \"\"?".to_owned())),
            group => {
                let (main, version) = group.split_once('/')?;
                let looks = version.starts_with('v') && version.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
                if !looks {
                    return None;
                }
                (format!("`{group}` is no API group: it carries a version"), Some(format!("did you mean `{main}`?")))
            }
        };
        let _ = resource;
        Some(DeadReason { message, suggestion: hint })
    }

    /// A resource of the group whose singular, kind or spelling without case this is.
    fn nearest(&self, api_group: &str, main: &str) -> Option<&str> {
        let lower = main.to_lowercase();
        let near = |served: &&Served| {
            served.subresource.is_empty()
                && (served.resource == lower || served.singular == lower || served.kind.to_lowercase() == lower)
        };
        self.of_group(api_group).find(near).map(|served| served.resource.as_str())
    }

    /// Where a resource of this name is served instead.
    fn elsewhere(&self, resource: &str, not_in: &str) -> Option<String> {
        let main = resource.split('/').next().unwrap_or_default();
        let groups: Vec<String> = self.groups_with(main).filter(|group| *group != not_in).map(group_name).collect();
        (!groups.is_empty()).then(|| format!("`{main}` is in {}", groups.join(" and ")))
    }

    /// Judges a pair of a rule entry with all its groups and resources. Entries are products
    /// (`apiGroups: ["", apps]` × many resources) that grant per existing pair, so a pair is only dead when its group
    /// has none of the resources, or its resource is in none of the groups.
    pub fn cross_product_liveness(
        &self,
        groups: &[&str],
        resources: &[&str],
        api_group: &str,
        resource: &str,
        verb: &str,
    ) -> Liveness {
        let own = self.liveness(api_group, resource, verb);
        let Liveness::Dead(_) = own else { return own };
        // A verb that the resource itself does not serve is dead beside any other pair.
        if !self.candidates(api_group, resource).is_empty() || (groups.len() < 2 && resources.len() < 2) {
            return own;
        }
        let exists = |group: &str, resource: &str| {
            !self.candidates(group, resource).is_empty()
                || is_checked_resource(group, resource)
                || (group != "*" && !self.knows_group(group) && !self.is_removed_or_odd(group, resource))
        };
        let group_has_others = resources.iter().any(|other| exists(api_group, other));
        let resource_is_elsewhere = groups.iter().any(|other| exists(other, resource));
        if group_has_others && resource_is_elsewhere { Liveness::Live } else { own }
    }

    fn is_removed_or_odd(&self, group: &str, resource: &str) -> bool {
        REMOVED_GROUPS.iter().any(|(removed, _)| *removed == group) || self.odd_group(group, resource).is_some()
    }
}

fn dead(message: String, suggestion: Option<String>) -> Liveness {
    Liveness::Dead(DeadReason { message, suggestion })
}

fn group_name(group: &str) -> String {
    if group.is_empty() { "the core group".to_owned() } else { format!("`{group}`") }
}

fn is_kubernetes_verb(verb: &str) -> bool {
    matches!(verb, "get" | "list" | "watch" | "create" | "update" | "patch" | "delete" | "deletecollection")
}

/// The verb that people mean when they write an HTTP method or a kubectl command.
fn verb_hint(verb: &str) -> Option<String> {
    let meant = match verb.to_lowercase().as_str() {
        "put" | "edit" | "modify" | "write" | "updatestatus" => "update",
        "post" => "create",
        "describe" | "read" | "head" => "get",
        "remove" => "delete",
        "delete-collection" | "deletecollections" => "deletecollection",
        other if is_kubernetes_verb(other) => return Some(format!("did you mean `{other}`?")),
        _ => return None,
    };
    Some(format!("did you mean `{meant}`?"))
}
