//! Lines that are no audit event of one JSON object: what they are instead.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Fields that give other shapes away.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Probe {
    kind: Option<serde_json::Value>,
    items: Option<IgnoredAny>,
    involved_object: Option<IgnoredAny>,
    regarding: Option<IgnoredAny>,
    events: Option<IgnoredAny>,
    log_events: Option<IgnoredAny>,
    records: Option<IgnoredAny>,
    properties: Option<IgnoredAny>,
    proto_payload: Option<IgnoredAny>,
    request_header: Option<IgnoredAny>,
    request: Option<IgnoredAny>,
    rules: Option<IgnoredAny>,
    log: Option<IgnoredAny>,
    #[serde(rename = "class_uid")]
    class_uid: Option<IgnoredAny>,
    #[serde(rename = "resourceLogs")]
    resource_logs: Option<IgnoredAny>,
}

/// What a line is that is not a JSON object, by how it begins.
pub(super) fn of_text(line: &[u8]) -> &'static str {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes.get(..200).unwrap_or(bytes)).into_owned();
    let start = text(line);
    let trimmed = start.trim_start();
    let klog = trimmed.strip_prefix(['I', 'W', 'E', 'F']).and_then(|rest| rest.get(..4));
    if trimmed.starts_with("type=") && trimmed.contains("msg=audit(") {
        "a line of the Linux auditd log, which is not the Kubernetes audit log"
    } else if klog.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit())) {
        "a klog line of a Kubernetes component"
    } else if trimmed.starts_with('[') {
        "a JSON array or a part of one; only one JSON object a line is read yet"
    } else if trimmed.contains(" {\"") {
        "a line with a prefix before its JSON (a node name or a time); only one JSON object a line is read yet"
    } else if trimmed.contains("AUDIT: id=") {
        "a line of the legacy audit format"
    } else {
        "not JSON"
    }
}

/// What a JSON object is that is not an audit event.
pub(super) fn of_object(line: &[u8]) -> &'static str {
    let Ok(probe) = serde_json::from_slice::<Probe>(line) else { return "a JSON object that is no audit event" };
    let kind = probe.kind.as_ref().and_then(|kind| kind.as_str()).unwrap_or_default();
    match kind {
        "EventList" | "List" if probe.items.is_some() => {
            return "a List around its events; only one event a line is read yet";
        }
        "Policy" if probe.rules.is_some() => return "an audit Policy, not a log",
        "AdmissionReview" => return "an AdmissionReview, which has no authorization data",
        _ => {}
    }
    let shapes = [
        (probe.involved_object.is_some() || probe.regarding.is_some(), "a Kubernetes Event object, not an audit event"),
        (probe.log_events.is_some() || probe.events.is_some(), "an EKS (CloudWatch) export; not read yet"),
        (probe.proto_payload.is_some(), "a GKE (Cloud Logging) entry; not read yet"),
        (probe.records.is_some() || probe.properties.is_some(), "an AKS (Azure diagnostic) record; not read yet"),
        (probe.request_header.is_some(), "a line of the Rancher API audit log, which has no authorization data"),
        (probe.class_uid.is_some(), "an OCSF record; not read yet"),
        (probe.resource_logs.is_some(), "an OTLP record; not read yet"),
        (probe.log.is_some(), "a container log line around its event; not read yet"),
        (probe.request.is_some(), "a JSON object that is no audit event"),
    ];
    shapes.into_iter().find(|(found, _)| *found).map_or("a JSON object that is no audit event", |(_, what)| what)
}
