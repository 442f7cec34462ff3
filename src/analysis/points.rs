//! The headline: points held and used. A point is (scope, apiGroup, resource[/subresource], verb) of the API table
//! plus the CRDs of the input, wildcards expanded there; names and non-resource URLs are counted beside it.
//!
//! A well-known extension may not be installed: its points count where a grant names its group, and not in the group
//! `*`, which then has the same number whatever this build knows of extensions.

use std::collections::{BTreeMap, BTreeSet};

use super::index::GrantIndex;
use super::ways::Chosen;
use super::{Activity, Grant, Points, Verdict, is_default};
use crate::api::{Liveness, Origin, Served, Table};
use crate::rbac::{Request, ResourceRequest, Rule, Scope};

/// (apiGroup, resource[/subresource], verb).
type Point = (String, String, String);

pub(super) fn count(
    table: &Table,
    grants: &[Grant],
    seen: Option<(&Activity<'_>, &[Chosen<'_>])>,
    defaults: &[Rule],
) -> Points {
    let mut held: BTreeMap<&Scope, BTreeSet<Point>> = BTreeMap::new();
    let mut urls = BTreeSet::new();
    let mut unbounded = false;
    let mut expanded = BTreeSet::new();
    for grant in grants.iter().filter(|grant| grant.verdict != Verdict::Dead) {
        // Many bindings may give the same.
        if !expanded.insert((&grant.scope, &grant.rule)) {
            continue;
        }
        if let Some(url) = grant.rule.non_resource_urls.first() {
            urls.insert((url, grant.rule.verbs.first()));
            continue;
        }
        let points = held.entry(&grant.scope).or_default();
        unbounded |= expand(table, grant, points);
    }
    for points in held.values_mut() {
        points.retain(|point| !is_default(defaults, &request(point)));
    }

    let scopes: BTreeSet<&Scope> = grants.iter().map(|grant| &grant.scope).collect();
    let mut used: BTreeSet<(&Scope, Point)> = BTreeSet::new();
    if let Some((seen, chosen)) = seen {
        let index = GrantIndex::new(grants);
        let mut add = |request: &Request, covering: &[&Grant]| {
            let Request::Resource(resource) = request else { return };
            let point = (resource.api_group.clone(), resource.combined(), resource.verb.clone());
            // The widest scope that holds it, as held points of a namespace give way to those of the cluster.
            let scope = covering.iter().map(|grant| &grant.scope).min();
            if let Some(scope) = scope.and_then(|scope| scopes.get(scope)) {
                // Served or not by the table, it was asked for and is held.
                held.entry(scope).or_default().insert(point.clone());
                used.insert((scope, point));
            }
        };
        for call in seen.allowed().filter(|call| !is_default(defaults, &call.request)) {
            add(&call.request, &index.covering(&call.request));
        }
        // Of rules that are handed out with wildcards, what they reach is the grants' own.
        for (ask, given) in chosen.iter().flat_map(|chosen| &chosen.asks) {
            let request = ask.request();
            if !is_wild(&request) {
                add(&request, &given.iter().filter_map(|&at| grants.get(at)).collect::<Vec<_>>());
            }
        }
    }
    let cluster = held.get(&Scope::Cluster).cloned().unwrap_or_default();
    let in_namespaces = held.iter().filter(|(scope, _)| ***scope != Scope::Cluster);
    let beside: usize = in_namespaces.map(|(_, points)| points.difference(&cluster).count()).sum();
    Points {
        held: (cluster.len() + beside) as u64,
        used: seen.map(|_| used.len() as u64),
        unbounded,
        non_resource_urls: urls.len() as u64,
    }
}

fn is_wild(request: &Request) -> bool {
    match request {
        Request::Resource(r) => [&r.verb, &r.api_group, &r.resource].into_iter().any(|text| text == "*"),
        Request::NonResource(_) => false,
    }
}

/// Adds the points of one grant; true when a wildcard also reaches what the table does not know.
fn expand(table: &Table, grant: &Grant, points: &mut BTreeSet<Point>) -> bool {
    let (Some(group), Some(resource), Some(verb)) =
        (grant.rule.api_groups.first(), grant.rule.resources.first(), grant.rule.verbs.first())
    else {
        return false;
    };
    let (main, sub) = resource.split_once('/').unwrap_or((resource, ""));
    let unknown = group != "*" && !table.knows_group(group);
    if group != "*" && main != "*" {
        if verb != "*" {
            if !matches!(table.liveness(group, resource, verb), Liveness::Dead(_)) {
                points.insert((group.clone(), resource.clone(), verb.clone()));
            }
            return false;
        }
        if let Some(served) = table.get(group, main, sub) {
            add(served, verb, grant, points);
        }
        return table.liveness(group, resource, verb) == Liveness::UnknownGroup;
    }
    for served in table.iter() {
        let in_group = *group == served.api_group || (group == "*" && served.origin != Origin::Extension);
        let named = resource == "*"
            || (main == "*" && !served.subresource.is_empty() && sub == served.subresource)
            || (main == served.resource && sub == served.subresource);
        if in_group && named {
            add(served, verb, grant, points);
        }
    }
    group == "*" || unknown
}

fn add(served: &Served, verb: &str, grant: &Grant, points: &mut BTreeSet<Point>) {
    let combined = served.combined();
    for one in served.verbs.iter().filter(|one| verb == "*" || *one == verb) {
        if grant.scope == Scope::Cluster || in_namespace(served, one) {
            points.insert((served.api_group.clone(), combined.clone(), one.clone()));
        }
    }
}

/// Whether requests for it carry a namespace, so that a RoleBinding can allow them.
pub(super) fn in_namespace(served: &Served, verb: &str) -> bool {
    served.namespaced || served.is_its_own_namespace(verb)
}

fn request((api_group, resource, verb): &Point) -> Request {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Request::Resource(ResourceRequest {
        api_group: api_group.clone(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        verb: verb.clone(),
        ..ResourceRequest::default()
    })
}
