//! Byte spans into the sources that were read, and the line and column positions shown to people.

use std::cmp::Ordering;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

/// Index of a [`Source`] in its [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceId(pub u32);

/// A half-open byte range `start..end` in one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The source it lies in.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A value with the place it was written at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Pairs a value with its place.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }
}

impl Spanned<String> {
    /// The text of the value.
    pub fn as_str(&self) -> &str {
        &self.value
    }
}

/// A place as people and SARIF count it: lines and columns from 1, columns in Unicode code points
/// (SARIF `columnKind: unicodeCodePoints`), the end column exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in code points.
    pub column: u32,
}

/// A resolved [`Span`]: path, start and end.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Location {
    /// Path as the user gave it, `/`-separated.
    pub path: Arc<str>,
    /// First line, from 1.
    pub line: u32,
    /// First column, from 1, in code points.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// One past the last column.
    pub end_column: u32,
    /// The byte span, for those who hold the [`SourceMap`]; `None` for a place in a log.
    #[serde(skip)]
    pub span: Option<Span>,
}

impl Location {
    fn key(&self) -> (&str, u32, u32, u32, u32) {
        (&self.path, self.line, self.column, self.end_line, self.end_column)
    }
}

impl PartialOrd for Location {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Location {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

/// One text that was read.
#[derive(Debug)]
pub struct Source {
    /// Path as the user gave it, `/`-separated; `-` for standard input.
    pub path: Arc<str>,
    /// The whole text.
    pub text: String,
    lines: LineIndex,
}

impl Source {
    /// The line index of the text.
    pub fn lines(&self) -> &LineIndex {
        &self.lines
    }

    /// The text of line `line` (from 1) without its line break.
    pub fn line_text(&self, line: u32) -> &str {
        self.lines.line_range(line, &self.text).and_then(|range| self.text.get(range)).unwrap_or_default()
    }
}

/// All texts of a run, by [`SourceId`].
#[derive(Debug, Default)]
pub struct SourceMap {
    sources: Vec<Source>,
}

impl SourceMap {
    /// Adds a text and returns its id.
    pub fn add(&mut self, path: impl Into<Arc<str>>, text: impl Into<String>) -> SourceId {
        let text = text.into();
        let id = SourceId(u32::try_from(self.sources.len()).unwrap_or(u32::MAX));
        let lines = LineIndex::new(&text);
        self.sources.push(Source { path: path.into(), text, lines });
        id
    }

    /// Gives up a text that nothing is to point to any more; its path stays.
    pub fn forget(&mut self, id: SourceId) {
        if let Some(source) = self.sources.get_mut(id.0 as usize) {
            source.text = String::new();
            source.lines = LineIndex::new("");
        }
    }

    /// The source of an id of this map.
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.sources.get(id.0 as usize)
    }

    /// All sources in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> {
        self.sources.iter().enumerate().map(|(i, s)| (SourceId(u32::try_from(i).unwrap_or(u32::MAX)), s))
    }

    /// The text under a span; empty when the span is not of this map.
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.source).and_then(|s| s.text.get(span.start as usize..span.end as usize)).unwrap_or_default()
    }

    /// Path, lines and columns of a span.
    pub fn locate(&self, span: Span) -> Location {
        let (path, start, end) = match self.get(span.source) {
            Some(source) => (
                Arc::clone(&source.path),
                source.lines.position(span.start, &source.text),
                source.lines.position(span.end, &source.text),
            ),
            None => (Arc::default(), Position { line: 1, column: 1 }, Position { line: 1, column: 1 }),
        };
        Location {
            path,
            line: start.line,
            column: start.column,
            end_line: end.line,
            end_column: end.column,
            span: Some(span),
        }
    }
}

/// Bytes between two places where characters have been counted: a column costs no more than this, however long the
/// line is (JSON is often one line).
const BLOCK: usize = 4_096;

/// Start offsets of the lines of a text; a line ends at `\n`, `\r\n` or a lone `\r`.
#[derive(Debug, Default)]
pub struct LineIndex {
    starts: Vec<u32>,
    /// Characters that start before each block of [`BLOCK`] bytes.
    before_block: Vec<usize>,
}

/// Characters of UTF-8 that start in these bytes.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count()
}

impl LineIndex {
    /// Indexes a text (at most 4 GiB; `input` refuses larger files).
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            let next = at + 1;
            if bytes.get(at) == Some(&b'\r') && bytes.get(next) == Some(&b'\n') {
                continue;
            }
            starts.push(u32::try_from(next).unwrap_or(u32::MAX));
        }
        let mut before_block = vec![0];
        let mut before = 0;
        for block in bytes.chunks(BLOCK) {
            before += characters(block);
            before_block.push(before);
        }
        Self { starts, before_block }
    }

    /// Characters that start before a byte offset.
    fn characters_before(&self, offset: usize, text: &str) -> usize {
        let block = offset / BLOCK;
        let rest = text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        self.before_block.get(block).copied().unwrap_or_default() + characters(rest)
    }

    /// Line and column of a byte offset.
    pub fn position(&self, offset: u32, text: &str) -> Position {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or_default();
        let (start, offset) = (start as usize, (offset as usize).min(text.len()));
        let line_so_far = text.get(start..offset).unwrap_or_default();
        // A byte order mark is no column.
        let marks = line_so_far.chars().take_while(|c| *c == '\u{feff}').count();
        let before = if line_so_far.len() <= BLOCK {
            characters(line_so_far.as_bytes())
        } else {
            self.characters_before(offset, text).saturating_sub(self.characters_before(start, text))
        };
        Position {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(before.saturating_sub(marks) + 1).unwrap_or(u32::MAX),
        }
    }

    /// Byte range of line `line` (from 1) without its line break.
    pub fn line_range(&self, line: u32, text: &str) -> Option<std::ops::Range<usize>> {
        let index = (line as usize).checked_sub(1)?;
        let start = *self.starts.get(index)? as usize;
        let end = self.starts.get(index + 1).map_or(text.len(), |&next| next as usize);
        let line = text.get(start..end)?;
        Some(start..start + line.trim_end_matches(['\n', '\r']).len())
    }
}
