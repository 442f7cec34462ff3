//! What stays in the minimal role although it was not seen in use: what the log could not have shown, and what paths that
//! were not exercised may use.

use std::collections::{BTreeMap, BTreeSet};

use super::minimal::{Occurrence, Piece};
use super::pattern::name;
use super::verdict::{has_wildcard, served};
use super::{Activity, Basis, Confidence, Context, Grant, GrantPattern, Names, Options, Verdict};
use crate::api::Liveness;
use crate::needs::Platform;
use crate::rbac::cover::Entry;
use crate::rbac::{Request, ResourceRequest, Scope};
use crate::source::some_of;

/// What the reasons end with that the option takes away.
pub(super) const DROP_UNEXERCISED: &str = " (--drop-unexercised)";
const DROP_UNOBSERVABLE: &str = " (--drop-unobservable)";
const ASKED: &str = "kept as you asked (--keep)";
const OWNERS: &str = "kept although unseen: checked where an owner reference blocks the owner's deletion, and the log does \
    not show the owners of what it makes (--drop-unobservable)";

/// Pieces for the grants that stay beside those that were seen in use.
pub(super) fn pieces(cx: &Context<'_>, grants: &[Grant], activity: &Activity<'_>, seen: &[Piece]) -> Vec<Piece> {
    let present: BTreeSet<(&Scope, &Entry)> = seen.iter().map(|piece| (&piece.scope, &piece.entry)).collect();
    let owned = if owners_are_unread(cx, activity) { kinds(activity) } else { BTreeSet::new() };
    let seen_names = seen_names(seen);
    let mut kept: BTreeMap<(Scope, Entry), Piece> = BTreeMap::new();
    let mut keep = |scope: &Scope, entry: Entry, reason: String| {
        if !present.contains(&(scope, &entry)) {
            let piece = Piece { scope: scope.clone(), entry: entry.clone(), basis: Basis::Kept, reason };
            kept.entry((scope.clone(), entry)).or_insert(piece);
        }
    };
    for grant in grants {
        if let Some(reason) = kept_for(cx, grant) {
            if let Some(entry) = Entry::of(&grant.rule).and_then(|entry| unseen(grant, entry, &seen_names)) {
                keep(&grant.scope, entry, reason);
            }
        } else if grant.is_used() && has_wildcard(&grant.rule) {
            // The wildcard goes, and with it what only a check of the API server would show.
            for request in owned.iter().filter(|request| grant.rule.allows(&Request::Resource((*request).clone()))) {
                let entry = Entry::Resource {
                    api_group: request.api_group.clone(),
                    resource: request.combined(),
                    verb: request.verb.clone(),
                    names: Vec::new(),
                };
                keep(&grant.scope, entry, OWNERS.to_owned());
            }
        }
    }
    kept.into_values().collect()
}

/// The names that were seen in use of each permission, in each scope; none means any.
type SeenNames<'a> = BTreeMap<(&'a Scope, &'a str, &'a str, &'a str), Vec<&'a [String]>>;

fn seen_names(seen: &[Piece]) -> SeenNames<'_> {
    let mut names_of = SeenNames::new();
    for piece in seen {
        if let Entry::Resource { api_group, resource, verb, names } = &piece.entry {
            names_of.entry((&piece.scope, api_group, resource, verb)).or_default().push(names);
        }
    }
    names_of
}

/// Of a grant in use, the entry without the names that were seen in use; `None` where none is left.
fn unseen(grant: &Grant, entry: Entry, seen: &SeenNames<'_>) -> Option<Entry> {
    let Entry::Resource { api_group, resource, verb, mut names } = entry else { return Some(entry) };
    let used = seen.get(&(&grant.scope, &*api_group, &*resource, &*verb)).filter(|_| grant.is_used());
    if let Some(used) = used.filter(|_| !names.is_empty()) {
        names.retain(|name| !used.iter().any(|used| used.is_empty() || used.contains(name)));
        if names.is_empty() {
            return None;
        }
    }
    Some(Entry::Resource { api_group, resource, verb, names })
}

/// Whether objects were made whose owners the log does not show, where the API server may check them.
fn owners_are_unread(cx: &Context<'_>, activity: &Activity<'_>) -> bool {
    let writes = |verb: &str| matches!(verb, "create" | "update" | "patch");
    activity.platform != Platform::Vanilla
        && !cx.options.drop_unobservable
        && activity.allowed().any(|call| call.level == "Metadata" && writes(call.request.verb()))
}

/// `update` on the finalizers of each kind that it works with: any of them may be an owner.
fn kinds(activity: &Activity<'_>) -> BTreeSet<ResourceRequest> {
    let worked_with = activity.allowed().filter_map(|call| match &call.request {
        Request::Resource(request) if request.subresource.is_empty() => Some(request),
        _ => None,
    });
    let finalizers = worked_with.map(|request| ResourceRequest {
        api_group: request.api_group.clone(),
        resource: request.resource.clone(),
        subresource: "finalizers".to_owned(),
        verb: "update".to_owned(),
        ..ResourceRequest::default()
    });
    finalizers.collect()
}

/// Whether what was seen may not be all that one of the grants is used for.
pub(super) fn may_be_used_for_more(cx: &Context<'_>, occurrences: &[&Occurrence<'_>]) -> bool {
    occurrences.iter().flat_map(|occurrence| &occurrence.grants).any(|grant| is_unsure(cx, grant))
}

/// Whether the path of the grant may not have been exercised, or the log does not show all that it is held for, and
/// that counts.
fn is_unsure(cx: &Context<'_>, grant: &Grant) -> bool {
    let unexercised = grant.confidence.is_some_and(|confidence| confidence < Confidence::High);
    let counts = (unexercised && !cx.options.drop_unexercised)
        || (grant.hidden.is_some() && !cx.options.drop_unobservable)
        || is_meant(&cx.options.keep, grant);
    counts && !is_meant(&cx.options.drop, grant)
}

/// Why a grant stays although it was not seen in use: the log could not have shown it, or its path was not exercised.
fn kept_for(cx: &Context<'_>, grant: &Grant) -> Option<String> {
    if is_meant(&cx.options.keep, grant) {
        return Some(ASKED.to_owned());
    }
    let used = grant.is_used() && is_unsure(cx, grant);
    match grant.verdict {
        Verdict::Unobservable if !cx.options.drop_unobservable && !is_meant(&cx.options.drop, grant) => {
            Some(format!("kept although unseen: {}{DROP_UNOBSERVABLE}", grant.reason))
        }
        Verdict::Unused if is_unsure(cx, grant) && !is_dead_alone(cx, grant) => {
            Some(format!("kept although unseen: {}{DROP_UNEXERCISED}", grant.reason))
        }
        _ if used && has_wildcard(&grant.rule) => {
            let seen = if grant.used_as.is_empty() { "nothing" } else { &some_of(&grant.used_as, 3) };
            let why = why(cx, grant, "not all that it is used for may have been seen");
            Some(format!("kept as a wildcard, of which the log shows {seen}: {why}"))
        }
        _ if used && grant.rule.resource_names.len() > 1 => {
            let why = why(cx, grant, "not every name that it is used for may have been seen");
            Some(format!("kept although unseen: {why}"))
        }
        _ if used && grant.scope == Scope::Cluster => {
            let (how, more) = match (is_namespaced(cx, grant), cx.options.names == Names::All) {
                (false, _) => ("without names", "name that it is used for"),
                (true, true) => ("in the whole cluster and without names", "namespace and name that it is used for"),
                (true, false) => ("in the whole cluster", "namespace that it is used in"),
            };
            let why = why(cx, grant, &format!("not every {more} may have been seen"));
            Some(format!("kept {how}: {why}"))
        }
        _ => None,
    }
}

/// Why more than what was seen of it may be needed, with the option that drops it.
fn why(cx: &Context<'_>, grant: &Grant, unexercised: &str) -> String {
    match grant.hidden.as_deref().filter(|_| !cx.options.drop_unobservable) {
        Some(hidden) => format!("{hidden}{DROP_UNOBSERVABLE}"),
        None => format!("{unexercised}{DROP_UNEXERCISED}"),
    }
}

/// Whether its requests carry a namespace, as far as is known.
fn is_namespaced(cx: &Context<'_>, grant: &Grant) -> bool {
    let what = grant.rule.api_groups.first().zip(grant.rule.resources.first());
    what.and_then(|(group, resource)| served(cx.table, group, resource)).is_none_or(|served| served.namespaced)
}

fn is_meant(patterns: &[GrantPattern], grant: &Grant) -> bool {
    patterns.iter().any(|pattern| pattern.matches(grant))
}

/// What was asked to be kept or dropped in vain, in words.
pub(super) fn in_vain(cx: &Context<'_>, grants: &[Grant]) -> Vec<String> {
    let Options { keep, drop, .. } = cx.options;
    let nothing = |pattern: &&GrantPattern| !grants.iter().any(|grant| pattern.matches(grant));
    let of = |option: &'static str, patterns: &[GrantPattern]| {
        let vain = patterns.iter().filter(nothing);
        vain.map(|pattern| format!("{option} {:?} means no grant of it", pattern.text())).collect::<Vec<_>>()
    };
    let mut said = [of("--keep", keep), of("--drop", drop)].concat();
    let used = grants.iter().filter(|grant| is_meant(drop, grant) && grant.is_used() && !has_wildcard(&grant.rule));
    let used: BTreeSet<String> = used.map(name).collect();
    let used: Vec<String> = used.into_iter().collect();
    if !used.is_empty() {
        said.push(format!("--drop leaves what was seen in use or is needed: {}", some_of(&used, 3)));
    }
    said
}

/// Whether it makes sense only beside the others of its entry: by itself it matches nothing.
fn is_dead_alone(cx: &Context<'_>, grant: &Grant) -> bool {
    let rule = &grant.rule;
    let named = rule.api_groups.first().zip(rule.resources.first()).zip(rule.verbs.first());
    named.is_some_and(|((group, resource), verb)| matches!(cx.table.liveness(group, resource, verb), Liveness::Dead(_)))
}
