//! Requests whose end has not been seen yet, so that the stages of one request count once. Bounded: two
//! generations, of which the older is given up when the younger is full.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use super::event::Event;
use super::level::Level;
use super::tally::{Seen, Slot};
use super::usage::Decision;

/// Most requests of one generation.
const GENERATION: usize = 32 << 10;

/// What is known of a request before its end.
#[derive(Debug)]
pub(super) enum Begun {
    /// It came in; nothing was counted yet.
    Received(Box<Received>),
    /// Its answer began, and was counted so.
    Started {
        /// Where it was counted.
        slot: Slot,
        /// As what.
        decision: Decision,
        /// With this code.
        code: u16,
    },
}

/// A `RequestReceived` event.
#[derive(Debug)]
pub(super) struct Received {
    /// Where it counts should nothing follow.
    pub(super) slot: Slot,
    time: String,
    audit_id: String,
    file: u32,
    line: u64,
    level: Level,
}

impl Received {
    /// Keeps what an event said.
    pub(super) fn new(slot: Slot, seen: &Seen<'_>) -> Box<Self> {
        Box::new(Self {
            slot,
            time: seen.time.to_owned(),
            audit_id: seen.audit_id.to_owned(),
            file: seen.file,
            line: seen.line,
            level: seen.level,
        })
    }

    /// What the event said.
    pub(super) fn seen(&self) -> Seen<'_> {
        Seen {
            time: &self.time,
            file: self.file,
            line: self.line,
            audit_id: &self.audit_id,
            level: self.level,
        }
    }
}

/// Identity of a request: audit id, verb and URI, since clients may send one id with different requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key(u64, u64);

/// The requests in flight.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    states: (RandomState, RandomState),
    young: HashTable<(Key, Begun)>,
    old: HashTable<(Key, Begun)>,
}

impl InFlight {
    /// The identity of an event's request.
    pub(super) fn key(&self, event: &Event<'_>) -> Key {
        let hash = |state: &RandomState| {
            let mut hasher = state.build_hasher();
            (&*event.audit_id, &*event.verb, &*event.request_uri).hash(&mut hasher);
            if event.audit_id.is_empty() {
                event.time().hash(&mut hasher);
            }
            hasher.finish()
        };
        Key(hash(&self.states.0), hash(&self.states.1))
    }

    /// Whether nothing is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.young.is_empty() && self.old.is_empty()
    }

    /// Forgets a request and returns what was known.
    pub(super) fn take(&mut self, key: Key) -> Option<Begun> {
        [&mut self.young, &mut self.old]
            .into_iter()
            .find_map(|generation| {
                let found = generation.find_entry(key.0, |(known, _)| *known == key).ok()?;
                Some(found.remove().0.1)
            })
    }

    /// Remembers a request that [`take`](Self::take) does not know; returns those given up for it.
    pub(super) fn put(&mut self, key: Key, begun: Begun) -> impl Iterator<Item = Begun> + use<> {
        let given_up = if self.young.len() >= GENERATION {
            std::mem::replace(&mut self.old, std::mem::take(&mut self.young))
        } else {
            HashTable::new()
        };
        self.young.insert_unique(key.0, (key, begun), |(key, _)| key.0);
        given_up.into_iter().map(|(_, begun)| begun)
    }

    /// Everything still in flight.
    pub(super) fn drain(self) -> impl Iterator<Item = Begun> {
        self.young.into_iter().chain(self.old).map(|(_, begun)| begun)
    }
}
