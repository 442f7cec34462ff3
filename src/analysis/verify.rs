//! Would this role have allowed every observed call, and what of it is left over.
//!
//! Three answers, by what the log proves. *Missing*: calls, and checks that were made with them: the role would have
//! refused them. *Doubtful*: checks that were made if a call changed something, which it does not tell, and that the
//! role would have failed. *Not verified*: what the log, or the input, does not hold; it says nothing against the role,
//! so that the role cut from a log always passes on that log.

mod doubt;
mod given;
mod leftover;

use schemars::JsonSchema;
use serde::Serialize;

use super::activity::platform;
use super::verdict::describe;
use super::{Activity, Known, Rerun, is_default};
use crate::audit::{Decision, Sample, Usage};
use crate::graph::SubjectKey;
use crate::needs::{Ask, Need, NeedKind};
use crate::rbac::{Request, Rule, Scope};

pub use given::{Given, rules_for};

/// The answer.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// The subject.
    pub subject: String,
    /// Authorized calls that were checked (distinct permissions).
    pub checked: u64,
    /// How many calls those were.
    pub calls: u64,
    /// Calls and checks that the role would have refused.
    pub missing: Vec<Missing>,
    /// Checks that the role would have failed, and that were made only if a call changed something.
    pub doubtful: Vec<Doubt>,
    /// What may be needed and was not verified, because the log or the input does not hold it.
    pub not_verified: Vec<String>,
    /// Entries that no observed call and no need asks for.
    pub leftover: Vec<Leftover>,
    /// Such entries that may be needed all the same: to cut them may break what the log does not show.
    pub may_be_needed: Vec<MayBeNeeded>,
    /// Denied calls of the log that the role would still deny.
    pub denied: u64,
    /// What was made of the role files, see [`Given`].
    pub notes: Vec<String>,
    /// A run under the role beside the run of the log, where one is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerun: Option<Rerun>,
}

/// A call or check that the role would have refused.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Missing {
    /// In words: `get pods`, `create configmaps`.
    pub permission: String,
    /// What is asked.
    pub request: Request,
    /// How often it was called; 0 for a check behind a call.
    pub count: u64,
    /// Why it is needed, for a check behind a call.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Where the log shows it.
    pub samples: Vec<Sample>,
}

/// A check that the role would have failed, if it was made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Doubt {
    /// What it is for, and why the log does not tell whether it was made.
    pub reason: String,
    /// Each of these suffices: what the role lacks of it.
    pub ways: Vec<Vec<Request>>,
    /// The role that is bound, where its rules are not known: they suffice too.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bound_role: String,
}

/// An entry that nothing asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Leftover {
    /// Where it holds.
    pub scope: Scope,
    /// One verb on one resource or URL.
    pub rule: Rule,
}

/// An entry that nothing in the log asks for, and why it may be needed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MayBeNeeded {
    /// Where it holds.
    pub scope: Scope,
    /// One verb on one resource or URL.
    pub rule: Rule,
    /// Why.
    pub reason: String,
}

/// The role to verify: its rules with their scopes, and those that everybody has.
struct Role<'a> {
    own: &'a [(Scope, Rule)],
    by_default: Vec<(Scope, Rule)>,
}

impl<'a> Role<'a> {
    fn new(own: &'a [(Scope, Rule)], minor: &str) -> Self {
        let defaults = crate::api::builtin::authenticated_rules(minor);
        Self { own, by_default: defaults.iter().map(|rule| (Scope::Cluster, rule.clone())).collect() }
    }

    fn holds(&self, ask: &Ask) -> bool {
        ask.is_given_by(self.own.iter().chain(&self.by_default).map(|(scope, rule)| (scope, rule)))
    }

    fn satisfies(&self, need: &Need) -> bool {
        need.ways.iter().any(|way| way.iter().all(|ask| self.holds(ask)))
    }
}

/// Checks the rules against what the subject did. `works`: the rules under which it is known to have worked, if there are
/// such: what they do not hold either says nothing against these, where the log leaves it open.
pub fn verify(
    rules: &[(Scope, Rule)],
    works: Option<&[(Scope, Rule)]>,
    key: &SubjectKey,
    usage: &Usage,
    known: &Known<'_>,
) -> Verification {
    let activity = Activity::of(usage, &key.user(), known, platform(usage, known.platform));
    let defaults = crate::api::builtin::authenticated_rules(known.minor);
    let allowed = |request: &Request| {
        is_default(&defaults, request)
            || rules.iter().any(|(scope, rule)| scope.reaches(request.namespace()) && rule.allows(request))
    };
    let mut answer = Verification {
        subject: key.to_string(),
        checked: 0,
        calls: 0,
        missing: Vec::new(),
        doubtful: Vec::new(),
        not_verified: Vec::new(),
        leftover: Vec::new(),
        may_be_needed: Vec::new(),
        denied: 0,
        notes: Vec::new(),
        rerun: None,
    };
    for call in activity.allowed() {
        answer.checked += 1;
        answer.calls = answer.calls.saturating_add(call.count);
        if !allowed(&call.request) {
            answer.missing.push(Missing {
                permission: describe(&call.request),
                request: call.request.clone(),
                count: call.count,
                reason: String::new(),
                samples: call.samples.clone(),
            });
        }
    }
    let role = Role::new(rules, known.minor);
    for need in activity.needs.iter().filter(|need| need.kind == NeedKind::Checked) {
        if role.satisfies(need) {
            continue;
        }
        for ask in need.ways.first().into_iter().flatten().filter(|ask| !role.holds(ask)) {
            let request = ask.request();
            let (permission, reason) = (describe(&request), need.reason.to_owned());
            answer.missing.push(Missing { permission, request, count: 0, reason, samples: Vec::new() });
        }
    }
    let denied = activity.calls.iter().filter(|call| call.decision == Decision::Denied);
    let denied = denied.filter(|call| !allowed(&call.request)).map(|call| call.count);
    answer.denied = denied.fold(0, u64::saturating_add);
    let left = leftover::of(rules, &activity);
    let seen = doubt::Seen { usage, key, known, activity: &activity };
    let works = works.map(|rules| Role::new(rules, known.minor));
    (answer.doubtful, answer.not_verified) = doubt::of(&role, works.as_ref(), &seen, &left);
    (answer.leftover, answer.may_be_needed) = leftover::split(left, &role, &activity, usage);
    answer
}

/// `verb resource.group \`name\` in namespace`.
pub fn in_words(request: &Request) -> String {
    let place = match request.namespace() {
        "" => "at cluster scope".to_owned(),
        namespace => format!("in {namespace}"),
    };
    let name = match request {
        Request::Resource(request) if !request.name.is_empty() => format!(" `{}`", request.name),
        _ => String::new(),
    };
    format!("{}{name} {place}", describe(request))
}
