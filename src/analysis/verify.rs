//! Would this role have allowed every observed call, and what of it is left over.

use schemars::JsonSchema;
use serde::Serialize;

use super::activity::platform;
use super::authority::size;
use super::verdict::{describe, sibling};
use super::{Activity, Known, MOST_GRANTS, is_default};
use crate::audit::{Decision, Sample, Usage};
use crate::graph::{Graph, SubjectKey, binding_scope};
use crate::manifest::Package;
use crate::needs::{Ask, NeedKind};
use crate::rbac::{Request, Rule, Scope};

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
    /// Entries that no observed call and no need asks for.
    pub leftover: Vec<Leftover>,
    /// Denied calls of the log that the role would still deny.
    pub denied: u64,
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

/// An entry that nothing asks for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Leftover {
    /// Where it holds.
    pub scope: Scope,
    /// One verb on one resource or URL.
    pub rule: Rule,
}

/// Checks the rules against what `user` did.
pub fn verify(rules: &[(Scope, Rule)], user: &str, subject: &str, usage: &Usage, known: &Known<'_>) -> Verification {
    let activity = Activity::of(usage, user, known, platform(usage, known.platform));
    let defaults = crate::api::builtin::authenticated_rules(known.minor);
    let allowed = |request: &Request| {
        is_default(&defaults, request)
            || rules.iter().any(|(scope, rule)| scope.reaches(request.namespace()) && rule.allows(request))
    };
    let mut answer = Verification {
        subject: subject.to_owned(),
        checked: 0,
        calls: 0,
        missing: Vec::new(),
        leftover: Vec::new(),
        denied: 0,
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
    let by_default: Vec<(Scope, Rule)> = defaults.iter().map(|rule| (Scope::Cluster, rule.clone())).collect();
    let given = |ask: &Ask| ask.is_given_by(rules.iter().chain(&by_default).map(|(scope, rule)| (scope, rule)));
    for need in activity.needs.iter().filter(|need| need.kind == NeedKind::Checked) {
        if need.ways.iter().any(|way| way.iter().all(given)) {
            continue;
        }
        for ask in need.ways.first().into_iter().flatten().filter(|ask| !given(ask)) {
            let request = ask.request();
            let (permission, reason) = (describe(&request), need.reason.to_owned());
            answer.missing.push(Missing { permission, request, count: 0, reason, samples: Vec::new() });
        }
    }
    let denied = activity.calls.iter().filter(|call| call.decision == Decision::Denied);
    let denied = denied.filter(|call| !allowed(&call.request)).map(|call| call.count);
    answer.denied = denied.fold(0, u64::saturating_add);
    answer.leftover = leftover(rules, &activity);
    answer
}

fn leftover(rules: &[(Scope, Rule)], activity: &Activity<'_>) -> Vec<Leftover> {
    let asked = |scope: &Scope, rule: &Rule| {
        let mut uses = activity.allowed().map(|call| &call.request);
        let mut asks = activity.needs.iter().flat_map(|need| need.ways.iter().flatten());
        uses.any(|request| scope.reaches(request.namespace()) && rule.allows(request))
            || asks.any(|ask| ask.is_given(scope, rule))
    };
    let mut left = Vec::new();
    for (scope, rule) in rules {
        if size(rule) > MOST_GRANTS {
            // More than any log asks for; told as a whole.
            left.push(Leftover { scope: scope.clone(), rule: rule.clone() });
            continue;
        }
        for single in rule.singles() {
            let pair = single.verbs.first().and_then(|verb| sibling(verb));
            let pair = pair.map(|verb| Rule { verbs: vec![verb.to_owned()], ..single.clone() });
            if !asked(scope, &single) && !pair.is_some_and(|pair| asked(scope, &pair)) {
                left.push(Leftover { scope: scope.clone(), rule: single });
            }
        }
    }
    left.sort();
    left.dedup();
    left
}

/// The rules that the package gives a subject, with their scopes. Roles that nobody is bound to count as bound to
/// it: a Role in its namespace, a ClusterRole everywhere.
pub fn rules_for(package: &Package, graph: &Graph, subject: &SubjectKey) -> Vec<(Scope, Rule)> {
    let mut held = graph.held_by(subject, |binding| match package.facts.bindings.get(binding) {
        Some(binding) => binding_scope(binding.kind, package.resolve(binding.namespace.as_ref())),
        None => Scope::Cluster,
    });
    for role in graph.unbound_roles() {
        held.extend(graph.held_by_role(role.kind, &role.namespace, &role.name));
    }
    let rules =
        held.into_iter().flat_map(|held| held.entries.into_iter().map(move |e| (held.scope.clone(), e.rule.clone())));
    rules.collect()
}
