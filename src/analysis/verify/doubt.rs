//! What the log leaves open: checks that were perhaps made, and what bodies that are missing would have shown. What the
//! role holds is no question; of the rest, what decides is whether the log speaks against the role.

use std::collections::{BTreeMap, BTreeSet};

use super::super::activity::{Activity, Known};
use super::super::verdict::{has_wildcard, hides_all};
use super::{Doubt, Leftover, Role, in_words};
use crate::audit::{Decision, Origin, Usage};
use crate::graph::SubjectKey;
use crate::needs::{self, Ask, Need, NeedKind, Platform, Unread, Way};
use crate::rbac::{Request, Scope};

const RBAC: &str = "rbac.authorization.k8s.io";

/// What the log shows, and of whom.
pub(super) struct Seen<'s, 'a> {
    pub(super) usage: &'a Usage,
    pub(super) key: &'s SubjectKey,
    pub(super) known: &'s Known<'s>,
    pub(super) activity: &'s Activity<'a>,
}

/// The doubts, and what was not verified.
///
/// A need that is only likely and that the role does not satisfy is a doubt: a role, binding or policy was written, or
/// a question was answered with yes, and only where it changed nothing does the role suffice. It is no doubt, but said,
///
/// - where the rules under which the subject is known to have worked (`works`) do not satisfy it either: then it was not
///   checked, or something else than those roles grants it;
/// - where only OpenShift makes the check: few objects say whether it did, and most clusters never do;
/// - where the answer to a question is not in the log;
/// - where a role is bound whose rules are in neither the log nor the input, and the role has something to spare that may
///   be those. With nothing to spare it holds just what the subject does itself: that would be chance, so a doubt.
///
/// A body that is missing says nothing for or against any role, so no doubt comes of it: else no log of level Metadata
/// could verify an operator that writes roles. A role with `escalate` or `bind` is free of that.
pub(super) fn of(
    role: &Role<'_>,
    works: Option<&Role<'_>>,
    seen: &Seen<'_, '_>,
    left: &[Leftover],
) -> (Vec<Doubt>, Vec<String>) {
    let (mut doubts, mut open) = (BTreeSet::new(), unread(role, seen.activity));
    let of_kind = |kind| seen.activity.needs.iter().filter(move |need| need.kind == kind);
    let checked: BTreeSet<&Vec<Way>> = of_kind(NeedKind::Checked).map(|need| &need.ways).collect();
    let likely = of_kind(NeedKind::Likely).filter(|need| !checked.contains(&need.ways));
    let lacking: Vec<&Need> = likely.filter(|need| !role.satisfies(need)).collect();
    if lacking.is_empty() {
        return (Vec::new(), open.into_iter().collect());
    }
    let questions = questions(seen);
    let spare = with_some_to_spare(role, left);
    let everywhere = Activity::of(seen.usage, &seen.key.user(), seen.known, Platform::Vanilla).needs;
    let everywhere: BTreeSet<&Need> = everywhere.iter().collect();
    for need in lacking {
        let ways: Vec<Vec<Request>> = need.ways.iter().map(|way| lacks(role, way)).collect();
        let wanted = ways.first().into_iter().flatten().next().map(in_words).unwrap_or_default();
        let unsure =
            |why: &str| format!("{}: it would need {wanted}, which the role does not hold; {why}", need.reason);
        let answered = asks(need).and_then(|request| questions.get(request));
        let bound = if answered.is_none() { bound_role(need) } else { None };
        if works.is_some_and(|works| !works.satisfies(need)) {
            open.insert(unsure("the manifests do not grant it either"));
        } else if !everywhere.contains(need) {
            open.insert(unsure("only OpenShift checks that, and not in every such call (--platform)"));
        } else if answered == Some(&false) {
            open.insert(unsure("the log does not show the answer"));
        } else if bound.as_ref().is_some_and(|(_, at)| spare.contains(&Scope::Cluster) || spare.contains(at)) {
            open.insert(unsure("or the rules of that role, which are not in the input: give its manifests"));
        } else {
            let (why, bound_role) = match (answered, bound) {
                (Some(_), _) => ("; the answer was yes", String::new()),
                (None, Some((name, _))) => ("; the rules of the role are not in the input: give its manifests", name),
                (None, None) => (", unless the call changed nothing", String::new()),
            };
            doubts.insert(Doubt { reason: format!("{}{why}", need.reason), ways, bound_role });
        }
    }
    (doubts.into_iter().collect(), open.into_iter().collect())
}

/// What the log hints at, without what the role is free of.
fn unread(role: &Role<'_>, activity: &Activity<'_>) -> BTreeSet<String> {
    let is_free = |unread, call| unread != Unread::Other && !hides_all(unread, call, &|ask| role.holds(ask));
    let free = activity.calls.iter().filter(|call| needs::unread(call).is_some_and(|it| is_free(it, &call.request)));
    let free: BTreeSet<String> = free.filter_map(|call| needs::suspected(call)).collect();
    activity.suspected.iter().filter(|hint| !free.contains(*hint)).cloned().collect()
}

/// What was asked of the API server about the subject, and whether the log shows that the answer was yes.
fn questions<'a>(seen: &Seen<'_, 'a>) -> BTreeMap<&'a Request, bool> {
    let user = seen.key.user();
    let asked = seen.usage.calls.iter().filter(|call| call.user == user);
    let mut questions = BTreeMap::new();
    for call in asked.filter(|call| matches!(call.origin, Origin::Asked | Origin::AskedBy)) {
        *questions.entry(&call.request).or_default() |= call.decision == Decision::Allowed;
    }
    questions
}

/// The one request that the need is.
fn asks(need: &Need) -> Option<&Request> {
    match need.ways.as_slice() {
        [way] => match way.as_slice() {
            [Ask::Make(request)] => Some(request),
            _ => None,
        },
        _ => None,
    }
}

/// A role that is bound and has no rules to hold instead of `bind`: they are not known. And where it is bound.
fn bound_role(need: &Need) -> Option<(String, Scope)> {
    let Request::Resource(bind) = asks(need)? else { return None };
    if (bind.api_group.as_str(), bind.verb.as_str()) != (RBAC, "bind") {
        return None;
    }
    let kind = if bind.resource == "roles" { "Role" } else { "ClusterRole" };
    let scope = match bind.namespace.as_str() {
        "" => Scope::Cluster,
        namespace => Scope::Namespace(namespace.to_owned()),
    };
    Some((format!("{kind} {}", bind.name), scope))
}

/// Where the role holds more than was asked for.
fn with_some_to_spare<'s>(role: &'s Role<'_>, left: &'s [Leftover]) -> BTreeSet<&'s Scope> {
    let wild = role.own.iter().filter(|(_, rule)| has_wildcard(rule)).map(|(scope, _)| scope);
    left.iter().map(|left| &left.scope).chain(wild).collect()
}

fn lacks(role: &Role<'_>, way: &Way) -> Vec<Request> {
    way.iter().filter(|ask| !role.holds(ask)).map(Ask::request).collect()
}
