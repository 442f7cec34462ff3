//! Distinct calls and their counts. A call seen before allocates nothing: it is found by the borrowed texts
//! of its event. Order-free: the same calls in any order, under any hash seed, give the same result.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use crate::rbac::{NonResourceRequest, Request, ResourceRequest};

use super::level::Level;
use super::request_info::Attributes;
use super::time;
use super::usage::{Decision, Observed, Origin, Sample};

/// Longest text kept of one call: user and attributes together. Kubernetes names end at 253 bytes.
pub(super) const LONGEST_KEY: usize = 8 << 10;
const LONGEST_REASON: usize = 1 << 10;
const LONGEST_ID: usize = 256;
const MOST_SAMPLES: usize = 3;
const MOST_REASONS: usize = 4;
const MOST_IMPERSONATORS: usize = 4;

/// One call as its event shows it, borrowed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    pub(super) user: &'a str,
    pub(super) attributes: &'a Attributes<'a>,
    pub(super) origin: Origin,
    pub(super) decision: Decision,
    pub(super) code: u16,
    pub(super) seen: Seen<'a>,
    pub(super) reason: &'a str,
    pub(super) object_namespace: &'a str,
    pub(super) impersonator: Option<&'a str>,
}

/// When, where and how well a call was logged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) time: &'a str,
    pub(super) file: u32,
    pub(super) line: u64,
    pub(super) audit_id: &'a str,
    pub(super) level: Level,
}

/// A distinct (user, request, origin) of a [`Tally`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

/// All distinct calls.
#[derive(Debug, Default)]
pub(super) struct Tally {
    state: RandomState,
    users: Names,
    index: HashTable<u32>,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    user: u32,
    origin: Origin,
    is_resource: bool,
    /// The parts of [`Attributes::parts`], one behind the other, and where each ends.
    text: Box<str>,
    ends: [u32; 6],
    stats: Vec<Stats>,
}

#[derive(Debug)]
struct Stats {
    decision: Decision,
    level: Level,
    count: u64,
    codes: Vec<(u16, u64)>,
    first: String,
    last: String,
    samples: Vec<Place>,
    reasons: Vec<Box<str>>,
    object_namespace: Box<str>,
    impersonators: Vec<u32>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    file: u32,
    line: u64,
    audit_id: Box<str>,
}

impl Tally {
    /// The slot of a call, a new one if it was never seen.
    pub(super) fn slot(&mut self, user: &str, attributes: &Attributes<'_>, origin: Origin) -> Slot {
        let user = self.users.intern(user);
        let (is_resource, parts) = attributes.parts();
        let mut hasher = self.state.build_hasher();
        (user, origin, is_resource, parts).hash(&mut hasher);
        let hash = hasher.finish();
        let entries = &self.entries;
        let same = |&index: &u32| {
            entries.get(index as usize).is_some_and(|entry| {
                entry.hash == hash
                    && entry.user == user
                    && entry.origin == origin
                    && entry.is_resource == is_resource
                    && entry.parts().eq(parts)
            })
        };
        if let Some(&index) = self.index.find(hash, same) {
            return Slot(index);
        }
        let index = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let rehash = |&index: &u32| entries.get(index as usize).map_or(0, |entry| entry.hash);
        self.index.insert_unique(hash, index, rehash);
        self.entries
            .push(Entry::new(hash, user, origin, is_resource, parts));
        Slot(index)
    }

    /// Counts a call.
    pub(super) fn add(&mut self, call: &Call<'_>) -> Slot {
        let slot = self.slot(call.user, call.attributes, call.origin);
        let impersonator = call.impersonator.map(|user| self.users.intern(user));
        self.count(slot, call.decision, call.code, &call.seen);
        if let Some(stats) = self.stats(slot, call.decision) {
            stats.describe(call, impersonator);
        }
        slot
    }

    /// Counts one more call of a slot.
    pub(super) fn count(&mut self, slot: Slot, decision: Decision, code: u16, seen: &Seen<'_>) {
        if let Some(stats) = self.stats(slot, decision) {
            stats.count += 1;
            match stats.codes.iter_mut().find(|(known, _)| *known == code) {
                Some((_, count)) => *count += 1,
                None => {
                    stats.codes.reserve_exact(1);
                    stats.codes.push((code, 1));
                }
            }
            stats.level = stats.level.max(seen.level);
            time::widen(&mut stats.first, &mut stats.last, seen.time);
            stats.sample(seen);
        }
    }

    /// Takes one counted call back: a later stage of it says more.
    pub(super) fn take_back(&mut self, slot: Slot, decision: Decision, code: u16) {
        if let Some(stats) = self.stats(slot, decision) {
            stats.count = stats.count.saturating_sub(1);
            if let Some((_, count)) = stats.codes.iter_mut().find(|(known, _)| *known == code) {
                *count = count.saturating_sub(1);
            }
        }
    }

    fn stats(&mut self, slot: Slot, decision: Decision) -> Option<&mut Stats> {
        let all = &mut self.entries.get_mut(slot.0 as usize)?.stats;
        let index = match all.iter().position(|stats| stats.decision == decision) {
            Some(index) => index,
            None => {
                all.reserve_exact(1);
                all.push(Stats::new(decision));
                all.len() - 1
            }
        };
        all.get_mut(index)
    }

    /// The calls, sorted; `files` are the paths that [`Seen::file`] counts.
    pub(super) fn finish(self, files: &[String]) -> Vec<Observed> {
        let Self {
            users,
            entries,
            index,
            ..
        } = self;
        drop(index);
        let mut calls = Vec::with_capacity(entries.iter().map(|entry| entry.stats.len()).sum());
        for mut entry in entries {
            for stats in std::mem::take(&mut entry.stats) {
                if stats.count > 0 {
                    calls.push(stats.into_observed(&entry, &users, files));
                }
            }
        }
        calls.sort_unstable_by(|a: &Observed, b| {
            (&a.user, &a.request, a.origin, a.decision).cmp(&(&b.user, &b.request, b.origin, b.decision))
        });
        calls
    }
}

impl Entry {
    fn new(hash: u64, user: u32, origin: Origin, is_resource: bool, parts: [&str; 6]) -> Self {
        let mut end = 0;
        let ends = parts.map(|part| {
            end += u32::try_from(part.len()).unwrap_or(u32::MAX);
            end
        });
        Self {
            hash,
            user,
            origin,
            is_resource,
            text: parts.concat().into_boxed_str(),
            ends,
            stats: Vec::new(),
        }
    }

    fn parts(&self) -> impl Iterator<Item = &str> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let part = self.text.get(start as usize..end as usize).unwrap_or_default();
            start = end;
            part
        })
    }

    fn request(&self) -> Request {
        let mut parts = self.parts().map(str::to_owned);
        let mut next = || parts.next().unwrap_or_default();
        let verb = next();
        if self.is_resource {
            Request::Resource(ResourceRequest {
                verb,
                api_group: next(),
                resource: next(),
                subresource: next(),
                namespace: next(),
                name: next(),
            })
        } else {
            Request::NonResource(NonResourceRequest { verb, path: next() })
        }
    }
}

impl Stats {
    fn new(decision: Decision) -> Self {
        Self {
            decision,
            level: Level::Other,
            count: 0,
            codes: Vec::new(),
            first: String::new(),
            last: String::new(),
            samples: Vec::new(),
            reasons: Vec::new(),
            object_namespace: Box::default(),
            impersonators: Vec::new(),
        }
    }

    /// Keeps the earliest lines.
    fn sample(&mut self, seen: &Seen<'_>) {
        let at = (seen.file, seen.line);
        let full = self.samples.len() >= MOST_SAMPLES;
        if full
            && self
                .samples
                .last()
                .is_some_and(|place| (place.file, place.line) <= at)
        {
            return;
        }
        let index = self
            .samples
            .partition_point(|place| (place.file, place.line) <= at);
        self.samples.truncate(MOST_SAMPLES - 1);
        self.samples.reserve_exact(1);
        self.samples.insert(
            index,
            Place {
                file: seen.file,
                line: seen.line,
                audit_id: cut(seen.audit_id, LONGEST_ID).into(),
            },
        );
    }

    fn describe(&mut self, call: &Call<'_>, impersonator: Option<u32>) {
        if self.object_namespace.is_empty() && !call.object_namespace.is_empty() {
            self.object_namespace = call.object_namespace.into();
        }
        let reason = cut(call.reason, LONGEST_REASON);
        let known = reason.is_empty() || self.reasons.iter().any(|known| **known == *reason);
        if !known && self.reasons.len() < MOST_REASONS {
            self.reasons.reserve_exact(1);
            self.reasons.push(reason.into());
        }
        if let Some(user) = impersonator
            && self.impersonators.len() < MOST_IMPERSONATORS
            && !self.impersonators.contains(&user)
        {
            self.impersonators.push(user);
        }
    }

    fn into_observed(self, entry: &Entry, users: &Names, files: &[String]) -> Observed {
        let sample = |place: Place| Sample {
            path: files.get(place.file as usize).cloned().unwrap_or_default(),
            line: place.line,
            audit_id: place.audit_id.into(),
        };
        let mut impersonators: Vec<_> = self
            .impersonators
            .iter()
            .map(|&user| users.get(user).to_owned())
            .collect();
        impersonators.sort_unstable();
        Observed {
            user: users.get(entry.user).to_owned(),
            request: entry.request(),
            origin: entry.origin,
            decision: self.decision,
            count: self.count,
            codes: self.codes.into_iter().filter(|(_, count)| *count > 0).collect(),
            first: self.first,
            last: self.last,
            samples: self.samples.into_iter().map(sample).collect(),
            reasons: self.reasons.into_iter().map(String::from).collect(),
            object_namespace: self.object_namespace.into(),
            level: self.level.name().to_owned(),
            impersonators,
        }
    }
}

/// Each user name once.
#[derive(Debug, Default)]
struct Names {
    state: RandomState,
    index: HashTable<u32>,
    names: Vec<Box<str>>,
}

impl Names {
    fn intern(&mut self, name: &str) -> u32 {
        let hash = self.state.hash_one(name);
        let names = &self.names;
        let same = |&index: &u32| names.get(index as usize).is_some_and(|known| **known == *name);
        if let Some(&index) = self.index.find(hash, same) {
            return index;
        }
        let index = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let state = &self.state;
        let rehash = |&index: &u32| state.hash_one(names.get(index as usize).map_or("", |name| name));
        self.index.insert_unique(hash, index, rehash);
        self.names.push(name.into());
        index
    }

    fn get(&self, index: u32) -> &str {
        self.names.get(index as usize).map_or("", |name| name)
    }
}

/// The text, cut at a character boundary.
fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}
