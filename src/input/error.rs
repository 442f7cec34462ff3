//! What makes reading impossible altogether. A part that cannot be read is a diagnostic instead.

use std::io;

/// An input that the user named and that cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be opened.
    #[error("cannot open `{path}`: {source}")]
    Open {
        /// The path as given.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// A directory cannot be listed.
    #[error("cannot list `{path}`: {source}")]
    List {
        /// The path as given.
        path: String,
        /// Why.
        source: io::Error,
    },
}
