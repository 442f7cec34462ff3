//! OCSF API Activity (class 6003), as Amazon Security Lake keeps EKS audit events: no URL, no level, no stage.

use std::borrow::Cow;

use serde::Deserialize;

use super::super::event::{Annotations, Event, Name, ObjectRef, Status, Text};
use super::envelope::Outer;
use super::{Opened, Shape};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Activity<'a> {
    #[serde(borrow)]
    api: Api<'a>,
    #[serde(borrow)]
    actor: Actor<'a>,
    #[serde(borrow)]
    resources: Vec<Resource<'a>>,
    #[serde(borrow)]
    time_dt: Text<'a>,
    #[serde(borrow, rename = "http_request")]
    http_request: Option<HttpRequest<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Api<'a> {
    #[serde(borrow)]
    operation: Text<'a>,
    #[serde(borrow)]
    request: Uid<'a>,
    #[serde(borrow)]
    response: Status<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Uid<'a> {
    #[serde(borrow)]
    uid: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Actor<'a> {
    #[serde(borrow)]
    user: User<'a>,
    #[serde(borrow)]
    authorizations: Vec<Authorization<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct User<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Authorization<'a> {
    #[serde(borrow)]
    decision: Text<'a>,
    #[serde(borrow)]
    policy: Option<Policy<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Policy<'a> {
    #[serde(borrow)]
    desc: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Resource<'a> {
    #[serde(borrow)]
    r#type: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    group: Option<Group<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Group<'a> {
    #[serde(borrow)]
    name: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct HttpRequest<'a> {
    #[serde(borrow)]
    url: Option<Url<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Url<'a> {
    #[serde(borrow)]
    path: Text<'a>,
}

/// Reads such an activity.
pub(super) fn event<'a>(text: &'a [u8], outer: &Outer<'a>) -> Option<Opened<'a>> {
    if outer.class_uid?.get() != "6003" {
        return None;
    }
    let activity: Activity<'a> = serde_json::from_slice(text).ok()?;
    if activity.api.operation.is_empty() {
        return None;
    }
    let authorization = activity.actor.authorizations.into_iter().next().unwrap_or_default();
    let decision = Text(Cow::Owned(authorization.decision.to_ascii_lowercase()));
    let reason = authorization.policy.map(|policy| policy.desc).unwrap_or_default();
    let object = activity.resources.into_iter().next().map(|resource| ObjectRef {
        resource: resource.r#type,
        namespace: resource.namespace,
        name: resource.name,
        api_group: resource.group.map(|group| group.name).unwrap_or_default(),
        ..ObjectRef::default()
    });
    let url = activity.http_request.and_then(|request| request.url);
    let event = Event {
        // No body is kept.
        level: Text(Cow::Borrowed("Metadata")),
        stage: Text(Cow::Borrowed("ResponseComplete")),
        audit_id: activity.api.request.uid,
        verb: Some(activity.api.operation).filter(|verb| !verb.is_empty()),
        request_uri: url.map(|url| url.path).unwrap_or_default(),
        user: Name { username: activity.actor.user.name },
        object_ref: object,
        response_status: Some(activity.api.response),
        request_received_timestamp: activity.time_dt,
        annotations: Some(Annotations { decision, reason }),
        ..Event::default()
    };
    Some(Opened::Event(Shape::Ocsf, Box::new(event)))
}

#[cfg(test)]
mod tests;
