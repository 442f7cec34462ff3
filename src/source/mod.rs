//! Text, spans and positions, and the YAML tree built over them.
//! The bottom of the flow: knows nothing of Kubernetes.

mod diagnostic;
mod span;
mod words;
pub mod yaml;

pub use diagnostic::{Diagnostic, DiagnosticKind, Diagnostics};
pub use span::{LineIndex, Location, Position, Source, SourceId, SourceMap, Span, Spanned};
pub use words::some_of;
