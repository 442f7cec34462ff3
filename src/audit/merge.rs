//! Profiles put together: the same in any order and any grouping. As if one log had been read, but that a request whose
//! stages stand in two of them counts in both, and that reasons are kept by the alphabet.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::behind;
use super::clients;
use super::level::Level;
use super::profile::note;
use super::time::Time;
use super::usage::{
    Decision, LogQuality, MOST_IMPERSONATORS, MOST_REASONS, MOST_SAMPLES, Observed, Origin, Sample, Skipped, Usage,
};
use crate::rbac::Request;

type Key = (String, Request, Origin, Decision);

impl Usage {
    /// This profile and another.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        let calls = self.calls.into_iter().chain(other.calls).map(Arc::unwrap_or_clone);
        self.calls = united(calls).into_values().map(Arc::new).collect();
        self.clients = clients::united(self.clients.into_iter().chain(other.clients));
        self.quality.merge(other.quality);
        self.diagnostics.extend(other.diagnostics);
        self.diagnostics.sort();
        self
    }

    /// As [`merge`](Self::merge) with what a profile holds, noted at `path` when one event stands in both: it counts
    /// twice. `path` of none stands for the log of that event.
    #[must_use]
    pub fn merge_profile(mut self, profile: Self, path: Option<&str>) -> Self {
        fn samples(usage: &Usage) -> impl Iterator<Item = &Sample> {
            usage.calls.iter().flat_map(|call| &call.samples).filter(|sample| !sample.audit_id.is_empty())
        }
        let known: HashSet<_> = samples(&profile).map(|sample| (sample.line, &sample.audit_id)).collect();
        let twin = samples(&self).find(|sample| known.contains(&(sample.line, &sample.audit_id)));
        let said = twin.map(|twin| {
            let message = format!(
                "holds the event `{}`, and so does a usage profile read beside it: what both hold is counted twice",
                twin.audit_id.escape_debug()
            );
            note(path.unwrap_or(&twin.path), message)
        });
        self.diagnostics.extend(said);
        self.merge(profile)
    }

    /// With at most so many names of objects of one permission: more become one call without a name that says so.
    #[must_use]
    pub fn bounded(mut self, most_names: usize) -> Self {
        let mut names: BTreeMap<Key, usize> = BTreeMap::new();
        for call in &self.calls {
            let count = names.entry(nameless(call)).or_default();
            // Where names were left out before, the others are left out too.
            *count = count.saturating_add(if call.more_than.is_some() { usize::MAX } else { has_name(call).into() });
        }
        let fold = |mut call: Observed| {
            let key = nameless(&call);
            if has_name(&call) && names.get(&key).is_some_and(|count| *count > most_names) {
                call.request = key.1;
                call.more_than = Some(most_names as u64);
            }
            call
        };
        let calls = self.calls.into_iter().map(Arc::unwrap_or_clone).map(fold);
        self.calls = united(calls).into_values().map(Arc::new).collect();
        self
    }
}

fn has_name(call: &Observed) -> bool {
    matches!(&call.request, Request::Resource(request) if !request.name.is_empty())
}

fn nameless(call: &Observed) -> Key {
    let mut request = call.request.clone();
    if let Request::Resource(request) = &mut request {
        request.name = String::new();
    }
    (call.user.clone(), request, call.origin, call.decision)
}

fn united(calls: impl Iterator<Item = Observed>) -> BTreeMap<Key, Observed> {
    let mut united: BTreeMap<Key, Observed> = BTreeMap::new();
    for call in calls {
        match united.entry((call.user.clone(), call.request.clone(), call.origin, call.decision)) {
            Entry::Vacant(place) => drop(place.insert(call)),
            Entry::Occupied(mut known) => known.get_mut().merge(call),
        }
    }
    united
}

impl Observed {
    fn merge(&mut self, other: Self) {
        self.count = self.count.saturating_add(other.count);
        add(&mut self.codes, other.codes);
        self.first = earlier(&self.first, &other.first);
        self.last = later(&self.last, &other.last);
        smallest(&mut self.samples, other.samples, MOST_SAMPLES);
        smallest(&mut self.reasons, other.reasons, MOST_REASONS);
        smallest(&mut self.impersonators, other.impersonators, MOST_IMPERSONATORS);
        smallest(&mut self.attributed_from, other.attributed_from, MOST_IMPERSONATORS);
        self.attributed = self.attributed.saturating_add(other.attributed);
        self.unread = self.unread.saturating_add(other.unread);
        behind::unite(&mut self.behind, other.behind);
        self.level = Level::of(&self.level).max(Level::of(&other.level)).name().to_owned();
        let namespaces = [&self.object_namespace, &other.object_namespace].into_iter().filter(|text| !text.is_empty());
        self.object_namespace = namespaces.min().cloned().unwrap_or_default();
        self.more_than = self.more_than.max(other.more_than);
    }
}

impl LogQuality {
    fn merge(&mut self, other: Self) {
        self.merge_limits(&other);
        for (own, more) in [
            (&mut self.files, other.files),
            (&mut self.bytes, other.bytes),
            (&mut self.lines, other.lines),
            (&mut self.events, other.events),
            (&mut self.left_out, other.left_out),
        ] {
            *own = own.saturating_add(more);
        }
        let mut skipped: BTreeMap<String, u64> = BTreeMap::new();
        for Skipped { cause, lines } in std::mem::take(&mut self.skipped).into_iter().chain(other.skipped) {
            let count = skipped.entry(cause).or_default();
            *count = count.saturating_add(lines);
        }
        self.skipped = skipped.into_iter().map(|(cause, lines)| Skipped { cause, lines }).collect();
        add(&mut self.stages, other.stages);
        add(&mut self.levels, other.levels);
        add(&mut self.shapes, other.shapes);
        self.first = earlier(&self.first, &other.first);
        self.last = later(&self.last, &other.last);
    }

    /// What neither shows; a log without events says nothing of that.
    fn merge_limits(&mut self, other: &Self) {
        if self.events == 0 {
            self.limits.clone_from(&other.limits);
        } else if other.events > 0 {
            self.limits.retain(|limit| other.limits.contains(limit));
        }
    }
}

fn add<K: Ord>(counts: &mut BTreeMap<K, u64>, more: BTreeMap<K, u64>) {
    for (key, count) in more {
        let sum = counts.entry(key).or_default();
        *sum = sum.saturating_add(count);
    }
}

fn earlier(a: &str, b: &str) -> String {
    let times = [a, b].into_iter().filter(|text| !text.is_empty());
    times.min_by_key(|text| (Time::of(text), *text)).unwrap_or_default().to_owned()
}

fn later(a: &str, b: &str) -> String {
    [a, b].into_iter().max_by_key(|text| (Time::of(text), *text)).unwrap_or_default().to_owned()
}

/// The smallest of both, each once.
fn smallest<T: Ord>(own: &mut Vec<T>, more: Vec<T>, most: usize) {
    own.extend(more);
    own.sort();
    own.dedup();
    own.truncate(most);
}

#[cfg(test)]
mod tests;
