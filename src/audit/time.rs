//! Order of the times in a log: RFC 3339 in UTC, compared as text.

use std::cmp::Ordering;

/// A logged time is at most this long; longer text is no time.
const LONGEST: usize = 40;

/// The text where it can be a time, else nothing.
pub(super) fn sane(time: &str) -> &str {
    if time.len() <= LONGEST { time } else { "" }
}

/// Which of two times is earlier. `2024-08-24T14:27:07Z` and `2024-08-24 14:27:07.5` compare too.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    if a.len() == b.len() {
        return a.cmp(b);
    }
    let (seconds_a, fraction_a) = parts(a);
    let (seconds_b, fraction_b) = parts(b);
    seconds_a.cmp(seconds_b).then(fraction_a.cmp(fraction_b))
}

/// Widens `first..last` by a time; empty texts are no time.
pub(super) fn widen(first: &mut String, last: &mut String, time: &str) {
    if time.is_empty() {
        return;
    }
    if last.is_empty() || compare(time, last).is_gt() {
        last.clear();
        last.push_str(time);
    }
    if first.is_empty() || compare(time, first).is_lt() {
        first.clear();
        first.push_str(time);
    }
}

/// Whole seconds and the digits behind the point.
fn parts(time: &str) -> (&str, &str) {
    let time = time.trim_end_matches('Z');
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    (seconds, fraction.trim_end_matches('0'))
}
