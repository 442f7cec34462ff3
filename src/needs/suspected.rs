//! Checks that a call asks for and that a log without bodies cannot show: said in words, never granted.

use crate::audit::{Decision, Observed, Origin};
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
    text: &'static str,
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
        text: "writes roles: it must hold every rule that it hands out, or `escalate`",
    },
    Hint {
        group: RBAC,
        resources: &["rolebindings", "clusterrolebindings"],
        verbs: WRITES,
        text: "writes bindings: it must hold every rule of the bound role, or `bind` on that role",
    },
    Hint {
        group: CERTIFICATES,
        resources: &["certificatesigningrequests/approval"],
        verbs: CHANGES,
        text: "approves certificate requests: needs `approve` on `signers` with the signer's name",
    },
    Hint {
        group: CERTIFICATES,
        resources: &["certificatesigningrequests/status", "podcertificaterequests/status"],
        verbs: CHANGES,
        text: "signs certificate requests: needs `sign` on `signers` with the signer's name",
    },
    Hint {
        group: CERTIFICATES,
        resources: &["clustertrustbundles"],
        verbs: WRITES,
        text: "writes trust bundles: one with a signer needs `attest` on `signers` with that name",
    },
    Hint {
        group: "authorization.k8s.io",
        resources: &["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        verbs: &["create"],
        text: "asks what it may do and goes without what it may not: the role must hold what it asks for",
    },
    Hint {
        group: ADMISSION,
        resources: &["validatingadmissionpolicies", "mutatingadmissionpolicies"],
        verbs: WRITES,
        text: "writes admission policies: one with parameters needs `get` on all objects of their kind",
    },
    Hint {
        group: ADMISSION,
        resources: &["validatingadmissionpolicybindings", "mutatingadmissionpolicybindings"],
        verbs: WRITES,
        text: "writes admission policy bindings: one with parameters needs `get` or `list` on them",
    },
    Hint {
        group: "resource.k8s.io",
        resources: &["resourceclaims/status"],
        verbs: CHANGES,
        text: "writes the status of resource claims: since 1.36 the same verb on `resourceclaims/binding` or \
               `resourceclaims/driver` may be checked",
    },
];

/// What this call hints at, in words that follow "it"; `None` when nothing.
pub fn suspected(call: &Observed) -> Option<String> {
    let Request::Resource(request) = &call.request else {
        return None;
    };
    if call.decision != Decision::Allowed || call.origin != Origin::Call {
        return None;
    }
    let hint = HINTS.iter().find(|hint| hint.fits(request))?;
    let place = match &*request.namespace {
        "" => String::new(),
        namespace => format!(" in {namespace}"),
    };
    Some(format!("{} ({} {}{place}); the log does not show which", hint.text, request.verb, request.combined()))
}

impl Hint {
    fn fits(&self, request: &ResourceRequest) -> bool {
        self.group == request.api_group
            && self.verbs.contains(&&*request.verb)
            && self.resources.contains(&&*request.combined())
    }
}
