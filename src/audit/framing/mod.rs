//! How a log is cut into records, told from its first bytes: lines, JSON values over many lines, YAML documents, rows
//! of CSV. A record is what one event, or one envelope of events, is read from.

mod documents;
mod lines;
mod rows;
mod values;

use std::io::{self, BufRead, ErrorKind};

use documents::Documents;
use lines::Lines;
use rows::Rows;
use values::Values;

/// Longest record that is kept. The longest audit event seen in the wild has 220 KB.
pub(super) const LONGEST: usize = 64 << 20;
/// How much of a log is looked at before it is cut.
pub(super) const HEAD: usize = 64 << 10;

/// The byte order mark that some put in front of UTF-8.
pub(super) const MARK: &[u8] = b"\xef\xbb\xbf";

/// What comes next in a log.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// The line that a record begins in, from 1, and the record without what stood around it.
    Record(u64, &'a [u8]),
    /// A record that was passed over.
    Lost(Lost),
    /// The log ended.
    End,
    /// The log broke in or before this record.
    Broken(io::Error),
}

/// Why a record is not handed out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Lost {
    /// It is longer than the limit.
    TooLong,
    /// The list around the records has no end.
    NoEnd,
    /// It is no YAML, or more than is to be read of one document.
    Yaml(String),
    /// It is no row of a table.
    Row(String),
}

/// A log cut into records.
#[derive(Debug)]
pub(super) struct Frames(Cut);

#[derive(Debug)]
enum Cut {
    /// One a line.
    Lines(Lines),
    /// JSON, however it is laid out.
    Values(Values),
    /// YAML.
    Documents(Documents),
    /// CSV with a header.
    Rows(Box<Rows>),
}

impl Frames {
    /// How a log that begins so is cut into records of at most `longest` bytes.
    pub(super) fn of(head: &[u8], longest: usize) -> Self {
        Self(match framing(head) {
            Framing::Lines => Cut::Lines(Lines::new(longest)),
            Framing::Values => Cut::Values(Values::new(longest)),
            Framing::Documents => Cut::Documents(Documents::new(longest)),
            Framing::Rows => Cut::Rows(Box::new(Rows::new(longest))),
        })
    }

    /// Whether they are lines.
    pub(super) fn are_lines(&self) -> bool {
        matches!(self.0, Cut::Lines(_))
    }

    /// The next record of `input`, which must be the same in every call.
    pub(super) fn next<'a>(&'a mut self, input: &'a mut dyn BufRead) -> Step<'a> {
        match &mut self.0 {
            Cut::Lines(lines) => lines.next(input),
            Cut::Values(values) => values.next(input),
            Cut::Documents(documents) => documents.next(input),
            Cut::Rows(rows) => rows.next(input),
        }
    }

    /// The line that the last record began in, from 1.
    pub(super) fn line(&self) -> u64 {
        match &self.0 {
            Cut::Lines(lines) => lines.line,
            Cut::Values(values) => values.start,
            Cut::Documents(documents) => documents.start,
            Cut::Rows(rows) => rows.start,
        }
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        match &self.0 {
            Cut::Lines(lines) => lines.bytes,
            Cut::Values(values) => values.bytes,
            Cut::Documents(documents) => documents.bytes,
            Cut::Rows(rows) => rows.bytes,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Framing {
    Lines,
    Values,
    Documents,
    Rows,
}

/// Told by what lies in the head: the first line that says something, and, of JSON, whether any value leaves its line.
fn framing(head: &[u8]) -> Framing {
    let text = head.trim_ascii_start();
    match text.first() {
        Some(b'[') => Framing::Values,
        Some(b'{') => json(text),
        Some(_) if rows::is_header(first_line(text)) => Framing::Rows,
        Some(_) if documents::is_yaml(text) => Framing::Documents,
        Some(_) | None => Framing::Lines,
    }
}

fn first_line(text: &[u8]) -> &[u8] {
    let end = memchr::memchr(b'\n', text).unwrap_or(text.len());
    text.get(..end).unwrap_or_default().trim_ascii_end()
}

fn json(mut text: &[u8]) -> Framing {
    while text.first() == Some(&b'{') {
        let line = first_line(text);
        let behind = text.get(line.len()..).unwrap_or_default();
        let used = match Extent::of(text) {
            Extent::Ends(end) if end == line.len() => end,
            // Over many lines, or another value behind it on the same line.
            Extent::Ends(_) | Extent::Open { list: true } => return Framing::Values,
            // A line that goes beyond the head, or that was cut, with others behind it.
            Extent::Open { list: false } if behind.is_empty() => return Framing::Lines,
            Extent::Broken => line.len(),
            Extent::Open { list: false } if behind.trim_ascii_start().starts_with(b"{\"") => line.len(),
            Extent::Open { list: false } => return Framing::Values,
        };
        text = text.get(used..).unwrap_or_default().trim_ascii_start();
    }
    Framing::Lines
}

/// How far the first value of a text goes.
enum Extent {
    /// To this byte.
    Ends(usize),
    /// A string has no end in its line.
    Broken,
    /// Beyond the text.
    Open {
        /// A list of records was seen in it.
        list: bool,
    },
}

impl Extent {
    fn of(text: &[u8]) -> Self {
        let (mut depth, mut in_string, mut escaped) = (0_u32, false, false);
        let (mut key, mut list) = (0..0, false);
        for (at, byte) in text.iter().enumerate() {
            if in_string {
                match byte {
                    _ if escaped => escaped = false,
                    b'\\' => escaped = true,
                    b'"' => {
                        in_string = false;
                        key.end = at;
                    }
                    b'\n' => return Self::Broken,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => {
                    in_string = true;
                    key.start = at + 1;
                }
                b'[' | b'{' => {
                    let name = text.get(key.clone()).unwrap_or_default();
                    list |= depth == 1 && values::LISTS.iter().any(|list| list.as_bytes() == name);
                    depth += 1;
                }
                b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Self::Ends(at + 1);
                    }
                }
                _ => {}
            }
        }
        Self::Open { list }
    }
}

/// What lies in the buffer; empty at the end of the stream.
fn filled(input: &mut dyn BufRead) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            // Asked once more, for the sake of the borrow; the buffer is filled.
            Ok(_) => return input.fill_buf(),
        }
    }
}

#[cfg(test)]
mod tests;
