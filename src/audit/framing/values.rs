//! JSON values of a stream that is not written by the line: pretty-printed, one behind the other, elements of an array
//! or of a list in an envelope. Cut out by their brackets, one in memory at a time; what they say is read elsewhere.

use std::io::BufRead;
use std::mem;

use super::{Lost, Step, filled};

/// Keys of envelopes whose list holds the records: Kubernetes lists, CloudWatch, Azure, Insights, OTLP, Loki,
/// Elasticsearch.
pub(super) const LISTS: [&str; 12] = [
    "items",
    "events",
    "logEvents",
    "records",
    "Records",
    "results",
    "resourceLogs",
    "scopeLogs",
    "logRecords",
    "streams",
    "values",
    "hits",
];
/// Keys of envelopes whose object may hold such a list.
const ENVELOPES: [&str; 2] = ["data", "hits"];

/// Cuts a stream into values.
#[derive(Debug)]
pub(super) struct Values {
    record: Vec<u8>,
    longest: usize,
    state: State,
    /// Open lists, each with the number of objects around it that end after it.
    lists: Vec<u32>,
    /// Line of the next byte, and of the first byte of the record.
    line: u64,
    pub(super) start: u64,
    /// The next byte begins a line.
    fresh: bool,
    handed_out: bool,
    pub(super) bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before a value.
    Between,
    /// A line, or an element of a list, that is no value.
    Other,
    Inside(Value),
}

/// Where in a value the next byte stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Value {
    /// Brackets open.
    depth: u32,
    /// The depth at which keys may be those of an envelope.
    envelope: u32,
    in_string: bool,
    escaped: bool,
    /// Where the last string began and ended in the record.
    text: (usize, usize),
    /// A `:` behind that string was the last token.
    after_key: bool,
    /// Its lists were handed out already: the rest of it is no record.
    rest: bool,
    too_long: bool,
}

impl Value {
    fn new(depth: u32, rest: bool) -> Self {
        let envelope = depth.max(1);
        let text = (0, 0);
        Self { depth, envelope, in_string: false, escaped: false, text, after_key: false, rest, too_long: false }
    }
}

/// What a byte ended.
enum Ended {
    Record,
    TooLong,
}

impl Values {
    /// Values of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self {
            record: Vec::new(),
            longest,
            state: State::Between,
            lists: Vec::new(),
            line: 1,
            start: 1,
            fresh: true,
            handed_out: false,
            bytes: 0,
        }
    }

    /// The next value of `input`, which must be the same in every call. What is no value comes by the line.
    pub(super) fn next(&mut self, input: &mut dyn BufRead) -> Step<'_> {
        if mem::take(&mut self.handed_out) {
            self.record.clear();
        }
        loop {
            let chunk = match filled(input) {
                Err(error) => return Step::Broken(error),
                Ok(chunk) => chunk,
            };
            if chunk.is_empty() {
                return self.end();
            }
            let (used, ended) = self.scan(chunk);
            input.consume(used);
            self.bytes += used as u64;
            match ended {
                Some(Ended::Record) => return self.hand_out(),
                Some(Ended::TooLong) => {
                    self.record.clear();
                    return Step::Lost(Lost::TooLong);
                }
                None => {}
            }
        }
    }

    fn hand_out(&mut self) -> Step<'_> {
        self.handed_out = true;
        Step::Record(self.start, &self.record)
    }

    /// The stream ends, within a value or not.
    fn end(&mut self) -> Step<'_> {
        let cut = match mem::replace(&mut self.state, State::Between) {
            State::Between => false,
            State::Other => true,
            State::Inside(value) => !value.rest,
        };
        // A list that never closes lost its end.
        let open = !mem::take(&mut self.lists).is_empty();
        match (cut, open) {
            (true, _) => self.hand_out(),
            (false, true) => Step::Lost(Lost::NoEnd),
            (false, false) => Step::End,
        }
    }

    /// Goes on until a record ends; how many bytes were used.
    fn scan(&mut self, chunk: &[u8]) -> (usize, Option<Ended>) {
        let mut at = 0;
        while let Some(&byte) = chunk.get(at) {
            if let State::Inside(value) = self.state
                && value.in_string
                && !value.escaped
            {
                let rest = chunk.get(at..).unwrap_or_default();
                let length = memchr::memchr3(b'"', b'\\', b'\n', rest).unwrap_or(rest.len());
                if length > 0 {
                    self.keep(rest.get(..length).unwrap_or_default());
                    at += length;
                    continue;
                }
            }
            let fresh = mem::replace(&mut self.fresh, byte == b'\n');
            let (used, ended) = match self.state {
                State::Between => self.between(byte),
                State::Other => self.other(byte),
                State::Inside(value) => self.inside(value, byte, fresh),
            };
            if used {
                at += 1;
                self.line += u64::from(byte == b'\n');
            } else {
                self.fresh = fresh;
            }
            if ended.is_some() {
                return (at, ended);
            }
        }
        (at, None)
    }

    fn between(&mut self, byte: u8) -> (bool, Option<Ended>) {
        match byte {
            b',' | b' ' | b'\t' | b'\r' | b'\n' => {}
            b'[' if self.lists.is_empty() => self.lists.push(0),
            b'{' | b'[' => {
                self.begin(State::Inside(Value::new(1, false)));
                self.keep(&[byte]);
            }
            b'"' => {
                self.begin(State::Inside(Value { in_string: true, ..Value::new(0, false) }));
                self.keep(&[byte]);
            }
            b']' => match self.lists.pop() {
                Some(around) if around > 0 => self.state = State::Inside(Value::new(around, true)),
                _ => {}
            },
            // The end of what was broken before.
            b'}' => {}
            _ => {
                self.begin(State::Other);
                self.keep(&[byte]);
            }
        }
        (true, None)
    }

    fn begin(&mut self, state: State) {
        self.start = self.line;
        self.state = state;
    }

    fn other(&mut self, byte: u8) -> (bool, Option<Ended>) {
        if byte == b'\n' || !self.lists.is_empty() && matches!(byte, b',' | b']') {
            self.state = State::Between;
            return (false, Some(Ended::Record));
        }
        self.keep(&[byte]);
        (true, None)
    }

    fn inside(&mut self, mut value: Value, byte: u8, fresh: bool) -> (bool, Option<Ended>) {
        // A string ends before its line does, and nothing within a value begins a line with a brace in its first column.
        let broken = if value.in_string { byte == b'\n' } else { fresh && byte == b'{' && value.depth > 0 };
        if broken {
            self.state = State::Between;
            self.lists.clear();
            return (false, self.ended(value));
        }
        self.keep(&[byte]);
        // What was too long may have been given up meanwhile.
        if let State::Inside(now) = self.state {
            value.too_long = now.too_long;
        }
        if value.in_string {
            match byte {
                _ if value.escaped => value.escaped = false,
                b'\\' => value.escaped = true,
                b'"' => {
                    value.in_string = false;
                    value.text.1 = self.record.len().saturating_sub(1);
                }
                _ => {}
            }
        } else {
            match byte {
                b'"' => {
                    if value.rest {
                        self.record.clear();
                    }
                    value.in_string = true;
                    value.after_key = false;
                    value.text.0 = self.record.len();
                }
                b':' => value.after_key = value.depth == value.envelope,
                b'{' => {
                    let opens = value.after_key && self.key_is(value, &ENVELOPES);
                    value.depth += 1;
                    value.envelope += u32::from(opens);
                    value.after_key = false;
                }
                b'[' if value.after_key && self.key_is(value, &LISTS) => {
                    self.lists.push(value.depth);
                    self.record.clear();
                    self.state = State::Between;
                    return (true, None);
                }
                b'[' => {
                    value.depth += 1;
                    value.after_key = false;
                }
                b'}' | b']' => value.depth = value.depth.saturating_sub(1),
                b' ' | b'\t' | b'\r' | b'\n' => {}
                _ => value.after_key = false,
            }
        }
        if value.depth == 0 && !value.in_string {
            self.state = State::Between;
            return (true, self.ended(value));
        }
        value.envelope = value.envelope.min(value.depth.max(1));
        self.state = State::Inside(value);
        (true, None)
    }

    fn ended(&mut self, value: Value) -> Option<Ended> {
        match (value.rest, value.too_long) {
            (true, _) => {
                self.record.clear();
                None
            }
            (false, true) => Some(Ended::TooLong),
            (false, false) => Some(Ended::Record),
        }
    }

    fn key_is(&self, value: Value, keys: &[&str]) -> bool {
        let key = self.record.get(value.text.0..value.text.1).unwrap_or_default();
        keys.iter().any(|known| known.as_bytes() == key)
    }

    /// Keeps bytes of the record, which is given up when it is too long; its brackets are still followed.
    fn keep(&mut self, bytes: &[u8]) {
        self.record.extend_from_slice(bytes);
        let (rest, limit) = match self.state {
            State::Inside(value) if value.rest || value.too_long => (true, bytes.len().max(1 << 12)),
            _ => (false, self.longest),
        };
        if self.record.len() > limit {
            if let State::Inside(value) = &mut self.state
                && !rest
            {
                value.too_long = true;
            }
            let key_may_follow = self.record.len() - bytes.len().min(self.record.len());
            self.record.drain(..key_may_follow);
        }
    }
}

#[cfg(test)]
mod tests;
