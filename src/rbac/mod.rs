//! The permission algebra with Kubernetes' exact matching: pure, no positions, no I/O.
//! Requests and rules here; sets of permissions in [`set`], writing few rules in [`cover`].

pub mod cover;
mod request;
mod rule;
mod scope;
pub mod set;
mod total;
mod urls;

pub use request::{NonResourceRequest, Request, ResourceRequest};
pub use rule::Rule;
pub use scope::Scope;
pub use set::PermissionSet;

#[cfg(test)]
mod tests;
