//! rolecall: what may a Kubernetes operator do, what does it really do, and what is the
//! smallest Role under which it still works.
//!
//! Data flows one way; a module may use those below it here, never those above
//! (`tests/suite/architecture.rs` reads the imports and holds this):
//!
//! ```text
//! cli                       one file a command; exit codes, environment
//! input                     files, directories, stdin: the only place that reads disk
//! report · rewrite          Report → table, JSON, SARIF · minimal role → YAML, patches
//! rules · finding · controls   rule documents, findings, framework ids
//! analysis                  Assessment per subject: verdicts, points, minimal role
//! needs                     permissions that a call needs without an event of its own
//! graph                     workload → subject → binding → role → rule entry
//! audit                     log lines → observed calls → Usage
//! manifest                  Kubernetes objects as facts with positions
//! api                       what Kubernetes serves, grants by default, and only checks
//! rbac                      the permission algebra, with Kubernetes' exact matching
//! source                    text, spans, YAML tree; knows nothing of Kubernetes
//! ```

pub mod analysis;
pub mod api;
pub mod audit;
pub mod cli;
pub mod controls;
pub mod finding;
pub mod graph;
pub mod input;
pub mod manifest;
pub mod needs;
pub mod rbac;
pub mod report;
pub mod rewrite;
pub mod rules;
pub mod source;
