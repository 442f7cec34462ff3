//! What Kubernetes serves (group, resource, subresource, verbs, scope per minor), what it grants by default
//! (built-in roles, every authenticated user) and what it only checks (virtual resources and verbs).
//!
//! The data of a minor are two files in `data/`, written by `tests/suite/generated.rs` from Kubernetes' own. What
//! well-known extensions serve is there too: `extensions.tsv`, written by `tests/suite/extensions.rs` from their CRDs,
//! and `extensions-by-hand.tsv`.

pub mod builtin;
mod data;
mod dead;
mod extensions;
mod intent;
mod liveness;
mod meant;
mod table;
mod virtual_checks;

pub use data::MINORS;
pub use intent::Triple;
pub use liveness::{DeadReason, EntryLiveness, Liveness};
pub use table::{CustomResource, Origin, Served, Table};
pub use virtual_checks::{exact_checks, is_check_only, is_checked, is_checked_elsewhere};

/// The Kubernetes minor judged against when none is chosen: the newest.
pub const DEFAULT_MINOR: &str = {
    let [.., newest] = MINORS;
    newest
};

#[cfg(test)]
mod tests;
