//! Input that cannot be reached at all. A part that cannot be read is a diagnostic instead.

use std::io;

use crate::audit::policy::PolicyError;

/// Why input that the user named could not be reached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A path does not exist or cannot be opened.
    #[error("cannot read {path}")]
    Open {
        /// The path as given.
        path: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// A directory of manifests cannot be walked.
    #[error("cannot walk {path}")]
    Walk {
        /// The path as given.
        path: String,
        /// The cause.
        #[source]
        source: ignore::Error,
    },
    /// A directory of logs cannot be listed.
    #[error("cannot list {path}")]
    List {
        /// The path.
        path: String,
        /// The cause.
        #[source]
        source: io::Error,
    },
    /// Calls are to be attributed by user agent, which a usage profile does not hold.
    #[error("{path} is a usage profile, which holds no user agents: attribute the calls where the log is read")]
    NoAgents {
        /// The path as given.
        path: String,
    },
    /// `--include`, `--exclude` or a path with wildcards is no glob.
    #[error("`{glob}` is no glob")]
    Glob {
        /// As given.
        glob: String,
        /// The cause.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file is no audit policy.
    #[error(transparent)]
    AuditPolicy(#[from] PolicyError),
    /// A path with wildcards matches nothing.
    #[error("nothing matches {glob}")]
    NoMatch {
        /// As given.
        glob: String,
    },
}
