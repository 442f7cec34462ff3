//! Requests whose end has not been seen yet, so that the stages of one request count once. Bounded: two
//! generations, of which the older is given up when the younger is full; should the end of a request come after
//! that, it counts as undecided too.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use super::event::Event;
use super::level::Level;
use super::tally::{Said, Seen, Slot};
use super::time::Time;
use super::usage::Decision;

/// Most requests of one generation.
const GENERATION: usize = 16 << 10;

/// What is known of a request before its end.
#[derive(Debug, Clone)]
pub(super) enum Begun {
    /// It came in; nothing was counted yet.
    Received(Box<Received>),
    /// Its answer began, and was counted so.
    Started(Started),
}

/// A `ResponseStarted` event.
#[derive(Debug, Clone, Copy)]
pub(super) struct Started {
    /// Where it was counted.
    pub(super) slot: Slot,
    /// As what.
    pub(super) decision: Decision,
    /// With this code.
    pub(super) code: u16,
}

/// A `RequestReceived` event.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Received {
    // What orders them comes first.
    file: u32,
    line: u64,
    audit_id: Box<str>,
    /// The key of the call.
    pub(super) key: Box<str>,
    impersonator: Option<Box<str>>,
    attributed_from: Option<Box<str>>,
    time: Time,
    level: Level,
}

impl Received {
    /// Keeps what an event said.
    pub(super) fn new(key: &str, seen: &Seen<'_>, said: &Said<'_>) -> Self {
        Self {
            key: key.into(),
            impersonator: said.impersonator.map(Into::into),
            attributed_from: said.attributed_from.map(Into::into),
            audit_id: seen.audit_id.into(),
            time: seen.time,
            file: seen.file,
            line: seen.line,
            level: seen.level,
        }
    }

    /// What the event said.
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen { code: 0, time: self.time, file: self.file, line: self.line, audit_id: &self.audit_id, level: self.level }
    }

    /// For whom it was counted as another's.
    pub(super) fn said(&self) -> Said<'_> {
        Said {
            impersonator: self.impersonator.as_deref(),
            attributed_from: self.attributed_from.as_deref(),
            ..Said::default()
        }
    }
}

/// Identity of a request: audit id, then verb and URI, since clients may send one id with different requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity(u64, u64);

/// The request of an event: what tells it from others, or its identity where that was computed before.
#[derive(Debug, Clone, Copy)]
pub(super) enum Request<'a> {
    /// Of an event.
    Of {
        audit_id: &'a str,
        verb: &'a str,
        request_uri: &'a str,
        /// Only of events without an id.
        time: &'a str,
    },
    /// Computed before.
    Known(Identity),
}

impl<'a> Request<'a> {
    /// The request of an event.
    pub(super) fn of(event: &'a Event<'_>) -> Self {
        let time = if event.audit_id.is_empty() { event.time() } else { "" };
        Self::Of {
            audit_id: &event.audit_id,
            verb: event.verb.as_deref().unwrap_or_default(),
            request_uri: &event.request_uri,
            time,
        }
    }
}

/// Computes identities, the same for all threads of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct Hasher(RandomState);

impl Hasher {
    /// The identity of a request.
    pub(super) fn identity(&self, request: &Request<'_>) -> Identity {
        Identity(self.id(request), self.rest(request))
    }

    fn id(&self, request: &Request<'_>) -> u64 {
        match request {
            Request::Of { audit_id, .. } => self.0.hash_one(audit_id),
            Request::Known(identity) => identity.0,
        }
    }

    fn rest(&self, request: &Request<'_>) -> u64 {
        match request {
            Request::Of { verb, request_uri, time, .. } => self.0.hash_one((verb, request_uri, time)),
            Request::Known(identity) => identity.1,
        }
    }
}

/// The requests in flight.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlight {
    /// Computes the identities in it.
    pub(super) hasher: Hasher,
    young: HashTable<(Identity, Begun)>,
    old: HashTable<(Identity, Begun)>,
}

impl InFlight {
    /// Forgets a request and returns what was known.
    pub(super) fn take(&mut self, request: &Request<'_>) -> Option<Begun> {
        let Self { hasher, young, old } = self;
        if young.is_empty() && old.is_empty() {
            return None;
        }
        let id = hasher.id(request);
        let same = |(known, _): &(Identity, Begun)| known.0 == id && known.1 == hasher.rest(request);
        [young, old].into_iter().find_map(|generation| {
            let found = generation.find_entry(id, same).ok()?;
            Some(found.remove().0.1)
        })
    }

    /// Remembers a request that [`take`](Self::take) does not know; returns those given up for it that only came in.
    pub(super) fn put(&mut self, request: &Request<'_>, begun: Begun) -> Vec<Received> {
        let given_up = if self.young.len() >= GENERATION {
            std::mem::replace(&mut self.old, std::mem::take(&mut self.young))
        } else {
            HashTable::new()
        };
        let identity = self.hasher.identity(request);
        self.young.insert_unique(identity.0, (identity, begun), |(known, _)| known.0);
        received(given_up)
    }

    /// Everything still in flight that only came in.
    pub(super) fn drain(self) -> Vec<Received> {
        received(self.young.into_iter().chain(self.old))
    }
}

/// Requests that only came in, in the order of the log: tables have none that is the same in every run.
fn received(begun: impl IntoIterator<Item = (Identity, Begun)>) -> Vec<Received> {
    let mut received: Vec<Received> = begun
        .into_iter()
        .filter_map(|(_, begun)| match begun {
            Begun::Received(received) => Some(*received),
            Begun::Started(_) => None,
        })
        .collect();
    received.sort_unstable();
    received
}
