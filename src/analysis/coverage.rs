//! How much of the operator's life the evidence shows, and how sure an "unused" is for that. A grant whose path was not
//! exercised is unused with less than high confidence, and stays in the generated role by default.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Activity, Context, Grant, Verdict};
use crate::audit::{Decision, Observed, Usage};
use crate::rbac::Request;

/// A window in which most of what an operator does now and then has its turn: renewals, upgrades of what it manages,
/// weekly jobs.
const LONG: u64 = 7 * DAY;
const DAY: u64 = 24 * 60 * 60;

/// Resources whose removed grants were given back most often within 180 days (secrets 18 %, namespaces 25 % of mined
/// narrowing commits), and what error paths and leader changes write.
const GIVEN_BACK: [(&str, &str); 5] = [
    ("", "secrets"),
    ("", "namespaces"),
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
];

/// What the log shows of the operator's life.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Coverage {
    /// Seconds between the first and the last call of the subject.
    pub seconds: u64,
    /// Calls of the subject that list or watch: informers were started.
    pub started: bool,
    /// A lease was made or renewed: it was leader.
    pub led: bool,
    /// Calls of the subject that failed (4xx but 404 and 409, 5xx): error paths.
    pub failures: u64,
    /// Whether calls of others are in the log, who make and delete its objects.
    pub others: bool,
    /// What was seen of each CRD of the package, by anybody.
    pub crds: BTreeMap<String, Lifecycle>,
}

/// What was seen of the objects of a CRD.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Lifecycle {
    /// One was made.
    pub created: bool,
    /// One was changed.
    pub updated: bool,
    /// The status of one was written.
    pub status: bool,
    /// One was deleted.
    pub deleted: bool,
}

/// How sure an "unused" is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The path was not exercised, as far as the log tells.
    Low,
    /// The path was exercised, for a short time or on a resource that rare paths use.
    Medium,
    /// The path was exercised for long.
    High,
}

impl Coverage {
    pub(super) fn of(usage: &Usage, activity: &Activity<'_>, crds: BTreeMap<String, Lifecycle>) -> Self {
        let mut coverage =
            Self { seconds: seconds(activity), others: others(usage, activity), crds, ..Self::default() };
        for call in activity.allowed() {
            let Request::Resource(request) = &call.request else { continue };
            coverage.started |= matches!(&*request.verb, "list" | "watch");
            coverage.led |= request.resource == "leases" && matches!(&*request.verb, "create" | "update" | "patch");
            let failed = call.codes.iter().filter(|(code, _)| **code >= 400 && !matches!(**code, 404 | 409));
            coverage.failures = failed.fold(coverage.failures, |sum, (_, count)| sum.saturating_add(*count));
        }
        coverage
    }

    /// Says of every unused grant how sure that is; and of every other how sure it is that it is used for no more than
    /// was seen, by other names, in other namespaces, as other permissions of a wildcard.
    pub(super) fn judge(&self, grants: &mut [Grant]) {
        // Grants are many, paths are few.
        let mut known: BTreeMap<Path, (Confidence, String)> = BTreeMap::new();
        for grant in grants.iter_mut() {
            if !matches!(grant.verdict, Verdict::Unused | Verdict::Used | Verdict::Needed) {
                continue;
            }
            let path = Path::of(grant);
            let (confidence, missing) = known.entry(path).or_insert_with(|| self.confidence(path));
            grant.confidence = Some(*confidence);
            if grant.verdict == Verdict::Unused {
                grant.reason.clone_from(missing);
            }
        }
    }

    /// How sure it is that what was not seen of a path is unused, and what is missing to be surer.
    fn confidence(&self, path: Path) -> (Confidence, String) {
        let mut missing = Vec::new();
        if !self.started {
            missing.push("its start was not seen".to_owned());
        }
        if self.crds.is_empty() {
            missing.push("what makes it act is not known: no CRD is in the input".to_owned());
        }
        // Reads are part of any path.
        let reads = !path.writes && !path.deletes;
        if path.writes || reads {
            missing.extend(self.lacks("created", |life| life.created));
            missing.extend(self.lacks("changed", |life| life.updated));
        }
        if path.deletes || reads {
            missing.extend(self.lacks("deleted", |life| life.deleted));
        }
        let exercised = missing.is_empty();
        if self.seconds < LONG {
            missing.push(format!("the log covers {}", duration(self.seconds)));
        }
        if path.rare {
            missing.push("rare paths use this resource".to_owned());
        }
        let confidence = match (exercised, missing.is_empty()) {
            (true, true) => Confidence::High,
            (true, false) if self.seconds >= DAY => Confidence::Medium,
            _ => Confidence::Low,
        };
        (confidence, missing.join(", "))
    }

    /// What was seen of the operator's life, in words.
    pub fn text(&self) -> String {
        let mut seen = vec![duration(self.seconds)];
        seen.push(if self.started { "its start" } else { "not its start" }.to_owned());
        let count = |part: fn(&Lifecycle) -> bool| self.crds.values().filter(|life| part(life)).count();
        if !self.others && !self.crds.is_empty() {
            seen.push("not what others did with its own kinds: their calls are not in the log".to_owned());
        } else if let (1, Some(life)) = (self.crds.len(), self.crds.values().next()) {
            let said = |seen: bool, what: &str| if seen { what.to_owned() } else { format!("not {what}") };
            let [made, changed, deleted] =
                [(life.created, "made"), (life.updated, "changed"), (life.deleted, "deleted")].map(|(s, w)| said(s, w));
            seen.push(format!("its own kind {made}, {changed}, {deleted}"));
        } else if !self.crds.is_empty() {
            seen.push(format!(
                "of its {} kinds {} made, {} changed, {} deleted",
                self.crds.len(),
                count(|life| life.created),
                count(|life| life.updated),
                count(|life| life.deleted)
            ));
        }
        seen.join(", ")
    }

    /// The kinds of its own of which it was not seen; `None` when there are none.
    fn lacks(&self, what: &str, seen: fn(&Lifecycle) -> bool) -> Option<String> {
        let unseen: Vec<&str> = self.crds.iter().filter(|(_, life)| !seen(life)).map(|(name, _)| &**name).collect();
        // Who makes, changes and deletes them are mostly others.
        let (is, why) = if self.others { ("was", "") } else { ("is known to be", " (the log has no calls of others)") };
        match unseen.as_slice() {
            [only] => Some(format!("no {only} {is} {what}{why}")),
            [first, rest @ ..] => {
                Some(format!("no {first} {is} {what}, nor {} other kinds of its own{why}", rest.len()))
            }
            [] => None,
        }
    }
}

/// What decides how a grant comes to be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Path {
    writes: bool,
    deletes: bool,
    rare: bool,
}

impl Path {
    fn of(grant: &Grant) -> Self {
        let rule = &grant.rule;
        let verb = rule.verbs.first().map_or("", String::as_str);
        let rare = rule.api_groups.iter().zip(&rule.resources).any(|(group, resource)| {
            let main = resource.split_once('/').map_or(&**resource, |(main, _)| main);
            GIVEN_BACK.contains(&(group, main))
        });
        Self {
            writes: matches!(verb, "*" | "create" | "update" | "patch"),
            deletes: matches!(verb, "*" | "delete" | "deletecollection"),
            rare,
        }
    }
}

/// What was seen of each CRD of the package, by anybody.
pub(super) fn lives(cx: &Context<'_>, usage: &Usage) -> BTreeMap<String, Lifecycle> {
    let mut lives: BTreeMap<String, Lifecycle> =
        super::subjects::crds(cx).into_iter().map(|name| (name, Lifecycle::default())).collect();
    if lives.is_empty() {
        return lives;
    }
    for call in usage.calls.iter().filter(|call| has_worked(call)) {
        let Request::Resource(request) = &call.request else { continue };
        if let Some(life) = lives.get_mut(&format!("{}.{}", request.resource, request.api_group)) {
            let main = request.subresource.is_empty();
            let made = call.codes.contains_key(&201);
            match &*request.verb {
                "create" if main => life.created = true,
                "update" | "patch" if main => {
                    life.created |= made;
                    life.updated |= !made || call.codes.len() > 1;
                }
                "update" | "patch" if request.subresource == "status" => life.status = true,
                "delete" | "deletecollection" if main => life.deleted = true,
                _ => {}
            }
        }
    }
    lives
}

fn has_worked(call: &Observed) -> bool {
    call.decision == Decision::Allowed && call.codes.keys().any(|code| (200..300).contains(code))
}

/// Whether the log has people or other controllers in it.
fn others(usage: &Usage, activity: &Activity<'_>) -> bool {
    let own = activity.calls.first().map(|call| &call.user);
    // They are sorted by user.
    [usage.calls.first(), usage.calls.last()].into_iter().flatten().any(|call| Some(&call.user) != own)
}

fn seconds(activity: &Activity<'_>) -> u64 {
    let parsed = |text: &str| text.parse::<Timestamp>().ok();
    let first = activity.calls.iter().filter_map(|call| parsed(&call.first)).min();
    let last = activity.calls.iter().filter_map(|call| parsed(&call.last)).max();
    let between = first.zip(last).map(|(first, last)| last.as_second().saturating_sub(first.as_second()));
    between.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default()
}

/// In words, of the largest unit.
fn duration(seconds: u64) -> String {
    let (count, unit) = match seconds {
        0..120 => (seconds, "second"),
        120..7_200 => (seconds / 60, "minute"),
        7_200..172_800 => (seconds / 3_600, "hour"),
        _ => (seconds / DAY, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rbac::{Rule, Scope};

    fn grant(group: &str, resource: &str, verb: &str) -> Grant {
        let list = |text: &str| vec![text.to_owned()];
        let rule = Rule { api_groups: list(group), resources: list(resource), verbs: list(verb), ..Rule::default() };
        Grant { verdict: Verdict::Unused, ..Grant::new(Scope::Cluster, rule) }
    }

    fn covered(days: u64, life: Lifecycle) -> Coverage {
        Coverage {
            seconds: days * DAY,
            started: true,
            others: true,
            crds: [("widgets.example.com".to_owned(), life)].into(),
            ..Coverage::default()
        }
    }

    #[test]
    fn only_a_long_and_whole_life_makes_an_unused_grant_sure() {
        let whole = Lifecycle { created: true, updated: true, status: true, deleted: true };
        let path = |resource: &str, verb: &str| Path::of(&grant("", resource, verb));
        let sure = |coverage: &Coverage, resource: &str, verb: &str| coverage.confidence(path(resource, verb));
        assert_eq!(sure(&covered(7, whole), "services", "delete"), (Confidence::High, String::new()));
        assert_eq!(sure(&covered(6, whole), "services", "delete").0, Confidence::Medium);
        assert_eq!(sure(&covered(0, whole), "services", "delete").0, Confidence::Low);
        // Some are used by rare paths only.
        assert_eq!(sure(&covered(30, whole), "secrets", "get").0, Confidence::Medium);
        assert_eq!(sure(&covered(30, whole), "namespaces", "patch").0, Confidence::Medium);
        // And a short log makes nothing surer of them.
        assert_eq!(sure(&covered(0, whole), "secrets", "get").0, Confidence::Low);
        let never_deleted = covered(30, Lifecycle { deleted: false, ..whole });
        assert_eq!(sure(&never_deleted, "services", "update"), (Confidence::High, String::new()));
        let (confidence, why) = sure(&never_deleted, "services", "delete");
        assert_eq!((confidence, &*why), (Confidence::Low, "no widgets.example.com was deleted"));
        assert_eq!(sure(&never_deleted, "services", "get").0, Confidence::Low);
        assert_eq!(sure(&never_deleted, "services", "*").0, Confidence::Low);
        let not_started = Coverage { started: false, ..covered(30, whole) };
        assert_eq!(sure(&not_started, "services", "list").0, Confidence::Low);
        let unknown = Coverage { crds: BTreeMap::new(), ..covered(30, whole) };
        assert_eq!(sure(&unknown, "services", "list").0, Confidence::Low);
    }

    #[test]
    fn what_others_did_is_not_known_of_a_log_without_them() {
        let alone = Coverage { others: false, ..covered(30, Lifecycle::default()) };
        let (confidence, why) = alone.confidence(Path::of(&grant("", "services", "delete")));
        let unknown = "no widgets.example.com is known to be deleted (the log has no calls of others)";
        assert_eq!((confidence, &*why), (Confidence::Low, unknown));
        let said = "30 days, its start, not what others did with its own kinds: their calls are not in the log";
        assert_eq!(alone.text(), said);
        // Without kinds of its own there is nothing to do with them.
        let none = Coverage { crds: BTreeMap::new(), ..alone };
        assert_eq!(none.text(), "30 days, its start");
        let seen = Coverage { others: true, ..covered(30, Lifecycle::default()) };
        assert_eq!(seen.text(), "30 days, its start, its own kind not made, not changed, not deleted");
    }

    #[test]
    fn durations_are_said_in_their_largest_unit() {
        let said = [0, 1, 119, 120, 7_199, 7_200, 172_800].map(duration);
        assert_eq!(said, ["0 seconds", "1 second", "119 seconds", "2 minutes", "119 minutes", "2 hours", "2 days"]);
    }
}
