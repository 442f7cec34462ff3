//! Turns what was found into files that can be applied: the minimal role in the forms that people keep it in, the change
//! of the roles that they have, and the audit policy for better evidence.

pub mod audit_policy;
pub mod csv;
pub mod diff;
pub mod helm;
pub mod keep;
pub mod kustomize;
pub mod markers;
pub mod patch;
pub mod role_yaml;
mod rule_text;
mod yaml_text;

use std::fmt::Write as _;

use crate::analysis::{Assessment, MinimalRole};

/// What is written, of whom, from what, and what the reader must know of it.
fn head(assessment: &Assessment, minimal: &MinimalRole) -> String {
    let mut head = format!("Written by rolecall {} for {}", env!("CARGO_PKG_VERSION"), assessment.subject.name);
    if let Some(evidence) = &assessment.evidence {
        let _ = write!(
            head,
            "
from {} calls ({} distinct), {}",
            evidence.calls,
            evidence.distinct,
            evidence.window()
        );
    }
    if !assessment.grants.is_empty() {
        let points = &assessment.points;
        let _ = write!(head, "\nIt held {} permissions", points.held);
        if let Some(used) = points.used {
            let _ = write!(head, " and used {used}");
        }
    }
    if minimal.scopes.iter().all(|scoped| scoped.rules.is_empty()) {
        head += "\nNothing beyond what every authenticated user may do was used: no role is needed";
    }
    for denied in &minimal.denied {
        let _ = write!(head, "\nDenied in the log and not granted here: {denied}");
    }
    for note in &minimal.notes {
        let _ = write!(head, "\nNOTE {note}");
    }
    head
}
