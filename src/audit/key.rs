//! What makes two calls the same: user, request, origin and decision in one text, which is hashed, compared
//! and sorted as a whole.

use crate::rbac::{NonResourceRequest, Request, ResourceRequest};

use super::request_info::{Attributes, Target};
use super::usage::{Decision, Origin};

/// Longest text kept of one call. Kubernetes names end at 253 bytes.
pub(super) const LONGEST: usize = 8 << 10;

/// Stands behind each part of a key. No Kubernetes name holds it; in hostile text it becomes U+FFFD.
const END: char = '\0';
const PARTS: usize = 8;

/// Writes a key into `key` and returns it. The parts stand in the order of [`Request`]'s own, so that keys
/// sort as what they say.
pub(super) fn write<'k>(
    key: &'k mut String,
    user: &str,
    attributes: &Attributes<'_>,
    origin: Origin,
    decision: Decision,
) -> &'k str {
    let verb = &*attributes.verb;
    let (kind, parts) = match &attributes.target {
        Target::Resource(r) => (RESOURCE, [r.group, r.resource, r.subresource, verb, r.namespace, &*r.name]),
        Target::Path(path) => (PATH, [*path, verb, "", "", "", ""]),
    };
    key.clear();
    key.push_str(user);
    key.push(END);
    key.push_str(kind);
    for part in parts {
        key.push_str(part);
        key.push(END);
    }
    key.push_str(origin_mark(origin));
    key.push(END);
    key.push_str(decision_mark(decision));
    if memchr::memchr_iter(0, key.as_bytes()).count() != PARTS {
        let clean = |text: &str| text.replace(END, "\u{fffd}");
        let [a, b, c, d, e, f] = parts.map(clean);
        let (origin, decision) = (origin_mark(origin), decision_mark(decision));
        *key = [&*clean(user), &format!("{kind}{a}"), &b, &c, &d, &e, &f, origin, decision].join("\0");
    }
    key
}

/// The user of a key.
pub(super) fn user(key: &str) -> &str {
    key.split(END).next().unwrap_or_default()
}

const RESOURCE: &str = "r";
const PATH: &str = "u";

fn origin_mark(origin: Origin) -> &'static str {
    match origin {
        Origin::Call => "0",
        Origin::Impersonation => "1",
        Origin::Asked => "2",
        Origin::AskedBy => "3",
    }
}

fn decision_mark(decision: Decision) -> &'static str {
    match decision {
        Decision::Allowed => "0",
        Decision::Denied => "1",
        Decision::Undecided => "2",
    }
}

/// User, request, origin and decision of a key.
pub(super) fn read(key: &str) -> (String, Request, Origin, Decision) {
    let mut start = 0;
    // `str::split` is slower.
    let mut ends = memchr::memchr_iter(0, key.as_bytes()).chain([key.len()]);
    let mut next = || {
        let end = ends.next().unwrap_or(start);
        let part = key.get(start..end).unwrap_or_default();
        start = end + 1;
        part
    };
    let (user, first) = (next().to_owned(), next());
    let request = match first.strip_prefix(RESOURCE) {
        Some(group) => Request::Resource(ResourceRequest {
            api_group: group.to_owned(),
            resource: next().to_owned(),
            subresource: next().to_owned(),
            verb: next().to_owned(),
            namespace: next().to_owned(),
            name: next().to_owned(),
        }),
        None => {
            let path = first.strip_prefix(PATH).unwrap_or_default().to_owned();
            let request = NonResourceRequest { path, verb: next().to_owned() };
            // The other parts are empty.
            for _ in 0..4 {
                next();
            }
            Request::NonResource(request)
        }
    };
    let (origin, decision) = (next(), next());
    (
        user,
        request,
        match origin {
            "0" => Origin::Call,
            "1" => Origin::Impersonation,
            "2" => Origin::Asked,
            _ => Origin::AskedBy,
        },
        match decision {
            "0" => Decision::Allowed,
            "1" => Decision::Denied,
            _ => Decision::Undecided,
        },
    )
}

/// The text, cut at a character boundary.
pub(super) fn cut(text: &str, longest: usize) -> &str {
    text.get(..text.floor_char_boundary(longest)).unwrap_or(text)
}

#[cfg(test)]
mod tests;
