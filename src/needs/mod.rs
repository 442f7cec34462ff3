//! Permissions that a call needs without an event of its own: a table of what is seen → what is checked
//! with it, and plain words for checks that the log only hints at.
//! Above `audit` in the flow, below `analysis`.

mod suspected;

use crate::audit::{Decision, Observed, Origin};
use crate::rbac::{Request, ResourceRequest};

pub use suspected::suspected;

/// A permission needed beside an observed call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// The permission.
    pub request: Request,
    /// How it belongs to the call.
    pub kind: NeedKind,
    /// Why, in plain words.
    pub reason: &'static str,
    /// Where Kubernetes does it.
    pub source: &'static str,
}

/// How a need belongs to the call that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NeedKind {
    /// The API server checked it in the same request: without it the call would have been refused.
    Checked,
    /// The other half of a pair: the same client falls back to it.
    Pair,
}

/// One row: what is seen, and what is needed with it on the same object.
struct Row {
    verbs: &'static [&'static str],
    /// Subresources that it is about; none means any, or no subresource at all.
    subresources: &'static [&'static str],
    /// The status code that shows it, if one does.
    code: Option<u16>,
    /// First minor version that checks it.
    since: (u32, u32),
    needs: &'static str,
    kind: NeedKind,
    reason: &'static str,
    source: &'static str,
}

const TABLE: &[Row] = &[
    Row {
        verbs: &["patch"],
        subresources: &[],
        code: Some(201),
        since: (1, 16),
        needs: "create",
        kind: NeedKind::Checked,
        reason: "server-side apply made the object, which is checked as create",
        source: "staging/src/k8s.io/apiserver/pkg/endpoints/handlers/patch.go",
    },
    Row {
        verbs: &["update"],
        subresources: &[],
        code: Some(201),
        since: (1, 0),
        needs: "create",
        kind: NeedKind::Checked,
        reason: "the update made the object, which is checked as create",
        source: "staging/src/k8s.io/apiserver/pkg/endpoints/handlers/update.go",
    },
    // Gate AuthorizePodWebsocketUpgradeCreatePermission, beta and on since 1.35.
    Row {
        verbs: &["get"],
        subresources: &["exec", "attach", "portforward"],
        code: Some(101),
        since: (1, 35),
        needs: "create",
        kind: NeedKind::Checked,
        reason: "a WebSocket upgrade is checked as create too",
        source: "pkg/registry/core/pod/rest/subresources.go",
    },
    // `watch` with sendInitialEvents replaces the list, but client-go falls back to it.
    Row {
        verbs: &["watch"],
        subresources: &[],
        code: None,
        since: (1, 0),
        needs: "list",
        kind: NeedKind::Pair,
        reason: "an informer that watches falls back to a list where the server cannot stream one",
        source: "staging/src/k8s.io/client-go/tools/cache/reflector.go",
    },
];

/// What an observed call needed beside its own permission, on a cluster of this minor version. A denied or
/// undecided call needs nothing more: it did not get there.
pub fn of(call: &Observed, minor: (u32, u32)) -> Vec<Need> {
    let Request::Resource(request) = &call.request else {
        return Vec::new();
    };
    if call.decision != Decision::Allowed || call.origin != Origin::Call {
        return Vec::new();
    }
    TABLE.iter().filter(|row| row.fits(call, request, minor)).map(|row| row.need(request)).collect()
}

impl Row {
    fn fits(&self, call: &Observed, request: &ResourceRequest, minor: (u32, u32)) -> bool {
        self.verbs.contains(&&*request.verb)
            && (self.subresources.is_empty() || self.subresources.contains(&&*request.subresource))
            && self.code.is_none_or(|code| call.codes.contains_key(&code))
            && minor >= self.since
    }

    fn need(&self, request: &ResourceRequest) -> Need {
        Need {
            request: Request::Resource(ResourceRequest { verb: self.needs.to_owned(), ..request.clone() }),
            kind: self.kind,
            reason: self.reason,
            source: self.source,
        }
    }
}

#[cfg(test)]
mod tests;
