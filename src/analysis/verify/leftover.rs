//! What of the role nothing asks for, and what of that is no waste all the same.

use super::super::MOST_GRANTS;
use super::super::activity::Activity;
use super::super::authority::size;
use super::super::observable::{ASKED_ELSEWHERE, shows_reviews};
use super::super::verdict::{hidden, sibling};
use super::{Leftover, MayBeNeeded, Role};
use crate::api::{is_check_only, is_checked_elsewhere};
use crate::audit::Usage;
use crate::rbac::{Rule, Scope};

const CHECK_ONLY: &str = "it is only ever checked with other calls, never called itself";

/// Entries that no observed call and no need asks for.
pub(super) fn of(rules: &[(Scope, Rule)], activity: &Activity<'_>) -> Vec<Leftover> {
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

/// Parts those that may be needed from the rest: all of them where rules are handed out that the log does not show and the
/// role has nothing that frees of holding those, else what never is an event of its own, or is asked for where the log does
/// not show it. `role` keeps the same.
pub(super) fn split(
    left: Vec<Leftover>,
    role: &Role<'_>,
    activity: &Activity<'_>,
    usage: &Usage,
) -> (Vec<Leftover>, Vec<MayBeNeeded>) {
    let hidden = hidden(&activity.unread, &|ask| role.holds(ask));
    let shows_reviews = shows_reviews(usage);
    let elsewhere = |rule: &Rule| (is_checked_elsewhere(rule) && !shows_reviews).then_some(ASKED_ELSEWHERE);
    let (mut rest, mut may_be_needed) = (Vec::new(), Vec::new());
    for Leftover { scope, rule } in left {
        match hidden.or_else(|| is_only_checked(&rule).then_some(CHECK_ONLY)).or_else(|| elsewhere(&rule)) {
            Some(reason) => may_be_needed.push(MayBeNeeded { scope, rule, reason: reason.to_owned() }),
            None => rest.push(Leftover { scope, rule }),
        }
    }
    (rest, may_be_needed)
}

/// Impersonation shows in the event of the impersonated request.
fn is_only_checked(rule: &Rule) -> bool {
    let ([verb], [group], [resource]) = (&*rule.verbs, &*rule.api_groups, &*rule.resources) else { return false };
    is_check_only(group, resource, verb) && !verb.starts_with("impersonate")
}
