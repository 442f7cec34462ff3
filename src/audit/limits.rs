//! What a log seems never to show, told from the log itself: kinds of requests that a whole cluster makes all the time,
//! and of which it has none. Managed services leave them out of their logs (the defaults of GKE, EKS, AKS and OpenShift,
//! each beside its limit).

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rbac::Rule;

/// A kind of requests that a log has none of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// No get, list or watch: GKE without Data Access logs.
    NoReads,
    /// No get or list: the category `kube-audit-admin` of AKS.
    NoGetsOrLists,
    /// Nothing on core events: the policies of GKE, EKS and kubespray.
    NoCoreEvents,
    /// No path that is no resource: the policies of OpenShift leave out `/api*`, `/healthz`, `/version` and others.
    NoPaths,
}

impl Limit {
    /// In plain words.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoReads => "the log has no get, list or watch of anybody: reads seem not to be recorded",
            Self::NoGetsOrLists => "the log has no get or list of anybody: they seem not to be recorded",
            Self::NoCoreEvents => "the log has nothing on core events of anybody: they seem not to be recorded",
            Self::NoPaths => "the log has no path beside resources of anybody: they seem not to be recorded",
        }
    }

    /// Whether it hides uses of a grant of one verb on one resource or path, some at least.
    pub fn hides(self, rule: &Rule) -> bool {
        let is =
            |list: &[String], wanted: &[&str]| list.iter().any(|text| text == "*" || wanted.contains(&text.as_str()));
        match self {
            Self::NoReads => !rule.resources.is_empty() && is(&rule.verbs, &["get", "list", "watch"]),
            Self::NoGetsOrLists => !rule.resources.is_empty() && is(&rule.verbs, &["get", "list"]),
            Self::NoCoreEvents => is(&rule.resources, &["events"]) && is(&rule.api_groups, &[""]),
            Self::NoPaths => !rule.non_resource_urls.is_empty(),
        }
    }
}

/// Fewer events, or users, are not a whole cluster's.
const FEWEST_EVENTS: u64 = 1_000;
const FEWEST_USERS: usize = 5;

/// Kinds of requests that were seen, of whatever user.
#[derive(Debug, Clone, Default)]
pub(super) struct Sights {
    gets_or_lists: bool,
    watches: bool,
    core_events: bool,
    paths: bool,
    /// Some of the users.
    users: BTreeSet<Box<str>>,
}

impl Sights {
    /// Takes note of a request, by the key of its call.
    pub(super) fn note(&mut self, key: &str) {
        // This is asked of every event: the kinds that most of them show cost nothing more once they were seen.
        let Some((user, request)) = memchr::memchr(0, key.as_bytes()).and_then(|end| key.split_at_checked(end)) else {
            return;
        };
        if self.users.len() < FEWEST_USERS && !self.users.contains(user) {
            self.users.insert(user.into());
        }
        if request.starts_with("\0u") {
            self.paths = true;
            return;
        }
        self.core_events |= request.starts_with("\0r\0events\0");
        if !(self.gets_or_lists && self.watches) {
            let verb = request.split('\0').nth(4).unwrap_or_default();
            self.gets_or_lists |= matches!(verb, "get" | "list");
            self.watches |= verb == "watch";
        }
    }

    /// Whether kinds are missing that every log of a whole cluster has within its first lines.
    pub(super) fn lack_common_kinds(&self) -> bool {
        !self.gets_or_lists || !self.watches || self.users.len() < FEWEST_USERS
    }

    /// Whether nothing on core events was seen.
    pub(super) fn lack_core_events(&self) -> bool {
        !self.core_events
    }

    /// Whether no path beside resources was seen.
    pub(super) fn lack_paths(&self) -> bool {
        !self.paths
    }

    /// What a log of so many events seems never to show; `of_gke`: all of them came from Cloud Logging.
    pub(super) fn limits(&self, events: u64, of_gke: bool) -> BTreeSet<Limit> {
        let whole = events >= FEWEST_EVENTS && self.users.len() >= FEWEST_USERS;
        let reads = match (self.gets_or_lists, self.watches) {
            (false, false) => Some(Limit::NoReads),
            (false, true) => Some(Limit::NoGetsOrLists),
            (true, _) => None,
        };
        let rest = [
            (!self.core_events).then_some(Limit::NoCoreEvents),
            // Entries of paths are reads.
            (!self.paths).then_some(Limit::NoPaths),
        ];
        match (whole, of_gke && events > 0) {
            (true, _) => reads.into_iter().chain(rest.into_iter().flatten()).collect(),
            // Its two logs, of writes and of data access, are kept apart, so that one is often missing.
            (false, true) => reads.into_iter().collect(),
            (false, false) => BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(group: &str, resource: &str, verb: &str) -> Rule {
        let list = |text: &str| vec![text.to_owned()];
        Rule { api_groups: list(group), resources: list(resource), verbs: list(verb), ..Rule::default() }
    }

    fn key(user: usize, kind: &str, resource: &str, verb: &str) -> String {
        [&*format!("u{user}"), kind, resource, "", verb, "ns", "", "0", "0"].join("\0")
    }

    #[test]
    fn a_whole_log_without_a_kind_of_requests_never_shows_them() {
        let mut sights = Sights::default();
        (0..5).for_each(|user| sights.note(&key(user, "rapps", "deployments", "update")));
        let all = [Limit::NoReads, Limit::NoCoreEvents, Limit::NoPaths];
        assert_eq!(sights.limits(1_000, false), all.into());
        assert_eq!(sights.limits(999, false), [].into());
        assert_eq!(sights.limits(1, true), [Limit::NoReads].into());
        sights.note(&key(1, "r", "pods", "watch"));
        sights.note(&key(1, "r", "events", "create"));
        sights.note(&["u", "u/healthz", "get", "", "", "", "", "0", "0"].join("\0"));
        assert_eq!(sights.limits(1_000, false), [Limit::NoGetsOrLists].into());
        sights.note(&key(1, "r", "pods", "list"));
        assert_eq!(sights.limits(1_000, false), [].into());
        let mut few = Sights::default();
        few.note(&key(1, "r", "pods", "create"));
        assert_eq!(few.limits(100_000, false), [].into());
    }

    #[test]
    fn a_limit_hides_what_it_is_about() {
        let hidden = |limit: Limit, group: &str, resource: &str, verb: &str| limit.hides(&rule(group, resource, verb));
        assert!(hidden(Limit::NoReads, "", "pods", "get") && hidden(Limit::NoReads, "apps", "*", "*"));
        assert!(!hidden(Limit::NoReads, "", "pods", "create") && !hidden(Limit::NoGetsOrLists, "", "pods", "watch"));
        assert!(hidden(Limit::NoCoreEvents, "", "events", "patch") && hidden(Limit::NoCoreEvents, "*", "*", "create"));
        assert!(!hidden(Limit::NoCoreEvents, "events.k8s.io", "events", "patch"));
        assert!(!hidden(Limit::NoPaths, "", "pods", "get"));
    }
}
