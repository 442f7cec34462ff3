//! What one event shows of the checks behind its request, which have no event of their own: what the body hands out,
//! whom it names, and how a request was refused after the authorizer had said yes. What follows from it is for `needs`.

mod bodies;
mod refusal;
mod reviews;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::Event;
use super::request_info::{Attributes, Resource, Target};
use super::usage::Decision;
use crate::rbac::{Request, Rule};

pub(super) use reviews::asked;

/// Something behind a call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Behind {
    /// What it is.
    #[serde(flatten)]
    pub what: What,
    /// Whether the request was refused (403) although its own permission was held.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
}

/// What a body or an answer shows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase", tag = "kind")]
pub enum What {
    /// The rules of a role that was written; of a refusal, those that were not held.
    Rules {
        /// The role's name; empty where the event does not tell.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        name: String,
        /// The rules.
        rules: Vec<Rule>,
    },
    /// A ClusterRole that was written aggregates others.
    Aggregates,
    /// The role of a binding that was written.
    RoleRef {
        /// `Role` or `ClusterRole`.
        role_kind: String,
        /// Its name.
        name: String,
    },
    /// An owner reference with `blockOwnerDeletion: true`. Without a kind, the refusal alone tells of it.
    BlocksOwner {
        /// `GROUP/VERSION` or `VERSION`.
        api_version: String,
        /// Kind of the owner.
        owner_kind: String,
        /// Its name.
        name: String,
    },
    /// The new state of an object has owner references. Of a refusal, the message alone tells of it.
    HasOwners {
        /// The owners' uids, in their order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        uids: Vec<String>,
        /// Whether this call made the object: it had none before.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        made: bool,
    },
    /// The signer of a certificate request or trust bundle.
    Signer {
        /// `DOMAIN/PATH`.
        name: String,
    },
    /// The kind of the parameters of an admission policy.
    ParamKind {
        /// `GROUP/VERSION` or `VERSION`.
        api_version: String,
        /// Kind.
        param_kind: String,
    },
    /// A route with a host.
    Host,
    /// A check that the refusal itself names.
    Check {
        /// What was asked.
        request: Request,
    },
    /// A WebSocket upgrade was refused.
    Upgrade,
    /// A refusal that has nothing to do with permissions.
    NotPermission {
        /// What refused it.
        by: Refuser,
    },
    /// There was more than is kept.
    More,
}

/// Most that is kept of one call.
const MOST: usize = 64;

/// Puts more behind a call: the first of all in their order, each once, the same in whatever order they come.
pub(super) fn unite(own: &mut Vec<Behind>, more: impl IntoIterator<Item = Behind>) {
    own.extend(more);
    own.sort();
    own.dedup();
    let left_out = own.len() > MOST || own.iter().any(|behind| behind.what == What::More);
    own.truncate(MOST);
    if left_out && !own.iter().any(|behind| behind.what == What::More) {
        own.push(Behind { what: What::More, refused: true });
    }
}

/// What refuses requests besides permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Refuser {
    /// A ResourceQuota or LimitRange.
    Quota,
    /// The namespace is going away.
    Terminating,
    /// Pod Security admission.
    PodSecurity,
    /// A ValidatingAdmissionPolicy.
    AdmissionPolicy,
    /// An admission webhook.
    Webhook,
    /// Something else; the message says what.
    Other,
}

impl Refuser {
    /// In plain words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Quota => "a quota or limit",
            Self::Terminating => "the namespace, which is being deleted",
            Self::PodSecurity => "Pod Security admission",
            Self::AdmissionPolicy => "a ValidatingAdmissionPolicy",
            Self::Webhook => "an admission webhook",
            Self::Other => "admission or the storage",
        }
    }
}

/// What an event shows of checks behind its request.
#[derive(Debug, Default)]
pub(super) struct Shown {
    pub(super) behind: Vec<Behind>,
    /// The body decides what was checked, and is not there.
    pub(super) unread: bool,
}

/// Reads body and answer of an authorized request.
pub(super) fn of(event: &Event<'_>, attributes: &Attributes<'_>, code: u16, decision: Decision) -> Shown {
    let Target::Resource(resource) = &attributes.target else { return Shown::default() };
    let writes = matches!(&*attributes.verb, "create" | "update" | "patch");
    let refused = code == 403;
    if decision != Decision::Allowed || !(writes || refused) {
        return Shown::default();
    }
    let mut shown = if writes { bodies::read(event, &attributes.verb, resource, code) } else { Shown::default() };
    if refused {
        // What a refused body says counts only where the refusal is about it.
        let refusal = refusal::of(event, &attributes.verb, resource);
        shown.behind.retain(|behind| refusal.is_about(&behind.what));
        shown.unread &= refusal.what.is_none();
        let named = refusal.what.filter(|what| !shown.behind.iter().any(|behind| same_kind(&behind.what, what)));
        shown.behind.extend(named.map(|what| Behind { what, refused: true }));
        shown.behind.iter_mut().for_each(|behind| behind.refused = true);
    }
    shown
}

fn same_kind(a: &What, b: &What) -> bool {
    // The rules that a refusal names are those that were missing.
    std::mem::discriminant(a) == std::mem::discriminant(b) && !matches!(a, What::Rules { .. })
}

/// Whether a resource is this one.
fn is(resource: &Resource<'_>, group: &str, names: &[&str], subresource: &str) -> bool {
    resource.group == group && names.contains(&resource.resource) && resource.subresource == subresource
}

const RBAC: &str = "rbac.authorization.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";
const ADMISSION: &str = "admissionregistration.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

#[cfg(test)]
mod tests;
