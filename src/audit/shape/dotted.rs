//! Events of Elastic whose nested fields are keys with dots, as exports write them: `kubernetes.audit.user.username`.

use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{Opened, Shape};

const PREFIX: &str = "kubernetes.audit.";
/// Every event has a verb.
const KEY: &[u8] = b"\"kubernetes.audit.verb\"";
/// The fields that are read of an event, and those that hold others.
const FIELDS: [&str; 8] =
    ["auditID", "level", "stage", "requestURI", "verb", "userAgent", "requestReceivedTimestamp", "stageTimestamp"];
const OBJECTS: [&str; 5] = ["user", "impersonatedUser", "objectRef", "responseStatus", "annotations"];
/// What is nested all the same.
const BODIES: [&str; 2] = ["requestObject", "responseObject"];

/// Reads such an event.
pub(super) fn event(text: &[u8]) -> Option<Opened<'_>> {
    memchr::memmem::find(text, KEY)?;
    let row: std::collections::BTreeMap<String, &RawValue> = serde_json::from_slice(text).ok()?;
    let mut event = Map::new();
    event.insert("kind".to_owned(), "Event".into());
    event.insert("apiVersion".to_owned(), "audit.k8s.io/v1".into());
    for (key, raw) in row {
        let Some(key) = key.strip_prefix(PREFIX) else { continue };
        match key.split_once('.') {
            None if FIELDS.contains(&key) => {
                event.insert(key.to_owned(), single(raw)?);
            }
            None if BODIES.contains(&key) => {
                event.insert(key.to_owned(), serde_json::from_str(raw.get()).ok()?);
            }
            // Lists of strings by keys that hold dots themselves.
            Some((object, field)) if OBJECTS.contains(&object) && field.starts_with("extra.") => {
                let value = match serde_json::from_str(raw.get()).ok()? {
                    Value::Array(list) => list,
                    other => vec![other],
                };
                let object = event.entry(object).or_insert_with(|| Map::new().into()).as_object_mut()?;
                let extra = object.entry("extra").or_insert_with(|| Map::new().into());
                extra.as_object_mut()?.insert(field.get("extra.".len()..)?.to_owned(), value.into());
            }
            Some((object, field)) if OBJECTS.contains(&object) => {
                let value = match field {
                    "groups" => serde_json::from_str(raw.get()).ok()?,
                    "code" => number(single(raw)?),
                    _ => single(raw)?,
                };
                let object = event.entry(object).or_insert_with(|| Map::new().into());
                object.as_object_mut()?.insert(field.to_owned(), value);
            }
            // An object as a whole, beside its fields or instead of them, is read where it is nested.
            _ => {}
        }
    }
    let json = serde_json::to_vec(&Value::Object(event)).ok()?;
    Some(Opened::Inner(Shape::Ecs, vec![json.into()]))
}

/// A value; answers of a search put each in a list.
fn single(raw: &RawValue) -> Option<Value> {
    Some(match serde_json::from_str(raw.get()).ok()? {
        Value::Array(mut list) if list.len() == 1 => list.pop()?,
        other => other,
    })
}

/// Tables write numbers as text, and none as nothing.
fn number(value: Value) -> Value {
    match value.as_str() {
        Some(text) => text.parse::<u16>().unwrap_or(0).into(),
        None => value,
    }
}

#[cfg(test)]
mod tests;
