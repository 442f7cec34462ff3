//! Events as rows of columns, where what was nested is text: Azure's AKSAudit and ArcK8sAudit tables, Alibaba's Log
//! Service. The columns are put together as the event that they were.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::value::RawValue;

use super::envelope::Outer;
use super::{Opened, Shape, text_of};

/// Columns of AKSAudit and the fields that they were. The table has no column of the impersonated user.
const AZURE: [(&str, &str); 14] = [
    ("AuditId", "auditID"),
    ("Level", "level"),
    ("Stage", "stage"),
    ("RequestUri", "requestURI"),
    ("Verb", "verb"),
    ("User", "user"),
    ("UserAgent", "userAgent"),
    ("ObjectRef", "objectRef"),
    ("ResponseStatus", "responseStatus"),
    ("RequestReceivedTime", "requestReceivedTimestamp"),
    ("StageReceivedTime", "stageTimestamp"),
    ("Annotations", "annotations"),
    ("RequestObject", "requestObject"),
    ("ResponseObject", "responseObject"),
];
/// Columns of Log Service; they keep the names of the fields.
const SLS: [(&str, &str); 15] = [
    ("auditID", "auditID"),
    ("level", "level"),
    ("stage", "stage"),
    ("requestURI", "requestURI"),
    ("verb", "verb"),
    ("user", "user"),
    ("userAgent", "userAgent"),
    ("impersonatedUser", "impersonatedUser"),
    ("objectRef", "objectRef"),
    ("responseStatus", "responseStatus"),
    ("requestReceivedTimestamp", "requestReceivedTimestamp"),
    ("stageTimestamp", "stageTimestamp"),
    ("annotations", "annotations"),
    ("requestObject", "requestObject"),
    ("responseObject", "responseObject"),
];

/// Reads such a row.
pub(super) fn event<'a>(text: &'a [u8], outer: &Outer<'a>) -> Option<Opened<'a>> {
    let (shape, columns) = if outer.azure_audit_id.is_some() {
        (Shape::AzureTable, AZURE.as_slice())
    } else if outer.audit_id.is_some() && outer.user.is_some_and(is_nested) {
        (Shape::Sls, SLS.as_slice())
    } else {
        return None;
    };
    let row: BTreeMap<String, &RawValue> = serde_json::from_slice(text).ok()?;
    let mut json = String::from("{\"kind\":\"Event\",\"apiVersion\":\"audit.k8s.io/v1\"");
    for (column, field) in columns {
        let Some(raw) = row.get(*column) else { continue };
        let text = text_of(raw);
        // What was nested is JSON in a string; an empty cell says nothing.
        match text.as_deref().map(str::trim) {
            Some("") => continue,
            // Whole, so that a cell says nothing of its neighbours.
            Some(nested) if is_object(nested) => {
                write!(json, ",{field:?}:{nested}")
            }
            _ => write!(json, ",{field:?}:{}", raw.get()),
        }
        .ok()?;
    }
    json.push('}');
    Some(Opened::Inner(shape, vec![json.into_bytes().into()]))
}

/// Whether a cell holds the JSON of an object. One of another text is an event's field with a wrong value.
fn is_nested(raw: &RawValue) -> bool {
    text_of(raw).is_some_and(|text| is_object(text.trim()))
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<BTreeMap<String, &RawValue>>(text).is_ok()
}

#[cfg(test)]
mod tests;
