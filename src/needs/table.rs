//! Needs that follow from a call alone: its verb, its resource and the code of its answer.

use super::{Need, NeedKind};
use crate::audit::Observed;
use crate::rbac::ResourceRequest;

/// One row: what is seen, and what is needed with it on the same object.
struct Row {
    verbs: &'static [&'static str],
    /// (group, resource) that it is about; none means any.
    resources: &'static [(&'static str, &'static str)],
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

const EVENTS: &[(&str, &str)] = &[("", "events"), ("events.k8s.io", "events")];
const LEASES: &[(&str, &str)] = &[("coordination.k8s.io", "leases")];
const CONNECT: &[&str] = &["exec", "attach", "portforward"];

const TABLE: &[Row] = &[
    Row {
        verbs: &["patch"],
        resources: &[],
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
        resources: &[],
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
        resources: &[("", "pods")],
        subresources: CONNECT,
        code: Some(101),
        since: (1, 35),
        needs: "create",
        kind: NeedKind::Checked,
        reason: "a WebSocket upgrade is checked as create too",
        source: "pkg/registry/core/pod/rest/subresources.go",
    },
    Row {
        verbs: &["get"],
        resources: &[("", "pods")],
        subresources: CONNECT,
        code: None,
        since: (1, 0),
        needs: "create",
        kind: NeedKind::Likely,
        reason: "clients ask for an upgrade by GET (WebSocket) or POST (SPDY)",
        source: "pkg/registry/core/pod/rest/subresources.go",
    },
    // `watch` with sendInitialEvents replaces the list, but client-go falls back to it.
    Row {
        verbs: &["watch"],
        resources: &[],
        subresources: &[],
        code: None,
        since: (1, 0),
        needs: "list",
        kind: NeedKind::Pair,
        reason: "an informer that watches falls back to a list where the server cannot stream one",
        source: "staging/src/k8s.io/client-go/tools/cache/reflector.go",
    },
    // The same thing told again is a patch of the event that told it first, which may be gone by then.
    Row {
        verbs: &["create"],
        resources: EVENTS,
        subresources: &[],
        code: None,
        since: (1, 0),
        needs: "patch",
        kind: NeedKind::Pair,
        reason: "an event that is told again is patched",
        source: "staging/src/k8s.io/client-go/tools/record/event.go",
    },
    Row {
        verbs: &["patch"],
        resources: EVENTS,
        subresources: &[],
        code: None,
        since: (1, 0),
        needs: "create",
        kind: NeedKind::Pair,
        reason: "an event that is gone when it is told again is made anew",
        source: "staging/src/k8s.io/client-go/tools/record/event.go",
    },
    Row {
        verbs: &["update"],
        resources: LEASES,
        subresources: &[],
        code: None,
        since: (1, 0),
        needs: "create",
        kind: NeedKind::Pair,
        reason: "leader election makes the lease where there is none",
        source: "staging/src/k8s.io/client-go/tools/leaderelection/leaderelection.go",
    },
    Row {
        verbs: &["create"],
        resources: LEASES,
        subresources: &[],
        code: None,
        since: (1, 0),
        needs: "update",
        kind: NeedKind::Pair,
        reason: "a lease that was made is renewed by update",
        source: "staging/src/k8s.io/client-go/tools/leaderelection/leaderelection.go",
    },
];

/// The needs of an authorized call.
pub(super) fn of(call: &Observed, request: &ResourceRequest, minor: (u32, u32)) -> Vec<Need> {
    TABLE.iter().filter(|row| row.fits(call, request, minor)).map(|row| row.need(request)).collect()
}

impl Row {
    fn fits(&self, call: &Observed, request: &ResourceRequest, minor: (u32, u32)) -> bool {
        self.verbs.contains(&&*request.verb)
            && (self.resources.is_empty() || self.resources.contains(&(&*request.api_group, &*request.resource)))
            && (self.subresources.is_empty() || self.subresources.contains(&&*request.subresource))
            && self.code.is_none_or(|code| call.codes.contains_key(&code))
            && minor >= self.since
    }

    fn need(&self, request: &ResourceRequest) -> Need {
        // Where only a pair is meant, the name of this object says nothing of others; of a create there is none.
        let name = if self.kind == NeedKind::Pair && self.needs == "create" { "" } else { &request.name };
        let request = ResourceRequest { verb: self.needs.to_owned(), name: name.to_owned(), ..request.clone() };
        Need::of(self.kind, request, self.reason, self.source)
    }
}
