//! Records of a log → events → the tally: streaming, a bad record costs that record.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;

use foldhash::HashMap;

use crate::source::{Diagnostic, DiagnosticKind, Diagnostics, Location};

use super::cause::Cause;
use super::decision::{self, Stage};
use super::event::Event;
use super::framing::{Frames, HEAD, LONGEST, Lost as Unframed, Step};
use super::impersonation;
use super::level::Level;
use super::request_info::Attributes;
use super::shape::{self, DEEPEST, Opened, Shape};
use super::stages::{Begun, Identity, InFlight, Received, Started};
use super::tally::{Said, Seen, Slot, Tally};
use super::time::Time;
use super::usage::{Decision, LogQuality, Origin, Skipped, Usage};
use super::{key, url};

/// Clients choose audit ids; this much of one is kept.
const LONGEST_ID: usize = 256;

/// Collects the distinct calls of one or more logs.
#[derive(Debug)]
pub struct Collector {
    tally: Tally,
    in_flight: InFlight,
    files: Vec<String>,
    /// Which file started with this event: a log given twice is noticed.
    first_events: HashMap<Identity, u32>,
    skipped: BTreeMap<Cause, u64>,
    diagnostics: Diagnostics,
    bytes: u64,
    lines: u64,
    events: u64,
    stages: [u64; Stage::ALL.len()],
    levels: [u64; Level::ALL.len()],
    shapes: BTreeMap<Shape, u64>,
    /// Where keys are written.
    key: String,
    longest: usize,
}

/// The log being read.
#[derive(Debug, Default)]
struct Current {
    file: u32,
    line: u64,
    events: u64,
    /// First place and number of lines of each cause.
    lost: BTreeMap<Cause, Lost>,
    /// The cause of the whole text, until a line is an event again.
    spread: Option<Cause>,
    /// The beginning of a record that a container runtime cut in parts.
    part: String,
}

#[derive(Debug)]
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
        }
    }
}

impl Collector {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one log (already decompressed) to its end. Never fails: what cannot be read, an I/O error
    /// included, becomes a diagnostic with `path` and line.
    pub fn read(&mut self, path: &str, input: &mut dyn BufRead) {
        let mut current = Current { file: u32::try_from(self.files.len()).unwrap_or(u32::MAX), ..Current::default() };
        self.files.push(path.to_owned());
        let before = self.lines;
        let mut head = Vec::new();
        // What broke here breaks again where it is read.
        let broken = (&mut *input).take(HEAD as u64).read_to_end(&mut head).err();
        let mark = if head.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        head.drain(..mark);
        let mut frames = Frames::of(&head, self.longest);
        let mut input = Cursor::new(head).chain(Broken(broken)).chain(input);
        loop {
            match frames.next(&mut input) {
                Step::Record(line, record) => {
                    current.line = line;
                    self.record(&mut current, record, Shape::Native, 0);
                }
                Step::Lost(lost) => {
                    current.line = frames.line();
                    self.lines += 1;
                    let (cause, detail) = cause_of(lost);
                    current.lose(cause, 1, detail);
                }
                Step::Broken(error) => {
                    current.line = frames.line();
                    self.lines += 1;
                    current.lose(Cause::Broken, 1, Some(error.to_string()));
                    break;
                }
                Step::End => break,
            }
        }
        self.lose_part(&mut current);
        self.bytes += mark as u64 + frames.bytes();
        if self.lines == before {
            self.note(path, "the log is empty");
        }
        self.settle(path, current);
    }

    /// Counts a log that could not be opened.
    pub fn unreadable(&mut self, path: &str, error: &io::Error) {
        self.files.push(path.to_owned());
        self.diagnose(DiagnosticKind::Unreadable, path, 1, 1, format!("the log cannot be opened: {error}"));
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
        let calls = self.tally.finish(&self.files);
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
                shapes: self.shapes.iter().map(|(shape, &count)| (shape.name().to_owned(), count)).collect(),
                first: text(first),
                last: text(last),
            },
            calls: calls.into_iter().map(Arc::new).collect(),
            diagnostics: self.diagnostics,
        }
    }

    /// Reads a record: an event, or an envelope around records.
    fn record(&mut self, current: &mut Current, record: &[u8], shape: Shape, depth: usize) {
        let text = record.trim_ascii();
        match text.first() {
            None => return,
            Some(b'{') => {}
            Some(b'"' | b'[') => return self.open(current, text, None, shape, depth),
            Some(_) => return self.behind_a_prefix(current, text, shape, depth),
        }
        match parse(text) {
            Ok(mut event) if event.is_audit() => {
                let mended = if Level::of(&event.level) == Level::Other || event.time().contains(' ') {
                    shape::mend(text, &mut event)
                } else {
                    Shape::Native
                };
                self.count_event(current, &event, text.len(), shape.around(mended));
            }
            Err(error) if error.is_eof() || error.is_syntax() => {
                let before = record.len() - record.trim_ascii_start().len();
                self.unreadable_json(current, text, before, &error, shape, depth);
            }
            Ok(_) => self.open(current, text, None, shape, depth),
            Err(error) => self.open(current, text, Some(&error), shape, depth),
        }
    }

    fn count_event(&mut self, current: &mut Current, event: &Event<'_>, length: usize, shape: Shape) {
        self.lines += 1;
        match self.event(current, event, length) {
            Ok(()) => {
                *self.shapes.entry(shape).or_default() += 1;
                current.spread = None;
            }
            Err(cause) => current.lose(cause, 1, None),
        }
    }

    /// Reads what is in an envelope.
    fn open(
        &mut self,
        current: &mut Current,
        text: &[u8],
        error: Option<&serde_json::Error>,
        shape: Shape,
        depth: usize,
    ) {
        match shape::open(text, error) {
            Opened::Inner(_, records) if depth == DEEPEST => {
                self.lines += records.len() as u64;
                records.iter().for_each(|_| current.lose(Cause::Nested, 1, None));
            }
            Opened::Inner(inner, records) => {
                for record in records {
                    if current.part.is_empty() {
                        self.record(current, &record, shape.around(inner), depth + 1);
                    } else {
                        let mut whole = std::mem::take(&mut current.part).into_bytes();
                        whole.extend_from_slice(&record);
                        self.record(current, &whole, shape.around(inner), depth + 1);
                    }
                }
            }
            Opened::Part(part) => self.part(current, &part),
            Opened::Event(inner, event) => self.count_event(current, &event, text.len(), shape.around(inner)),
            Opened::Refused(cause, shown) => {
                let detail = error.filter(|_| cause == Cause::WrongField).map(Cause::plain);
                self.lines += 1;
                current.lose(cause, 1, shown.or(detail));
            }
        }
    }

    /// Keeps a part of a record until the rest of it comes.
    fn part(&mut self, current: &mut Current, part: &str) {
        current.part.push_str(part);
        if current.part.len() > self.longest {
            current.part = String::new();
            self.lines += 1;
            current.lose(Cause::LongLine, 1, None);
        }
    }

    /// Counts a part whose rest never came.
    fn lose_part(&mut self, current: &mut Current) {
        let part = std::mem::take(&mut current.part);
        if !part.is_empty() {
            self.lines += 1;
            let cause = if part.starts_with('{') { Cause::CutShort } else { Cause::of_text(part.as_bytes()) };
            current.lose(cause, 1, None);
        }
    }

    /// Reads a line with something in front of the event: a node's name, what a container runtime writes, a time.
    fn behind_a_prefix(&mut self, current: &mut Current, text: &[u8], shape: Shape, depth: usize) {
        const LONGEST_PREFIX: usize = 512;
        if let Some((whole, content)) = runtime_line(text) {
            return match (whole, current.part.is_empty()) {
                (false, _) => self.part(current, &String::from_utf8_lossy(content)),
                (true, true) => self.record(current, content, shape.around(Shape::Prefixed), depth + 1),
                (true, false) => {
                    let mut all = std::mem::take(&mut current.part).into_bytes();
                    all.extend_from_slice(content);
                    self.record(current, &all, shape.around(Shape::Prefixed), depth + 1);
                }
            };
        }
        let start = memchr::memchr(b'{', text.get(..text.len().min(LONGEST_PREFIX)).unwrap_or(text));
        let event = start
            .and_then(|start| text.get(start..))
            .filter(|rest| depth < DEEPEST && parse(rest).is_ok_and(|event| event.is_audit()));
        match event {
            Some(event) => self.record(current, event, shape.around(Shape::Prefixed), depth + 1),
            None => {
                self.lines += 1;
                current.lose(Cause::of_text(text), 1, None);
            }
        }
    }

    /// What begins as an object and is no JSON: several values on one line, or a broken one.
    fn unreadable_json(
        &mut self,
        current: &mut Current,
        text: &[u8],
        before: usize,
        error: &serde_json::Error,
        shape: Shape,
        depth: usize,
    ) {
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<&serde_json::value::RawValue>();
        if error.is_syntax()
            && let Some(Ok(first)) = values.next()
        {
            let rest = text.get(values.byte_offset()..).unwrap_or_default();
            self.record(current, first.get().as_bytes(), shape, depth + 1);
            if depth < DEEPEST || rest.trim_ascii_start().starts_with(b"{") {
                // Not by recursion: a line may hold any number.
                for value in values.by_ref().map_while(Result::ok) {
                    self.record(current, value.get().as_bytes(), shape, depth + 1);
                }
            }
            let rest = text.get(values.byte_offset()..).unwrap_or_default().trim_ascii();
            if !rest.is_empty() {
                self.lines += 1;
                let column = text.len() - rest.len() + before + 1;
                current.lose(if rest.starts_with(b"{") { Cause::CutShort } else { Cause::NotJson }, column, None);
            }
            return;
        }
        self.lines += 1;
        let ahead = text.get(..error.column().saturating_sub(1)).unwrap_or_default();
        let column = before + String::from_utf8_lossy(ahead).chars().count() + 1;
        let cause = Cause::of_json(error);
        current.lose(cause, column, (cause == Cause::NotJson).then(|| Cause::plain(error)));
    }

    /// Counts one event; `length` is that of its line.
    fn event(&mut self, current: &mut Current, event: &Event<'_>, length: usize) -> Result<(), Cause> {
        let (encoded, query) = url::split(&event.request_uri);
        let path = url::path(encoded);
        let attributes = match &event.object_ref {
            _ if !path.is_empty() => Attributes::of_uri(&event.verb, &path, query),
            Some(object) => Attributes::of_object(&event.verb, object).ok_or(Cause::NoRequest)?,
            None => return Err(Cause::NoRequest),
        };
        if length > key::LONGEST && too_long(event, &attributes) {
            return Err(Cause::LongField);
        }
        let stage = Stage::of(&event.stage);
        let code = decision::code(event, stage);
        let seen = Seen {
            code,
            time: Time::of(event.time()),
            file: current.file,
            line: current.line,
            audit_id: key::cut(&event.audit_id, LONGEST_ID),
            level: Level::of(&event.level),
        };
        self.note_event(current, event, stage, &seen);
        if stage == Stage::RequestReceived {
            self.received(event, &attributes, &seen);
        } else {
            self.answered(event, &attributes, &seen, stage == Stage::ResponseStarted);
        }
        Ok(())
    }

    /// Remembers a request that came in, unless its answer was already seen to start.
    fn received(&mut self, event: &Event<'_>, attributes: &Attributes<'_>, seen: &Seen<'_>) {
        let begun = match self.in_flight.take(event) {
            Some(Begun::Started(started)) => Begun::Started(started),
            _ => {
                let (origin, undecided) = (Origin::Call, Decision::Undecided);
                let key = key::write(&mut self.key, user(event), attributes, origin, undecided);
                Begun::Received(Box::new(Received::new(key, seen)))
            }
        };
        let given_up = self.in_flight.put(event, begun);
        self.give_up(given_up);
    }

    /// Counts an answer: when it starts, and again only if its end says something else.
    fn answered(&mut self, event: &Event<'_>, attributes: &Attributes<'_>, seen: &Seen<'_>, starts: bool) {
        let decision = decision::decision(event, seen.code);
        let known = match self.in_flight.take(event) {
            Some(Begun::Started(started)) => Some(started),
            _ => None,
        };
        let mut slot = known.map(|started| started.slot);
        match known {
            Some(started) if starts || (started.decision, started.code) == (decision, seen.code) => {}
            _ => {
                if let Some(started) = known {
                    self.tally.take_back(started.slot, started.code);
                }
                slot = Some(self.count(event, attributes, seen, decision));
                if known.is_none() {
                    self.impersonation(event, attributes, seen, decision);
                }
            }
        }
        if let (true, Some(slot)) = (starts, slot) {
            let started = known.unwrap_or(Started { slot, decision, code: seen.code });
            let given_up = self.in_flight.put(event, Begun::Started(started));
            self.give_up(given_up);
        }
    }

    fn count(&mut self, event: &Event<'_>, attributes: &Attributes<'_>, seen: &Seen<'_>, decision: Decision) -> Slot {
        let object_namespace = event.object_ref.as_ref().map_or("", |object| &object.namespace);
        let differs = object_namespace != attributes.namespace();
        let said = Said {
            reason: event.annotations.as_ref().map_or("", |annotations| &annotations.reason),
            object_namespace: if differs { object_namespace } else { "" },
            impersonator: event.impersonated_user.is_some().then_some(&*event.user.username),
        };
        let key = key::write(&mut self.key, user(event), attributes, Origin::Call, decision);
        self.tally.add(key, seen, &said)
    }

    /// Counts the checks on the real user of a request that acts, or was refused to act, as another.
    fn impersonation(&mut self, event: &Event<'_>, attributes: &Attributes<'_>, seen: &Seen<'_>, decision: Decision) {
        let (checks, decision) = match &event.impersonated_user {
            Some(user) => (impersonation::checks(event, user, attributes), Decision::Allowed),
            None if decision == Decision::Undecided && seen.code == 403 => {
                let refused = Some(decision::message(event))
                    .filter(|message| decision::is_denied_impersonation(message))
                    .and_then(impersonation::refused);
                (refused.into_iter().collect(), Decision::Denied)
            }
            None => return,
        };
        // What a message quotes is not bounded by what an event may say.
        for check in checks.iter().filter(|check| check.len() <= key::LONGEST) {
            let (user, origin) = (&event.user.username, Origin::Impersonation);
            let key = key::write(&mut self.key, user, check, origin, decision);
            self.tally.add(key, seen, &Said::default());
        }
    }

    /// Requests of which no more than `RequestReceived` is known.
    fn give_up(&mut self, requests: impl Iterator<Item = Begun>) {
        for begun in requests {
            if let Begun::Received(received) = begun {
                self.tally.add(&received.key, &received.seen(), &Said::default());
            }
        }
    }

    fn note_event(&mut self, current: &mut Current, event: &Event<'_>, stage: Stage, seen: &Seen<'_>) {
        self.events += 1;
        current.events += 1;
        if let Some(count) = self.stages.get_mut(stage as usize) {
            *count += 1;
        }
        if let Some(count) = self.levels.get_mut(seen.level as usize) {
            *count += 1;
        }
        if current.events == 1 {
            let twin = self.first_events.insert(self.in_flight.identity(event), current.file);
            let twin = twin.and_then(|twin| self.files.get(twin as usize)).cloned();
            if let Some((twin, path)) = twin.zip(self.files.last().cloned()) {
                let message = format!("starts with the same event as `{twin}`: what both hold is counted twice");
                self.diagnose(DiagnosticKind::Note, &path, current.line, 1, message);
            }
        }
    }

    /// Turns what a log lost into counts and diagnostics.
    fn settle(&mut self, path: &str, current: Current) {
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

/// Reads an event. One check of the whole line as UTF-8 is cheaper than one for each of its strings; a line
/// that is none may still be so only in a part that is not used.
fn parse(line: &[u8]) -> serde_json::Result<Event<'_>> {
    match std::str::from_utf8(line) {
        Ok(line) => serde_json::from_str(line),
        Err(_) => serde_json::from_slice(line),
    }
}

/// Whose call it is: the impersonated user's where there is one.
fn user<'a>(event: &'a Event<'_>) -> &'a str {
    event.impersonated_user.as_ref().map_or(&event.user.username, |user| &user.username)
}

/// Whether an event says more than is kept of any call.
fn too_long(event: &Event<'_>, attributes: &Attributes<'_>) -> bool {
    let acting = event.impersonated_user.as_ref().map_or(0, |user| {
        let extra = user.extra.0.iter().flat_map(|(key, values)| std::iter::once(key).chain(&values.0));
        let texts = [&user.username, &user.uid].into_iter().chain(&user.groups.0).chain(extra);
        texts.map(|text| text.len()).sum()
    });
    let object = event.object_ref.as_ref().map_or(0, |object| object.namespace.len());
    event.user.username.len() + acting + object + attributes.len() > key::LONGEST
}

/// A line of the Container Runtime Interface's log: whether it ends a text, and its part of it.
fn runtime_line(line: &[u8]) -> Option<(bool, &[u8])> {
    let mut parts = line.splitn(4, |byte| *byte == b' ');
    let time = parts.next()?;
    let stream = parts.next()?;
    let tag = parts.next()?;
    let known = time.first()?.is_ascii_digit() && matches!(stream, b"stdout" | b"stderr");
    let whole = match tag {
        b"F" => true,
        b"P" => false,
        _ => return None,
    };
    known.then_some((whole, parts.next().unwrap_or_default()))
}

fn cause_of(lost: Unframed) -> (Cause, Option<String>) {
    let shown = |text: String| Some(text.chars().take(120).collect::<String>().escape_debug().to_string());
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
