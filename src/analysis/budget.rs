//! How much one run judges: a few hostile lines multiply out to any number of grants.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Grants of one run, each counted once more for each of its names: three times what hundreds of real operators hold
/// together.
pub const MOST_GRANTS: u64 = 150_000;

/// What is left of [`MOST_GRANTS`], shared by the packages of a run.
#[derive(Debug)]
pub struct Budget {
    left: AtomicU64,
    exceeded: AtomicBool,
}

impl Budget {
    /// A whole budget.
    pub fn whole() -> Self {
        Self { left: AtomicU64::new(MOST_GRANTS), exceeded: AtomicBool::new(false) }
    }

    /// Takes so many grants, if they are left.
    pub(super) fn take(&self, grants: u64) -> bool {
        let rest = |left: u64| left.checked_sub(grants);
        let taken = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).is_ok();
        self.exceeded.fetch_or(!taken, Ordering::Relaxed);
        taken
    }

    /// Whether something was left out: which, depends on the order in which packages took their part.
    pub fn is_exceeded(&self) -> bool {
        self.exceeded.load(Ordering::Relaxed)
    }
}
