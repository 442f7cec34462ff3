//! Checks that a call asks for and that this log does not show, because the body is not in it: said in words, never
//! granted.

use crate::audit::{Decision, Observed, Origin, What};
use crate::rbac::{Request, ResourceRequest};

const RBAC: &str = "rbac.authorization.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";

/// One hint: calls of these verbs on this resource.
struct Hint {
    group: &'static str,
    /// `resource` or `resource/subresource`.
    resources: &'static [&'static str],
    verbs: &'static [&'static str],
    unread: Unread,
    text: &'static str,
}

/// What a missing body would have told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unread {
    /// Rules that a role hands out: any permission may be held for that.
    Rules,
    /// The role that a binding hands out: likewise.
    Binding,
    /// What it asks whether it may: likewise.
    Question,
    /// Permissions that are only checked and never called.
    Other,
}

const WRITES: &[&str] = &["create", "update", "patch"];
const CHANGES: &[&str] = &["update", "patch"];

/// Kubernetes `pkg/registry/rbac`, `plugin/pkg/admission/certificates`, `pkg/registry/admissionregistration`,
/// `pkg/registry/resource`.
const HINTS: &[Hint] = &[
    Hint {
        group: RBAC,
        resources: &["roles", "clusterroles"],
        verbs: WRITES,
        unread: Unread::Rules,
        text: "writes roles: it must hold every rule that it hands out, or `escalate`",
    },
    Hint {
        group: RBAC,
        resources: &["rolebindings", "clusterrolebindings"],
        verbs: WRITES,
        unread: Unread::Binding,
        text: "writes bindings: it must hold every rule of the bound role, or `bind` on that role",
    },
    Hint {
        group: CERTIFICATES,
        resources: &["certificatesigningrequests/approval"],
        verbs: CHANGES,
        unread: Unread::Other,
        text: "approves certificate requests: needs `approve` on `signers` with the signer's name",
    },
    Hint {
        group: CERTIFICATES,
        resources: &["certificatesigningrequests/status", "podcertificaterequests/status"],
        verbs: CHANGES,
        unread: Unread::Other,
        text: "signs certificate requests: needs `sign` on `signers` with the signer's name",
    },
    Hint {
        group: CERTIFICATES,
        resources: &["clustertrustbundles"],
        verbs: WRITES,
        unread: Unread::Other,
        text: "writes trust bundles: one with a signer needs `attest` on `signers` with that name",
    },
    Hint {
        group: "authorization.k8s.io",
        resources: &["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        verbs: &["create"],
        unread: Unread::Question,
        text: "asks what it may do and goes without what it may not: the role must hold what it asks for",
    },
    Hint {
        group: ADMISSION,
        resources: &["validatingadmissionpolicies", "mutatingadmissionpolicies"],
        verbs: WRITES,
        unread: Unread::Other,
        text: "writes admission policies: one with parameters needs `get` on all objects of their kind",
    },
    Hint {
        group: ADMISSION,
        resources: &["validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"],
        verbs: WRITES,
        unread: Unread::Other,
        text: "writes admission policy bindings: one with parameters needs `get` or `list` on them",
    },
    Hint {
        group: "resource.k8s.io",
        resources: &["resourceclaims/status"],
        verbs: CHANGES,
        unread: Unread::Other,
        text: "writes the status of resource claims: since 1.36 the same verb on `resourceclaims/binding` or \
               `resourceclaims/driver` may be checked",
    },
];

/// What this call hints at, in words that follow "it"; `None` when nothing, or when the log shows it all.
pub fn suspected(call: &Observed) -> Option<String> {
    let (hint, request) = hint(call)?;
    let place = match &*request.namespace {
        "" => String::new(),
        namespace => format!(" in {namespace}"),
    };
    Some(format!("{} ({} {}{place}); the log does not show which", hint.text, request.verb, request.combined()))
}

/// What the missing body of this call would have told.
pub fn unread(call: &Observed) -> Option<Unread> {
    hint(call).map(|(hint, _)| hint.unread)
}

fn hint(call: &Observed) -> Option<(&'static Hint, &ResourceRequest)> {
    let Request::Resource(request) = &call.request else { return None };
    let bodies_missing = call.unread > 0 || call.behind.iter().any(|behind| behind.what == What::More);
    if call.decision != Decision::Allowed || call.origin != Origin::Call || !bodies_missing {
        return None;
    }
    HINTS.iter().find(|hint| hint.fits(request)).map(|hint| (hint, request))
}

impl Hint {
    fn fits(&self, request: &ResourceRequest) -> bool {
        self.group == request.api_group
            && self.verbs.contains(&&*request.verb)
            && self.resources.contains(&&*request.combined())
    }
}
