//! A record of a log → the events in it: opens envelopes, takes prefixes off, says what is neither.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use super::cause::{self, Cause};
use super::event::Event;
use super::level::Level;
use super::pieces::{Piece, Stream};
use super::reader::{Collector, Current};
use super::shape::{self, DEEPEST, Opened, Shape};
use super::sighting;

impl Collector {
    /// Reads a record: an event, or an envelope around records.
    pub(super) fn record(&mut self, current: &mut Current, record: &[u8], shape: Shape, depth: usize) {
        let text = record.trim_ascii();
        match text.first() {
            None => return,
            Some(b'{') => {}
            Some(b'"' | b'[') => return self.open(current, text, None, shape, depth),
            Some(_) => return self.behind_a_prefix(current, text, shape, depth),
        }
        match parse(text) {
            Ok(mut event) if event.is_audit() => {
                let mended = mended(text, &mut event);
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
        let mut key = std::mem::take(&mut self.key);
        match sighting::of(event, shape, length, (current.file, current.line), &self.select, &mut key) {
            Ok(sighting) => self.take(current, &sighting),
            Err(cause) => self.lose(current, cause, 1, None),
        }
        self.key = key;
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
            Opened::Inner(_, records) if depth >= DEEPEST => {
                records.iter().for_each(|_| self.lose(current, Cause::Nested, 1, None));
            }
            Opened::Inner(inner, records) => {
                for record in records {
                    self.end_of_part(current, &record, Stream::Out, (shape.around(inner), depth + 1));
                }
            }
            Opened::Piece(_) if depth >= DEEPEST => self.lose(current, Cause::Nested, 1, None),
            Opened::Piece(piece) => self.piece(current, &piece, (shape.around(Shape::Collector), depth + 1)),
            Opened::Event(inner, event) => self.count_event(current, &event, text.len(), shape.around(inner)),
            Opened::Refused(cause, shown) => {
                let detail = error.filter(|_| cause == Cause::WrongField).map(|error| wrong_field(text, error));
                self.lose(current, cause, 1, detail.or(shown));
            }
        }
    }

    /// Reads a line with something in front of the event: a node's name, what a container runtime writes, a time.
    fn behind_a_prefix(&mut self, current: &mut Current, text: &[u8], shape: Shape, depth: usize) {
        const LONGEST_PREFIX: usize = 512;
        if let Some(piece) = Piece::of_line(text) {
            return match depth {
                DEEPEST.. => self.lose(current, Cause::Nested, 1, None),
                _ => self.piece(current, &piece, (shape.around(Shape::Prefixed), depth + 1)),
            };
        }
        let start = memchr::memchr(b'{', text.get(..text.len().min(LONGEST_PREFIX)).unwrap_or(text));
        let event = start
            .and_then(|start| text.get(start..))
            .filter(|rest| depth < DEEPEST && parse(rest).is_ok_and(|event| event.is_audit()));
        match event {
            Some(event) => self.record(current, event, shape.around(Shape::Prefixed), depth + 1),
            None => {
                self.lose(current, Cause::of_text(text), 1, None);
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
        // One value that is JSON to whoever does not look into its texts, such as half a surrogate pair, is broken.
        if error.is_syntax()
            && let Some(Ok(first)) = values.next()
            && first.get().len() < text.len()
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
                let column = text.len() - rest.len() + before + 1;
                self.lose(current, if rest.starts_with(b"{") { Cause::CutShort } else { Cause::NotJson }, column, None);
            }
            return;
        }
        let ahead = text.get(..error.column().saturating_sub(1)).unwrap_or_default();
        let column = before + String::from_utf8_lossy(ahead).chars().count() + 1;
        let cause = if cause::is_utf16(text) { Cause::Utf16 } else { Cause::of_json(error) };
        self.lose(current, cause, column, (cause == Cause::NotJson).then(|| Cause::plain(error)));
    }
}

/// Reads an event. One check of the whole line as UTF-8 is cheaper than one for each of its strings; a line
/// that is none may still be so only in a part that is not used.
pub(super) fn parse(line: &[u8]) -> serde_json::Result<Event<'_>> {
    match std::str::from_utf8(line) {
        Ok(line) => serde_json::from_str(line),
        Err(_) => serde_json::from_slice(line),
    }
}

/// Which field of an event cannot be read, and why.
fn wrong_field(text: &[u8], error: &serde_json::Error) -> String {
    let why = Cause::plain(error);
    let fields: BTreeMap<String, &RawValue> = serde_json::from_slice(text).unwrap_or_default();
    let is_wrong = |(name, value): &(&String, &&RawValue)| {
        serde_json::from_str::<Event<'_>>(&format!("{{{}:{}}}", serde_json::Value::from(name.as_str()), value.get()))
            .is_err()
    };
    fields.iter().find(is_wrong).map_or(why.clone(), |(name, _)| format!("{name}: {why}"))
}

/// Finishes an event that a collector changed, and tells its shape.
pub(super) fn mended(text: &[u8], event: &mut Event<'_>) -> Shape {
    if Level::of(&event.level) == Level::Other || event.time().contains(' ') {
        shape::mend(text, event)
    } else {
        Shape::Native
    }
}
