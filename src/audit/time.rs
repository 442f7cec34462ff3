//! Times of a log: RFC 3339 in UTC, kept and compared as text, in place. Other forms are brought into that one; text
//! that is no time is none.

use std::cmp::Ordering;

use jiff::Timestamp;

/// A logged time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Time {
    text: [u8; 31],
    length: u8,
}

impl Time {
    /// The time of that text.
    pub(super) fn of(text: &str) -> Self {
        if is_plain(text) { Self::kept(text) } else { Self::converted(text) }
    }

    fn kept(text: &str) -> Self {
        let mut time = Self::default();
        if let (Some(room), Ok(length)) = (time.text.get_mut(..text.len()), u8::try_from(text.len())) {
            room.copy_from_slice(text.as_bytes());
            time.length = length;
        }
        time
    }

    /// Another zone, or what Panther and BigQuery write: a space for the `T`, ` UTC` behind it. A zone left out is UTC.
    #[cold]
    fn converted(text: &str) -> Self {
        const LONGEST: usize = 64;
        if text.is_empty() || text.len() > LONGEST {
            return Self::default();
        }
        let text = text.strip_suffix(" UTC").unwrap_or(text);
        let read = text.parse::<Timestamp>().or_else(|_| format!("{text}Z").parse());
        read.map_or_else(|_| Self::default(), |time| Self::kept(&time.to_string()))
    }

    /// Its text, in UTC; empty for none.
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

/// Whether it is a time such as `2024-08-24T14:27:07Z`, with up to nine digits behind a point: what API servers write.
fn is_plain(text: &str) -> bool {
    const FORM: &[u8; 19] = b"0000-00-00T00:00:00";
    let Some((seconds, rest)) = text.as_bytes().split_first_chunk::<19>() else { return false };
    let fits = |(byte, form): (&u8, &u8)| if *form == b'0' { byte.is_ascii_digit() } else { byte == form };
    let fraction = match rest {
        [b'Z'] => true,
        [b'.', digits @ .., b'Z'] => (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !fraction || !seconds.iter().zip(FORM).all(fits) {
        return false;
    }
    let [_, _, _, _, _, month @ .., _, day0, day1, _, hour0, hour1, _, minute, _, _, second, _] = seconds;
    // Which months have more days is the calendar's to say.
    let day = (b"01"..=b"28").contains(&&[*day0, *day1]) || text.parse::<Timestamp>().is_ok();
    let month = (b"01".as_slice()..=b"12").contains(&month.as_slice());
    let hour = [*hour0, *hour1] <= *b"23";
    day && month && hour && *minute <= b'5' && *second <= b'5'
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
