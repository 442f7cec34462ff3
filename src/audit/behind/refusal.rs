//! Refusals (403) of requests whose own permission was held: which check refused them, told by the message of the
//! answer. Exact texts are in the tests.

use super::{CERTIFICATES, RBAC, Refuser, What};
use crate::audit::decision;
use crate::audit::event::Event;
use crate::audit::impersonation;
use crate::audit::request_info::{Resource, Target};
use crate::rbac::{NonResourceRequest, Request, ResourceRequest, Rule};

/// What refused a request.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// What the message says of it; `None` where the body must.
    pub(super) what: Option<What>,
    about: About,
}

/// Which part of the body was refused.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum About {
    #[default]
    Nothing,
    Rules,
    Aggregation,
    BlockedOwners,
    Owners,
    Signer,
}

impl Refusal {
    /// Whether it is about that part of the body.
    pub(super) fn is_about(&self, what: &What) -> bool {
        match what {
            What::Rules { .. } | What::RoleRef { .. } => self.about == About::Rules,
            What::Aggregates => self.about == About::Aggregation,
            What::BlocksOwner { .. } => self.about == About::BlockedOwners,
            What::HasOwners { .. } => self.about == About::Owners,
            What::Signer { .. } => self.about == About::Signer,
            _ => false,
        }
    }
}

/// Reads the message of a refusal.
pub(super) fn of(event: &Event<'_>, verb: &str, resource: &Resource<'_>) -> Refusal {
    let message = decision::message(event);
    let told = |what, about| Refusal { what: Some(what), about };
    // Only what stands where the API server's own words do.
    let Some((_, reason)) = decision::forbidden(message) else {
        return told(What::NotPermission { by: refuser(message, "") }, About::Nothing);
    };
    // `pkg/registry/rbac/escalation_check.go`, `pkg/registry/rbac/validation/rule.go`.
    if resource.group == RBAC && reason.starts_with("user \"") {
        let missing = reason.split_once("is attempting to grant RBAC permissions not currently held:");
        if let Some((_, missing)) = missing {
            return told(What::Rules { name: String::new(), rules: rules(missing) }, About::Rules);
        }
    }
    if resource.group == RBAC && reason.starts_with("must have cluster-admin privileges to use the aggregationRule") {
        return told(What::Aggregates, About::Aggregation);
    }
    // `plugin/pkg/admission/gc/gc_admission.go`.
    if reason.starts_with("cannot set blockOwnerDeletion") {
        let unnamed = || String::new();
        let what = What::BlocksOwner { api_version: unnamed(), owner_kind: unnamed(), name: unnamed() };
        return told(what, About::BlockedOwners);
    }
    if reason.starts_with("cannot set an ownerRef on a resource you can't delete") {
        return told(What::HasOwners { uids: Vec::new(), made: false }, About::Owners);
    }
    // `plugin/pkg/admission/certificates`.
    if resource.group == CERTIFICATES && reason.starts_with("user not permitted to ") {
        let name = reason.rsplit_once("signerName \"").and_then(|(_, rest)| rest.strip_suffix('"'));
        return told(What::Signer { name: name.unwrap_or_default().to_owned() }, About::Signer);
    }
    if let Some(request) = named_check(message) {
        return told(What::Check { request }, About::Nothing);
    }
    // `pkg/registry/core/pod/rest/authorize.go` gives no reason.
    let connects = matches!(resource.subresource, "exec" | "attach" | "portforward");
    if connects && verb == "get" && reason.is_empty() {
        return told(What::Upgrade, About::Nothing);
    }
    told(What::NotPermission { by: refuser(message, reason) }, About::Nothing)
}

/// `… User "u" cannot create resource "configmaps" in API group "" in the namespace "ns"`: the check that the message
/// names.
fn named_check(message: &str) -> Option<Request> {
    let check = impersonation::refused(message)?;
    let verb = check.verb.into_owned();
    Some(match check.target {
        Target::Resource(r) => Request::Resource(ResourceRequest {
            api_group: r.group.to_owned(),
            resource: r.resource.to_owned(),
            subresource: r.subresource.to_owned(),
            verb,
            namespace: r.namespace.to_owned(),
            name: r.name.into_owned(),
        }),
        Target::Path(path) => Request::NonResource(NonResourceRequest { path: path.to_owned(), verb }),
    })
}

/// Webhooks and policies first: what follows is theirs.
fn refuser(message: &str, reason: &str) -> Refuser {
    let says = |text: &str| reason.contains(text);
    match () {
        () if message.starts_with("admission webhook \"") || reason.starts_with("admission webhook \"") => {
            Refuser::Webhook
        }
        () if reason.starts_with("ValidatingAdmissionPolicy '") => Refuser::AdmissionPolicy,
        () if says("exceeded quota") || says("failed quota") || says("maximum ") && says(" usage per ") => {
            Refuser::Quota
        }
        () if says("because it is being terminated") => Refuser::Terminating,
        () if says("violates PodSecurity") => Refuser::PodSecurity,
        () => Refuser::Other,
    }
}

/// Rules as Go writes them: `{APIGroups:["" "apps"], Resources:["secrets"], ResourceNames:["x"], Verbs:["get" "list"]}`,
/// one a line (`pkg/apis/rbac/helpers.go`, `CompactString`).
fn rules(text: &str) -> Vec<Rule> {
    let list = |rule: &str, key: &str| -> Vec<String> {
        let Some((_, rest)) = rule.split_once(key) else { return Vec::new() };
        let words = rest.split_once(']').map_or("", |(words, _)| words);
        words.split('"').skip(1).step_by(2).map(str::to_owned).collect()
    };
    let rule = |text: &str| Rule {
        verbs: list(text, "Verbs:["),
        api_groups: list(text, "APIGroups:["),
        resources: list(text, "Resources:["),
        resource_names: list(text, "ResourceNames:["),
        non_resource_urls: list(text, "NonResourceURLs:["),
    };
    text.split('{').skip(1).map(rule).filter(|rule| !rule.verbs.is_empty()).collect()
}
