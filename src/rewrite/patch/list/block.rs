//! Lists of a line or more an item, each behind a dash.

use std::ops::Range;

use super::{Change, Comments};
use crate::rewrite::patch::edit::{Edit, end_before, line_break, line_end, line_start};
use crate::rewrite::patch::written::{Extent, List, Refusal, Written};

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

pub(super) fn edits<T: Extent>(
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
        above.extend([&indent, comment, "\n"]);
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
