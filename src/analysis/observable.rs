//! What the audit policy of a log, or the log itself, says of verdicts: a grant is unused only where every use would have
//! been recorded.

use super::verdict::{describe, served};
use super::{Context, Grant, JudgedCall, Selection, Verdict};
use crate::api::Table;
use crate::audit::policy::{OwnRules, Part, Policy, Requester};
use crate::audit::{Observed, Origin, Usage};
use crate::graph::SubjectKey;
use crate::rbac::{Request, Rule};

/// The rules of the policy that are about the subject.
pub(super) fn recorded<'p>(policy: &'p Policy, selection: &Selection) -> OwnRules<'p> {
    let requester = Requester { user: &selection.id.user, groups: &selection.id.groups };
    policy.about(requester, matches!(selection.key, Some(SubjectKey::ServiceAccount { .. })))
}

/// The verdict of a grant that the log does not show in use.
pub(super) fn verdict(table: &Table, recorded: &OwnRules<'_>, grant: &Grant) -> (Verdict, String) {
    let visible = recorded.shows(&grant.rule, &grant.scope, is_cluster_scoped(table, grant));
    let why = visible.hidden.map(|why| why.to_string()).unwrap_or_default();
    match visible.shown {
        Part::Always => (Verdict::Unused, String::new()),
        Part::Never => (Verdict::Unobservable, format!("its use is not recorded: {why}")),
        Part::Partly => (Verdict::Unobservable, format!("its use is recorded only in part: {why}")),
    }
}

/// The verdict of such a grant where the log has nothing of its kind, of anybody.
pub(super) fn limited(cx: &Context<'_>, grant: &Grant) -> Option<(Verdict, String)> {
    let limit = cx.usage?.quality.limits.iter().find(|limit| limit.hides(&grant.rule))?;
    Some((Verdict::Unobservable, limit.text().to_owned()))
}

/// Why a permission that the log does not show in use may be asked for by others, whose questions it does not show.
pub(super) const ASKED_ELSEWHERE: &str = "others check it on behalf of the caller (kubelets, components that guard their paths): the log does not show what they ask";

/// Whether the log shows what others ask about permissions of whomever: it has their reviews, with their bodies.
pub(super) fn shows_reviews(usage: &Usage) -> bool {
    let mut reviews = usage.calls.iter().filter(|call| is_review(call)).peekable();
    reviews.peek().is_some() && reviews.all(|call| call.unread == 0)
}

fn is_review(call: &Observed) -> bool {
    let Request::Resource(request) = &call.request else { return false };
    call.origin == Origin::Call
        && (request.api_group.as_str(), request.verb.as_str()) == ("authorization.k8s.io", "create")
        && matches!(&*request.resource, "subjectaccessreviews" | "localsubjectaccessreviews")
}

/// What the policy takes from other verdicts, and whether it can be the policy of this log.
pub(super) fn notes(cx: &Context<'_>, recorded: &OwnRules<'_>, grants: &[Grant], calls: &[JudgedCall]) -> Vec<String> {
    let mut notes = Vec::new();
    let own = calls.iter().filter(|call| {
        // Others that impersonate the subject are recorded by the rules that are about them.
        call.observed.origin == Origin::Call && call.observed.impersonators.is_empty()
    });
    let mut unexpected = own.filter(|call| !recorded.may_record(&call.observed.request));
    if let Some(call) = unexpected.next() {
        notes.push(format!(
            "the log has calls that the audit policy does not record, such as {}: it was not, or not always, the policy of this log",
            describe(&call.observed.request)
        ));
    }
    for grant in grants.iter().filter(|grant| grant.verdict == Verdict::Used && !grant.used_as.is_empty()) {
        let visible = recorded.shows(&grant.rule, &grant.scope, is_cluster_scoped(cx.table, grant));
        if let (Part::Partly, Some(why)) = (visible.shown, visible.hidden) {
            let wildcard = written(&grant.rule);
            notes.push(format!("what the wildcard in `{wildcard}` is used for is recorded only in part: {why}"));
        }
    }
    notes.sort();
    notes.dedup();
    notes
}

/// `verb resource.group` of a rule of one verb and one resource or URL.
fn written(rule: &Rule) -> String {
    let first = |list: &[String]| list.first().cloned().unwrap_or_default();
    let (verb, group) = (first(&rule.verbs), first(&rule.api_groups));
    match rule.resources.first() {
        Some(resource) if group.is_empty() => format!("{verb} {resource}"),
        Some(resource) => format!("{verb} {resource}.{group}"),
        None => format!("{verb} {}", first(&rule.non_resource_urls)),
    }
}

/// Whether requests for the resource of the grant have no namespace.
fn is_cluster_scoped(table: &Table, grant: &Grant) -> bool {
    let (Some(group), Some(resource), Some(verb)) =
        (grant.rule.api_groups.first(), grant.rule.resources.first(), grant.rule.verbs.first())
    else {
        return false;
    };
    served(table, group, resource).is_some_and(|served| !served.namespaced && !served.is_its_own_namespace(verb))
}
