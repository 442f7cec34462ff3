//! Edits of a text: each replaces a range, none overlaps another.

use std::ops::Range;

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Edit {
    start: usize,
    end: usize,
    text: String,
}

impl Edit {
    pub(super) fn replace(range: Range<usize>, text: impl Into<String>) -> Self {
        Self { start: range.start, end: range.end, text: text.into() }
    }

    pub(super) fn delete(range: Range<usize>) -> Self {
        Self::replace(range, "")
    }

    /// The same, counted from a later place.
    pub(super) fn moved(self, from: usize) -> Option<Self> {
        Some(Self { start: self.start.checked_sub(from)?, end: self.end.checked_sub(from)?, text: self.text })
    }

    pub(super) fn insert(at: usize, text: impl Into<String>) -> Self {
        Self::replace(at..at, text)
    }
}

/// The text after the edits; `None` when they overlap.
pub(super) fn apply(text: &str, mut edits: Vec<Edit>) -> Option<String> {
    // Stable: insertions at one place stay in order.
    edits.sort_by_key(|edit| (edit.start, edit.end));
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for edit in &edits {
        edited += text.get(at..edit.start)?;
        edited += &edit.text;
        at = edit.end;
    }
    edited += text.get(at..)?;
    Some(edited)
}

/// Start of the line that holds a byte.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1)
}

/// End of the line that holds a byte, before its line break.
pub(super) fn line_end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.find('\n').map_or(rest, |newline| rest.get(..newline).unwrap_or_default());
    at + line.strip_suffix('\r').unwrap_or(line).len()
}

/// End of the line before, or the start of the text.
pub(super) fn end_before(text: &str, at: usize) -> usize {
    match line_start(text, at).checked_sub(1) {
        Some(newline) => line_end(text, line_start(text, newline)),
        None => 0,
    }
}

/// The line break of a text.
pub(super) fn line_break(text: &str) -> &'static str {
    let line = text.find('\n').and_then(|newline| text.get(..newline)).unwrap_or_default();
    if line.ends_with('\r') { "\r\n" } else { "\n" }
}
