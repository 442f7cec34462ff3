//! What the subject was refused: each refused call with the smallest rule that would allow it, the role that it belongs
//! to, and whether a permission would change anything at all.

use schemars::JsonSchema;
use serde::Serialize;

use super::verdict::describe;
use super::{Activity, BindingPlace, CallVerdict, Grant, JudgedCall, Place, RoleState};
use crate::audit::{Observed, Sample, What};
use crate::needs::Ask;
use crate::rbac::{Request, Rule, Scope};

/// One refused call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Deficit {
    /// What was called.
    pub request: Request,
    /// What refused it.
    pub refused_by: RefusedBy,
    /// In plain words, where the authorizer did not refuse the call itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The smallest rules that would have allowed it, each with one verb; none where no permission changes it, or the
    /// log does not tell which.
    pub missing: Vec<MissingRule>,
    /// How often.
    pub count: u64,
    /// The role of the input that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<Place>,
    /// Where the log shows it.
    pub samples: Vec<Sample>,
}

/// A rule that is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MissingRule {
    /// Where.
    pub scope: Scope,
    /// The rule.
    pub rule: Rule,
}

/// What refuses a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RefusedBy {
    /// The authorizer: the permission of the call itself is not held.
    Authorizer,
    /// A check behind it: another permission is not held.
    HiddenCheck,
    /// Something that no permission changes: a quota, a policy, a webhook.
    NotPermission,
}

pub(super) fn of(
    activity: &Activity<'_>,
    calls: &[JudgedCall],
    grants: &[Grant],
    bindings: &[BindingPlace],
) -> Vec<Deficit> {
    let mut deficits = Vec::new();
    let mut add = |call: &Observed, refused_by, reason: &str, missing: Vec<MissingRule>, count| {
        let role = missing.first().and_then(|missing| role(missing, grants, bindings));
        let (request, samples, reason) = (call.request.clone(), call.samples.clone(), reason.to_owned());
        deficits.push(Deficit { request, refused_by, reason, missing, count, role, samples });
    };
    for call in calls.iter().filter(|call| call.verdict == CallVerdict::Denied) {
        let missing = missing(&Ask::Make(call.observed.request.clone()));
        add(&call.observed, RefusedBy::Authorizer, "", vec![missing], call.observed.count);
    }
    let refusals = |call: &Observed| call.codes.get(&403).copied().unwrap_or_default();
    for (call, needs) in &activity.refused {
        for need in needs {
            let way = need.ways.first().into_iter().flatten();
            add(call, RefusedBy::HiddenCheck, need.reason, way.map(missing).collect(), refusals(call));
        }
    }
    for call in &activity.calls {
        for behind in &call.behind {
            if let What::NotPermission { by } = &behind.what {
                add(call, RefusedBy::NotPermission, by.text(), Vec::new(), refusals(call));
            }
        }
    }
    deficits.sort_by(|a, b| (&a.request, a.refused_by, &a.reason).cmp(&(&b.request, b.refused_by, &b.reason)));
    deficits
}

/// The smallest rule that gives it.
fn missing(ask: &Ask) -> MissingRule {
    if let Ask::Hold(scope, rule) = ask {
        return MissingRule { scope: scope.clone(), rule: rule.clone() };
    }
    let one = |text: &str| vec![text.to_owned()];
    match ask.request() {
        Request::Resource(r) => MissingRule {
            scope: if r.namespace.is_empty() { Scope::Cluster } else { Scope::Namespace(r.namespace.clone()) },
            rule: Rule {
                verbs: one(&r.verb),
                api_groups: one(&r.api_group),
                resources: one(&r.combined()),
                resource_names: Some(r.name).filter(|name| !name.is_empty()).into_iter().collect(),
                ..Rule::default()
            },
        },
        Request::NonResource(r) => MissingRule {
            scope: Scope::Cluster,
            rule: Rule { verbs: one(&r.verb), non_resource_urls: one(&r.path), ..Rule::default() },
        },
    }
}

/// The role that the rule would stand in: one that grants something of the same resource there, else the first that
/// holds there.
fn role(missing: &MissingRule, grants: &[Grant], bindings: &[BindingPlace]) -> Option<Place> {
    let reaches = |scope: &Scope| *scope == Scope::Cluster || *scope == missing.scope;
    let usable = |binding: &&BindingPlace| binding.role_state == RoleState::Shipped && reaches(&binding.scope);
    let same = grants.iter().filter(|grant| {
        grant.rule.resources == missing.rule.resources && grant.rule.api_groups == missing.rule.api_groups
    });
    let of_same = same.filter_map(|grant| bindings.get(grant.binding)).find(usable);
    of_same.or_else(|| bindings.iter().find(usable)).map(|binding| binding.role.clone())
}

impl Deficit {
    /// What would allow it, in words; empty where nothing would.
    pub fn wants(&self) -> String {
        let wants: Vec<String> = self.missing.iter().map(MissingRule::text).collect();
        wants.join(", ")
    }

    /// The call in words.
    pub fn call(&self) -> String {
        describe(&self.request)
    }
}

impl MissingRule {
    /// In words, without where.
    pub fn text(&self) -> String {
        let ask = Ask::Hold(self.scope.clone(), self.rule.clone());
        let names = &self.rule.resource_names;
        let on = if names.is_empty() { String::new() } else { format!(" [{}]", names.join(", ")) };
        format!("{}{on}", describe(&ask.request()))
    }
}
