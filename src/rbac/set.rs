//! Sets of permissions: union, intersection, subtraction, covering, normal form.

use super::{Request, Rule};

/// A set of permissions of one scope, closed under union, intersection and subtraction.
#[derive(Debug, Clone, Default)]
pub struct PermissionSet {}

impl PermissionSet {
    /// The permissions that the rules grant together.
    pub fn from_rules<'a>(rules: impl IntoIterator<Item = &'a Rule>) -> Self {
        let _ = rules.into_iter().count();
        unimplemented!()
    }
    /// Whether the request is in the set (scope aside).
    pub fn allows(&self, request: &Request) -> bool {
        let _ = request;
        unimplemented!()
    }
    /// The permissions in both.
    pub fn intersect(&self, other: &Self) -> Self {
        let _ = other;
        unimplemented!()
    }
    /// The permissions in `self` and not in `other`.
    pub fn subtract(&self, other: &Self) -> Self {
        let _ = other;
        unimplemented!()
    }
    /// The permissions in either.
    pub fn union(&self, other: &Self) -> Self {
        let _ = other;
        unimplemented!()
    }
    /// Whether nothing is in the set.
    pub fn is_empty(&self) -> bool {
        unimplemented!()
    }
    /// Whether every permission of `other` is in `self`.
    pub fn covers(&self, other: &Self) -> bool {
        let _ = other;
        unimplemented!()
    }
    /// The same set with the fewest regions this module finds, in a canonical order.
    pub fn normal_form(&self) -> Self {
        unimplemented!()
    }
}
