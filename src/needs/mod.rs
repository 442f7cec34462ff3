//! Hidden needs as a table of data: what is seen in an event → permissions that were checked without one.

use crate::audit::{Observed, Origin};
use crate::rbac::{Request, ResourceRequest};

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

/// A row: calls of this shape needed `verb` on the same object.
struct Row {
    verbs: &'static [&'static str],
    /// Subresources it speaks of; empty is any.
    subresources: &'static [&'static str],
    /// Answered with this code; 0 is any.
    code: u16,
    /// First Kubernetes minor that checks it.
    since: (u32, u32),
    needs: &'static str,
    kind: NeedKind,
    reason: &'static str,
}

const TABLE: [Row; 3] = [
    // staging/src/k8s.io/apiserver/pkg/endpoints/handlers/{patch,update}.go, withAuthorization
    Row {
        verbs: &["patch", "update"],
        subresources: &[],
        code: 201,
        since: (1, 16),
        needs: "create",
        kind: NeedKind::Hidden,
        reason: "checked when apply or update creates the object (answered 201)",
    },
    // pkg/registry/core/pod/rest/authorize.go, AuthorizePodWebsocketUpgradeCreatePermission
    Row {
        verbs: &["get"],
        subresources: &["exec", "attach", "portforward"],
        code: 101,
        since: (1, 35),
        needs: "create",
        kind: NeedKind::Hidden,
        reason: "checked beside `get` when the stream is a WebSocket (since 1.35)",
    },
    // client-go falls back from WatchList to list and watch where the server cannot serve it
    Row {
        verbs: &["watch"],
        subresources: &[],
        code: 0,
        since: (0, 0),
        needs: "list",
        kind: NeedKind::Pair,
        reason: "informers fall back from watch alone to list and watch",
    },
];

/// What a call needed beside itself; `minor` is the Kubernetes minor, such as `(1, 36)`.
pub fn of(call: &Observed, minor: (u32, u32)) -> Vec<Need> {
    let Request::Resource(request) = &call.request else { return Vec::new() };
    if call.origin != Origin::Call {
        return Vec::new();
    }
    let fits = |row: &&Row| {
        row.verbs.contains(&request.verb.as_str())
            && (row.subresources.is_empty() || row.subresources.contains(&request.subresource.as_str()))
            && (row.code == 0 || call.codes.contains_key(&row.code))
            && minor >= row.since
    };
    let rows = TABLE.iter().filter(fits);
    rows.map(|row| Need {
        request: Request::Resource(ResourceRequest { verb: row.needs.to_owned(), ..request.clone() }),
        kind: row.kind,
        reason: row.reason.to_owned(),
    })
    .collect()
}

/// Writes behind which the API server checks what it does not log: (group, resource with subresource, what is checked).
const SUSPECTED: [(&str, &str, &str); 6] = [
    ("rbac.authorization.k8s.io", "roles", "every rule that it hands out, or `escalate` on roles"),
    ("rbac.authorization.k8s.io", "clusterroles", "every rule that it hands out, or `escalate` on clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings", "every rule of the role, or `bind` on that role"),
    ("rbac.authorization.k8s.io", "clusterrolebindings", "every rule of the role, or `bind` on that role"),
    ("certificates.k8s.io", "certificatesigningrequests/approval", "`approve` on the signer"),
    ("certificates.k8s.io", "certificatesigningrequests/status", "`sign` on the signer"),
];

/// What a call hints at, when the log cannot show it (`pkg/registry/rbac`: checked, never an event).
pub fn suspected(call: &Observed) -> Option<String> {
    let Request::Resource(request) = &call.request else { return None };
    if !matches!(request.verb.as_str(), "create" | "update" | "patch") {
        return None;
    }
    let combined = request.combined();
    let (_, _, checked) =
        SUSPECTED.iter().find(|(group, resource, _)| *group == request.api_group && *resource == combined)?;
    Some(format!(
        "`{} {combined}` also needs {checked}: this is checked without an event and cannot be read from this log",
        request.verb
    ))
}

#[cfg(test)]
mod tests;
