//! Envelopes: objects that carry events in a list, in a field, or as text in a field.

use std::borrow::Cow;
use std::fmt;
use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::cause::Cause;
use super::super::pieces::{self, Piece, Stream};
use super::{Opened, Shape, text_of};

/// Most bytes that one compressed field may hold.
const MOST_UNPACKED: u64 = 64 << 20;

/// The fields by which envelopes are known; each holds what the API, export or collector named beside it writes.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Outer<'a> {
    // Kubernetes.
    #[serde(borrow)]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    items: Option<&'a RawValue>,
    // CloudWatch: filter-log-events and get-log-events, subscriptions, Insights, what a Lambda is given.
    #[serde(borrow)]
    events: Option<&'a RawValue>,
    #[serde(borrow)]
    log_events: Option<&'a RawValue>,
    #[serde(borrow)]
    results: Option<&'a RawValue>,
    #[serde(borrow)]
    awslogs: Option<&'a RawValue>,
    // What CloudWatch writes beside a message.
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    ingestion_time: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(rename = "@message")]
    #[serde(borrow)]
    at_message: Option<&'a RawValue>,
    // Cloud Logging; BigQuery's columns; Pub/Sub.
    #[serde(borrow)]
    pub(super) proto_payload: Option<&'a RawValue>,
    #[serde(rename = "protopayload_auditlog", alias = "protoPayload_auditlog")]
    #[serde(borrow)]
    pub(super) protopayload_auditlog: Option<&'a RawValue>,
    #[serde(rename = "AuditPayload")]
    #[serde(borrow)]
    pub(super) audit_payload: Option<&'a RawValue>,
    // Azure.
    #[serde(alias = "Records")]
    #[serde(borrow)]
    records: Option<&'a RawValue>,
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
    #[serde(rename = "log_s")]
    #[serde(borrow)]
    log_s: Option<&'a RawValue>,
    #[serde(rename = "AuditId")]
    #[serde(borrow)]
    pub(super) azure_audit_id: Option<&'a RawValue>,
    // Log Service.
    #[serde(rename = "auditID")]
    #[serde(borrow)]
    pub(super) audit_id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) user: Option<&'a RawValue>,
    // OTLP.
    #[serde(borrow)]
    resource_logs: Option<&'a RawValue>,
    #[serde(borrow)]
    scope_logs: Option<&'a RawValue>,
    #[serde(borrow)]
    log_records: Option<&'a RawValue>,
    #[serde(borrow)]
    body: Option<&'a RawValue>,
    // Loki: pushed and queried; logcli.
    #[serde(borrow)]
    streams: Option<&'a RawValue>,
    #[serde(borrow)]
    values: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    line: Option<&'a RawValue>,
    // Elastic.
    #[serde(borrow)]
    hits: Option<&'a RawValue>,
    #[serde(rename = "_source")]
    #[serde(borrow)]
    source: Option<&'a RawValue>,
    #[serde(borrow)]
    kubernetes: Option<&'a RawValue>,
    // Splunk.
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    #[serde(rename = "_raw")]
    #[serde(borrow)]
    raw: Option<&'a RawValue>,
    // OCSF.
    #[serde(rename = "class_uid")]
    #[serde(borrow)]
    pub(super) class_uid: Option<&'a RawValue>,
    // docker, Fluent, Vector, Logstash, and whatever else writes messages.
    #[serde(borrow)]
    log: Option<&'a RawValue>,
    #[serde(borrow)]
    stream: Option<&'a RawValue>,
    // What Fluent keeps of a line of the Container Runtime Interface.
    #[serde(borrow)]
    logtag: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
}

/// Where OpenShift's collector keeps the level of an event.
#[derive(Debug, Deserialize)]
pub(super) struct Levels {
    k8s_audit_level: Option<String>,
    openshift_audit_level: Option<String>,
}

impl Levels {
    pub(super) fn level(self) -> Option<String> {
        self.k8s_audit_level.or(self.openshift_audit_level)
    }
}

impl<'a> Outer<'a> {
    /// The records in it; `None` where it is no envelope.
    pub(super) fn open(&self) -> Option<Opened<'a>> {
        let lists = [
            (Shape::CloudWatch, self.events.or(self.log_events)),
            (Shape::of_results(self.results), self.results),
            (Shape::Aks, self.records),
            (Shape::Otlp, self.resource_logs.or(self.scope_logs).or(self.log_records)),
            (Shape::Loki, self.streams.or(self.values)),
            (Shape::List, self.items),
        ];
        let list = lists.into_iter().find_map(|(shape, raw)| Some((shape, elements(raw?)?)));
        if let Some((shape, elements)) = list {
            return Some(Opened::Inner(shape, elements));
        }
        if self.kind.is_some() {
            return None;
        }
        let fields = [
            (Shape::Aks, self.properties.and_then(|raw| field(raw, "log").or_else(|| text(raw)))),
            (Shape::AzureTable, self.log_s),
            (Shape::Otlp, self.body.and_then(|raw| field(raw, "stringValue").or_else(|| text(raw)))),
            (Shape::Ecs, self.kubernetes.and_then(|raw| field(raw, "audit"))),
            (Shape::CloudWatch, self.at_message),
            (Shape::Splunk, self.raw.or(self.event)),
            (Shape::Loki, self.line),
            (if self.is_of_cloudwatch() { Shape::CloudWatch } else { Shape::Collector }, self.message),
        ];
        let field = fields.into_iter().find_map(|(shape, raw)| Some((shape, record(raw?)?)));
        if let Some((shape, record)) = field {
            return Some(Opened::Inner(shape, vec![record]));
        }
        self.container_log().or_else(|| self.packed()).or_else(|| self.nested())
    }

    /// An event of a log stream: of its API, or of a subscription.
    fn is_of_cloudwatch(&self) -> bool {
        self.timestamp.is_some() && (self.id.is_some() || self.ingestion_time.is_some())
    }

    /// What the runtime wrote of a container, cut in pieces of 16 KiB.
    fn container_log(&self) -> Option<Opened<'a>> {
        let log = text_of(self.log?)?;
        let stream = self.stream.and_then(text_of).and_then(|name| Stream::of(name.as_bytes()));
        // Fluent takes the line feed off; docker leaves it at the end of a line.
        let ends = self.logtag.and_then(text_of).and_then(|tag| pieces::ends(tag.as_bytes())).or_else(|| {
            let ended = log.ends_with('\n') || serde_json::from_str::<serde::de::IgnoredAny>(&log).is_ok();
            ended.then_some(true)
        });
        Some(Opened::Piece(Piece { text: owned(log), stream: stream.unwrap_or(Stream::Out), ends }))
    }

    /// A field of base64 that may hold gzip: a subscription's, or Pub/Sub's.
    fn packed(&self) -> Option<Opened<'a>> {
        let (shape, raw) = match (self.awslogs, self.message, self.data) {
            (Some(raw), ..) => (Shape::CloudWatch, field(raw, "data")?),
            (_, Some(raw), _) => (Shape::Gke, field(raw, "data")?),
            (.., Some(raw)) => (Shape::Gke, raw),
            _ => return None,
        };
        let bytes = BASE64_STANDARD.decode(text_of(raw)?.trim()).ok()?;
        let bytes = if bytes.starts_with(b"\x1f\x8b") { unpack(&bytes)? } else { bytes };
        Some(Opened::Inner(shape, vec![Cow::Owned(bytes)]))
    }

    /// An object that holds an envelope: answers of Loki, Elasticsearch and Splunk.
    fn nested(&self) -> Option<Opened<'a>> {
        let nested = [(Shape::Loki, self.data), (Shape::Ecs, self.hits.or(self.source)), (Shape::Splunk, self.result)];
        let (shape, raw) = nested.into_iter().find_map(|(shape, raw)| Some((shape, raw?)))?;
        match elements(raw) {
            Some(elements) => Some(Opened::Inner(shape, elements)),
            None => Some(Opened::Inner(shape, vec![object(raw)?])),
        }
    }
}

/// A row of an answer: `[time, line]` of Loki, or `[{field, value}, …]` of Insights.
pub(super) fn row(text: &[u8]) -> Opened<'_> {
    #[derive(Deserialize)]
    struct Cell<'a> {
        field: String,
        #[serde(borrow)]
        value: &'a RawValue,
    }
    if let Ok(cells) = serde_json::from_slice::<Vec<Cell<'_>>>(text)
        && let Some(value) = cells.iter().find(|cell| cell.field == "@message").and_then(|cell| record(cell.value))
    {
        return Opened::Inner(Shape::CloudWatch, vec![value]);
    }
    match serde_json::from_slice::<Elements<'_>>(text) {
        Ok(Elements(pair)) => match pair.get(1).and_then(|line| text_of(line)) {
            Some(line) if pair.first().is_some_and(|time| is_time(time)) => {
                Opened::Inner(Shape::Loki, vec![owned(line)])
            }
            _ => Opened::Inner(Shape::List, pair.into_iter().map(|raw| Cow::Borrowed(raw.get().as_bytes())).collect()),
        },
        Err(error) => Opened::Refused(Cause::of_json(&error), None),
    }
}

/// Nanoseconds since 1970 in a string.
fn is_time(raw: &RawValue) -> bool {
    text_of(raw).is_some_and(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Most records that are looked for in one list on one line: an event has more than 250 bytes, the longest line 64 MiB.
const MOST_ELEMENTS: usize = 1 << 18;

/// A list of no more than [`MOST_ELEMENTS`].
struct Elements<'a>(Vec<&'a RawValue>);

impl<'de: 'a, 'a> Deserialize<'de> for Elements<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ListVisitor;

        impl<'de> Visitor<'de> for ListVisitor {
            type Value = Elements<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of records")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut elements = Vec::new();
                while let Some(element) = list.next_element()? {
                    if elements.len() == MOST_ELEMENTS {
                        return Err(A::Error::custom("more records in one list than it could hold events"));
                    }
                    elements.push(element);
                }
                Ok(Elements(elements))
            }
        }

        deserializer.deserialize_seq(ListVisitor)
    }
}

/// The elements of a list.
fn elements(raw: &RawValue) -> Option<Vec<Cow<'_, [u8]>>> {
    let list: Elements<'_> = raw.get().starts_with('[').then(|| serde_json::from_str(raw.get()).ok())??;
    Some(list.0.into_iter().map(|element| Cow::Borrowed(element.get().as_bytes())).collect())
}

/// A field of an object.
fn field<'a>(raw: &'a RawValue, name: &str) -> Option<&'a RawValue> {
    let object: std::collections::BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(raw.get()).ok()?;
    object.get(name).copied()
}

/// A value that is text: Azure writes `properties` so in some exports.
fn text(raw: &RawValue) -> Option<&RawValue> {
    raw.get().starts_with('"').then_some(raw)
}

/// A record in a field: an object, or the text of one.
fn record(raw: &RawValue) -> Option<Cow<'_, [u8]>> {
    text_of(raw).map(owned).or_else(|| object(raw))
}

fn object(raw: &RawValue) -> Option<Cow<'_, [u8]>> {
    raw.get().starts_with('{').then(|| Cow::Borrowed(raw.get().as_bytes()))
}

fn owned(text: Cow<'_, str>) -> Cow<'_, [u8]> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    }
}

fn unpack(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    let read = flate2::read::MultiGzDecoder::new(bytes).take(MOST_UNPACKED + 1).read_to_end(&mut unpacked);
    (read.is_ok() && unpacked.len() as u64 <= MOST_UNPACKED).then_some(unpacked)
}

#[cfg(test)]
mod tests;
