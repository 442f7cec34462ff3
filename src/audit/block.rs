//! A block of lines read on any thread: the events in it with their texts in one place, and the lines that are to be
//! read in the order of the log, because they are no plain events.

use std::borrow::Cow;

use super::behind::Behind;
use super::clients::Client;
use super::decision::Stage;
use super::level::Level;
use super::line_parser::{LineParser, Next};
use super::shape::Shape;
use super::sighting::Sighting;
use super::stages::{Hasher, Identity, Request};
use super::tally::{Said, Seen};
use super::time::Time;
use super::usage::Decision;

/// Most bytes that an empty block keeps.
const KEPT: usize = 4 << 20;

/// Lines as they lie in the log, without the last line feed.
#[derive(Debug, Default)]
pub(super) struct Block {
    pub(super) lines: Vec<u8>,
    /// After them came a line that is too long.
    pub(super) too_long: bool,
    /// Bytes of the log that it stands for.
    pub(super) bytes: u64,
    /// Empty blocks that wait with it, while it is larger than others.
    pub(super) places: Vec<Block>,
    /// What was read of it; its buffers go round with the block.
    pub(super) parsed: Parsed,
}

impl Block {
    /// Ends the block at the line feed there.
    pub(super) fn end_at(&mut self, line_feed: usize) {
        self.lines.truncate(line_feed);
        self.bytes += line_feed as u64 + 1;
    }

    /// Whether there are lines in it, be they empty.
    pub(super) fn has_lines(&self) -> bool {
        self.bytes > 0 && !(self.lines.is_empty() && self.too_long)
    }

    /// Reads what its lines say.
    pub(super) fn parse(&mut self, parser: &mut LineParser, hasher: &Hasher) {
        if self.has_lines() {
            let parsed = &mut self.parsed;
            parsed.lines = parser.read(&self.lines, (0, 0), &mut |next| parsed.add(&next, hasher));
        }
    }

    /// Everything in it, for a log that is the `file`th and of which `before` lines came before.
    pub(super) fn in_order(&self, file: u32, before: u64, each: &mut impl FnMut(Next<'_>)) {
        self.parsed.in_order(file, before, each);
    }

    /// Makes room for others.
    pub(super) fn reset(&mut self) {
        self.lines.clear();
        self.lines.shrink_to(KEPT);
        (self.too_long, self.bytes) = (false, 0);
        self.parsed.reset();
    }
}

/// What was read of a block.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    texts: String,
    items: Vec<Item>,
    events: Vec<Stored>,
    /// Lines of the block.
    pub(super) lines: u64,
}

#[derive(Debug)]
enum Item {
    /// The next of the events.
    Event,
    /// A whole event of nobody who is asked for.
    PassedOver(Stage, Level),
    /// A line for the thread that counts: its number and its bytes in the block.
    Line(u64, usize, usize),
}

/// Bytes of `Parsed::texts`.
type Text = (usize, usize);

/// A [`Sighting`] that owns nothing.
#[derive(Debug)]
struct Stored {
    identity: Identity,
    stage: Stage,
    decision: Decision,
    code: u16,
    level: Level,
    shape: Shape,
    time: Time,
    line: u64,
    key: Text,
    audit_id: Text,
    reason: Text,
    object_namespace: Text,
    impersonator: Option<Text>,
    attributed_from: Option<Text>,
    checks: Vec<String>,
    behind: Vec<Behind>,
    unread: bool,
    agent: Text,
    extra: Text,
}

impl Parsed {
    fn reset(&mut self) {
        self.texts.clear();
        self.texts.shrink_to(KEPT);
        self.items.clear();
        self.events.clear();
        self.lines = 0;
    }

    fn add(&mut self, next: &Next<'_>, hasher: &Hasher) {
        let item = match next {
            Next::Event(sighting) => {
                let stored = self.store(sighting, hasher);
                self.events.push(stored);
                Item::Event
            }
            Next::PassedOver(stage, level) => Item::PassedOver(*stage, *level),
            Next::Line(line, start, end) => Item::Line(*line, *start, *end),
        };
        self.items.push(item);
    }

    fn store(&mut self, sighting: &Sighting<'_>, hasher: &Hasher) -> Stored {
        let Sighting { seen, said, .. } = sighting;
        Stored {
            identity: hasher.identity(&sighting.request),
            stage: sighting.stage,
            decision: sighting.decision,
            code: seen.code,
            level: seen.level,
            shape: sighting.shape,
            time: seen.time,
            line: seen.line,
            key: self.text(sighting.key),
            audit_id: self.text(seen.audit_id),
            reason: self.text(said.reason),
            object_namespace: self.text(said.object_namespace),
            impersonator: said.impersonator.map(|user| self.text(user)),
            attributed_from: said.attributed_from.map(|user| self.text(user)),
            checks: sighting.checks.clone(),
            behind: said.behind.to_vec(),
            unread: said.unread,
            agent: self.text(said.client.agent),
            extra: self.text(said.client.extra),
        }
    }

    fn text(&mut self, text: &str) -> Text {
        let start = self.texts.len();
        self.texts.push_str(text);
        (start, self.texts.len())
    }

    /// Everything in it, for a log that is the `file`th and of which `before` lines came before.
    fn in_order(&self, file: u32, before: u64, each: &mut impl FnMut(Next<'_>)) {
        let mut events = self.events.iter();
        for item in &self.items {
            match item {
                Item::Event => events.next().into_iter().for_each(|stored| {
                    each(Next::Event(&self.sighting(stored, file, before)));
                }),
                Item::PassedOver(stage, level) => each(Next::PassedOver(*stage, *level)),
                Item::Line(line, start, end) => each(Next::Line(before + line, *start, *end)),
            }
        }
    }

    fn sighting<'a>(&'a self, stored: &'a Stored, file: u32, before: u64) -> Sighting<'a> {
        let text = |(start, end): Text| self.texts.get(start..end).unwrap_or_default();
        Sighting {
            request: Request::Known(stored.identity),
            stage: stored.stage,
            decision: stored.decision,
            key: text(stored.key),
            seen: Seen {
                code: stored.code,
                time: stored.time,
                file,
                line: before + stored.line,
                audit_id: text(stored.audit_id),
                level: stored.level,
            },
            said: Said {
                reason: text(stored.reason),
                object_namespace: text(stored.object_namespace),
                impersonator: stored.impersonator.map(text),
                attributed_from: stored.attributed_from.map(text),
                behind: Cow::Borrowed(&stored.behind),
                unread: stored.unread,
                client: Client { agent: text(stored.agent), extra: text(stored.extra) },
            },
            checks: stored.checks.clone(),
            shape: stored.shape,
        }
    }
}
