//! Kubernetes objects as facts, each with its position in the source it was read from.
//! Sits between `source` (a YAML tree) and `graph` (who holds what).

mod facts;
pub mod package;

pub use facts::*;
pub use package::Package;

use crate::source::{Diagnostics, SourceId, SourceMap};

/// What one source held.
#[derive(Debug, Default)]
pub struct Reading {
    /// The facts.
    pub facts: Facts,
    /// How its documents were accounted for.
    pub documents: DocumentCounts,
    /// What was lost or is worth knowing.
    pub diagnostics: Diagnostics,
}

/// Reads every document of a source.
pub fn read(sources: &SourceMap, id: SourceId) -> Reading {
    let _ = (sources, id);
    unimplemented!()
}
