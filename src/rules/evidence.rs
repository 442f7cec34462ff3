//! The words and counts of findings: how many calls, in which time, which of many.

use std::collections::BTreeSet;

use crate::analysis::{Assessment, Evidence, Grant};
use crate::source;

/// `0 of 113 calls, 2026-12-01T00:59:32Z to 2026-12-01T01:00:25Z`; empty without a log.
pub(super) fn counted(assessment: &Assessment, calls: u64) -> String {
    match &assessment.evidence {
        None => String::new(),
        Some(Evidence { calls: 0, .. }) => window(assessment),
        Some(evidence) => format!("{calls} of {}, {}", plural(evidence.calls, "call"), evidence.window()),
    }
}

/// `113 calls, …`; empty without a log.
pub(super) fn window(assessment: &Assessment) -> String {
    match &assessment.evidence {
        None => String::new(),
        Some(Evidence { calls: 0, .. }) => "the log shows no call of this subject".to_owned(),
        Some(evidence) => format!("{}, {}", plural(evidence.calls, "call"), evidence.window()),
    }
}

/// `1 call`, `2 calls`.
pub(super) fn plural(count: u64, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// Calls that any of the grants covered, each call once.
pub(super) fn calls_of(assessment: &Assessment, grants: &[&Grant]) -> u64 {
    let indices: BTreeSet<usize> = grants.iter().map(|grant| grant.index).collect();
    let covered = assessment.calls.iter().filter(|call| call.grants.iter().any(|index| indices.contains(index)));
    covered.map(|call| call.observed.count).fold(0, u64::saturating_add)
}

/// Up to five of the texts, and how many more.
pub(super) fn some_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    source::some_of(texts.into_iter().map(|text| format!("`{text}`")), 5)
}
