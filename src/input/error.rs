//! Input that cannot be reached at all.

use std::io;

/// Why input could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path that the user gave does not exist or cannot be opened.
    #[error("cannot read {path}")]
    Open {
        /// The path.
        path: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A directory cannot be walked.
    #[error("cannot walk {path}")]
    Walk {
        /// The path.
        path: String,
        /// The cause.
        #[source]
        source: ignore::Error,
    },
    /// A folder was given as a log and holds none.
    #[error("{path} holds no file")]
    EmptyFolder {
        /// The path.
        path: String,
    },
}
