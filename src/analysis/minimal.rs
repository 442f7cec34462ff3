//! The smallest role: every authorized call and every need, in the narrowest scope and with the names that the
//! decisions of the design allow; never wider than the grant it replaces, plus what is shown as an addition.

use std::collections::{BTreeMap, BTreeSet};

use super::explained;
use super::index::GrantIndex;
use super::kept::{self, may_be_used_for_more};
use super::names::pinned;
use super::verdict::{describe, paired};
use super::ways::Chosen;
use super::{Activity, Basis, CallVerdict, Context, Coverage, Grant, JudgedCall, MinimalRole, Selection};
use crate::needs::{Ask, NeedKind};
use crate::rbac::cover::Entry;
use crate::rbac::{Request, Scope};

/// How namespaces of the minimal role are chosen where the shipped grant is cluster-wide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Namespaces {
    /// Calls outside the account's own namespace keep the permission cluster-wide.
    #[default]
    Keep,
    /// Exactly the namespaces seen.
    Split,
}

/// Which names the minimal role pins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Names {
    /// Those that the shipped grant has, and objects that the package itself ships or names.
    #[default]
    Shipped,
    /// Every name seen, where names work.
    All,
    /// None.
    None,
}

/// One permission that was exercised, needed or kept, at one place.
#[derive(Debug, Clone)]
pub(super) struct Occurrence<'a> {
    pub(super) request: Request,
    /// Grants that cover it.
    pub(super) grants: Vec<&'a Grant>,
    basis: Basis,
    reason: String,
}

/// What the subject did, judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Done<'d, 'a> {
    pub(super) calls: &'d [JudgedCall],
    pub(super) activity: &'d Activity<'a>,
    pub(super) chosen: &'d [Chosen<'d>],
    pub(super) has_manifests: bool,
    pub(super) coverage: Option<&'d Coverage>,
}

pub(super) fn role(cx: &Context<'_>, selection: &Selection, grants: &[Grant], done: &Done<'_, '_>) -> MinimalRole {
    let occurrences = occurrences(cx, grants, done);
    let mut pieces = placed(cx, selection.key.as_ref().and_then(|key| key.namespace()), &occurrences);
    pieces.extend(kept::pieces(cx, grants, done.activity, &pieces));
    drop_covered(&mut pieces);
    let mut notes = done.activity.suspected.clone();
    notes.extend(kept::in_vain(cx, grants));
    if let Some(coverage) = done.coverage
        && pieces.iter().any(|piece| piece.reason.ends_with(kept::DROP_UNEXERCISED))
    {
        notes.push(format!("what was seen of the operator: {}", coverage.text()));
    }
    let (denied, given) = denied(done, &pieces);
    if !cx.options.include_denied {
        let said = |denied| format!("denied in the log, though the shipped role grants it, as does this one: {denied}");
        notes.extend(given.into_iter().map(said));
    }
    MinimalRole { scopes: explained::rules(&pieces), denied, notes }
}

/// A piece of the role: one verb on one resource in one scope, with its names.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    pub(super) scope: Scope,
    pub(super) entry: Entry,
    pub(super) basis: Basis,
    pub(super) reason: String,
}

fn occurrences<'a>(cx: &Context<'_>, grants: &'a [Grant], done: &Done<'a, '_>) -> Vec<Occurrence<'a>> {
    let index = GrantIndex::new(grants);
    let mut found = Vec::new();
    for call in done.calls {
        let (basis, reason) = match call.verdict {
            CallVerdict::Covered => (Basis::Used, String::new()),
            CallVerdict::Unexplained if done.has_manifests => {
                let allowed_by = call.observed.reasons.iter().find(|reason| !reason.is_empty());
                let allowed_by = allowed_by.map(|reason| format!(" ({reason})")).unwrap_or_default();
                (Basis::Unexplained, format!("an addition: used, but no role of the input grants it{allowed_by}"))
            }
            CallVerdict::Unexplained => (Basis::Used, String::new()),
            CallVerdict::Denied if cx.options.include_denied => {
                (Basis::Unexplained, "an addition: denied in the log, granted because you asked for it".to_owned())
            }
            CallVerdict::Denied | CallVerdict::Default | CallVerdict::Undecided => continue,
        };
        let granted: Vec<&Grant> = call.grants.iter().filter_map(|&index| grants.get(index)).collect();
        let request = call.observed.request.clone();
        // The pair of a list or watch, where the shipped role holds it.
        if let Some(pair) = paired(&request) {
            let grants = index.covering(&pair);
            if !grants.is_empty() {
                let reason = format!("the pair of `{}` in an informer", request.verb());
                found.push(Occurrence { request: pair, grants, basis: Basis::Needed, reason });
            }
        }
        found.push(Occurrence { request, grants: granted, basis, reason });
    }
    let place = |request: &Request| match request {
        Request::Resource(r) => (r.verb.clone(), r.api_group.clone(), r.combined(), r.namespace.clone()),
        Request::NonResource(r) => (r.verb.clone(), String::new(), r.path.clone(), String::new()),
    };
    let used: BTreeSet<_> = found.iter().map(|occurrence| place(&occurrence.request)).collect();
    for chosen in done.chosen {
        for (ask, given) in &chosen.asks {
            // A pair says nothing of names: what is used shows which.
            let request = ask.request();
            let pair = chosen.need.kind == NeedKind::Pair;
            // Without a shipped role: exactly what was seen, but that informers list and watch.
            if pair && (used.contains(&place(&request)) || (!done.has_manifests && request.verb() != "list")) {
                continue;
            }
            let basis = match (given.is_empty() && done.has_manifests, chosen.need.kind) {
                (false, _) if chosen.satisfied || !done.has_manifests => Basis::Needed,
                // The shipped role works without it.
                (_, NeedKind::Pair | NeedKind::Likely) => continue,
                (false, NeedKind::Checked) => Basis::Needed,
                (true, NeedKind::Checked) => Basis::Unexplained,
            };
            let reason = chosen.need.reason.to_owned();
            let grants = given.iter().filter_map(|&at| grants.get(at)).collect();
            found.push(Occurrence { request, grants, basis, reason });
        }
    }
    if cx.options.include_denied {
        for need in done.activity.refused.iter().flat_map(|(_, needs)| needs) {
            for ask in need.ways.first().into_iter().flatten() {
                let (request, grants) = (ask.request(), index.covering_ask(ask));
                let reason = "an addition: refused in the log, granted because you asked for it".to_owned();
                if grants.is_empty() {
                    found.push(Occurrence { request, grants, basis: Basis::Unexplained, reason });
                }
            }
        }
    }
    let defaults = crate::api::builtin::authenticated_rules(cx.minor);
    found.retain(|occurrence| !super::is_default(&defaults, &occurrence.request));
    found
}

/// Whether, and in which class, pieces may share a rule: additions stay apart.
pub(super) fn class(basis: Basis) -> u8 {
    match basis {
        Basis::Used | Basis::Needed => 0,
        Basis::Unexplained => 1,
        Basis::Kept => 2,
    }
}

/// Groups occurrences by permission and chooses scope and names.
fn placed(cx: &Context<'_>, own: Option<&str>, occurrences: &[Occurrence<'_>]) -> Vec<Piece> {
    let mut by_permission: BTreeMap<(u8, String, String, String), Vec<&Occurrence<'_>>> = BTreeMap::new();
    for occurrence in occurrences {
        let (group, resource) = match &occurrence.request {
            Request::Resource(request) => (request.api_group.clone(), request.combined()),
            Request::NonResource(request) => (String::new(), request.path.clone()),
        };
        let key = (class(occurrence.basis), group, resource, occurrence.request.verb().to_owned());
        by_permission.entry(key).or_default().push(occurrence);
    }
    let mut pieces = Vec::new();
    for ((_, group, resource, verb), occurrences) in by_permission {
        let mut by_scope: BTreeMap<Scope, Vec<&Occurrence<'_>>> = BTreeMap::new();
        let wide = keeps_cluster(cx, own, &occurrences);
        for occurrence in occurrences {
            let namespace = occurrence.request.namespace();
            let narrow = occurrence.grants.is_empty() || occurrence.grants.iter().any(|g| g.scope != Scope::Cluster);
            let scope = if namespace.is_empty() || (wide && !narrow) {
                Scope::Cluster
            } else {
                Scope::Namespace(namespace.to_owned())
            };
            by_scope.entry(scope).or_default().push(occurrence);
        }
        let mut everywhere = false;
        for (scope, occurrences) in by_scope {
            let entry = match occurrences.first().map(|occurrence| &occurrence.request) {
                Some(Request::NonResource(request)) => {
                    Entry::NonResource { url: request.path.clone(), verb: verb.clone() }
                }
                _ => Entry::Resource {
                    api_group: group.clone(),
                    resource: resource.clone(),
                    verb: verb.clone(),
                    names: pinned(cx, &scope, &occurrences),
                },
            };
            // Scopes come cluster first: what holds everywhere without names needs no copy in a namespace.
            if everywhere {
                continue;
            }
            everywhere = scope == Scope::Cluster && matches!(&entry, Entry::Resource { names, .. } if names.is_empty());
            let basis = occurrences.iter().map(|occurrence| occurrence.basis).min_by_key(|basis| *basis != Basis::Used);
            let basis = basis.unwrap_or(Basis::Used);
            let reasons: BTreeSet<&str> = occurrences
                .iter()
                .filter(|occurrence| occurrence.basis == basis && !occurrence.reason.is_empty())
                .map(|occurrence| occurrence.reason.as_str())
                .collect();
            let mut reason = reasons.into_iter().collect::<Vec<_>>().join("\n");
            if cx.options.names == Names::None && loses_names(&occurrences) {
                reason = [&*reason, "wider than the shipped role, which has names (--names none)"].join("\n");
                reason = reason.trim_start().to_owned();
            }
            pieces.push(Piece { scope, entry, basis, reason });
        }
    }
    pieces
}

/// Whether all that is held of it is held for names.
fn loses_names(occurrences: &[&Occurrence<'_>]) -> bool {
    let mut grants = occurrences.iter().flat_map(|occurrence| &occurrence.grants).peekable();
    grants.peek().is_some() && grants.all(|grant| !grant.rule.resource_names.is_empty())
}

/// Whether a permission that only cluster-wide grants cover stays cluster-wide: its calls were cluster-wide or
/// touched other namespaces than the account's own, or it is not sure that they never do.
fn keeps_cluster(cx: &Context<'_>, own: Option<&str>, occurrences: &[&Occurrence<'_>]) -> bool {
    let only_cluster = occurrences.iter().filter(|occurrence| {
        !occurrence.grants.is_empty() && occurrence.grants.iter().all(|g| g.scope == Scope::Cluster)
    });
    let namespaces: BTreeSet<&str> = only_cluster.map(|occurrence| occurrence.request.namespace()).collect();
    if namespaces.contains("") {
        return true;
    }
    if cx.options.namespaces == Namespaces::Keep && may_be_used_for_more(cx, occurrences) {
        return true;
    }
    match cx.options.namespaces {
        Namespaces::Keep => namespaces.iter().any(|namespace| Some(*namespace) != own),
        Namespaces::Split => false,
    }
}

/// Drops pieces that another gives all the same: for all names, in the whole cluster, by a wildcard that stays.
fn drop_covered(pieces: &mut Vec<Piece>) {
    let grants = as_grants(pieces);
    let index = GrantIndex::new(&grants);
    let is_covered = |own: &Grant| {
        let on_resources = !own.rule.resources.is_empty();
        let covering = index.covering_ask(&Ask::Hold(own.scope.clone(), own.rule.clone()));
        let wider = |grant: &&Grant| {
            grant.rule.resource_names.is_empty() && (&grant.scope, &grant.rule) != (&own.scope, &own.rule)
        };
        on_resources && covering.iter().any(wider)
    };
    let covered: Vec<bool> = grants.iter().map(is_covered).collect();
    let mut covered = covered.into_iter();
    pieces.retain(|_| !covered.next().unwrap_or_default());
}

/// The pieces as grants of the role that is written.
fn as_grants(pieces: &[Piece]) -> Vec<Grant> {
    let grant =
        |(index, piece): (usize, &Piece)| Grant { index, ..Grant::new(piece.scope.clone(), piece.entry.rule()) };
    pieces.iter().enumerate().map(grant).collect()
}

/// What was denied: what the role does not grant either, and what it grants all the same.
fn denied(done: &Done<'_, '_>, pieces: &[Piece]) -> (Vec<String>, Vec<String>) {
    let place = |request: &Request| match request.namespace() {
        "" => "at cluster scope".to_owned(),
        namespace => format!("in {namespace}"),
    };
    let granted = as_grants(pieces);
    let granted = GrantIndex::new(&granted);
    let (mut left_out, mut given) = (BTreeMap::new(), BTreeMap::new());
    let count = |counts: &mut BTreeMap<String, u64>, text: String, calls: u64| {
        let known = counts.entry(text).or_default();
        *known = known.saturating_add(calls);
    };
    for call in done.calls.iter().filter(|call| call.verdict == CallVerdict::Denied) {
        let request = &call.observed.request;
        let counts = if granted.covering(request).is_empty() { &mut left_out } else { &mut given };
        count(counts, format!("{} {}", describe(request), place(request)), call.observed.count);
    }
    for (call, needs) in &done.activity.refused {
        let refused = call.codes.get(&403).copied().unwrap_or_default();
        for way in needs.iter().filter_map(|need| need.ways.first()) {
            let wanted: BTreeSet<String> = way.iter().map(|ask| describe(&ask.request())).collect();
            let wanted: Vec<String> = wanted.into_iter().collect();
            let counts =
                if way.iter().any(|ask| granted.covering_ask(ask).is_empty()) { &mut left_out } else { &mut given };
            let text = format!("{} {}: wants {}", describe(&call.request), place(&call.request), wanted.join(", "));
            count(counts, text, refused);
        }
    }
    let said = |counts: BTreeMap<String, u64>| counts.into_iter().map(|(text, count)| format!("{text} ({count}×)"));
    (said(left_out).collect(), said(given).collect())
}
