//! Which object names the minimal role pins. Verbs are never merged over different name sets.

use std::collections::BTreeSet;

use super::kept::may_be_used_for_more;
use super::minimal::Occurrence;
use super::{Context, Names};
use crate::rbac::{Request, ResourceRequest, Scope};

/// Resources whose objects a workload is usually told about by name (lease of the leader election, own
/// configuration). Others must be shipped by the package to be pinned.
const TOLD_BY_NAME: [(&str, &str); 4] =
    [("coordination.k8s.io", "leases"), ("", "configmaps"), ("", "secrets"), ("", "services")];

/// The names to pin for one permission in one scope; empty is no restriction.
///
/// A name is only ever one that RBAC saw (`Request` carries no others), so a nameless call leaves the permission
/// unrestricted: plain `create`, `list`, `watch` and `deletecollection` among them.
pub(super) fn pinned(cx: &Context<'_>, scope: &Scope, occurrences: &[&Occurrence<'_>]) -> Vec<String> {
    let mut names = BTreeSet::new();
    // That it works on its own objects only is sure where the whole of its life was seen.
    let own_only = !may_be_used_for_more(cx, occurrences);
    for occurrence in occurrences {
        let Request::Resource(request) = &occurrence.request else { return Vec::new() };
        let keep = !request.name.is_empty()
            && match cx.options.names {
                Names::None => false,
                Names::All => true,
                Names::Shipped => shipped_grant_is_named(scope, occurrence) || (own_only && is_own_object(cx, request)),
            };
        if !keep {
            return Vec::new();
        }
        names.insert(request.name.clone());
    }
    names.into_iter().collect()
}

fn shipped_grant_is_named(scope: &Scope, occurrence: &Occurrence<'_>) -> bool {
    // Grants of a wider scope than the one written do not count: the narrower one is what is replaced.
    let mut grants = occurrence.grants.iter().filter(|grant| grant.scope == *scope).peekable();
    let replaced = grants.peek().is_some();
    let named = grants.all(|grant| !grant.rule.resource_names.is_empty());
    let all_named = occurrence.grants.iter().all(|grant| !grant.rule.resource_names.is_empty());
    !occurrence.grants.is_empty() && if replaced { named } else { all_named }
}

/// Whether the package ships the object, or tells one of its workloads its name.
fn is_own_object(cx: &Context<'_>, request: &ResourceRequest) -> bool {
    let package = cx.package;
    let shipped = package.facts.objects.iter().filter(|object| object.name.value == request.name).any(|object| {
        let served = cx.table.by_kind(&object.api_group, &object.kind);
        served.is_some_and(|served| {
            let namespace = if served.namespaced { package.resolve(object.namespace.as_ref()) } else { "" };
            // Requests to a Namespace object carry its name as namespace.
            let same_place =
                namespace == request.namespace || (!served.namespaced && request.namespace == request.name);
            served.api_group == request.api_group && served.resource == request.resource && same_place
        })
    });
    let told = TOLD_BY_NAME.contains(&(request.api_group.as_str(), request.resource.as_str()))
        && request.namespace == package.namespace
        && package.facts.workloads.iter().any(|workload| workload.mentions.contains(&request.name));
    shipped || told
}
