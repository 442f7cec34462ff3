//! What Kubernetes serves (group, resource, subresource, verbs, scope per minor), what it grants by default
//! (built-in roles, every authenticated user) and what it only checks (virtual resources and verbs).

pub mod builtin;
mod liveness;
mod table;
#[cfg(test)]
mod tests;
mod virtual_checks;

pub use liveness::{DeadReason, Liveness};
pub use table::{CustomResource, Served, Table};
pub use virtual_checks::is_check_only;

/// The Kubernetes minor judged against when none is chosen.
pub const DEFAULT_MINOR: &str = "1.36";
