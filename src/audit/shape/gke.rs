//! Cloud Logging entries of GKE: another model of the same request. The resource name is the path of the URL, the last
//! part of the method its verb.

use std::borrow::Cow;

use serde::Deserialize;

use super::super::cause::Cause;
use super::super::event::{Annotations, Event, Name, Raw, Status, Text};
use super::envelope::Outer;
use super::{Opened, Shape, text_of};

/// An entry, as exported, and as a row of BigQuery, whose column names have no capitals.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Entry<'a> {
    #[serde(borrow, alias = "InsertID", alias = "insertid")]
    insert_id: Text<'a>,
    #[serde(borrow, alias = "Timestamp")]
    timestamp: Text<'a>,
    #[serde(borrow, alias = "Operation")]
    operation: Option<Operation<'a>>,
    #[serde(borrow, alias = "Labels")]
    labels: Option<Labels<'a>>,
    #[serde(borrow, alias = "protopayload_auditlog", alias = "protoPayload_auditlog")]
    proto_payload: Option<Payload<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Operation<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    first: Option<bool>,
    last: Option<bool>,
}

/// BigQuery writes `_` for what its names may not hold.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Labels<'a> {
    #[serde(borrow, rename = "authorization.k8s.io/decision", alias = "authorization_k8s_io_decision")]
    decision: Text<'a>,
    #[serde(borrow, rename = "authorization.k8s.io/reason", alias = "authorization_k8s_io_reason")]
    reason: Text<'a>,
}

/// `google.cloud.audit.AuditLog`.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Payload<'a> {
    #[serde(borrow, alias = "servicename")]
    service_name: Text<'a>,
    #[serde(borrow, alias = "methodname")]
    method_name: Text<'a>,
    #[serde(borrow, alias = "resourcename")]
    resource_name: Text<'a>,
    #[serde(borrow, alias = "requestmetadata")]
    request_metadata: Option<Metadata<'a>>,
    #[serde(borrow, alias = "authenticationinfo")]
    authentication_info: Option<Principal<'a>>,
    #[serde(alias = "authorizationinfo")]
    authorization_info: Option<Vec<Authorization>>,
    #[serde(borrow)]
    status: Option<GrpcStatus<'a>>,
    #[serde(borrow)]
    request: Option<Raw<'a>>,
    #[serde(borrow, alias = "requestjson")]
    request_json: Option<Raw<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata<'a> {
    #[serde(borrow, alias = "callersupplieduseragent")]
    caller_supplied_user_agent: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Principal<'a> {
    #[serde(borrow, alias = "principalemail")]
    principal_email: Text<'a>,
    #[serde(borrow, alias = "principalsubject")]
    principal_subject: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Authorization {
    granted: Option<Loose>,
}

/// `google.rpc.Status`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct GrpcStatus<'a> {
    code: Option<Loose>,
    #[serde(borrow)]
    message: Text<'a>,
}

/// A number or a truth; exports of BigQuery write either as text.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Loose {
    Truth(bool),
    Number(i64),
    Text(String),
}

impl Loose {
    fn is_true(&self) -> bool {
        match self {
            Self::Truth(truth) => *truth,
            Self::Number(_) => false,
            Self::Text(text) => text.eq_ignore_ascii_case("true"),
        }
    }

    fn number(&self) -> i64 {
        match self {
            Self::Truth(_) => 0,
            Self::Number(number) => *number,
            // What is no number is no known code.
            Self::Text(text) => text.parse().unwrap_or(i64::MAX),
        }
    }
}

/// Reads such an entry.
pub(super) fn event<'a>(text: &'a [u8], outer: &Outer<'a>) -> Option<Opened<'a>> {
    outer.proto_payload.or(outer.protopayload_auditlog).or(outer.audit_payload)?;
    let refused = |cause, shown| Some(Opened::Refused(cause, shown));
    // The Go client's dump has the payload as text beside the entry.
    let dumped: Option<(Entry<'_>, Payload<'_>)> = outer.audit_payload.and_then(dump(text));
    let (entry, payload) = match dumped {
        Some(parts) => parts,
        None => match serde_json::from_slice::<Entry<'a>>(text) {
            Ok(mut entry) => {
                let payload = entry.proto_payload.take()?;
                (entry, payload)
            }
            Err(error) => return refused(Cause::WrongField, Some(Cause::plain(&error))),
        },
    };
    if &*payload.service_name != "k8s.io" {
        let service: String = payload.service_name.chars().take(60).collect();
        return refused(Cause::OtherService, Some(service.escape_debug().to_string()));
    }
    if payload.method_name.is_empty() {
        return refused(Cause::NoRequest, None);
    }
    Some(Opened::Event(Shape::Gke, Box::new(convert(entry, payload))))
}

fn dump<'a>(text: &'a [u8]) -> impl Fn(&'a serde_json::value::RawValue) -> Option<(Entry<'a>, Payload<'a>)> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Dump<'a> {
        #[serde(borrow)]
        entry: Entry<'a>,
    }
    move |raw| {
        let dump: Dump<'a> = serde_json::from_slice(text).ok()?;
        let payload = text_of(raw)?.into_owned();
        Some((dump.entry, serde_json::from_str::<Payload<'_>>(&payload).ok()?.owned()))
    }
}

fn convert<'a>(entry: Entry<'a>, payload: Payload<'a>) -> Event<'a> {
    let principal = payload.authentication_info.unwrap_or_default();
    let user =
        if principal.principal_email.is_empty() { principal.principal_subject } else { principal.principal_email };
    let verb = payload.method_name.rsplit('.').next().unwrap_or_default().to_owned();
    let uri = uri(&payload.method_name, &payload.resource_name, &verb);
    let labels = entry.labels.unwrap_or_default();
    let authorized = payload.authorization_info.unwrap_or_default();
    let granted = authorized.iter().any(|one| one.granted.as_ref().is_some_and(Loose::is_true));
    let status = payload.status.unwrap_or_default();
    let code = http(status.code.map_or(0, |code| code.number()), granted || &*labels.decision == "allow");
    // False is left out of an entry, so that nothing is said of a denied call but its status, and maybe why.
    let decision = match &*labels.decision {
        "" if granted => Text(Cow::Borrowed("allow")),
        "" if code == 403 && !status.message.contains("orbidden: ") => Text(Cow::Borrowed("forbid")),
        _ => labels.decision,
    };
    let operation = entry.operation.unwrap_or_default();
    // The two entries of an exec or watch share the operation.
    let opens = operation.first == Some(true) && operation.last != Some(true);
    let id = if operation.id.is_empty() { entry.insert_id } else { operation.id };
    let body = payload.request.is_some() || payload.request_json.is_some();
    Event {
        level: Text(Cow::Borrowed(if body { "Request" } else { "Metadata" })),
        audit_id: id,
        stage: Text(Cow::Borrowed(if opens { "ResponseStarted" } else { "ResponseComplete" })),
        request_uri: Text(Cow::Owned(uri)),
        verb: (!verb.is_empty()).then_some(Text(Cow::Owned(verb))),
        user_agent: payload.request_metadata.map(|metadata| metadata.caller_supplied_user_agent).unwrap_or_default(),
        user: Name { username: user, ..Name::default() },
        response_status: Some(Status { code, message: status.message }),
        request_received_timestamp: entry.timestamp,
        annotations: Some(Annotations { decision, reason: labels.reason }),
        request_object: payload.request.or_else(|| unquoted(&payload.request_json?)).unwrap_or_default(),
        ..Event::default()
    }
}

/// The JSON that a column holds as a text.
fn unquoted<'a>(raw: &Raw<'_>) -> Option<Raw<'a>> {
    serde_json::from_str::<String>(&raw.0).ok().map(|json| Raw(Cow::Owned(json)))
}

/// The path asked for. A resource name is `GROUP/VERSION/…`, with `core` for the core group; of a plain create it has
/// the new object's name, which the URL has not; of `exec` and `attach` the pod's name once more, which says nothing.
fn uri(method: &str, resource: &str, verb: &str) -> String {
    let resource = resource.trim_start_matches('/');
    // `io.k8s.get`: no resource.
    if method.strip_prefix("io.k8s.").is_some_and(|rest| !rest.contains('.')) {
        return format!("/{resource}");
    }
    let mut parts: Vec<&str> = resource.split('/').collect();
    let object = match parts.get(2) {
        Some(&"namespaces") if parts.len() > 4 => 5,
        _ => 3,
    };
    // An object's name is its own only where nothing stands behind it.
    if verb == "create" && parts.len() == object + 1 {
        parts.truncate(object);
    }
    match parts.split_first() {
        Some((&"core", rest)) => format!("/api/{}", rest.join("/")),
        _ => format!("/apis/{}", parts.join("/")),
    }
}

/// The HTTP status of a gRPC code. A stream that was switched to another protocol has the code 2.
fn http(code: i64, granted: bool) -> i64 {
    match code {
        0 => 200,
        2 if granted => 101,
        3 | 9 | 11 => 400,
        5 => 404,
        6 | 10 => 409,
        7 => 403,
        8 => 429,
        16 => 401,
        2 | 13 => 500,
        14 => 503,
        4 => 504,
        http @ 100..600 => http,
        _ => 0,
    }
}

impl Payload<'_> {
    fn owned(self) -> Payload<'static> {
        let text = |text: Text<'_>| Text(Cow::Owned(text.0.into_owned()));
        let owned = |raw: Raw<'_>| Raw(Cow::Owned(raw.0.into_owned()));
        Payload {
            service_name: text(self.service_name),
            method_name: text(self.method_name),
            resource_name: text(self.resource_name),
            authentication_info: self.authentication_info.map(|info| Principal {
                principal_email: text(info.principal_email),
                principal_subject: text(info.principal_subject),
            }),
            request_metadata: self
                .request_metadata
                .map(|metadata| Metadata { caller_supplied_user_agent: text(metadata.caller_supplied_user_agent) }),
            authorization_info: self.authorization_info,
            status: self.status.map(|status| GrpcStatus { code: status.code, message: text(status.message) }),
            request: self.request.map(owned),
            request_json: self.request_json.map(owned),
        }
    }
}

#[cfg(test)]
mod tests;
