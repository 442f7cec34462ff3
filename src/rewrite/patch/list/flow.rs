//! Lists between brackets, in one line or several.

use std::ops::Range;

use super::{Change, Comments};
use crate::rewrite::patch::edit::{Edit, apply};
use crate::rewrite::patch::written::{Extent, List, Refusal, Written};

/// An item between brackets: what leads to it, itself, and what follows up to the end of its line.
struct Cell<'t> {
    lead: &'t str,
    text: String,
    trail: &'t str,
    /// Where in the trail the comma stands.
    comma: Option<usize>,
    after: Vec<String>,
    gone: bool,
}

pub(super) fn edits<T: Extent>(
    written: &Written<'_>,
    list: &List<T>,
    changes: Vec<Change>,
    comments: Comments,
) -> Result<Vec<Edit>, Refusal> {
    let inside = list.range.start + 1..list.range.end.saturating_sub(1);
    let mut cells: Vec<Cell<'_>> = Vec::new();
    let mut lead = inside.start;
    let items = list.items.len();
    for (index, (item, change)) in list.items.iter().zip(changes).enumerate() {
        let range = item.range();
        let next = list.items.get(index + 1).map_or(inside.end, |next| next.range().start);
        let (end, comma) = trail(written, range.end..next, index + 1 < items)?;
        if !only_blank(written, lead..range.start) {
            return Err("an anchor or a tag stands between brackets".to_owned());
        }
        let whole = written.slice(range.clone());
        let (text, after, gone) = match change {
            Change::Keep(edits, after) => {
                let moved = edits.into_iter().map(|edit| edit.moved(range.start)).collect::<Option<Vec<Edit>>>();
                let text = moved.and_then(|edits| apply(whole, edits));
                (text.ok_or("its edits overlap")?, after, false)
            }
            Change::Replace(texts) if texts.is_empty() => (String::new(), texts, true),
            Change::Replace(mut texts) => (texts.remove(0), texts, false),
        };
        let (lead_text, trail) = (written.slice(lead..range.start), written.slice(range.end..end));
        cells.push(Cell { lead: lead_text, text, trail, comma, after, gone });
        lead = end;
    }
    let closing = written.slice(lead..inside.end);
    Ok(vec![Edit::replace(list.range.clone(), join(&cells, closing, comments))])
}

fn join(cells: &[Cell<'_>], closing: &str, comments: Comments) -> String {
    let Some(last) = cells.iter().rposition(|cell| !cell.gone) else { return "[]".to_owned() };
    let trailing_comma = cells.last().is_some_and(|cell| cell.comma.is_some());
    let mut joined = "[".to_owned();
    // What led to the first item gone from a line leads to the next one in it.
    let mut carried: Option<&str> = None;
    let mut commented = false;
    for (index, cell) in cells.iter().enumerate() {
        let lead = carried.filter(|_| !cell.lead.contains('\n')).unwrap_or(cell.lead);
        if cell.gone {
            carried = Some(lead);
            if comments == Comments::Stay && lead.contains('#') {
                let indent = last_break(lead);
                joined += lead.strip_suffix(indent).unwrap_or(lead);
                carried = Some(indent);
                commented = true;
            }
            continue;
        }
        carried = None;
        joined += lead;
        joined += &cell.text;
        for text in &cell.after {
            let lead = if lead.contains('\n') { last_break(lead) } else { " " };
            joined.extend([",", lead, text]);
        }
        let trail = cell.trail(index != last || trailing_comma);
        commented = trail.contains('#');
        joined += &trail;
    }
    // A comment must not take in the bracket.
    if commented && !closing.contains('\n') {
        joined += cells.iter().rfind(|cell| cell.lead.contains('\n')).map_or("\n", |cell| last_break(cell.lead));
    }
    joined += closing;
    joined.push(']');
    joined
}

impl Cell<'_> {
    fn trail(&self, with_comma: bool) -> String {
        match (self.comma, with_comma) {
            (None, true) => format!(",{}", self.trail),
            (Some(comma), false) => {
                let (before, after) = self.trail.split_at_checked(comma).unwrap_or_default();
                format!("{before}{}", after.strip_prefix(',').unwrap_or(after)).trim_end().to_owned()
            }
            _ => self.trail.to_owned(),
        }
    }
}

/// The last line break of what leads to an item, with what follows it.
fn last_break(lead: &str) -> &str {
    let newline = lead.rfind('\n').unwrap_or_default();
    let at = match newline.checked_sub(1).and_then(|at| lead.as_bytes().get(at)) {
        Some(b'\r') => newline - 1,
        _ => newline,
    };
    lead.get(at..).unwrap_or_default()
}

/// Where the trail of an item ends: behind its comma and a comment in the same line, before blanks to the next item.
/// Where in it the comma stands.
fn trail(written: &Written<'_>, gap: Range<usize>, needs_comma: bool) -> Result<(usize, Option<usize>), Refusal> {
    let (mut at, mut end, mut comma) = (gap.start, gap.start, None);
    while at < gap.end {
        if let Some(comment) = written.comment_at(at) {
            at = comment.end;
            end = at;
            continue;
        }
        match written.text.as_bytes().get(at) {
            Some(b',') if comma.is_none() => {
                comma = Some(at - gap.start);
                end = at + 1;
            }
            Some(b'\n') if comma.is_some() || !needs_comma => break,
            Some(b'\n' | b'\r' | b' ' | b'\t') => {}
            // What belongs to the next item is found there.
            _ => break,
        }
        at += 1;
    }
    if needs_comma && comma.is_none() { Err("items without a comma between them".to_owned()) } else { Ok((end, comma)) }
}

/// Nothing but blanks and comments.
fn only_blank(written: &Written<'_>, range: Range<usize>) -> bool {
    let mut at = range.start;
    while at < range.end {
        match (written.comment_at(at), written.text.as_bytes().get(at)) {
            (Some(comment), _) => at = comment.end,
            (None, Some(b' ' | b'\t' | b'\n' | b'\r')) => at += 1,
            _ => return false,
        }
    }
    true
}
