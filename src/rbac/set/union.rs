//! Unions of regions: the operations of the algebra, and keeping their number small.

use std::collections::BTreeMap;
use std::fmt;

use super::region::Region;

/// Up to this many regions each is compared with each for being covered; above, only equal ones are merged.
const COMPARE_ALL: usize = 1024;

/// Elementary steps that finding the canonical form may take; beyond, the reduced union is kept instead.
const CANONICAL_WORK: usize = 1 << 20;

/// A union of non-empty regions, sorted; they may overlap.
#[derive(Clone)]
pub(super) struct Union<R>(Vec<R>);

impl<R> Default for Union<R> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<R: Region> Union<R> {
    /// The union of the regions, empty ones left out.
    pub(super) fn of(mut regions: Vec<R>) -> Self {
        regions.retain(|region| !region.is_empty());
        Self(reduce(regions))
    }

    pub(super) fn any(&self, holds: impl FnMut(&R) -> bool) -> bool {
        self.0.iter().any(holds)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn union(&self, other: &Self) -> Self {
        Self(reduce(self.0.iter().chain(&other.0).cloned().collect()))
    }

    pub(super) fn intersect(&self, other: &Self) -> Self {
        let meet = |left: &R, right: &R| left.intersects(right).then(|| left.intersect(right));
        Self(reduce(
            self.0
                .iter()
                .flat_map(|a| other.0.iter().filter_map(move |b| meet(a, b)))
                .collect(),
        ))
    }

    pub(super) fn intersects(&self, other: &Self) -> bool {
        self.0
            .iter()
            .any(|left| other.0.iter().any(|right| left.intersects(right)))
    }

    pub(super) fn subtract(&self, other: &Self) -> Self {
        Self(reduce(without(self.0.clone(), &other.0)))
    }

    pub(super) fn covers(&self, other: &Self) -> bool {
        other
            .0
            .iter()
            .all(|asked| self.0.iter().any(|held| held.covers(asked)) || cover(&self.0, asked))
    }

    /// Disjoint regions, the same for equal sets however they were built.
    pub(super) fn canonical(&self) -> Self {
        let mut work = CANONICAL_WORK;
        Self(R::canonical(self.0.clone(), &mut work).unwrap_or_else(|| self.0.clone()))
    }
}

impl<R: fmt::Debug> fmt::Debug for Union<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.0).finish()
    }
}

/// Whether the holders cover the region together. Follows one piece to its end before the next, so that the first
/// piece that is left over ends the search.
fn cover<R: Region>(holders: &[R], region: &R) -> bool {
    let mut open = vec![(region.clone(), holders)];
    while let Some((piece, holders)) = open.pop() {
        let Some(first) = holders.iter().position(|holder| holder.intersects(&piece)) else {
            return false;
        };
        let mut pieces = Vec::new();
        if let Some((holder, others)) = holders.get(first..).and_then(<[R]>::split_first) {
            piece.subtract(holder, &mut pieces);
            open.extend(pieces.into_iter().map(|piece| (piece, others)));
        }
    }
    true
}

/// Takes the holes out of the regions one after the other.
fn without<R: Region>(regions: Vec<R>, holes: &[R]) -> Vec<R> {
    let mut left = regions;
    let mut reduced_length = left.len();
    for hole in holes {
        let mut next = Vec::with_capacity(left.len());
        for region in left {
            if region.intersects(hole) {
                region.subtract(hole, &mut next);
            } else {
                next.push(region);
            }
        }
        left = next;
        // Reducing only after a doubling keeps its cost in proportion to the growth that it undoes.
        if left.len() > 2 * reduced_length + 64 {
            left = reduce(left);
            reduced_length = left.len();
        }
        if left.is_empty() {
            break;
        }
    }
    left
}

/// Merges regions equal in all dimensions but one until none are left, then drops those another covers.
fn reduce<R: Region>(mut regions: Vec<R>) -> Vec<R> {
    loop {
        let before = regions.len();
        for dimension in (0..R::DIMENSIONS).rev() {
            regions = merge(regions, dimension);
        }
        if regions.len() == before {
            break;
        }
    }
    regions.sort();
    if regions.len() <= COMPARE_ALL {
        let covered: Vec<bool> = regions
            .iter()
            .map(|region| {
                regions
                    .iter()
                    .any(|other| other != region && other.covers(region))
            })
            .collect();
        let mut covered = covered.into_iter();
        regions.retain(|_| !covered.next().unwrap_or(false));
    }
    regions
}

fn merge<R: Region>(regions: Vec<R>, dimension: usize) -> Vec<R> {
    let mut merged: BTreeMap<R, R> = BTreeMap::new();
    for region in regions {
        merged
            .entry(region.widen(dimension))
            .and_modify(|known| known.absorb(&region, dimension))
            .or_insert(region);
    }
    merged.into_values().collect()
}
