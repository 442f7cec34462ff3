//! Changes items of a list in its own style: a line or more an item, or between brackets.

mod block;
mod flow;

use super::edit::Edit;
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
    if list.flow {
        flow::edits(written, list, changes, comments)
    } else {
        block::edits(written, list, changes, comments)
    }
}
