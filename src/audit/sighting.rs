//! What one event says, before it is counted: computed from the event alone, so that any thread can do it. The stages
//! of a request meet, and calls are counted, in `reader`, in the order of the log.

use std::borrow::Cow;

use super::behind::{self, Shown};
use super::cause::Cause;
use super::clients::Client;
use super::decision::{self, Stage};
use super::event::Event;
use super::impersonation;
use super::level::Level;
use super::request_info::Attributes;
use super::select::Select;
use super::shape::Shape;
use super::stages::Request;
use super::tally::{Said, Seen};
use super::time::Time;
use super::usage::{Decision, Origin};
use super::{key, url};

/// Clients choose audit ids; this much of one is kept.
const LONGEST_ID: usize = 256;

/// One event, ready to be counted.
#[derive(Debug)]
pub(super) struct Sighting<'a> {
    /// Which request it is of.
    pub(super) request: Request<'a>,
    pub(super) stage: Stage,
    pub(super) decision: Decision,
    /// The call that it is counted as.
    pub(super) key: &'a str,
    pub(super) seen: Seen<'a>,
    pub(super) said: Said<'a>,
    /// The checks on the real user of a request that acts, or was refused to act, as another; and the permission that a
    /// review asks for.
    pub(super) checks: Vec<String>,
    pub(super) shape: Shape,
}

/// Reads an event; `length` is that of its record, the key is written into `key`.
pub(super) fn of<'a>(
    event: &'a Event<'_>,
    shape: Shape,
    length: usize,
    place: (u32, u64),
    select: &Select,
    key: &'a mut String,
) -> Result<Sighting<'a>, Cause> {
    let verb = event.verb.as_deref().ok_or(Cause::NoVerb)?;
    let (encoded, query) = url::split(&event.request_uri);
    let path = url::path(encoded);
    let of_object = || event.object_ref.as_ref().and_then(|object| Attributes::of_object(verb, object));
    let attributes = match path.starts_with('/') {
        true => Attributes::of_uri(verb, &path, query),
        // No URI of an API server: whoever wrote it may have kept the object.
        false => of_object()
            .or_else(|| (!path.is_empty()).then(|| Attributes::of_uri(verb, &path, query)))
            .ok_or(Cause::NoRequest)?,
    };
    if length > key::LONGEST && too_long(event, &attributes) {
        return Err(Cause::LongField);
    }
    let stage = Stage::of(&event.stage);
    let code = decision::code(event, stage);
    let received = stage == Stage::RequestReceived;
    let decision = if received { Decision::Undecided } else { decision::decision(event, code) };
    let shown = user(event);
    let attributed = select.attributed(shown, &event.user_agent);
    let object_namespace = event.object_ref.as_ref().map_or("", |object| &object.namespace);
    let differs = object_namespace != attributes.namespace();
    let user = attributed.unwrap_or(shown);
    let (mut checks, mut shown_behind) = (Vec::new(), Shown::default());
    if !received {
        checks = self::checks(event, &attributes, code, decision);
        checks.extend(behind::asked(event, user, &attributes, code));
        shown_behind = behind::of(event, &attributes, code, decision);
    }
    Ok(Sighting {
        request: Request::of(event),
        stage,
        decision,
        checks,
        key: key::write(key, user, &attributes, Origin::Call, decision),
        seen: Seen {
            code,
            time: Time::of(event.time()),
            file: place.0,
            line: place.1,
            audit_id: key::cut(&event.audit_id, LONGEST_ID),
            level: Level::of(&event.level),
        },
        said: Said {
            reason: event.annotations.as_ref().map_or("", |annotations| &annotations.reason),
            object_namespace: if differs { object_namespace } else { "" },
            impersonator: event.impersonated_user.is_some().then_some(&*event.user.username),
            attributed_from: attributed.map(|_| shown),
            behind: Cow::Owned(shown_behind.behind),
            unread: shown_behind.unread,
            client: client(event),
        },
        shape,
    })
}

fn checks(event: &Event<'_>, attributes: &Attributes<'_>, code: u16, decision: Decision) -> Vec<String> {
    let (checks, decision) = match &event.impersonated_user {
        Some(user) => (impersonation::checks(event, user, attributes), Decision::Allowed),
        None if decision == Decision::Undecided && code == 403 => {
            let refused = Some(decision::message(event))
                .filter(|message| decision::is_denied_impersonation(message))
                .and_then(impersonation::refused);
            (refused.into_iter().collect(), Decision::Denied)
        }
        None => return Vec::new(),
    };
    let key = |check: &Attributes<'_>| {
        let mut key = String::new();
        key::write(&mut key, &event.user.username, check, Origin::Impersonation, decision);
        key
    };
    // What a message quotes is not bounded by what an event may say.
    checks.iter().filter(|check| check.len() <= key::LONGEST).map(key).collect()
}

/// Whose call it is: the impersonated user's where there is one.
fn user<'a>(event: &'a Event<'_>) -> &'a str {
    event.impersonated_user.as_ref().map_or(&event.user.username, |user| &user.username)
}

fn client<'a>(event: &'a Event<'_>) -> Client<'a> {
    let extra = Some(&*event.user.extra.0).filter(|extra| extra.len() <= key::LONGEST);
    Client { agent: &event.user_agent, extra: extra.unwrap_or_default() }
}

/// Whether an event says more than is kept of any call.
fn too_long(event: &Event<'_>, attributes: &Attributes<'_>) -> bool {
    let acting = event.impersonated_user.as_ref().map_or(0, |user| {
        let extra = user.extra.0.iter().flat_map(|(key, values)| std::iter::once(key).chain(&values.0));
        let texts = [&user.username, &user.uid].into_iter().chain(&user.groups.0).chain(extra);
        texts.map(|text| text.len()).sum()
    });
    let object = event.object_ref.as_ref().map_or(0, |object| object.namespace.len());
    event.user.username.len() + acting + object + attributes.len() > key::LONGEST
}
