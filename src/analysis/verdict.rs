//! The verdict of every grant and of every observed call.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::index::GrantIndex;
use super::ways::Chosen;
use super::{Activity, CallVerdict, Context, Grant, JudgedCall, Verdict, is_default};
use super::{meant, observable};
use crate::api::{EntryLiveness, Liveness, Served, Table, is_check_only, is_checked, is_checked_elsewhere};
use crate::audit::Decision;
use crate::audit::policy::OwnRules;
use crate::needs::{Ask, NeedKind, Unread};
use crate::rbac::{Request, ResourceRequest, Rule, Scope};

/// Sets the verdicts of `grants` and returns the judged calls. Without `seen` no grant is called used or unused; with
/// `recorded`, the rules of the audit policy, none is called unused whose use would not have been recorded.
pub(super) fn judge(
    cx: &Context<'_>,
    grants: &mut [Grant],
    seen: Option<(&Activity<'_>, &[Chosen<'_>])>,
    recorded: Option<&OwnRules<'_>>,
    defaults: &[Rule],
) -> Vec<JudgedCall> {
    let judged = seen.map(|(seen, _)| judge_calls(grants, seen, defaults));
    let uses = seen.zip(judged.as_ref()).map(|((seen, chosen), judged)| Uses::of(grants, seen, chosen, judged));
    let mut entries = entries(cx.table, grants);
    let shows_reviews = LazyCell::new(|| cx.usage.is_some_and(observable::shows_reviews));
    let verdicts: Vec<_> = grants
        .iter()
        .map(|grant| {
            let entry = entries.get_mut(&entry_key(grant));
            let (verdict, reason) = verdict(cx.table, grant, entry, uses.as_ref());
            let by_log = || match recorded {
                Some(recorded) => observable::verdict(cx.table, recorded, grant),
                None => observable::limited(cx, grant).unwrap_or((Verdict::Unused, String::new())),
            };
            match verdict {
                Verdict::Unused => match by_log() {
                    (Verdict::Unused, _) if is_checked_elsewhere(&grant.rule) && !*shows_reviews => {
                        (Verdict::Unobservable, observable::ASKED_ELSEWHERE.to_owned(), None)
                    }
                    (verdict, reason) => (verdict, reason, None),
                },
                Verdict::Used | Verdict::Needed => {
                    let unread = uses.as_ref().and_then(|uses| uses.unread).map(str::to_owned);
                    let in_part = || Some(by_log()).filter(|(verdict, _)| *verdict == Verdict::Unobservable);
                    (verdict, reason, unread.or_else(|| in_part().map(|(_, reason)| reason)))
                }
                _ => (verdict, reason, None),
            }
        })
        .collect();
    for (grant, (verdict, reason, hidden)) in grants.iter_mut().zip(verdicts) {
        if let Some(uses) = &uses {
            grant.calls = uses.calls.get(&grant.index).copied().unwrap_or_default();
            grant.used_as = uses.used_as.get(&grant.index).into_iter().flatten().cloned().collect();
        }
        (grant.verdict, grant.reason, grant.hidden) = (verdict, reason, hidden);
        grant.served = is_served(cx.table, &grant.rule);
        if verdict == Verdict::Dead {
            grant.meant = meant::of(cx.table, grant);
        }
    }
    judged.unwrap_or_default()
}

fn judge_calls(grants: &[Grant], seen: &Activity<'_>, defaults: &[Rule]) -> Vec<JudgedCall> {
    let index = GrantIndex::new(grants);
    let judged = seen.calls.iter().map(|call| {
        let allowed = call.decision == Decision::Allowed;
        let covering = if allowed { index.covering(&call.request) } else { Vec::new() };
        let verdict = match call.decision {
            Decision::Denied => CallVerdict::Denied,
            Decision::Undecided => CallVerdict::Undecided,
            Decision::Allowed if is_default(defaults, &call.request) => CallVerdict::Default,
            Decision::Allowed if covering.is_empty() => CallVerdict::Unexplained,
            Decision::Allowed => CallVerdict::Covered,
        };
        let grants = covering.iter().map(|grant| grant.index).collect();
        JudgedCall { observed: Arc::clone(call), verdict, grants }
    });
    judged.collect()
}

/// What the log shows of each grant, by its index.
#[derive(Debug, Default)]
struct Uses {
    /// Authorized calls.
    calls: BTreeMap<usize, u64>,
    /// What a wildcard was used as.
    used_as: BTreeMap<usize, BTreeSet<String>>,
    /// Why the grant is needed by a call that it does not cover itself.
    needed: BTreeMap<usize, &'static str>,
    /// Why the grant belongs to one that was used.
    paired: BTreeMap<usize, String>,
    /// Why any grant may be needed without a trace in this log.
    unread: Option<&'static str>,
}

impl Uses {
    fn of(grants: &[Grant], seen: &Activity<'_>, chosen: &[Chosen<'_>], judged: &[JudgedCall]) -> Self {
        let index = GrantIndex::new(grants);
        let mut uses = Self::default();
        for call in judged {
            for at in &call.grants {
                let count = uses.calls.entry(*at).or_default();
                *count = count.saturating_add(call.observed.count);
                if grants.get(*at).is_some_and(|grant| has_wildcard(&grant.rule)) {
                    uses.used_as.entry(*at).or_default().insert(describe(&call.observed.request));
                }
            }
            if call.observed.decision == Decision::Allowed
                && let Some(pair) = paired(&call.observed.request)
            {
                for grant in index.covering(&pair) {
                    let verb = call.observed.request.verb();
                    let reason = || format!("`{verb}` is used, and informers use list and watch together");
                    uses.paired.entry(grant.index).or_insert_with(reason);
                }
            }
        }
        for chosen in chosen {
            // What is not held in full was not asked for, or another way was taken that is not known.
            let counts = chosen.satisfied || chosen.need.kind == NeedKind::Checked;
            for &grant in chosen.asks.iter().filter(|_| counts).flat_map(|(_, grants)| grants) {
                match chosen.need.kind {
                    NeedKind::Pair => drop(uses.paired.entry(grant).or_insert(chosen.need.reason.to_owned())),
                    NeedKind::Checked | NeedKind::Likely => {
                        uses.needed.entry(grant).or_insert(chosen.need.reason);
                    }
                }
            }
        }
        let holds = |ask: &Ask| !index.covering_ask(ask).is_empty();
        uses.unread = hidden(&seen.unread, &holds);
        uses
    }
}

fn verdict<'a>(
    table: &Table,
    grant: &'a Grant,
    entry: Option<&mut EntryLiveness<'a>>,
    uses: Option<&Uses>,
) -> (Verdict, String) {
    if let Some(reason) = uses.and_then(|uses| uses.needed.get(&grant.index)) {
        return (Verdict::Needed, (*reason).to_owned());
    }
    if uses.is_some_and(|uses| uses.calls.contains_key(&grant.index)) {
        return (Verdict::Used, String::new());
    }
    let (liveness, reason) = liveness(table, grant, entry);
    if liveness == Life::Dead {
        // What matches no request may be handed out all the same.
        return match uses.and_then(|uses| uses.unread).filter(|_| missing_list(&grant.rule).is_none()) {
            Some(unread) => (Verdict::Unobservable, format!("{unread}; of no use itself: {reason}")),
            None => (Verdict::Dead, reason),
        };
    }
    let Some(uses) = uses else { return (Verdict::Unjudged, String::new()) };
    if let Some(reason) = uses.paired.get(&grant.index) {
        return (Verdict::Needed, reason.clone());
    }
    if liveness == Life::CheckOnly {
        let reason = "checked on behalf of the caller, never an event of its own";
        return (Verdict::Unobservable, reason.to_owned());
    }
    match uses.unread {
        Some(reason) => (Verdict::Unobservable, reason.to_owned()),
        None => (Verdict::Unused, String::new()),
    }
}

/// Whether a call whose body is missing may have needed any permission at all: it hands out what the log does not show,
/// and the subject has nothing that frees it of holding that.
pub(super) fn hides_all(unread: Unread, call: &Request, holds: &dyn Fn(&Ask) -> bool) -> bool {
    let Request::Resource(call) = call else { return false };
    let freed = |resource: &str, verb: &str, name: &str| {
        let (resource, verb, name) = (resource.to_owned(), verb.to_owned(), name.to_owned());
        let request = ResourceRequest { resource, subresource: String::new(), verb, name, ..call.clone() };
        holds(&Ask::Make(Request::Resource(request)))
    };
    // Without a name: free for all.
    match unread {
        Unread::Rules => !freed(&call.resource, "escalate", ""),
        Unread::Binding => {
            !(freed("clusterroles", "bind", "") && (call.resource.starts_with("cluster") || freed("roles", "bind", "")))
        }
        Unread::Question => true,
        Unread::Other => false,
    }
}

/// Why any permission may be needed, when the log hides this of one who holds that.
pub(super) fn hidden(unread: &[(Unread, &Request)], holds: &dyn Fn(&Ask) -> bool) -> Option<&'static str> {
    let hiding = unread.iter().filter(|(unread, call)| hides_all(*unread, call, holds));
    let hiding: BTreeSet<Unread> = hiding.map(|(unread, _)| *unread).collect();
    let hides = |unread| hiding.contains(&unread);
    match (hides(Unread::Rules), hides(Unread::Binding), hides(Unread::Question)) {
        (true, true, _) => Some(
            "it writes and binds roles, and may hold this to hand it out: the log does not show their rules, or not which",
        ),
        (true, false, _) => {
            Some("it writes roles, and may hold this to hand it out: the log does not show their rules")
        }
        (false, true, _) => {
            Some("it binds roles, and may hold this to hand it out: the log does not show which, or not their rules")
        }
        (false, false, true) => {
            Some("it asks what it may do, and may ask for this: the log does not show its questions")
        }
        (false, false, false) => None,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Alive,
    CheckOnly,
    Dead,
}

fn liveness<'a>(table: &Table, grant: &'a Grant, entry: Option<&mut EntryLiveness<'a>>) -> (Life, String) {
    let dead = |message: &str| (Life::Dead, message.to_owned());
    if let Some(missing) = missing_list(&grant.rule) {
        return dead(&format!("it has no {missing}, and the API server takes no role with such an entry"));
    }
    let (Some(group), Some(resource), Some(verb)) =
        (grant.rule.api_groups.first(), grant.rule.resources.first(), grant.rule.verbs.first())
    else {
        return match grant.scope {
            Scope::Cluster => (Life::Alive, String::new()),
            Scope::Namespace(_) => dead("a RoleBinding grants nothing on non-resource URLs"),
        };
    };
    let life = match entry {
        Some(entry) => entry.of(group, resource, verb),
        None => table.liveness(group, resource, verb),
    };
    let life = match life {
        Liveness::Dead(reason) => {
            let hint = reason.suggestion.map(|hint| format!("; use {hint}")).unwrap_or_default();
            return (Life::Dead, format!("{}{hint}", reason.message));
        }
        Liveness::CheckOnly => Life::CheckOnly,
        Liveness::Live | Liveness::UnknownGroup => Life::Alive,
    };
    if matches!(grant.scope, Scope::Namespace(_))
        && life == Life::Alive
        && void_in_namespace(table, group, resource, verb)
    {
        return dead("cluster-scoped: a RoleBinding grants nothing on it");
    }
    // Impersonation shows in the event of the impersonated request.
    let observable = verb.starts_with("impersonate");
    let check_only = life == Life::CheckOnly || is_check_only(group, resource, verb);
    (if check_only && !observable { Life::CheckOnly } else { Life::Alive }, String::new())
}

/// Whether a grant of a RoleBinding can match no request because the resource is cluster-scoped. Checks may carry a
/// namespace all the same (`bind` on clusterroles, `use` of SecurityContextConstraints), and `*` has their verbs too.
pub(super) fn void_in_namespace(table: &Table, group: &str, resource: &str, verb: &str) -> bool {
    let Some(served) = served(table, group, resource) else { return false };
    let checked = is_check_only(group, resource, verb) || is_checked(group, resource, verb);
    !served.namespaced && !served.is_its_own_namespace(verb) && !checked
}

/// The list without which an entry grants nothing (`pkg/apis/rbac/validation/validation.go`, `ValidatePolicyRule`).
fn missing_list(rule: &Rule) -> Option<&'static str> {
    let on_urls = !rule.non_resource_urls.is_empty();
    match () {
        () if rule.verbs.is_empty() => Some("verbs"),
        () if !on_urls && rule.resources.is_empty() => Some("resources"),
        () if !on_urls && rule.api_groups.is_empty() => Some("apiGroups"),
        () => None,
    }
}

fn is_served(table: &Table, rule: &Rule) -> bool {
    let (Some(group), Some(resource), Some(verb)) =
        (rule.api_groups.first(), rule.resources.first(), rule.verbs.first())
    else {
        return false;
    };
    served(table, group, resource).is_some_and(|served| served.verbs.contains(verb))
}

/// The entry of `resource[/subresource]` as a rule writes it.
pub(super) fn served<'t>(table: &'t Table, group: &str, resource: &str) -> Option<&'t Served> {
    let (main, sub) = resource.split_once('/').unwrap_or((resource, ""));
    table.get(group, main, sub)
}

/// The same request with `list` for `watch` and the other way round.
pub(super) fn paired(request: &Request) -> Option<Request> {
    let Request::Resource(resource) = request else { return None };
    let verb = sibling(&resource.verb)?.to_owned();
    Some(Request::Resource(ResourceRequest { verb, ..resource.clone() }))
}

/// `list` for `watch` and the other way round.
pub(super) fn sibling(verb: &str) -> Option<&'static str> {
    match verb {
        "list" => Some("watch"),
        "watch" => Some("list"),
        _ => None,
    }
}

/// Whether the grant allows the request, scope included.
pub(super) fn covers(grant: &Grant, request: &Request) -> bool {
    grant.scope.reaches(request.namespace()) && grant.rule.allows(request)
}

pub(super) fn has_wildcard(rule: &Rule) -> bool {
    let all = rule.verbs.iter().chain(&rule.api_groups).chain(&rule.resources).chain(&rule.non_resource_urls);
    all.into_iter().any(|text| text.contains('*'))
}

/// `verb resource[/subresource][.group]`, or `verb /path`.
pub fn describe(request: &Request) -> String {
    match request {
        Request::Resource(request) if request.api_group.is_empty() => {
            format!("{} {}", request.verb, request.combined())
        }
        Request::Resource(request) => format!("{} {}.{}", request.verb, request.combined(), request.api_group),
        Request::NonResource(request) => format!("{} {}", request.verb, request.path),
    }
}

/// Binding, contributor of an aggregated role, and number of a rule entry.
type EntryKey<'a> = (usize, Option<&'a str>, usize);

fn entry_key(grant: &Grant) -> EntryKey<'_> {
    (grant.binding, grant.aggregated_from.as_deref(), grant.entry)
}

/// The rule entries that the grants are of.
fn entries<'a>(table: &'a Table, grants: &'a [Grant]) -> BTreeMap<EntryKey<'a>, EntryLiveness<'a>> {
    let mut parts: BTreeMap<EntryKey<'_>, (BTreeSet<&str>, BTreeSet<&str>)> = BTreeMap::new();
    for grant in grants {
        let (groups, resources) = parts.entry(entry_key(grant)).or_default();
        groups.extend(grant.rule.api_groups.iter().map(String::as_str));
        resources.extend(grant.rule.resources.iter().map(String::as_str));
    }
    let listed = |set: BTreeSet<&'a str>| set.into_iter().collect::<Vec<_>>();
    let judged =
        parts.into_iter().map(|(key, (groups, resources))| (key, table.entry(&listed(groups), &listed(resources))));
    judged.collect()
}
