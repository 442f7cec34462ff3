//! Text from the input made safe to print, and small phrases that several formats share.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::analysis::Assessment;

/// Control characters and those that reorder or hide text.
/// Whether it is no letter to read but tells the terminal something, or changes how the rest looks.
pub(crate) fn is_harmful(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// Replaces harmful characters, so that no name out of a manifest or log is interpreted by a terminal.
pub fn safe(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if is_harmful(c) { '\u{fffd}' } else { c }).collect())
}

/// `n thing` or `n things`.
pub(crate) fn count(n: u64, thing: &str) -> String {
    if n == 1 { format!("1 {thing}") } else { format!("{n} {thing}s") }
}

/// "holds 56 permissions, used 23 (113 calls, FIRST … LAST)".
pub(super) fn headline(assessment: &Assessment) -> String {
    let points = &assessment.points;
    let more = if points.unbounded { " and more through wildcards over unknown API groups" } else { "" };
    let urls = match points.non_resource_urls {
        0 => String::new(),
        n => format!(" and {}", count(n, "non-resource URL")),
    };
    let mut text = format!("holds {}{more}{urls}", count(points.held, "permission"));
    match (points.used, &assessment.evidence) {
        (Some(used), Some(evidence)) => {
            let _ = write!(text, ", used {used} ({}, {})", count(evidence.calls, "call"), evidence.window());
        }
        (None, Some(_)) => text += ", not seen in the log",
        _ => {}
    }
    text
}
