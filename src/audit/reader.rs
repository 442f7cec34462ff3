//! Records of a log → events → the tally: streaming, a bad record costs that record.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;

use foldhash::HashMap;

use crate::source::{Diagnostic, DiagnosticKind, Diagnostics, Location};

use super::cause::Cause;
use super::decision::Stage;
use super::framing::{Frames, HEAD, LONGEST, Lost as Unframed, MARK, Step};
use super::key;
use super::level::Level;
use super::limits::Sights;
use super::pieces::Parts;
use super::select::Select;
use super::shape::Shape;
use super::sighting::Sighting;
use super::stages::{Begun, Identity, InFlight, Received, Started};
use super::tally::{Said, Tally};
use super::time::Time;
use super::usage::{LogQuality, Skipped, Usage};

/// Collects the distinct calls of one or more logs.
#[derive(Debug, Clone)]
pub struct Collector {
    pub(super) tally: Tally,
    pub(super) in_flight: InFlight,
    files: Vec<String>,
    /// Which file started with this event: a log given twice is noticed.
    first_events: HashMap<Identity, u32>,
    skipped: BTreeMap<Cause, u64>,
    diagnostics: Diagnostics,
    pub(super) bytes: u64,
    pub(super) lines: u64,
    events: u64,
    stages: [u64; Stage::ALL.len()],
    levels: [u64; Level::ALL.len()],
    shapes: BTreeMap<Shape, u64>,
    /// Where keys are written.
    pub(super) key: String,
    pub(super) longest: usize,
    pub(super) select: Select,
    left_out: u64,
    sights: Sights,
}

/// The log being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Current {
    pub(super) file: u32,
    pub(super) line: u64,
    lines_before: u64,
    events: u64,
    /// Events that were left out because they have no time.
    timeless: u64,
    /// First place and number of lines of each cause.
    lost: BTreeMap<Cause, Lost>,
    /// The cause of the whole text, until a line is an event again.
    spread: Option<Cause>,
    /// The beginnings of records that a container runtime cut into pieces.
    pub(super) parts: Parts,
}

/// The first bytes of a log.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) bytes: Vec<u8>,
    /// Reading broke here; it breaks again where it is read.
    broken: Option<io::Error>,
    /// Bytes of the byte order mark, which was taken off.
    pub(super) mark: usize,
    pub(super) frames: Frames,
}

impl Head {
    /// Reads the first bytes and tells from them how the log is cut.
    pub(super) fn of(input: &mut dyn Read, longest: usize) -> Self {
        let mut bytes = Vec::new();
        let broken = input.take(HEAD as u64).read_to_end(&mut bytes).err();
        let mark = if bytes.starts_with(MARK) { MARK.len() } else { 0 };
        bytes.drain(..mark);
        let frames = Frames::of(&bytes, longest);
        Self { bytes, broken, mark, frames }
    }

    /// Whether the log is cut into lines.
    pub(super) fn is_of_lines(&self) -> bool {
        self.frames.are_lines()
    }

    /// The log from its first byte, `rest` being what follows.
    pub(super) fn before(self, rest: impl Read) -> impl Read {
        Cursor::new(self.bytes).chain(Broken(self.broken)).chain(rest)
    }
}

#[derive(Debug, Clone)]
struct Lost {
    line: u64,
    column: usize,
    detail: Option<String>,
    lines: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            in_flight: InFlight::default(),
            files: Vec::new(),
            first_events: HashMap::default(),
            skipped: BTreeMap::new(),
            diagnostics: Vec::new(),
            bytes: 0,
            lines: 0,
            events: 0,
            stages: [0; Stage::ALL.len()],
            levels: [0; Level::ALL.len()],
            shapes: BTreeMap::new(),
            key: String::new(),
            longest: LONGEST,
            select: Select::default(),
            left_out: 0,
            sights: Sights::default(),
        }
    }
}

impl Collector {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty collector that counts only what is asked for.
    pub fn selecting(select: Select) -> Self {
        Self { select, ..Self::default() }
    }

    /// Reads one log (already decompressed) to its end. Never fails: what cannot be read, an I/O error
    /// included, becomes a diagnostic with `path` and line.
    pub fn read(&mut self, path: &str, input: &mut dyn BufRead) {
        let head = Head::of(input, self.longest);
        let mut current = self.begin(path);
        self.read_frames(&mut current, head, input);
        self.end(path, current);
    }

    /// The next log, nothing of it read yet.
    pub(super) fn begin(&mut self, path: &str) -> Current {
        let file = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.files.push(path.to_owned());
        Current { file, lines_before: self.lines, ..Current::default() }
    }

    /// Reads a log on this thread.
    pub(super) fn read_frames(&mut self, current: &mut Current, head: Head, input: &mut dyn BufRead) {
        let Head { bytes, broken, mark, mut frames } = head;
        let mut input = Cursor::new(bytes).chain(Broken(broken)).chain(input);
        loop {
            match frames.next(&mut input) {
                Step::Record(line, record) => {
                    current.line = line;
                    self.record(current, record, Shape::Native, 0);
                }
                Step::Lost(lost) => {
                    current.line = frames.line();
                    let (cause, detail) = cause_of(lost);
                    self.lose(current, cause, 1, detail);
                }
                Step::Broken(error) => {
                    current.line = frames.line();
                    self.lose(current, Cause::Broken, 1, Some(error.to_string()));
                    break;
                }
                Step::End => break,
            }
        }
        self.bytes += mark as u64 + frames.bytes();
    }

    /// The log has been read.
    pub(super) fn end(&mut self, path: &str, mut current: Current) {
        self.lose_parts(&mut current);
        if self.lines == current.lines_before {
            self.note(path, "the log is empty");
        }
        self.settle(path, current);
    }

    /// Counts a record that was no event.
    pub(super) fn lose(&mut self, current: &mut Current, cause: Cause, column: usize, detail: Option<String>) {
        self.lines += 1;
        current.lose(cause, column, detail);
    }

    /// Counts a log that could not be opened.
    pub fn unreadable(&mut self, path: &str, error: &io::Error) {
        self.refuse(path, format!("the log cannot be opened: {error}"));
    }

    /// Counts a log that is passed over as a whole.
    pub fn refuse(&mut self, path: &str, why: String) {
        self.files.push(path.to_owned());
        self.diagnose(DiagnosticKind::Unreadable, path, 1, 1, why);
    }

    /// Says something of a log that loses nothing.
    pub fn note(&mut self, path: &str, message: &str) {
        self.diagnose(DiagnosticKind::Note, path, 1, 1, message.to_owned());
    }

    /// The profile of everything read.
    pub fn finish(mut self) -> Usage {
        let in_flight = std::mem::take(&mut self.in_flight);
        self.give_up(in_flight.drain());
        let by_name = |names: &[&str], counts: &[u64]| -> BTreeMap<String, u64> {
            let named = names.iter().zip(counts).filter(|(_, count)| **count > 0);
            named.map(|(name, count)| ((*name).to_owned(), *count)).collect()
        };
        let skipped = self.skipped.iter().map(|(cause, &lines)| Skipped { cause: cause.text().to_owned(), lines });
        let (mut calls, mut clients) = self.tally.finish(&self.files);
        // Beside a check on a user who is asked for stands the call as another, who is not.
        if !self.select.is_everything() {
            calls.retain(|call| self.select.wants(&call.user, Time::of(&call.last)));
            clients.retain(|user, _| self.select.wants_user(user));
        }
        let first = calls.iter().map(|call| Time::of(&call.first)).filter(|time| !time.is_none()).min();
        let last = calls.iter().map(|call| Time::of(&call.last)).max();
        let text = |time: Option<Time>| time.map_or(String::new(), |time| time.text().to_owned());
        Usage {
            quality: LogQuality {
                files: self.files.len() as u64,
                bytes: self.bytes,
                lines: self.lines,
                events: self.events,
                skipped: skipped.collect(),
                stages: by_name(&Stage::ALL.map(Stage::name), &self.stages),
                levels: by_name(&Level::ALL.map(Level::name), &self.levels),
                left_out: self.left_out,
                limits: self.sights.limits(self.events, self.shapes.keys().all(|shape| *shape == Shape::Gke)),
                shapes: self.shapes.iter().map(|(shape, &count)| (shape.name().to_owned(), count)).collect(),
                first: text(first),
                last: text(last),
            },
            calls: calls.into_iter().map(Arc::new).collect(),
            clients,
            diagnostics: self.diagnostics,
        }
    }

    /// Counts an event that was read.
    pub(super) fn take(&mut self, current: &mut Current, sighting: &Sighting<'_>) {
        self.note_event(current, sighting.shape, sighting.stage, sighting.seen.level);
        if current.events == 1 {
            self.note_first_event(current, sighting);
        }
        self.sights.note(sighting.key);
        let wants = |key: &str| self.select.wants(key::user(key), sighting.seen.time);
        if !self.select.is_everything() && !wants(sighting.key) && !sighting.checks.iter().any(|key| wants(key)) {
            self.left_out += 1;
            current.timeless += u64::from(sighting.seen.time.is_none() && self.select.asks_for_times());
            return;
        }
        if sighting.stage == Stage::RequestReceived {
            self.received(sighting);
        } else {
            self.answered(sighting, sighting.stage == Stage::ResponseStarted);
        }
    }

    /// Remembers a request that came in, unless its answer was already seen to start.
    fn received(&mut self, sighting: &Sighting<'_>) {
        let begun = match self.in_flight.take(&sighting.request) {
            Some(Begun::Started(started)) => Begun::Started(started),
            _ => Begun::Received(Box::new(Received::new(sighting.key, &sighting.seen, &sighting.said))),
        };
        let given_up = self.in_flight.put(&sighting.request, begun);
        self.give_up(given_up);
    }

    /// Counts an answer: when it starts, and again only if its end says something else.
    fn answered(&mut self, sighting: &Sighting<'_>, starts: bool) {
        let (seen, decision) = (&sighting.seen, sighting.decision);
        let known = match self.in_flight.take(&sighting.request) {
            Some(Begun::Started(started)) => Some(started),
            _ => None,
        };
        let mut slot = known.map(|started| started.slot);
        match known {
            Some(started) if starts || (started.decision, started.code) == (decision, seen.code) => {}
            _ => {
                if let Some(started) = known {
                    self.tally.take_back(started.slot, started.code, sighting.said.attributed_from.is_some());
                }
                slot = Some(self.tally.add(sighting.key, seen, &sighting.said));
                if known.is_none() {
                    for check in &sighting.checks {
                        self.tally.add(check, seen, &Said::default());
                    }
                }
            }
        }
        if let (true, Some(slot)) = (starts, slot) {
            let started = known.unwrap_or(Started { slot, decision, code: seen.code });
            let given_up = self.in_flight.put(&sighting.request, Begun::Started(started));
            self.give_up(given_up);
        }
    }

    /// Requests of which no more than `RequestReceived` is known.
    fn give_up(&mut self, requests: Vec<Received>) {
        for received in requests {
            self.tally.add(&received.key, &received.seen(), &received.said());
        }
    }

    /// Counts an event of nobody who is asked for, of which no more is known.
    pub(super) fn pass_over(&mut self, current: &mut Current, stage: Stage, level: Level) {
        self.note_event(current, Shape::Native, stage, level);
        self.left_out += 1;
    }

    fn note_event(&mut self, current: &mut Current, shape: Shape, stage: Stage, level: Level) {
        self.lines += 1;
        *self.shapes.entry(shape).or_default() += 1;
        current.spread = None;
        self.events += 1;
        current.events += 1;
        if let Some(count) = self.stages.get_mut(stage as usize) {
            *count += 1;
        }
        if let Some(count) = self.levels.get_mut(level as usize) {
            *count += 1;
        }
    }

    /// Says so when another log begins alike.
    fn note_first_event(&mut self, current: &Current, sighting: &Sighting<'_>) {
        let identity = self.in_flight.hasher.identity(&sighting.request);
        let twin = self.first_events.insert(identity, current.file);
        let twin = twin.and_then(|twin| self.files.get(twin as usize)).cloned();
        if let Some((twin, path)) = twin.zip(self.files.last().cloned()) {
            let message = format!("starts with the same event as `{twin}`: what both hold is counted twice");
            self.diagnose(DiagnosticKind::Note, &path, sighting.seen.line, 1, message);
        }
    }

    /// Turns what a log lost into counts and diagnostics.
    fn settle(&mut self, path: &str, current: Current) {
        if current.timeless > 0 {
            let events = current.timeless;
            self.note(
                path,
                &format!("{events} events have no time that can be read: left out, as a time was asked for"),
            );
        }
        let mut lost: Vec<_> = current.lost.into_iter().collect();
        lost.sort_by_key(|(_, lost)| lost.line);
        for (cause, lost) in lost {
            *self.skipped.entry(cause).or_default() += lost.lines;
            let detail = lost.detail.map(|detail| format!(" (`{detail}`)")).unwrap_or_default();
            let more = match lost.lines {
                1 => String::new(),
                lines => format!(", {lines} lines, this is the first"),
            };
            let message = format!("{}{detail}{more}: {}", cause.text(), cause.advice());
            self.diagnose(DiagnosticKind::Unreadable, path, lost.line, lost.column, message);
        }
    }

    fn diagnose(&mut self, kind: DiagnosticKind, path: &str, line: u64, column: usize, message: String) {
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let column = u32::try_from(column).unwrap_or(u32::MAX);
        self.diagnostics.push(Diagnostic {
            kind,
            location: Location { path: path.into(), line, column, end_line: line, end_column: column, span: None },
            message,
        });
    }
}

impl Current {
    fn lose(&mut self, cause: Cause, column: usize, detail: Option<String>) {
        let cause = match (self.spread, cause) {
            (_, Cause::Broken | Cause::LongLine) | (None, _) => cause,
            (Some(spread), _) => spread,
        };
        if cause.spreads() {
            self.spread = Some(cause);
        }
        let line = self.line;
        let lost = self.lost.entry(cause).or_insert(Lost { line, column, detail, lines: 0 });
        lost.lines += 1;
    }
}

fn cause_of(lost: Unframed) -> (Cause, Option<String>) {
    // Parsers of YAML put lines into their messages.
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = |text: String| Some(words(text).chars().take(120).collect::<String>().escape_debug().to_string());
    match lost {
        Unframed::TooLong => (Cause::LongLine, None),
        Unframed::NoEnd => (Cause::NoEnd, None),
        Unframed::Yaml(why) => (Cause::Yaml, shown(why)),
        Unframed::Row(why) => (Cause::Row, shown(why)),
    }
}

/// An error to be met again, once; then the end.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl BufRead for Broken {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }

    fn consume(&mut self, _: usize) {}
}

#[cfg(test)]
mod tests;
