//! Whether a profile is one that logs can give. Whoever wrote it otherwise, its counts would be taken for evidence.

use std::collections::BTreeSet;

use super::Profile;
use crate::audit::time::Time;
use crate::audit::usage::Observed;
use crate::rbac::Request;

impl Profile {
    /// What is wrong with it, and where.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |place: &str, what: &str| Err(format!("not a consistent profile: {place}: {what}"));
        if self.quality.events == 0 && !self.calls.is_empty() {
            return wrong("quality.events", "0, but there are calls");
        }
        if let Some(what) = times(&self.quality.first, &self.quality.last) {
            return wrong("quality", what);
        }
        let mut known = BTreeSet::new();
        for (index, call) in self.calls.iter().enumerate() {
            let place = format!("calls[{index}]");
            if let Some(what) = fault(call) {
                return wrong(&place, what);
            }
            if !known.insert((&call.user, &call.request, call.origin, call.decision)) {
                return wrong(&place, "the same call as one before");
            }
        }
        Ok(())
    }
}

fn fault(call: &Observed) -> Option<&'static str> {
    let codes = call.codes.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
    let named = matches!(&call.request, Request::Resource(request) if !request.name.is_empty());
    if call.count == 0 {
        Some("no call at all (count 0)")
    } else if codes != call.count {
        Some("codes that do not add up to its count")
    } else if call.attributed > call.count {
        Some("more calls attributed than there are")
    } else if named && call.more_than.is_some() {
        Some("a name, though it stands for many (moreThan)")
    } else {
        times(&call.first, &call.last)
    }
}

fn times(first: &str, last: &str) -> Option<&'static str> {
    let (from, to) = (Time::of(first), Time::of(last));
    if (from.is_none() && !first.is_empty()) || (to.is_none() && !last.is_empty()) {
        Some("a time that is none")
    } else if from.is_none() != to.is_none() {
        Some("one of `first` and `last` is missing")
    } else if from.parts() > to.parts() {
        Some("`first` is later than `last`")
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
