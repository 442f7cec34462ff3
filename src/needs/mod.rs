//! Permissions that a call needs without an event of its own: a table of what is seen → what is checked with it, what
//! bodies and refusals show, and plain words for checks that the log only hints at.
//! Above `audit` in the flow, below `analysis`.

mod behind;
mod suspected;
mod table;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::Serialize;

use crate::api::Table;
use crate::audit::{Decision, Observed, Origin, What};
use crate::rbac::{NonResourceRequest, Request, ResourceRequest, Rule, Scope};

pub use suspected::{Unread, suspected, unread};

/// A permission needed beside an observed call.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// How it belongs to the call.
    pub kind: NeedKind,
    /// Each of them suffices; the narrowest first. Never empty.
    pub ways: Vec<Way>,
    /// Why, in plain words.
    pub reason: &'static str,
    /// Where Kubernetes does it.
    pub source: &'static str,
}

/// Permissions that suffice together.
pub type Way = Vec<Ask>;

/// One permission of a way.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// It is asked as a request is.
    Make(Request),
    /// It is to be held, to hand it out: a rule of one verb on one (group, resource) or URL, one name at most.
    Hold(Scope, Rule),
}

/// How a need belongs to the call that shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NeedKind {
    /// The API server checked it in the same request: without it the call would have been refused, or was.
    Checked,
    /// It may have been checked, which the event alone does not show: needed by who holds it.
    Likely,
    /// The other half of a pair: the same client falls back to it.
    Pair,
}

/// What the cluster runs, as far as it changes what is checked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Platform {
    /// Not known: what either may check is kept where it is held.
    #[default]
    Auto,
    /// Kubernetes as it comes.
    Vanilla,
    /// OpenShift: the admission plugin OwnerReferencesPermissionEnforcement is on.
    OpenShift,
}

/// What else decides.
#[derive(Debug, Clone, Copy)]
pub struct Cluster<'a> {
    /// Kubernetes minor version.
    pub minor: (u32, u32),
    /// What it runs.
    pub platform: Platform,
    /// Which resource serves a kind.
    pub table: &'a Table,
    /// The rules of roles that calls may speak of.
    pub roles: &'a dyn Roles,
}

/// Finds the rules of a role that a binding names.
pub trait Roles: std::fmt::Debug {
    /// The rules of `ROLE_KIND/NAME` in a namespace; `None` where they are not known.
    fn rules(&self, role_kind: &str, namespace: &str, name: &str) -> Option<Vec<Rule>>;
}

/// No roles are known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRoles;

impl Roles for NoRoles {
    fn rules(&self, _: &str, _: &str, _: &str) -> Option<Vec<Rule>> {
        None
    }
}

/// What an observed call needed beside its own permission. A denied or undecided call needs nothing more: it did not
/// get there.
pub fn of(call: &Observed, cluster: &Cluster<'_>) -> Vec<Need> {
    match (call.origin, call.decision) {
        (Origin::Call, Decision::Allowed) => {}
        (Origin::Asked, Decision::Allowed | Decision::Undecided) => return vec![asked(call, ASKED)],
        (Origin::AskedBy, Decision::Allowed | Decision::Undecided) => return vec![asked(call, ASKED_BY)],
        _ => return Vec::new(),
    }
    let Request::Resource(request) = &call.request else { return Vec::new() };
    let mut needs = table::of(call, request, cluster.minor);
    let passed = call.behind.iter().filter(|behind| !behind.refused);
    needs.extend(passed.filter_map(|behind| behind::need(&behind.what, request, call, cluster, false)));
    needs
}

/// What a call was refused for, behind the authorizer: permissions that were not held.
pub fn refused(call: &Observed, cluster: &Cluster<'_>) -> Vec<Need> {
    let (Origin::Call, Request::Resource(request)) = (call.origin, &call.request) else { return Vec::new() };
    let refused = call.behind.iter().filter(|behind| behind.refused && behind.what != What::More);
    refused.filter_map(|behind| behind::need(&behind.what, request, call, cluster, true)).collect()
}

const ASKED: (&str, &str) = (
    "asks whether it may, and goes without where the answer is no",
    "staging/src/k8s.io/api/authorization/v1/types.go (SelfSubjectAccessReview)",
);
const ASKED_BY: (&str, &str) = (
    "others ask whether it may, on its behalf",
    "staging/src/k8s.io/api/authorization/v1/types.go (SubjectAccessReview)",
);

fn asked(call: &Observed, (reason, source): (&'static str, &'static str)) -> Need {
    Need { kind: NeedKind::Likely, ways: vec![vec![Ask::Make(call.request.clone())]], reason, source }
}

impl Ask {
    /// Whether these rules, each where it holds, give it.
    pub fn is_given_by<'r>(&self, mut rules: impl Iterator<Item = (&'r Scope, &'r Rule)>) -> bool {
        rules.any(|(scope, rule)| self.is_given(scope, rule))
    }

    /// Whether this rule gives it.
    pub fn is_given(&self, scope: &Scope, rule: &Rule) -> bool {
        match self {
            Self::Make(request) => scope.reaches(request.namespace()) && rule.allows(request),
            Self::Hold(at, part) => (*scope == Scope::Cluster || scope == at) && rule.covers_part(part),
        }
    }

    /// As a request: wildcards of what is to be held are words.
    pub fn request(&self) -> Request {
        let (scope, part) = match self {
            Self::Make(request) => return request.clone(),
            Self::Hold(scope, part) => (scope, part),
        };
        let first = |list: &[String]| list.first().cloned().unwrap_or_default();
        let verb = first(&part.verbs);
        let Some(resource) = part.resources.first() else {
            return Request::NonResource(NonResourceRequest { path: first(&part.non_resource_urls), verb });
        };
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        Request::Resource(ResourceRequest {
            api_group: first(&part.api_groups),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            verb,
            namespace: match scope {
                Scope::Cluster => String::new(),
                Scope::Namespace(namespace) => namespace.clone(),
            },
            name: first(&part.resource_names),
        })
    }
}

impl Need {
    /// Of one request.
    fn of(kind: NeedKind, request: ResourceRequest, reason: &'static str, source: &'static str) -> Self {
        Self { kind, ways: vec![vec![Ask::Make(Request::Resource(request))]], reason, source }
    }

    /// The rules that one of its ways would hand out, as parts.
    pub(crate) fn hold(scope: &Scope, rules: &[Rule]) -> Way {
        let parts: BTreeSet<Rule> = rules.iter().flat_map(Rule::parts).collect();
        parts.into_iter().map(|part| Ask::Hold(scope.clone(), part)).collect()
    }
}

#[cfg(test)]
mod tests;
