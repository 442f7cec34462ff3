//! Questions about permissions: what a SelfSubjectAccessReview asks for its own user, and a SubjectAccessReview for
//! another (`staging/src/k8s.io/api/authorization/v1/types.go`).

use std::borrow::Cow;

use serde::Deserialize;

use super::AUTHORIZATION;
use crate::audit::event::{Event, Raw, Text};
use crate::audit::key;
use crate::audit::request_info::{Attributes, Resource, Target};
use crate::audit::usage::{Decision, Origin};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Review<'a> {
    #[serde(borrow)]
    spec: Spec<'a>,
    status: Status,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    allowed: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow)]
    resource_attributes: Option<Asked<'a>>,
    #[serde(borrow)]
    non_resource_attributes: Option<AskedPath<'a>>,
    #[serde(borrow)]
    user: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asked<'a> {
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    verb: Text<'a>,
    #[serde(borrow)]
    group: Text<'a>,
    #[serde(borrow)]
    resource: Text<'a>,
    #[serde(borrow)]
    subresource: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AskedPath<'a> {
    #[serde(borrow)]
    path: Text<'a>,
    #[serde(borrow)]
    verb: Text<'a>,
}

/// The key of the permission that a review asks for: the user's own, or another's.
pub(in crate::audit) fn asked(event: &Event<'_>, user: &str, attributes: &Attributes<'_>, code: u16) -> Option<String> {
    let Target::Resource(resource) = &attributes.target else { return None };
    if resource.group != AUTHORIZATION || &*attributes.verb != "create" || !(200..300).contains(&code) {
        return None;
    }
    let own = match resource.resource {
        "selfsubjectaccessreviews" => true,
        "subjectaccessreviews" | "localsubjectaccessreviews" => false,
        _ => return None,
    };
    let request: Review<'_> = parse(&event.request_object)?;
    let decision = match parse::<Review<'_>>(&event.response_object) {
        None => Decision::Undecided,
        Some(review) if review.status.allowed => Decision::Allowed,
        Some(_) => Decision::Denied,
    };
    let (user, origin) = if own { (user, Origin::Asked) } else { (&*request.spec.user, Origin::AskedBy) };
    if user.is_empty() {
        return None;
    }
    let spec = &request.spec;
    let (verb, target) = match (&spec.resource_attributes, &spec.non_resource_attributes) {
        (Some(asked), _) => {
            // Some write `widgets/status` where the resource stands.
            let (plain, glued) = asked.resource.split_once('/').unwrap_or((&asked.resource, ""));
            let subresource = if asked.subresource.is_empty() { glued } else { &asked.subresource };
            let name = Cow::Borrowed(&*asked.name);
            let namespace = &*asked.namespace;
            let resource = Resource { group: &asked.group, resource: plain, subresource, namespace, name };
            (&*asked.verb, Target::Resource(resource))
        }
        (None, Some(asked)) => (&*asked.verb, Target::Path(&asked.path)),
        (None, None) => return None,
    };
    let check = Attributes { verb: Cow::Borrowed(verb), target };
    if check.len() > key::LONGEST {
        return None;
    }
    let mut text = String::new();
    key::write(&mut text, user, &check, origin, decision);
    Some(text)
}

fn parse<'a, T: Deserialize<'a>>(body: &'a Raw<'_>) -> Option<T> {
    if body.0.is_empty() { None } else { serde_json::from_str(&body.0).ok() }
}
