//! Requests whose end has not been seen yet, so that the stages of one request count once. Bounded: two
//! generations, of which the older is given up when the younger is full; should the end of a request come after
//! that, it counts as undecided too.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use super::event::Event;
use super::level::Level;
use super::tally::{Seen, Slot};
use super::time::Time;
use super::usage::Decision;

/// Most requests of one generation.
const GENERATION: usize = 16 << 10;

/// What is known of a request before its end.
#[derive(Debug)]
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
#[derive(Debug)]
pub(super) struct Received {
    /// The key of the call.
    pub(super) key: Box<str>,
    audit_id: Box<str>,
    time: Time,
    file: u32,
    line: u64,
    level: Level,
}

impl Received {
    /// Keeps what an event said.
    pub(super) fn new(key: &str, seen: &Seen<'_>) -> Self {
        Self {
            key: key.into(),
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
}

/// Identity of a request: audit id, then verb and URI, since clients may send one id with different requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Identity(u64, u64);

/// The requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    state: RandomState,
    young: HashTable<(Identity, Begun)>,
    old: HashTable<(Identity, Begun)>,
}

impl InFlight {
    /// The identity of an event's request.
    pub(super) fn identity(&self, event: &Event<'_>) -> Identity {
        Identity(id(&self.state, event), rest(&self.state, event))
    }

    /// Forgets a request and returns what was known.
    pub(super) fn take(&mut self, event: &Event<'_>) -> Option<Begun> {
        let Self { state, young, old } = self;
        if young.is_empty() && old.is_empty() {
            return None;
        }
        let id = id(state, event);
        let same = |(known, _): &(Identity, Begun)| known.0 == id && known.1 == rest(state, event);
        [young, old].into_iter().find_map(|generation| {
            let found = generation.find_entry(id, same).ok()?;
            Some(found.remove().0.1)
        })
    }

    /// Remembers a request that [`take`](Self::take) does not know; returns those given up for it.
    pub(super) fn put(&mut self, event: &Event<'_>, begun: Begun) -> impl Iterator<Item = Begun> + use<> {
        let given_up = if self.young.len() >= GENERATION {
            std::mem::replace(&mut self.old, std::mem::take(&mut self.young))
        } else {
            HashTable::new()
        };
        let identity = self.identity(event);
        self.young.insert_unique(identity.0, (identity, begun), |(known, _)| known.0);
        given_up.into_iter().map(|(_, begun)| begun)
    }

    /// Everything still in flight.
    pub(super) fn drain(self) -> impl Iterator<Item = Begun> {
        self.young.into_iter().chain(self.old).map(|(_, begun)| begun)
    }
}

fn id(state: &RandomState, event: &Event<'_>) -> u64 {
    state.hash_one(&*event.audit_id)
}

fn rest(state: &RandomState, event: &Event<'_>) -> u64 {
    let time = if event.audit_id.is_empty() { event.time() } else { "" };
    state.hash_one((&*event.verb, &*event.request_uri, time))
}
