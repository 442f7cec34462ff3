//! The permission algebra with Kubernetes' exact matching: pure, no positions, no I/O.
//! Requests and rules here; sets of permissions in [`set`], over all scopes in [`authority`], writing few rules in
//! [`cover`].

pub mod authority;
pub mod cover;
mod parts;
mod request;
mod rule;
mod scope;
pub mod set;
mod total;
mod urls;

pub use authority::{Authority, Comparison};
pub use parts::{Names, Part, Paths};
pub use request::{NonResourceRequest, Request, ResourceRequest};
pub use rule::Rule;
pub use scope::Scope;
pub use set::PermissionSet;

#[cfg(test)]
mod tests;
