//! OCSF API Activity (class 6003), as Amazon Security Lake keeps EKS audit events: what the schema has no place for, such
//! as bodies, lies in `unmapped`. Without a stage it is taken for an answer, without a level for `Metadata`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::decision::Stage;
use super::super::event::User as Impersonated;
use super::super::event::{Annotations, Authentication, Event, Name, ObjectRef, Raw, Status, Text};
use super::super::level::Level;
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
    /// When the request came in; only with the time of the stage beside it.
    #[serde(borrow)]
    start_time_dt: Text<'a>,
    #[serde(borrow)]
    time_dt: Text<'a>,
    #[serde(borrow)]
    http_request: Option<HttpRequest<'a>>,
    #[serde(borrow)]
    metadata: Metadata<'a>,
    /// The stage.
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    unmapped: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Metadata<'a> {
    #[serde(borrow)]
    log_level: Text<'a>,
}

/// Fields of the event that have no place in the schema.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Unmapped<'a> {
    #[serde(borrow)]
    annotations: Option<Annotations<'a>>,
    #[serde(borrow)]
    authentication_metadata: Option<Box<Authentication<'a>>>,
    #[serde(borrow)]
    impersonated_user: Option<Box<Impersonated<'a>>>,
    #[serde(borrow)]
    request_object: Raw<'a>,
    #[serde(borrow)]
    response_object: Raw<'a>,
    #[serde(borrow)]
    response_status: Option<Status<'a>>,
    /// What is left of it.
    #[serde(borrow)]
    user: Name<'a>,
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
    #[serde(borrow)]
    user_agent: Text<'a>,
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
    let unmapped: Unmapped<'a> =
        activity.unmapped.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    let annotations = match activity.actor.authorizations.into_iter().next() {
        Some(authorization) => Annotations {
            decision: Text(Cow::Owned(authorization.decision.to_ascii_lowercase())),
            reason: authorization.policy.map(|policy| policy.desc).unwrap_or_default(),
        },
        None => unmapped.annotations.unwrap_or_default(),
    };
    let object = activity.resources.into_iter().next().map(|resource| ObjectRef {
        resource: resource.r#type,
        namespace: resource.namespace,
        name: resource.name,
        api_group: resource.group.map(|group| group.name).unwrap_or_default(),
        ..ObjectRef::default()
    });
    let mut status = activity.api.response;
    if status.message.is_empty() {
        status.message = unmapped.response_status.unwrap_or_default().message;
    }
    let known = |text: Text<'a>, is: bool, or: &'static str| if is { text } else { Text(Cow::Borrowed(or)) };
    let has_level = Level::of(&activity.metadata.log_level) != Level::Other;
    let has_stage = Stage::of(&activity.message) != Stage::Other;
    let (url, user_agent) =
        activity.http_request.map_or_else(Default::default, |request| (request.url, request.user_agent));
    let has_start = !activity.start_time_dt.is_empty();
    let event = Event {
        level: known(activity.metadata.log_level, has_level, Level::Metadata.name()),
        stage: known(activity.message, has_stage, Stage::ResponseComplete.name()),
        audit_id: activity.api.request.uid,
        verb: Some(activity.api.operation),
        request_uri: url.map(|url| url.path).unwrap_or_default(),
        user: Name { username: activity.actor.user.name, extra: unmapped.user.extra },
        impersonated_user: unmapped.impersonated_user,
        authentication_metadata: unmapped.authentication_metadata,
        user_agent,
        object_ref: object,
        response_status: Some(status),
        request_received_timestamp: if has_start { activity.start_time_dt } else { activity.time_dt },
        annotations: Some(annotations),
        request_object: unmapped.request_object,
        response_object: unmapped.response_object,
        ..Event::default()
    };
    Some(Opened::Event(Shape::Ocsf, Box::new(event)))
}

#[cfg(test)]
mod tests;
