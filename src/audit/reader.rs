//! Lines of a log → events → the tally: streaming, a bad line costs that line.

use std::collections::BTreeMap;
use std::io::{self, BufRead};
use std::sync::Arc;

use foldhash::HashMap;

use crate::source::{Diagnostic, DiagnosticKind, Diagnostics, Location};

use super::cause::Cause;
use super::decision::{self, Stage};
use super::event::Event;
use super::impersonation;
use super::level::Level;
use super::lines::{LONGEST_LINE, Lines, Step};
use super::request_info::Attributes;
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
    /// Where keys are written.
    key: String,
    longest_line: usize,
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
            key: String::new(),
            longest_line: LONGEST_LINE,
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
        let mut lines = Lines::new(self.longest_line);
        loop {
            current.line += 1;
            match lines.next(input) {
                Step::Line(line) => self.line(&mut current, line),
                Step::TooLong => {
                    self.lines += 1;
                    current.lose(Cause::LongLine, 1, None);
                }
                Step::Broken(error) => {
                    self.lines += 1;
                    current.lose(Cause::Broken, 1, Some(error.to_string()));
                    break;
                }
                Step::End => break,
            }
        }
        self.bytes += lines.bytes;
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
                first: text(first),
                last: text(last),
            },
            calls: calls.into_iter().map(Arc::new).collect(),
            diagnostics: self.diagnostics,
        }
    }

    fn line(&mut self, current: &mut Current, line: &[u8]) {
        let line = match current.line {
            1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            _ => line,
        };
        let text = line.trim_ascii();
        if text.is_empty() {
            return;
        }
        self.lines += 1;
        if text.first() != Some(&b'{') {
            return current.lose(Cause::of_text(text), 1, None);
        }
        match parse(text) {
            Ok(event) if event.is_audit() => match self.event(current, &event, text.len()) {
                Ok(()) => current.spread = None,
                Err(cause) => current.lose(cause, 1, None),
            },
            Ok(_) => {
                let (cause, kind) = Cause::of_object(text, None);
                current.lose(cause, 1, kind);
            }
            Err(error) => {
                let (cause, kind) = Cause::of_object(text, Some(&error));
                let before = line.len() - line.trim_ascii_start().len();
                let ahead = text.get(..error.column().saturating_sub(1)).unwrap_or_default();
                let column = before + String::from_utf8_lossy(ahead).chars().count() + 1;
                let detail = matches!(cause, Cause::NotJson | Cause::WrongField).then(|| plain(&error));
                current.lose(cause, column, kind.or(detail));
            }
        }
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

/// The text of a JSON error without its position.
fn plain(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text.split_once(" at line ").map_or(&*text, |(text, _)| text);
    text.chars().take(120).collect::<String>().escape_debug().to_string()
}

#[cfg(test)]
mod tests;
