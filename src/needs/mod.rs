//! Hidden needs as a table of data: what is seen in an event → permissions that were checked without one.

use crate::audit::Observed;
use crate::rbac::Request;

/// A permission needed without an event of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// What was, or will be, checked.
    pub request: Request,
    /// The kind of need.
    pub kind: NeedKind,
    /// Why, in plain words.
    pub reason: String,
}

/// Kinds of needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NeedKind {
    /// The API server checked it while it served the call.
    Hidden,
    /// The other half of list and watch.
    Pair,
}

/// What a call needed beside itself; `minor` is the Kubernetes minor, such as `(1, 36)`.
pub fn of(_call: &Observed, _minor: (u32, u32)) -> Vec<Need> {
    unimplemented!()
}

/// What a call hints at, when this log cannot show it.
pub fn suspected(_call: &Observed) -> Option<String> {
    unimplemented!()
}
