//! What is asked of a profile that was made before: users and times by whole calls, for its events are gone.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::audit::clients;
use crate::audit::select::Select;
use crate::audit::time::Time;
use crate::audit::usage::{MOST_IMPERSONATORS, Observed, Origin, Usage};

/// Where a call lies, seen from the times asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Inside,
    Outside,
    /// Some of its events may lie outside: it is kept as a whole.
    Across,
    /// It has no time.
    Nowhere,
}

/// Of a profile what is asked for, not sorted, with what there is to say of that.
pub(super) fn cut(mut usage: Usage, select: &Select) -> (Usage, Vec<String>) {
    if select.is_everything() && select.attribute.is_empty() {
        return (usage, Vec::new());
    }
    let (mut across, mut nowhere, mut left_out) = (0_u64, 0_u64, 0_u64);
    let mut keep = |call: Arc<Observed>| {
        let call = attributed(Arc::unwrap_or_clone(call), select);
        let place = if select.wants_user(&call.user) { place(&call, select) } else { Place::Outside };
        across += u64::from(place == Place::Across);
        nowhere += u64::from(place == Place::Nowhere);
        if matches!(place, Place::Inside | Place::Across) {
            return Some(Arc::new(call));
        }
        left_out = left_out.saturating_add(call.count);
        None
    };
    let calls: Vec<Arc<Observed>> = usage.calls.into_iter().filter_map(&mut keep).collect();
    let users: BTreeSet<&str> = calls.iter().map(|call| &*call.user).collect();
    let clients = std::mem::take(&mut usage.clients).into_iter().map(|(user, clients)| {
        let other = select.attributed(&user, "").map(str::to_owned);
        (other.unwrap_or(user), clients)
    });
    usage.clients = clients::united(clients.filter(|(user, _)| users.contains(&**user)));
    let times = |time: fn(&Observed) -> &str| calls.iter().map(move |call| Time::of(time(call)));
    let first = times(|call| &call.first).filter(|time| !time.is_none()).min().unwrap_or_default();
    let last = times(|call| &call.last).max().unwrap_or_default();
    (usage.quality.first, usage.quality.last) = (first.text().to_owned(), last.text().to_owned());
    usage.quality.left_out = usage.quality.left_out.saturating_add(left_out);
    let said = [
        (across, "lie partly outside of the times asked for: a profile cannot be cut there, they count as a whole"),
        (nowhere, "have no time: left out, as a time was asked for"),
    ];
    let said = said.into_iter().filter(|(calls, _)| *calls > 0);
    let said = said.map(|(calls, what)| format!("{calls} distinct calls of this profile {what}")).collect();
    (Usage { calls, ..usage }, said)
}

fn place(call: &Observed, select: &Select) -> Place {
    let (first, last) = (Time::of(&call.first), Time::of(&call.last));
    if !select.asks_for_times() || (select.wants_time(first) && select.wants_time(last)) {
        Place::Inside
    } else if last.is_none() {
        Place::Nowhere
    } else if select.is_before(last) || select.is_after(first) {
        Place::Outside
    } else {
        Place::Across
    }
}

/// The call as that of whom it is attributed to. What others asked, and impersonations, stay those of their users, as in
/// a log.
fn attributed(mut call: Observed, select: &Select) -> Observed {
    let own = matches!(call.origin, Origin::Call | Origin::Asked);
    if let Some(user) = select.attributed(&call.user, "").filter(|_| own) {
        call.attributed = call.count;
        call.attributed_from.push(std::mem::replace(&mut call.user, user.to_owned()));
        call.attributed_from.sort();
        call.attributed_from.dedup();
        call.attributed_from.truncate(MOST_IMPERSONATORS);
    }
    call
}

#[cfg(test)]
mod tests;
