//! What could not be read, where and why: input problems are data, not errors.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Location;

/// What a [`Diagnostic`] means for completeness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DiagnosticKind {
    /// A part of the input was lost (`--strict` makes the run exit 3).
    Unreadable,
    /// Read, but in a way worth knowing (duplicate key, placeholder namespace).
    Note,
}

/// One problem of the input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Diagnostic {
    /// What it means for completeness.
    pub kind: DiagnosticKind,
    /// Where; a whole file is its line 1, column 1.
    pub location: Location,
    /// What and why: lower case, no final period, text of the input in backticks.
    pub message: String,
}

/// The diagnostics of a run, in the order found.
pub type Diagnostics = Vec<Diagnostic>;
