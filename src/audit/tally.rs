//! Distinct calls and their counts. A call seen before allocates nothing: it is found by the borrowed texts
//! of its event. The same calls give the same result under any hash seed.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hash};

use foldhash::HashMap;
use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::behind::{self, Behind};
use super::clients::{self, Client, Clients};
use super::key::{self, cut};
use super::level::Level;
use super::time::Time;
use super::usage::{MOST_IMPERSONATORS, MOST_REASONS, MOST_SAMPLES, Observed, Sample};

const LONGEST_REASON: usize = 1 << 10;

/// When, where and how well a call was logged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) code: u16,
    pub(super) time: Time,
    pub(super) file: u32,
    pub(super) line: u64,
    pub(super) audit_id: &'a str,
    pub(super) level: Level,
}

/// What else an event says of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Said<'a> {
    pub(super) reason: &'a str,
    /// The namespace of `objectRef` where it is not that of the request.
    pub(super) object_namespace: &'a str,
    pub(super) impersonator: Option<&'a str>,
    /// The user that the log shows, where the call is counted as another's.
    pub(super) attributed_from: Option<&'a str>,
    pub(super) behind: Cow<'a, [Behind]>,
    /// The body decides what was checked, and is not there.
    pub(super) unread: bool,
    /// Who made the call for the user.
    pub(super) client: Client<'a>,
}

/// A distinct call of a [`Tally`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32);

/// All distinct calls.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally {
    state: RandomState,
    /// All keys, one behind the other, and where each call stands.
    keys: String,
    index: HashTable<Place>,
    calls: Vec<Call>,
    details: Vec<Detail>,
    texts: Texts,
    clients: HashMap<Box<str>, Clients>,
}

/// A key, and the call that it is of.
#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    length: u32,
    call: u32,
}

impl Place {
    fn key(self, keys: &str) -> &str {
        keys.get(self.start..self.start + self.length as usize).unwrap_or_default()
    }
}

/// What every call of a kind touches: one cache line beside its key.
#[derive(Debug, Clone)]
#[repr(align(64))]
struct Call {
    last: Time,
    /// Number of calls with `code`; other codes are a detail.
    count: u64,
    /// Hash of the first reason; 0 for none.
    reason: u32,
    code: u16,
    level: Level,
    sampled: bool,
    /// Hash of the last client.
    client: u32,
}

/// What few calls of a kind touch.
#[derive(Debug, Clone, Default)]
struct Detail {
    first: Time,
    codes: Vec<(u16, u64)>,
    /// Reasons by their hash.
    reasons: Vec<(u32, u32)>,
    samples: Vec<Sighting>,
    object_namespace: Box<str>,
    impersonators: Vec<u32>,
    attributed_from: Vec<u32>,
    attributed: u64,
    behind: Vec<Behind>,
    unread: u64,
}

#[derive(Debug, Clone)]
struct Sighting {
    file: u32,
    line: u64,
    audit_id: Box<str>,
}

impl Tally {
    /// Counts a call by its key.
    pub(super) fn add(&mut self, key: &str, seen: &Seen<'_>, said: &Said<'_>) -> Slot {
        let slot = self.slot(key, seen);
        if let Some(call) = self.calls.get_mut(slot.0 as usize)
            && !(call.count(seen) & call.knows(said, &self.texts))
            && let Some(detail) = self.details.get_mut(slot.0 as usize)
        {
            detail.count(call, seen);
            detail.describe(call, said, &mut self.texts);
            let client = self.texts.hash(said.client);
            if call.client != client {
                call.client = client;
                let user = key::user(key);
                match self.clients.get_mut(user) {
                    Some(clients) => clients.note(said.client),
                    None => self.clients.entry(user.into()).or_default().note(said.client),
                }
            }
        }
        slot
    }

    /// Takes one counted call back: a later stage of it says more. `attributed`: it was counted as another user's.
    pub(super) fn take_back(&mut self, slot: Slot, code: u16, attributed: bool) {
        let (Some(call), Some(detail)) = (self.calls.get_mut(slot.0 as usize), self.details.get_mut(slot.0 as usize))
        else {
            return;
        };
        detail.attributed = detail.attributed.saturating_sub(attributed.into());
        if call.code == code {
            call.count = call.count.saturating_sub(1);
        } else if let Some((_, count)) = detail.codes.iter_mut().find(|(known, _)| *known == code) {
            *count = count.saturating_sub(1);
        }
    }

    fn slot(&mut self, key: &str, seen: &Seen<'_>) -> Slot {
        let hash = self.state.hash_one(key);
        let (state, keys) = (&self.state, &self.keys);
        if let Some(place) = self.index.find(hash, |place| place.key(keys) == key) {
            return Slot(place.call);
        }
        let call = u32::try_from(self.calls.len()).unwrap_or(u32::MAX);
        let place = Place { start: keys.len(), length: u32::try_from(key.len()).unwrap_or(u32::MAX), call };
        self.index.insert_unique(hash, place, |place| state.hash_one(place.key(keys)));
        self.keys.push_str(key);
        self.calls.push(Call {
            last: seen.time,
            count: 0,
            reason: 0,
            code: seen.code,
            level: seen.level,
            sampled: false,
            client: 0,
        });
        self.details.push(Detail { first: seen.time, ..Detail::default() });
        Slot(call)
    }

    /// The calls, sorted; `files` are the paths that [`Seen::file`] counts.
    pub(super) fn finish(self, files: &[String]) -> (Vec<Observed>, BTreeMap<String, Clients>) {
        let mut places: Vec<Place> = self.index.into_iter().collect();
        places.sort_unstable_by_key(|place| place.call);
        // Moving what stands at the places while sorting is cheaper than fetching it from there afterwards.
        let mut whole: Vec<(&str, Call, Detail)> = Vec::with_capacity(places.len());
        for ((place, call), detail) in places.into_iter().zip(self.calls).zip(self.details) {
            whole.push((place.key(&self.keys), call, detail));
        }
        whole.sort_unstable_by_key(|(key, ..)| *key);
        let mut observed = Vec::with_capacity(whole.len());
        for (key, call, detail) in whole {
            observed.extend(detail.observed(key, &call, &self.texts, files));
        }
        let clients = self.clients.into_iter().map(|(user, clients)| (user.into(), clients));
        (observed, clients::united(clients))
    }
}

impl Call {
    /// Counts a call; false when the details are to be told of it.
    fn count(&mut self, seen: &Seen<'_>) -> bool {
        let known = self.code == seen.code;
        self.count += u64::from(known);
        self.level = self.level.max(seen.level);
        let later = seen.time.is_none() || seen.time >= self.last;
        if later && !seen.time.is_none() {
            self.last = seen.time;
        }
        // Without a code it may be a request given up later than its line.
        known && later && self.sampled && seen.code != 0
    }

    /// Whether the details know all that is said.
    fn knows(&self, said: &Said<'_>, texts: &Texts) -> bool {
        let known = said.reason.is_empty() || texts.hash(said.reason) == self.reason;
        let known = known && (said.client == Client::default() || texts.hash(said.client) == self.client);
        let acting = said.impersonator.is_some() || said.attributed_from.is_some();
        known && said.object_namespace.is_empty() && !acting && said.behind.is_empty() && !said.unread
    }
}

impl Detail {
    fn count(&mut self, call: &mut Call, seen: &Seen<'_>) {
        if call.code != seen.code {
            match self.codes.iter().position(|(code, _)| *code == seen.code) {
                Some(at) => self.codes.get_mut(at).into_iter().for_each(|(_, count)| *count += 1),
                None => self.codes.push((seen.code, 1)),
            }
        }
        if !seen.time.is_none() && (self.first.is_none() || seen.time < self.first) {
            self.first = seen.time;
        }
        let at = (seen.file, seen.line);
        if !call.sampled || self.samples.last().is_some_and(|last| at < (last.file, last.line)) {
            self.sample(seen);
            call.sampled = self.samples.len() >= MOST_SAMPLES;
        }
    }

    /// Keeps the earliest lines.
    fn sample(&mut self, seen: &Seen<'_>) {
        let at = (seen.file, seen.line);
        let index = self.samples.partition_point(|place| (place.file, place.line) <= at);
        self.samples.truncate(MOST_SAMPLES - 1);
        let audit_id = seen.audit_id.into();
        self.samples.insert(index, Sighting { file: seen.file, line: seen.line, audit_id });
    }

    fn describe(&mut self, call: &mut Call, said: &Said<'_>, texts: &mut Texts) {
        if !said.reason.is_empty() && self.reasons.len() < MOST_REASONS {
            let hash = texts.hash(said.reason);
            if !self.reasons.iter().any(|(known, _)| *known == hash) {
                if self.reasons.is_empty() {
                    call.reason = hash;
                }
                self.reasons.push((hash, texts.intern(cut(said.reason, LONGEST_REASON))));
            }
        }
        if self.object_namespace.is_empty() && !said.object_namespace.is_empty() {
            self.object_namespace = said.object_namespace.into();
        }
        if said.behind.iter().any(|behind| !self.behind.contains(behind)) {
            behind::unite(&mut self.behind, said.behind.iter().cloned());
        }
        self.unread += u64::from(said.unread);
        self.attributed += u64::from(said.attributed_from.is_some());
        for (users, user) in
            [(&mut self.impersonators, said.impersonator), (&mut self.attributed_from, said.attributed_from)]
        {
            if let Some(user) = user
                && users.len() < MOST_IMPERSONATORS
            {
                let user = texts.intern(user);
                if !users.contains(&user) {
                    users.push(user);
                }
            }
        }
    }

    /// `None` when every call was taken back.
    fn observed(self, key: &str, call: &Call, texts: &Texts, files: &[String]) -> Option<Observed> {
        let codes = self.codes.into_iter().chain([(call.code, call.count)]);
        let codes: BTreeMap<u16, u64> = codes.filter(|(_, count)| *count > 0).collect();
        if codes.is_empty() {
            return None;
        }
        let sample = |place: Sighting| Sample {
            path: files.get(place.file as usize).cloned().unwrap_or_default(),
            line: place.line,
            audit_id: place.audit_id.into(),
        };
        let sorted = |users: &[u32]| {
            let mut users: Vec<_> = users.iter().map(|&user| texts.get(user).to_owned()).collect();
            users.sort_unstable();
            users
        };
        let (user, request, origin, decision) = key::read(key);
        Some(Observed {
            user,
            request,
            origin,
            decision,
            count: codes.values().sum(),
            codes,
            first: self.first.text().to_owned(),
            last: call.last.text().to_owned(),
            samples: self.samples.into_iter().map(sample).collect(),
            reasons: self.reasons.iter().map(|&(_, reason)| texts.get(reason).to_owned()).collect(),
            object_namespace: self.object_namespace.into(),
            level: call.level.name().to_owned(),
            impersonators: sorted(&self.impersonators),
            attributed_from: sorted(&self.attributed_from),
            attributed: self.attributed,
            behind: self.behind,
            unread: self.unread,
            more_than: None,
        })
    }
}

/// Texts that many calls share, each once.
#[derive(Debug, Clone, Default)]
struct Texts {
    state: RandomState,
    index: HashTable<u32>,
    texts: Vec<Box<str>>,
}

impl Texts {
    /// A short hash, never 0.
    #[expect(clippy::cast_possible_truncation, reason = "part of a hash is a hash")]
    fn hash(&self, text: impl Hash) -> u32 {
        (self.state.hash_one(text) as u32).max(1)
    }

    fn intern(&mut self, text: &str) -> u32 {
        let hash = self.state.hash_one(text);
        let (state, texts) = (&self.state, &self.texts);
        let get = |&index: &u32| texts.get(index as usize).map_or("", |text| text);
        if let Some(&index) = self.index.find(hash, |index| get(index) == text) {
            return index;
        }
        let index = u32::try_from(texts.len()).unwrap_or(u32::MAX);
        self.index.insert_unique(hash, index, |index| state.hash_one(get(index)));
        self.texts.push(text.into());
        index
    }

    fn get(&self, index: u32) -> &str {
        self.texts.get(index as usize).map_or("", |text| text)
    }
}
