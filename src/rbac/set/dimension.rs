//! What the sets of one dimension (verbs, groups, resources, names, paths) have in common: each is a
//! Boolean algebra with one representation per set, so that equality of values is equality of sets.

use std::fmt;

/// A Boolean connective, from "is it in the left set" and "is it in the right set".
pub(super) type Connective = fn(bool, bool) -> bool;

pub(super) const OR: Connective = |left, right| left || right;
pub(super) const AND: Connective = |left, right| left && right;
pub(super) const AND_NOT: Connective = |left, right| left && !right;

/// A set of values of one dimension. `Ord` is only an order to sort by, not inclusion.
pub(super) trait Dimension: Clone + Ord + fmt::Debug {
    /// Every value.
    fn all() -> Self;
    /// Whether there is no value in it.
    fn is_empty(&self) -> bool;
    /// The set of values for which the connective holds; it never holds for two absences.
    fn combine(&self, other: &Self, connective: Connective) -> Self;

    fn union(&self, other: &Self) -> Self {
        self.combine(other, OR)
    }
    fn intersect(&self, other: &Self) -> Self {
        self.combine(other, AND)
    }
    fn subtract(&self, other: &Self) -> Self {
        self.combine(other, AND_NOT)
    }
    fn intersects(&self, other: &Self) -> bool {
        !self.intersect(other).is_empty()
    }
    fn covers(&self, other: &Self) -> bool {
        other.subtract(self).is_empty()
    }
}
