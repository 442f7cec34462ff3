//! The checks that an impersonated request asks of the real user, each its own permission
//! (Kubernetes `staging/src/k8s.io/apiserver/pkg/endpoints/filters/impersonation`).

use std::borrow::Cow;

use super::decision::forbidden;
use super::event::{Event, User};
use super::request_info::{Attributes, Resource, Target};

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

/// The checks behind an impersonated request, all passed; `call` is the request itself.
pub(super) fn checks<'a>(event: &'a Event<'a>, user: &'a User<'a>, call: &Attributes<'a>) -> Vec<Attributes<'a>> {
    let constraint = event.authentication_metadata.as_ref().map_or("", |metadata| &*metadata.impersonation_constraint);
    let mut checks = Vec::new();
    match constraint.strip_prefix("impersonate:") {
        Some(mode) => {
            checks.push(Attributes {
                verb: Cow::Owned(format!("impersonate-on:{mode}:{}", call.verb)),
                target: call.target.clone(),
            });
            identity(user, constraint, mode, &mut checks);
        }
        None => identity(user, "impersonate", "", &mut checks),
    }
    checks
}

/// The checks on user name, uid, groups and extras; `mode` is empty for the unconstrained kind.
fn identity<'a>(user: &'a User<'a>, verb: &'a str, mode: &str, checks: &mut Vec<Attributes<'a>>) {
    let mut check = |group, resource, subresource, namespace, name: &'a str| {
        checks.push(Attributes {
            verb: Cow::Borrowed(verb),
            target: Target::Resource(Resource { group, resource, subresource, namespace, name: Cow::Borrowed(name) }),
        });
    };
    let core = if mode.is_empty() { "" } else { AUTHENTICATION };
    let name: &'a str = &user.username;
    let account = service_account(name);
    let node = name.strip_prefix("system:node:").filter(|_| mode.ends_with("-node"));
    match (account, node) {
        (Some((namespace, name)), _) => check(core, "serviceaccounts", "", namespace, name),
        // Checked for all nodes at once: the answer is cached for all of them.
        (None, Some(_)) if mode == "associated-node" => check(core, "nodes", "", "", "*"),
        (None, Some(node)) => check(core, "nodes", "", "", node),
        (None, None) => check(core, "users", "", "", name),
    }
    // The other constrained modes allow a user name only; what else the event shows was set by the server.
    if !matches!(mode, "" | "user-info") {
        return;
    }
    if !user.uid.is_empty() {
        check(AUTHENTICATION, "uids", "", "", &user.uid);
    }
    for group in asked_groups(user, account.map(|(namespace, _)| namespace)) {
        check(core, "groups", "", "", group);
    }
    for (key, values) in &user.extra.0 {
        for value in &values.0 {
            check(AUTHENTICATION, "userextras", key, "", value);
        }
    }
}

/// The groups that the client asked for: those of the event without what the server added at its end.
fn asked_groups<'a>(user: &'a User<'a>, namespace: Option<&str>) -> impl Iterator<Item = &'a str> {
    let added = if &*user.username == ANONYMOUS { UNAUTHENTICATED } else { AUTHENTICATED };
    let all = user.groups.0.as_slice();
    let asked = match all.split_last() {
        Some((last, rest)) if **last == *added => rest,
        _ => all,
    };
    // An account's own groups are set when no group is asked for.
    let own = match (namespace, asked) {
        (Some(namespace), [all, own]) => {
            &**all == "system:serviceaccounts" && own.strip_prefix("system:serviceaccounts:") == Some(namespace)
        }
        _ => false,
    };
    asked.iter().filter(move |_| !own).map(|group| &**group)
}

/// Namespace and name of a service account's user name (Kubernetes `serviceaccount.SplitUsername`).
pub(super) fn service_account(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user.strip_prefix("system:serviceaccount:")?.split_once(':')?;
    let dns = |text: &str, more: &[u8]| {
        let ends = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        let inside = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || more.contains(&b);
        ends(text.bytes().next()) && ends(text.bytes().last()) && text.bytes().all(inside)
    };
    (dns(namespace, b"") && dns(name, b".")).then_some((namespace, name))
}

/// The check that was refused, out of the message of a denied impersonation:
/// `groups "dev" is forbidden: User "u" cannot impersonate resource "groups" in API group "" at the …`.
pub(super) fn refused(message: &str) -> Option<Attributes<'_>> {
    let (name, reason) = forbidden(message)?;
    let (_, rest) = reason.strip_prefix("User \"")?.split_once("\" cannot ")?;
    let (verb, rest) = rest.split_once(' ')?;
    if let Some(rest) = rest.strip_prefix("path \"") {
        let (path, _) = rest.split_once('"')?;
        return Some(Attributes { verb: Cow::Borrowed(verb), target: Target::Path(path) });
    }
    let (combined, rest) = rest.strip_prefix("resource \"")?.split_once('"')?;
    let (group, rest) = rest.strip_prefix(" in API group \"")?.split_once('"')?;
    let (resource, subresource) = combined.split_once('/').unwrap_or((combined, ""));
    let in_namespace = rest.strip_prefix(" in the namespace \"").and_then(|rest| rest.split_once('"'));
    Some(Attributes {
        verb: Cow::Borrowed(verb),
        target: Target::Resource(Resource {
            group,
            resource,
            subresource,
            namespace: in_namespace.map_or("", |(namespace, _)| namespace),
            name,
        }),
    })
}

#[cfg(test)]
mod tests;
