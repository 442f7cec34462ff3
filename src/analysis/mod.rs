//! Judges each subject: what it holds against what it used. The facts of one package and a Usage profile come
//! in, an [`Assessment`] per subject goes out; rules and reports read only that.

mod activity;
mod assessment;
mod authority;
mod budget;
mod coverage;
mod deficit;
mod difference;
mod explained;
mod generated;
mod index;
mod kept;
mod meant;
mod minimal;
mod names;
mod observable;
mod pattern;
mod points;
mod rerun;
mod subjects;
mod verdict;
mod verify;
mod ways;

use std::collections::BTreeMap;

use self::index::GrantIndex;
use self::minimal::Done;
use crate::api::Table;
use crate::audit::policy::Policy;
use crate::audit::{Observed, Usage};
use crate::graph::{Graph, SubjectKey};
use crate::manifest::Package;
use crate::rbac::{Request, Rule};
use crate::source::SourceMap;

pub use crate::needs::Platform;
pub(crate) use activity::Activity;
pub use activity::Known;
pub use assessment::*;
pub use budget::{Budget, MOST_GRANTS};
pub use coverage::{Confidence, Coverage, Lifecycle};
pub use deficit::{Deficit, MissingRule, RefusedBy};
pub use difference::{Difference, Excess, PathPoint, Point, difference};
pub use minimal::{Names, Namespaces};
pub use pattern::GrantPattern;
pub use rerun::{RefusedNow, Rerun, allowed, rerun};
pub use subjects::Selection;
pub use verdict::describe;
pub use verify::{Doubt, Given, Leftover, MayBeNeeded, Missing, Verification, in_words, rules_for, verify};

/// What the analysis of a package works on.
#[derive(Debug)]
pub struct Context<'a> {
    /// The package.
    pub package: &'a Package,
    /// Its graph.
    pub graph: &'a Graph,
    /// Texts, for positions.
    pub sources: &'a SourceMap,
    /// What is served, with the CRDs of the whole input.
    pub table: &'a Table,
    /// Kubernetes minor, such as `1.36`.
    pub minor: &'a str,
    /// What the logs showed.
    pub usage: Option<&'a Usage>,
    /// What the API server recorded in those logs, where it is known.
    pub policy: Option<&'a Policy>,
    /// Choices of the user.
    pub options: &'a Options,
    /// How many more grants the run may hold.
    pub budget: &'a Budget,
}

/// Choices of the user.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Only these subjects (`NAMESPACE/NAME` or a user name); empty: the package's own.
    pub subjects: Vec<String>,
    /// What the cluster runs.
    pub platform: Platform,
    /// How namespaces of the minimal role are chosen.
    pub namespaces: Namespaces,
    /// Which names the minimal role pins.
    pub names: Names,
    /// Leave out unused grants whose path was not exercised.
    pub drop_unexercised: bool,
    /// Leave out grants whose use the log could not have shown.
    pub drop_unobservable: bool,
    /// Grants that stay as they are.
    pub keep: Vec<GrantPattern>,
    /// Grants that do not stay unless they were seen in use.
    pub drop: Vec<GrantPattern>,
    /// Grant denied calls too.
    pub include_denied: bool,
}

/// Assesses every subject of the package.
pub fn assess(cx: &Context<'_>) -> Vec<Assessment> {
    let seen = cx.usage.map(|usage| Seen {
        usage,
        platform: activity::platform(usage, cx.options.platform),
        lives: coverage::lives(cx, usage),
    });
    subjects::select(cx).iter().map(|selection| assess_one(cx, seen.as_ref(), selection)).collect()
}

/// What the log shows that is the same for every subject.
struct Seen<'a> {
    usage: &'a Usage,
    platform: Platform,
    /// Of each CRD of the package.
    lives: BTreeMap<String, Lifecycle>,
}

/// `(1, 36)` of `1.36`.
pub fn minor_of(text: &str) -> (u32, u32) {
    let mut parts = text.split('.').map(|part| part.parse().unwrap_or_default());
    (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
}

/// What every authenticated user holds.
pub(crate) fn is_default(defaults: &[Rule], request: &Request) -> bool {
    defaults.iter().any(|rule| rule.allows(request))
}

fn assess_one(cx: &Context<'_>, log: Option<&Seen<'_>>, selection: &Selection) -> Assessment {
    let held = authority::held(cx, selection);
    let activity = match (log, selection.user().as_str()) {
        (Some(log), user) if !user.is_empty() => Some(Activity::of(log.usage, user, &Known::of(cx), log.platform)),
        _ => None,
    };
    let defaults = crate::api::builtin::authenticated_rules(cx.minor);
    let (mut grants, entries_left_out) = authority::grants(cx, &held);
    // Without a single event of the subject the log proves nothing about it.
    let seen = activity.as_ref().filter(|activity| !activity.calls.is_empty());
    let recorded = cx.policy.zip(seen).map(|(policy, _)| observable::recorded(policy, selection));
    let chosen = seen.map(|activity| ways::choose(&activity.needs, &GrantIndex::new(&grants), &defaults));
    let judged = seen.zip(chosen.as_deref());
    let calls = verdict::judge(cx, &mut grants, judged, recorded.as_ref(), &defaults);
    let coverage = seen.zip(log).map(|(activity, log)| Coverage::of(log.usage, activity, log.lives.clone()));
    if let Some(coverage) = &coverage {
        coverage.judge(&mut grants);
    }
    let points = points::count(cx.table, &grants, judged, &defaults);
    let deficits = seen.map(|activity| deficit::of(activity, &calls, &grants, &held.bindings)).unwrap_or_default();
    let minimal = judged.map(|(activity, chosen)| {
        let done = Done {
            calls: &calls,
            activity,
            chosen,
            has_manifests: !held.bindings.is_empty(),
            coverage: coverage.as_ref(),
        };
        minimal::role(cx, selection, &grants, &done)
    });
    let mut notes = selection.notes.clone();
    if entries_left_out > 0 {
        notes.push(format!(
            "{entries_left_out} rule entries multiply out to more than the {MOST_GRANTS} grants that one run judges: they are not judged"
        ));
    }
    if let (Some(usage), None) = (cx.usage, seen)
        && !selection.id.unbound
    {
        notes.push(match selection.key {
            Some(SubjectKey::Group(_)) => "a group: the calls of its members are not added up".to_owned(),
            _ => format!(
                "the log has no event of this subject among its {} events: nothing is judged as unused",
                usage.quality.events
            ),
        });
    }
    notes.extend(activity.as_ref().map(|activity| activity.suspected.clone()).unwrap_or_default());
    notes.extend(recorded.iter().flat_map(|recorded| observable::notes(cx, recorded, &grants, &calls)));
    Assessment {
        package: cx.package.name.clone(),
        subject: selection.id.clone(),
        workloads: subjects::workloads(cx, selection),
        account: subjects::account(cx, selection),
        bindings: held.bindings,
        crds: subjects::crds(cx),
        accounts_beside: subjects::accounts_beside(cx, selection),
        platform: activity.as_ref().map_or(cx.options.platform, |activity| activity.platform),
        points,
        entries_left_out,
        coverage,
        deficits,
        evidence: activity.as_ref().zip(cx.usage).map(|(activity, usage)| evidence(activity, usage)),
        grants,
        calls,
        minimal,
        notes,
    }
}

fn evidence(activity: &Activity<'_>, usage: &Usage) -> Evidence {
    let times =
        |pick: fn(&Observed) -> &str| activity.calls.iter().map(move |call| pick(call)).filter(|time| !time.is_empty());
    Evidence {
        calls: activity
            .calls
            .iter()
            .filter(|call| call.origin == crate::audit::Origin::Call)
            .fold(0, |sum, call| sum.saturating_add(call.count)),
        distinct: activity.calls.len() as u64,
        first: times(|call| &call.first).min().unwrap_or_default().to_owned(),
        last: times(|call| &call.last).max().unwrap_or_default().to_owned(),
        log: usage.quality.clone(),
    }
}

impl Selection {
    pub(crate) fn user(&self) -> String {
        self.key.as_ref().map(SubjectKey::user).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
