//! What an impersonated request asked of the user who made it
//! (Kubernetes `staging/src/k8s.io/apiserver/pkg/endpoints/filters/impersonation`).

use std::collections::BTreeMap;

use super::RequestInfo;
use super::event::{Event, User, text};
use crate::rbac::ResourceRequest;

/// The permissions checked on the real user, in the order of the impersonation headers. Groups that the server adds
/// by itself are not checked, so they are left out; whether the client asked for one of them cannot be seen.
pub(super) fn checks(event: &Event<'_>, target: &RequestInfo<'_>, verb: &str) -> Vec<ResourceRequest> {
    let Some(user) = &event.impersonated_user else { return Vec::new() };
    let constraint = event.authentication_metadata.as_ref().map(|m| text(&m.impersonation_constraint)).unwrap_or_default();
    let plain = constraint.is_empty() || constraint == "impersonate";
    // The constrained forms ask everything in one group.
    let group = |core: &'static str| if plain { core } else { "authentication.k8s.io" };
    let asked_verb = if plain { "impersonate" } else { constraint };
    let ask = |api_group: &str, resource: &str, subresource: &str, namespace: &str, name: &str| ResourceRequest {
        api_group: api_group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        verb: asked_verb.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    let name = text(&user.username);
    let account = name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    let node = name.strip_prefix("system:node:").filter(|_| !plain && constraint.ends_with("-node"));
    let mut checks = vec![match (account, node) {
        (Some((namespace, name)), _) => ask(group(""), "serviceaccounts", "", namespace, name),
        (None, Some(node)) => ask(group(""), "nodes", "", "", node),
        (None, None) => ask(group(""), "users", "", "", name),
    }];
    // Service accounts and nodes have their groups by themselves.
    if account.is_none() && node.is_none() {
        let groups = user.groups.iter().flatten().filter(|group| &***group != "system:authenticated");
        checks.extend(groups.map(|name| ask(group(""), "groups", "", "", name)));
    }
    if !text(&user.uid).is_empty() {
        checks.push(ask("authentication.k8s.io", "uids", "", "", text(&user.uid)));
    }
    for (key, values) in extras(user) {
        checks.extend(values.iter().map(|value| ask("authentication.k8s.io", "userextras", &key, "", value)));
    }
    if let Some(mode) = constraint.strip_prefix("impersonate:").filter(|_| !plain)
        && target.is_resource
    {
        checks.push(ResourceRequest {
            api_group: target.api_group.clone().into_owned(),
            resource: target.resource.clone().into_owned(),
            subresource: target.subresource.clone().into_owned(),
            verb: format!("impersonate-on:{mode}:{verb}"),
            namespace: target.namespace.clone().into_owned(),
            name: target.name.clone().into_owned(),
        });
    }
    checks
}

fn extras(user: &User<'_>) -> BTreeMap<String, Vec<String>> {
    user.extra.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default()
}

/// What a denied impersonation asked for, out of its message: `… cannot impersonate resource "users" in API group ""
/// at the cluster scope`. The event itself has no annotation and no impersonated user.
pub(super) fn denied(message: &str) -> Option<ResourceRequest> {
    let (object, rest) = message.split_once(" is forbidden: ")?;
    let (_, rest) = rest.split_once(" cannot ")?;
    let (verb, rest) = rest.split_once(" resource \"")?;
    if !verb.starts_with("impersonate") {
        return None;
    }
    let (resource, rest) = rest.split_once('"')?;
    let (_, rest) = rest.split_once(" in API group \"")?;
    let (group, rest) = rest.split_once('"')?;
    let namespace = rest.split_once(" in the namespace \"").and_then(|(_, rest)| rest.split_once('"'));
    let name = object.split_once(" \"").and_then(|(_, name)| name.strip_suffix('"'));
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Some(ResourceRequest {
        api_group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        verb: verb.to_owned(),
        namespace: namespace.map(|(namespace, _)| namespace).unwrap_or_default().to_owned(),
        name: name.unwrap_or_default().to_owned(),
    })
}
