//! Why a grant is dead, in words, and what was probably meant. `liveness` judges; here is what no API could ever
//! serve, and the explanations.

use super::data;
use super::liveness::DeadReason;
use super::meant::{self, Reach};
use super::table::{Group, Origin, REQUEST_VERBS, Subresources, Table};
use super::virtual_checks::checked_verbs;

/// Resources that Kubernetes no longer serves: group, resource (`*`: the whole group), the minor that removed it,
/// what to write instead (Kubernetes "Deprecated API Migration Guide" and release notes).
#[rustfmt::skip]
const REMOVED: &[(&str, &str, &str, &str)] = &[
    ("extensions", "daemonsets", "1.16", "apiGroup \"apps\""),
    ("extensions", "deployments", "1.16", "apiGroup \"apps\""),
    ("extensions", "replicasets", "1.16", "apiGroup \"apps\""),
    ("extensions", "networkpolicies", "1.16", "apiGroup \"networking.k8s.io\""),
    ("extensions", "podsecuritypolicies", "1.16", ""),
    ("extensions", "ingresses", "1.22", "apiGroup \"networking.k8s.io\""),
    ("extensions", "*", "1.22", ""),
    ("policy", "podsecuritypolicies", "1.25", ""),
    ("apps", "petsets", "1.5", "statefulsets"),
    ("batch", "scheduledjobs", "1.8", "cronjobs"),
    ("batch", "jobtemplates", "1.8", ""),
    ("settings.k8s.io", "*", "1.20", ""),
    ("auditregistration.k8s.io", "*", "1.19", ""),
    ("admissionregistration.k8s.io", "initializerconfigurations", "1.14", ""),
    ("admissionregistration.k8s.io", "externaladmissionhookconfigurations", "1.9", "validatingwebhookconfigurations"),
    ("certificates.k8s.io", "certificates", "1.4", "certificatesigningrequests"),
    ("networking.k8s.io", "clustercidrs", "1.31", ""),
    ("resource.k8s.io", "podschedulingcontexts", "1.32", ""),
    ("resource.k8s.io", "podschedulings", "1.27", ""),
    ("resource.k8s.io", "resourceclaimparameters", "1.31", ""),
    ("resource.k8s.io", "resourceclassparameters", "1.31", ""),
    ("resource.k8s.io", "resourceclasses", "1.31", "deviceclasses"),
];

/// Verbs that are checked, but on something else; resource, verb, where.
const CHECKED_ELSEWHERE: &[(&str, &str, &str)] = &[
    ("rolebindings", "bind", "it on the bound roles or clusterroles"),
    ("clusterrolebindings", "bind", "it on the bound roles or clusterroles"),
    ("rolebindings", "escalate", "it on roles or clusterroles"),
    ("clusterrolebindings", "escalate", "it on roles or clusterroles"),
    ("certificatesigningrequests", "approve", "it on signers"),
    ("certificatesigningrequests", "sign", "it on signers"),
    ("certificatesigningrequests/approval", "approve", "it on signers"),
];

/// The resources on which this verb is checked, when it is not on the one that was written.
pub(super) fn checked_elsewhere(resource: &str, verb: &str) -> &'static [&'static str] {
    match CHECKED_ELSEWHERE.iter().any(|(on, check, _)| *on == resource && *check == verb) {
        true if resource.ends_with("bindings") => &["roles", "clusterroles"],
        true => &["signers"],
        false => &[],
    }
}

/// Why a grant that `liveness` has found dead is.
pub(super) fn explain(table: &Table, api_group: &str, resource: &str, verb: &str) -> DeadReason {
    impossible_group(table, api_group, resource)
        .or_else(|| impossible_resource_or_verb(resource, verb))
        .or_else(|| only_checked(table, api_group, resource, verb))
        .unwrap_or_else(|| unserved(table, api_group, resource, verb))
}

/// A group that no API can have: with a version, a pattern, upper case, or without a dot and not built in.
/// Text with other characters is left alone, it may be a placeholder.
pub(super) fn impossible_group(table: &Table, api_group: &str, resource: &str) -> Option<DeadReason> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-./* ".contains(c);
    let no_builtins = table.minor().is_empty();
    if no_builtins || api_group == "*" || table.knows_group(api_group) || !api_group.chars().all(plain) {
        return None;
    }
    if let Some(removed) = removed(table, api_group, resource) {
        return Some(removed);
    }
    if let Some((group, version)) = api_group.split_once('/') {
        let meant = if group == "core" || group.is_empty() { "" } else { group };
        return Some(reason(
            format!("an apiGroup has no version, and no group is called \"{group}/{version}\""),
            Some(quoted_group(meant)),
        ));
    }
    if api_group.contains(['*', ' ']) {
        return Some(reason(format!("only a lone \"*\" is a wildcard, \"{api_group}\" is no group"), None));
    }
    let lower = api_group.to_ascii_lowercase();
    if lower != api_group {
        let meant = table.knows_group(&lower).then(|| quoted_group(&lower));
        return Some(reason(format!("API groups are lower case, \"{api_group}\" is none"), meant));
    }
    if api_group.contains('.') {
        return None;
    }
    // Kubernetes keeps names without a dot for itself (apiextensions validation of spec.group).
    let meant = match api_group {
        "core" | "corev1" | "v1" | "api" => Some(String::new()),
        short => meant::group(table, short),
    };
    Some(reason(format!("no API group is called \"{api_group}\""), meant.map(|group| quoted_group(&group))))
}

/// A resource or verb that matches nothing in any group.
pub(super) fn impossible_resource_or_verb(resource: &str, verb: &str) -> Option<DeadReason> {
    if verb.is_empty() {
        return Some(reason("an empty verb matches no request".into(), None));
    }
    if resource.is_empty() {
        return Some(reason("an empty resource matches no request".into(), None));
    }
    let (_, subresource) = resource.split_once('/')?;
    match subresource {
        "*" => Some(reason(
            format!("\"{resource}\" matches only a subresource that is called \"*\""),
            Some("\"*/SUBRESOURCE\" for one subresource of everything, or each subresource by name".into()),
        )),
        "" => Some(reason(format!("\"{resource}\" matches no request"), None)),
        _ => None,
    }
}

/// A virtual resource with a verb that it is never checked for.
fn only_checked(table: &Table, api_group: &str, resource: &str, verb: &str) -> Option<DeadReason> {
    if table.groups().get(api_group).is_some_and(|group| group.any(resource, |_| true)) {
        return None;
    }
    let verbs = checked_verbs(api_group, resource);
    let message = || format!("{resource} is only ever checked for {}, never for {verb}", verbs.join(", "));
    // Checked for this verb and dead all the same: then what it is checked on does not exist.
    let other_verb = REQUEST_VERBS.contains(&verb) && !verbs.contains(&verb);
    (!verbs.is_empty() && other_verb).then(|| reason(message(), None))
}

/// What is wrong with a grant in a known group that nothing there serves or checks.
fn unserved(table: &Table, api_group: &str, resource: &str, verb: &str) -> DeadReason {
    let (owner, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let group = table.groups().get(api_group);
    let known = group.and_then(|group| group.resources.get(owner));
    match (known, group) {
        (Some(subresources), _) => unserved_of(table, subresources, resource, subresource, verb),
        (None, Some(group)) if owner == "*" => in_wildcard(group, api_group, resource, verb),
        _ => missing_resource(table, api_group, resource),
    }
}

/// As `unserved`, of a resource that exists.
fn unserved_of(table: &Table, known: &Subresources, resource: &str, subresource: &str, verb: &str) -> DeadReason {
    let elsewhere = CHECKED_ELSEWHERE.iter().find(|(on, check, _)| *on == resource && *check == verb);
    if let Some((_, _, elsewhere)) = elsewhere {
        return reason(format!("{verb} is not checked on {resource}"), Some((*elsewhere).to_owned()));
    }
    if let Some(served) = known.get(subresource) {
        return unserved_verb(resource, &served.verbs, verb);
    }
    let Some(main) = known.values().next() else {
        return reason(format!("{resource} does not exist"), None);
    };
    if main.origin == Origin::Crd {
        return reason(format!("the CRD declares no {subresource} subresource, so {resource} is not served"), None);
    }
    let close = known.keys().find(|sub| !sub.is_empty() && meant::same_word(sub, subresource));
    let other_minors = minors_with(table, &main.api_group, &main.resource, subresource);
    let but = other_minors.map_or_else(String::new, |minors| only_in(table, &minors));
    reason(format!("{resource} does not exist{but}"), close.map(|sub| format!("{}/{sub}", main.resource)))
}

fn only_in(table: &Table, minors: &str) -> String {
    format!(" in Kubernetes {}, only in {minors}", table.minor())
}

fn in_wildcard(group: &Group, api_group: &str, resource: &str, verb: &str) -> DeadReason {
    let somewhere = resource == "*" || group.any(resource, |_| true);
    let message = if somewhere {
        format!("no {resource} of apiGroup \"{api_group}\" takes the verb {verb}")
    } else {
        format!("no resource of apiGroup \"{api_group}\" has this subresource: {resource}")
    };
    reason(message, somewhere.then(|| meant::verb(verb)).flatten())
}

fn missing_resource(table: &Table, api_group: &str, resource: &str) -> DeadReason {
    if let Some(removed) = removed(table, api_group, resource) {
        return removed;
    }
    let (owner, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let here = table.groups().get(api_group);
    let exactly = |group: &Group| group.any(resource, |_| true).then(|| resource.to_owned());
    let alike = |group: &Group| meant::resource(group, owner, subresource);
    let suggestion = meant::places(table, Reach::Given, exactly)
        .or_else(|| here.and_then(alike))
        .or_else(|| meant::places(table, Reach::Given, alike))
        .or_else(|| meant::places(table, Reach::Extensions, exactly))
        .or_else(|| meant::places(table, Reach::Given, |group| meant::slip(group, owner)))
        .or_else(|| meant::places(table, Reach::Extensions, alike));
    if suggestion.is_some() {
        return no_such_resource(api_group, resource, suggestion);
    }
    let mut reason = no_such_resource(api_group, resource, None);
    if let Some(other) = minors_with(table, api_group, owner, subresource) {
        reason.message.push_str(&only_in(table, &other));
    }
    reason
}

fn no_such_resource(api_group: &str, resource: &str, suggestion: Option<String>) -> DeadReason {
    reason(format!("{} has no resource {resource}", quoted_group(api_group)), suggestion)
}

fn unserved_verb(resource: &str, verbs: &[String], verb: &str) -> DeadReason {
    let message = if REQUEST_VERBS.contains(&verb) {
        format!("{resource} serves {} and not {verb}", verbs.join(", "))
    } else {
        format!("{verb} is no verb of {resource}")
    };
    reason(message, meant::verb(verb))
}

/// The row of a removed resource, unless this minor is older than the removal.
fn removed(table: &Table, api_group: &str, resource: &str) -> Option<DeadReason> {
    let whole = resource.split('/').next().unwrap_or_default();
    let (_, removed, minor, instead) = REMOVED
        .iter()
        .find(|(group, removed, ..)| *group == api_group && (*removed == whole || *removed == "*"))
        .filter(|(_, _, minor, _)| number(minor) <= number(table.minor()))?;
    let what = if *removed == "*" {
        format!("apiGroup \"{api_group}\" was")
    } else {
        format!("{removed} of apiGroup \"{api_group}\" were")
    };
    let suggestion = (!instead.is_empty()).then(|| (*instead).to_owned());
    Some(reason(format!("{what} removed in Kubernetes {minor}"), suggestion))
}

/// The other minors of this build that serve it, as text.
fn minors_with(table: &Table, api_group: &str, resource: &str, subresource: &str) -> Option<String> {
    let serving: Vec<&str> = data::MINORS
        .into_iter()
        .filter(|minor| *minor != table.minor())
        .filter(|minor| Table::shared(minor).is_some_and(|other| other.get(api_group, resource, subresource).is_some()))
        .collect();
    (!serving.is_empty()).then(|| serving.join(", "))
}

fn number(minor: &str) -> Option<u32> {
    minor.split('.').nth(1)?.parse().ok()
}

fn quoted_group(api_group: &str) -> String {
    format!("apiGroup \"{api_group}\"")
}

fn reason(message: String, suggestion: Option<String>) -> DeadReason {
    DeadReason { message, suggestion }
}
