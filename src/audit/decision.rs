//! What the authorizer said of a request, read from its annotation, else from the answer.
//! Filters run in the order authentication, audit, impersonation, priority and fairness, authorization
//! (Kubernetes `staging/src/k8s.io/apiserver/pkg/server/config.go`): what stops before the last has no
//! annotation.

use std::borrow::Cow;

use super::event::Event;
use super::usage::Decision;

/// A stage of a request, in the order it passes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    RequestReceived,
    ResponseStarted,
    ResponseComplete,
    Panic,
    /// A name that Kubernetes does not know, or none; read as the end of the request.
    Other,
}

impl Stage {
    pub(super) const ALL: [Self; 5] =
        [Self::RequestReceived, Self::ResponseStarted, Self::ResponseComplete, Self::Panic, Self::Other];

    /// The stage of that name.
    pub(super) fn of(name: &str) -> Self {
        Self::ALL.into_iter().find(|stage| stage.name() == name).unwrap_or(Self::Other)
    }

    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::RequestReceived => "RequestReceived",
            Self::ResponseStarted => "ResponseStarted",
            Self::ResponseComplete => "ResponseComplete",
            Self::Panic => "Panic",
            Self::Other => "other",
        }
    }
}

/// HTTP status code of the answer; 0 when none was logged or it is no status code.
pub(super) fn code(event: &Event<'_>, stage: Stage) -> u16 {
    if stage == Stage::Panic {
        return 500;
    }
    let code = event.response_status.as_ref().map_or(0, |status| status.code);
    u16::try_from(code).ok().filter(|code| (100..600).contains(code)).unwrap_or(0)
}

/// The decision of an answered request.
pub(super) fn decision(event: &Event<'_>, code: u16) -> Decision {
    let (decision, reason) = match &event.annotations {
        Some(annotations) => (&*annotations.decision, &*annotations.reason),
        None => ("", ""),
    };
    match decision {
        "allow" => return Decision::Allowed,
        "forbid" => return Decision::Denied,
        _ => {}
    }
    let message = message(event);
    match code {
        0 | 401 | 429 => Decision::Undecided,
        // An impersonation header that makes no sense is refused before the authorizer is asked.
        400 if message.contains("without impersonating a user") => Decision::Undecided,
        // The authorizer itself failed.
        500 if reason == "internal error" => Decision::Undecided,
        403 if event.impersonated_user.is_none() && is_denied_impersonation(message) => Decision::Undecided,
        403 if message.is_empty() => Decision::Undecided,
        403 if is_denial(message) => Decision::Denied,
        _ => Decision::Allowed,
    }
}

/// Whether the API server says that the user may not.
fn is_denial(message: &str) -> bool {
    let user = forbidden(message).and_then(|(_, reason)| reason.strip_prefix("User \""));
    user.is_some_and(|rest| rest.contains("\" cannot "))
}

/// The name of the object and the reason, of a refusal in the API server's own words: `RESOURCE.GROUP "NAME" is
/// forbidden: REASON` (`apimachinery/pkg/api/errors`, `NewForbidden`) or `forbidden: REASON` of a path. Nothing of what
/// others wrote into it, such as webhooks, is taken for its words.
pub(super) fn forbidden(message: &str) -> Option<(Cow<'_, str>, &str)> {
    if let Some(reason) = message.strip_prefix("forbidden: ").or_else(|| message.strip_prefix("Forbidden: ")) {
        return Some((Cow::Borrowed(""), reason));
    }
    let (resource, rest) = message.split_once(' ')?;
    if resource.contains(['"', ':']) {
        return None;
    }
    let (name, rest) = if rest.starts_with('"') {
        let end = closing_quote(rest)?;
        let (quoted, rest) = rest.split_at_checked(end + 1)?;
        let plain = quoted.get(1..end).unwrap_or_default();
        let name = serde_json::from_str(quoted).map_or(Cow::Borrowed(plain), Cow::Owned);
        (name, rest.strip_prefix(' ')?)
    } else {
        (Cow::Borrowed(""), rest)
    };
    Some((name, rest.strip_prefix("is forbidden:")?.trim_start()))
}

/// Where the quote ends with which the text begins.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().enumerate().skip(1).find_map(|(at, byte)| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends.then_some(at)
    })
}

/// Whether a refusal without annotation speaks of impersonation: `… cannot impersonate resource "users" …`
/// or, constrained, `… cannot impersonate-on:user-info:list resource …`.
pub(super) fn is_denied_impersonation(message: &str) -> bool {
    message.contains("\" cannot impersonate")
}

/// The message of the answer.
pub(super) fn message<'a>(event: &'a Event<'_>) -> &'a str {
    event.response_status.as_ref().map_or("", |status| &status.message)
}
