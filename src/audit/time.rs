//! Times of a log: RFC 3339 in UTC, kept and compared as text, in place.

use std::cmp::Ordering;

/// A logged time; text too long to be one is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Time {
    text: [u8; 31],
    length: u8,
}

impl Time {
    /// The time of that text.
    pub(super) fn of(text: &str) -> Self {
        let text = text.strip_suffix(" UTC").unwrap_or(text);
        let mut time = Self::default();
        if let (Some(room), Ok(length)) = (time.text.get_mut(..text.len()), u8::try_from(text.len())) {
            room.copy_from_slice(text.as_bytes());
            time.length = length;
            time.as_rfc3339();
        }
        time
    }

    /// Panther and BigQuery write a space for the `T`; a zone left out is UTC.
    fn as_rfc3339(&mut self) {
        if let Some(space @ b' ') = self.text.get_mut(10) {
            *space = b'T';
            let zone = self.bytes().get(19..).is_some_and(|end| end.iter().any(|byte| b"Z+-".contains(byte)));
            if let (false, Some(end)) = (zone, self.text.get_mut(usize::from(self.length))) {
                *end = b'Z';
                self.length += 1;
            }
        }
    }

    /// Its text, as logged; empty for none.
    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(self.bytes()).unwrap_or_default()
    }

    fn bytes(&self) -> &[u8] {
        self.text.get(..usize::from(self.length)).unwrap_or_default()
    }

    /// Whether there is no time.
    pub(super) fn is_none(&self) -> bool {
        self.length == 0
    }

    /// Whole seconds and the digits behind the point.
    pub(super) fn parts(&self) -> (&str, &str) {
        let time = self.text().trim_end_matches('Z');
        let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
        (seconds, fraction.trim_end_matches('0'))
    }
}

/// `2024-08-24T14:27:07Z` and `2024-08-24T14:27:07.5Z` compare too.
impl Ord for Time {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.length == other.length {
            return self.text.cmp(&other.text);
        }
        self.parts().cmp(&other.parts()).then(self.length.cmp(&other.length))
    }
}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests;
