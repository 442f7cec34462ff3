//! Products of dimensions and unions of such products.
//!
//! A region is written as a nest: `Product<Groups, Product<Resources, Last<Verbs>>>`. Every operation treats
//! the first dimension and leaves the others to the rest of the nest.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::dimension::Dimension;

/// A non-empty product of one set per dimension.
pub(super) trait Region: Clone + Ord + fmt::Debug {
    /// How many dimensions it has.
    const DIMENSIONS: usize;
    fn is_empty(&self) -> bool;
    fn intersects(&self, other: &Self) -> bool;
    fn covers(&self, other: &Self) -> bool;
    fn intersect(&self, other: &Self) -> Self;
    /// Pushes disjoint regions that are together `self` without `other`; the two must intersect.
    fn subtract(&self, other: &Self, pieces: &mut Vec<Self>);
    /// The region with everything allowed in one dimension: equal for regions that differ only there.
    fn widen(&self, dimension: usize) -> Self;
    /// Adds what the other has in this dimension; the two must be equal in all others.
    fn absorb(&mut self, other: &Self, dimension: usize);
    /// The one list of disjoint regions of this union, or `None` when finding it takes too much work.
    fn canonical(union: Vec<Self>, work: &mut usize) -> Option<Vec<Self>>;
}

/// A set of one dimension times a region of the others. Sets are shared, pieces of a region are cheap.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Product<A, R>(pub(super) Arc<A>, pub(super) R);

/// The last dimension of a region.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Last<A>(pub(super) Arc<A>);

impl<A: Dimension> Region for Last<A> {
    const DIMENSIONS: usize = 1;

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    fn intersects(&self, other: &Self) -> bool {
        self.0.intersects(&other.0)
    }
    fn covers(&self, other: &Self) -> bool {
        self.0.covers(&other.0)
    }
    fn intersect(&self, other: &Self) -> Self {
        Self(Arc::new(self.0.intersect(&other.0)))
    }
    fn subtract(&self, other: &Self, pieces: &mut Vec<Self>) {
        let left = self.0.subtract(&other.0);
        if !left.is_empty() {
            pieces.push(Self(Arc::new(left)));
        }
    }
    fn widen(&self, _dimension: usize) -> Self {
        Self(Arc::new(A::all()))
    }
    fn absorb(&mut self, other: &Self, _dimension: usize) {
        self.0 = Arc::new(self.0.union(&other.0));
    }
    fn canonical(union: Vec<Self>, _work: &mut usize) -> Option<Vec<Self>> {
        let whole = union.into_iter().reduce(|mut whole, part| {
            whole.absorb(&part, 0);
            whole
        });
        Some(whole.into_iter().collect())
    }
}

impl<A: Dimension, R: Region> Region for Product<A, R> {
    const DIMENSIONS: usize = 1 + R::DIMENSIONS;

    fn is_empty(&self) -> bool {
        self.0.is_empty() || self.1.is_empty()
    }
    fn intersects(&self, other: &Self) -> bool {
        self.0.intersects(&other.0) && self.1.intersects(&other.1)
    }
    fn covers(&self, other: &Self) -> bool {
        self.0.covers(&other.0) && self.1.covers(&other.1)
    }
    fn intersect(&self, other: &Self) -> Self {
        Self(Arc::new(self.0.intersect(&other.0)), self.1.intersect(&other.1))
    }
    fn subtract(&self, other: &Self, pieces: &mut Vec<Self>) {
        let outside = self.0.subtract(&other.0);
        if !outside.is_empty() {
            pieces.push(Self(Arc::new(outside), self.1.clone()));
        }
        let inside = Arc::new(self.0.intersect(&other.0));
        let mut rests = Vec::new();
        self.1.subtract(&other.1, &mut rests);
        pieces.extend(rests.into_iter().map(|rest| Self(Arc::clone(&inside), rest)));
    }
    fn widen(&self, dimension: usize) -> Self {
        match dimension.checked_sub(1) {
            None => Self(Arc::new(A::all()), self.1.clone()),
            Some(inner) => Self(Arc::clone(&self.0), self.1.widen(inner)),
        }
    }
    fn absorb(&mut self, other: &Self, dimension: usize) {
        match dimension.checked_sub(1) {
            None => self.0 = Arc::new(self.0.union(&other.0)),
            Some(inner) => self.1.absorb(&other.1, inner),
        }
    }
    fn canonical(union: Vec<Self>, work: &mut usize) -> Option<Vec<Self>> {
        let mut by_first: BTreeMap<Arc<A>, Vec<R>> = BTreeMap::new();
        for Self(first, rest) in union {
            by_first.entry(first).or_default().push(rest);
        }
        // Cut the first dimension into disjoint parts such that each region holds in a part wholly or not at
        // all, and join again the parts over which the same rest holds.
        let mut parts: Vec<(A, Vec<R>)> = Vec::new();
        for (first, rests) in by_first {
            let mut left = A::clone(&first);
            let mut cut = Vec::with_capacity(parts.len() + 1);
            for (part, mut held) in parts {
                *work = work.checked_sub(held.len())?;
                if part.intersects(&left) {
                    let outside = part.subtract(&left);
                    let inside = part.intersect(&left);
                    left = left.subtract(&inside);
                    if !outside.is_empty() {
                        cut.push((outside, held.clone()));
                    }
                    held.extend(rests.iter().cloned());
                    cut.push((inside, held));
                } else {
                    cut.push((part, held));
                }
            }
            if !left.is_empty() {
                cut.push((left, rests));
            }
            parts = cut;
        }
        let mut by_rest: BTreeMap<Vec<R>, A> = BTreeMap::new();
        for (part, held) in parts {
            let rest = R::canonical(held, work)?;
            let joined = by_rest
                .get(&rest)
                .map_or_else(|| part.clone(), |known| known.union(&part));
            by_rest.insert(rest, joined);
        }
        let mut regions = Vec::new();
        for (rests, first) in by_rest {
            let first = Arc::new(first);
            regions.extend(rests.into_iter().map(|rest| Self(Arc::clone(&first), rest)));
        }
        regions.sort();
        Some(regions)
    }
}

impl<A: fmt::Debug> fmt::Debug for Last<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<A: fmt::Debug, R: fmt::Debug> fmt::Debug for Product<A, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} × {:?}", self.0, self.1)
    }
}
