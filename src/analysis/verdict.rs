//! The verdict of every grant and of every observed call.

use std::collections::{BTreeMap, BTreeSet};

use super::{Activity, CallVerdict, Context, Grant, JudgedCall, Verdict, is_default};
use crate::api::{Liveness, Table, is_check_only};
use crate::audit::{Decision, Observed};
use crate::needs::NeedKind;
use crate::rbac::{Request, Rule, Scope};

/// Sets the verdicts of `grants` and returns the judged calls. Without `seen` no grant is called used or unused.
pub(super) fn judge(
    cx: &Context<'_>,
    grants: &mut [Grant],
    seen: Option<&Activity<'_>>,
    defaults: &[Rule],
) -> Vec<JudgedCall> {
    let mut covering: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let calls = seen.map(CallIndex::new);
    let entries = entry_products(grants);
    for grant in grants.iter_mut() {
        let hits = calls.as_ref().map(|calls| calls.covered_by(grant)).unwrap_or_default();
        for &(index, _) in &hits {
            covering.entry(index).or_default().push(grant.index);
        }
        grant.calls = hits.iter().map(|(_, call)| call.count).sum();
        if has_wildcard(&grant.rule) {
            let used: BTreeSet<String> = hits.iter().map(|(_, call)| describe(&call.request)).collect();
            grant.used_as = used.into_iter().collect();
        }
        let product = entries.get(&entry_key(grant));
        (grant.verdict, grant.reason) = verdict(cx, grant, product, seen, calls.as_ref());
    }
    let Some(seen) = seen else { return Vec::new() };
    let judged = seen.calls.iter().enumerate().map(|(index, call)| {
        let covered = covering.remove(&index).unwrap_or_default();
        let verdict = match call.decision {
            Decision::Denied => CallVerdict::Denied,
            Decision::Undecided => CallVerdict::Undecided,
            Decision::Allowed if is_default(defaults, &call.request) => CallVerdict::Default,
            Decision::Allowed if covered.is_empty() => CallVerdict::Unexplained,
            Decision::Allowed => CallVerdict::Covered,
        };
        JudgedCall { observed: (*call).clone(), verdict, grants: covered }
    });
    judged.collect()
}

fn verdict(
    cx: &Context<'_>,
    grant: &Grant,
    product: Option<&Product>,
    seen: Option<&Activity<'_>>,
    calls: Option<&CallIndex<'_>>,
) -> (Verdict, String) {
    if let Some(seen) = seen {
        let hidden = seen.needs.iter().filter(|need| need.kind == NeedKind::Checked);
        if let Some(need) = hidden.into_iter().find(|need| covers(grant, &need.request)) {
            return (Verdict::Needed, need.reason.to_owned());
        }
    }
    if grant.calls > 0 {
        return (Verdict::Used, String::new());
    }
    let (liveness, reason) = liveness(cx.table, grant, product);
    if liveness == Life::Dead {
        return (Verdict::Dead, reason);
    }
    let Some(calls) = calls else { return (Verdict::Unjudged, String::new()) };
    if let Some(pair) = paired(&grant.rule)
        && !calls.covered_by(&Grant { rule: pair.clone(), ..grant.clone() }).is_empty()
    {
        let verb = pair.verbs.first().cloned().unwrap_or_default();
        return (Verdict::Needed, format!("`{verb}` is used, and informers use list and watch together"));
    }
    if liveness == Life::CheckOnly {
        let reason = "checked on behalf of the caller, never an event of its own";
        return (Verdict::Unobservable, reason.to_owned());
    }
    (Verdict::Unused, String::new())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    Alive,
    CheckOnly,
    Dead,
}

fn liveness(table: &Table, grant: &Grant, product: Option<&Product>) -> (Life, String) {
    let dead = |message: &str| (Life::Dead, message.to_owned());
    let (Some(group), Some(resource), Some(verb)) =
        (grant.rule.api_groups.first(), grant.rule.resources.first(), grant.rule.verbs.first())
    else {
        return match grant.scope {
            Scope::Cluster => (Life::Alive, String::new()),
            Scope::Namespace(_) => dead("a RoleBinding grants nothing on non-resource URLs"),
        };
    };
    let empty = (BTreeSet::new(), BTreeSet::new());
    let (groups, resources) = product.unwrap_or(&empty);
    let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
    let resources: Vec<&str> = resources.iter().map(String::as_str).collect();
    let life = match table.cross_product_liveness(&groups, &resources, group, resource, verb) {
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

/// Whether a grant of a RoleBinding can match no request because the resource is cluster-scoped. The Namespace
/// object is the exception: requests to it carry its name as their namespace.
fn void_in_namespace(table: &Table, group: &str, resource: &str, verb: &str) -> bool {
    let (main, sub) = resource.split_once('/').unwrap_or((resource, ""));
    let Some(served) = table.get(group, main, sub) else { return false };
    let namespace_object =
        group.is_empty() && main == "namespaces" && matches!(verb, "*" | "get" | "update" | "patch" | "delete");
    !served.namespaced && !namespace_object && !is_check_only(group, resource, verb)
}

/// The same rule with `list` for `watch` and the other way round.
pub(super) fn paired(rule: &Rule) -> Option<Rule> {
    let verb = sibling(rule.verbs.first()?)?;
    Some(Rule { verbs: vec![verb.to_owned()], ..rule.clone() })
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

fn has_wildcard(rule: &Rule) -> bool {
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

/// Authorized calls by verb, so that a grant looks only at those it may match.
struct CallIndex<'a> {
    by_verb: BTreeMap<&'a str, Vec<(usize, &'a Observed)>>,
}

impl<'a> CallIndex<'a> {
    fn new(activity: &Activity<'a>) -> Self {
        let mut by_verb: BTreeMap<&str, Vec<(usize, &Observed)>> = BTreeMap::new();
        for (index, call) in activity.calls.iter().enumerate() {
            if call.decision == Decision::Allowed {
                by_verb.entry(call.request.verb()).or_default().push((index, call));
            }
        }
        Self { by_verb }
    }

    fn covered_by(&self, grant: &Grant) -> Vec<(usize, &'a Observed)> {
        let verb = grant.rule.verbs.first().map(String::as_str).unwrap_or_default();
        let covered = |calls: &Vec<(usize, &'a Observed)>| -> Vec<(usize, &'a Observed)> {
            calls.iter().copied().filter(|(_, call)| covers(grant, &call.request)).collect()
        };
        match verb {
            "*" => self.by_verb.values().flat_map(covered).collect(),
            verb => self.by_verb.get(verb).map(covered).unwrap_or_default(),
        }
    }
}

/// Groups and resources of a rule entry.
type Product = (BTreeSet<String>, BTreeSet<String>);
type EntryKey = (usize, Option<String>, usize);

fn entry_key(grant: &Grant) -> EntryKey {
    (grant.binding, grant.aggregated_from.clone(), grant.entry)
}

fn entry_products(grants: &[Grant]) -> BTreeMap<EntryKey, Product> {
    let mut products: BTreeMap<EntryKey, Product> = BTreeMap::new();
    for grant in grants {
        let (groups, resources) = products.entry(entry_key(grant)).or_default();
        groups.extend(grant.rule.api_groups.iter().cloned());
        resources.extend(grant.rule.resources.iter().cloned());
    }
    products
}
