//! Changes items of a list in its own style: a line or more an item, or between brackets.

use std::ops::Range;

use super::edit::{Edit, end_before, line_break, line_end, line_start};
use super::written::{Extent, List, Refusal, Written};

/// What becomes of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// It stays, and its own text may be edited; these come after it.
    Keep(Vec<Edit>, Vec<String>),
    /// It gives way to these.
    Replace(Vec<String>),
}

/// Whether the comments above an item (and below it, further in) are its own and go with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comments {
    Own,
    Stay,
}

/// The edits that change the items so; one change an item.
pub(super) fn edits<T: Extent>(
    written: &Written<'_>,
    list: &List<T>,
    changes: Vec<Change>,
    comments: Comments,
) -> Result<Vec<Edit>, Refusal> {
    if changes.iter().all(|change| matches!(change, Change::Keep(edits, after) if edits.is_empty() && after.is_empty()))
    {
        return Ok(Vec::new());
    }
    if list.flow { flow(written, list, changes, comments) } else { block(written, list, changes, comments) }
}

/// Where the dash of an item stands: the first in its line, or in one above where only a name for the item stands there.
fn dash(written: &Written<'_>, list_key: usize, item: usize) -> Result<usize, Refusal> {
    let mut line = line_start(written.text, item);
    while line > list_key {
        let text = written.slice(line..line_end(written.text, line));
        let indent = text.len() - text.trim_start_matches(' ').len();
        let rest = text.get(indent..).unwrap_or_default();
        if rest == "-" || rest.starts_with("- ") {
            return Ok(line + indent);
        }
        line = line_start(written.text, line - 1);
    }
    Err("an item is not written as `- item`".to_owned())
}

/// What is to stand before the text of another item like this one.
fn prefix(written: &Written<'_>, dash: usize, item: usize) -> String {
    let column = |at: usize| at - line_start(written.text, at);
    let between = written.slice(dash + 1..item);
    let width = match between.rsplit_once('\n') {
        Some(_) => column(item).saturating_sub(column(dash) + 1),
        None if between.trim_start_matches(' ').is_empty() => between.len(),
        None => 1,
    };
    format!("{}-{}", " ".repeat(column(dash)), " ".repeat(width))
}

fn block<T: Extent>(
    written: &Written<'_>,
    list: &List<T>,
    changes: Vec<Change>,
    comments: Comments,
) -> Result<Vec<Edit>, Refusal> {
    let text = written.text;
    let newline = line_break(text);
    let mut edits = Vec::new();
    let mut left = 0;
    let last = list.items.len().saturating_sub(1);
    for (index, (item, change)) in list.items.iter().zip(changes).enumerate() {
        let range = item.range();
        let dash = dash(written, list.key.range.end, range.start)?;
        let region = region(written, dash, range.end, index == 0, comments);
        let like = |texts: Vec<String>| -> String {
            let prefix = prefix(written, dash, range.start);
            texts.iter().map(|text| format!("{newline}{}", lead_comments(&prefix, text))).collect()
        };
        let after = match change {
            Change::Keep(own, after) => {
                left += 1;
                edits.extend(own);
                after
            }
            Change::Replace(texts) if texts.is_empty() => {
                edits.push(Edit::delete(without_double_blank(text, region, index == last)));
                continue;
            }
            Change::Replace(texts) if comments == Comments::Own => {
                left += 1;
                edits.push(Edit::replace(region, like(texts)));
                continue;
            }
            Change::Replace(mut texts) => {
                left += 1;
                edits.push(Edit::replace(range.clone(), texts.remove(0)));
                texts
            }
        };
        if !after.is_empty() {
            edits.push(Edit::insert(region.end, like(after)));
        }
    }
    if left == 0 {
        edits.push(Edit::insert(end_of_key(written, list.key.range.end), " []"));
    }
    Ok(edits)
}

/// The item behind its dash; comment lines that come first in it stand above the dash.
fn lead_comments(prefix: &str, text: &str) -> String {
    let indent: String = prefix.chars().take_while(|c| *c == ' ').collect();
    let mut above = String::new();
    let mut rest = text;
    while rest.starts_with('#')
        && let Some((comment, more)) = rest.split_once('\n')
    {
        above += &format!("{indent}{comment}\n");
        rest = more;
    }
    format!("{above}{prefix}{rest}")
}

/// The lines of an item, from the end of the line before.
fn region(written: &Written<'_>, dash: usize, end: usize, first: bool, comments: Comments) -> Range<usize> {
    let text = written.text;
    let start = line_start(text, dash);
    let indent = dash - start;
    let mut region = end_before(text, start)..line_end(text, end);
    if comments == Comments::Stay {
        return region;
    }
    while region.start > 0 {
        let above = line_start(text, region.start);
        match comment_indent(written, above) {
            Some(column) if column == indent || (first && column > indent) => region.start = end_before(text, above),
            _ => break,
        }
    }
    while region.end < text.len() {
        let below = text.get(region.end..).and_then(|rest| rest.find('\n')).map(|newline| region.end + newline + 1);
        match below.and_then(|below| Some((below, comment_indent(written, below)?))) {
            Some((below, column)) if column > indent => region.end = line_end(text, below),
            _ => break,
        }
    }
    region
}

/// Where the comment starts in a line that holds nothing else.
fn comment_indent(written: &Written<'_>, line: usize) -> Option<usize> {
    let text = written.slice(line..line_end(written.text, line));
    let indent = text.len() - text.trim_start_matches(' ').len();
    text.get(indent..)?.starts_with('#').then_some(indent)
}

/// Blank lines that stood around what goes do not add up.
fn without_double_blank(text: &str, region: Range<usize>, last: bool) -> Range<usize> {
    let blank =
        |at: usize| text.get(line_start(text, at)..line_end(text, at)).is_some_and(|line| line.trim().is_empty());
    let below = text.get(region.end..).and_then(|rest| rest.find('\n')).map(|newline| region.end + newline + 1);
    match below {
        Some(below) if !last && below < text.len() && blank(below) && blank(region.start) => {
            region.start..line_end(text, below)
        }
        _ => region,
    }
}

/// Where a value can follow a key: behind its colon, and what is written there beside a comment.
fn end_of_key(written: &Written<'_>, key: usize) -> usize {
    let line = key..line_end(written.text, key);
    let comment = line.clone().find_map(|at| written.comment_at(at)).map_or(line.end, |comment| comment.start);
    key + written.slice(key..comment).trim_end().len()
}

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

fn flow<T: Extent>(
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
                let text = moved.and_then(|edits| super::edit::apply(whole, edits));
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
