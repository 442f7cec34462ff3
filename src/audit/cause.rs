//! Why a line is no audit event: shapes that look like one are refused by name, with what to do.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::error::Category;

use super::event::Text;

/// Why a line was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Cause {
    /// Reading failed; what came before counts.
    Broken,
    CutShort,
    NotJson,
    WrongField,
    NoRequest,
    LongLine,
    LongField,
    PrettyPrinted,
    Array,
    List,
    NodePrefix,
    LogPrefix,
    Yaml,
    LegacyText,
    Wrapped,
    Eks,
    Gke,
    Aks,
    Rancher,
    CoreEvent,
    Policy,
    Review,
    Auditd,
    Klog,
    JsonLog,
    OtherKind,
    OtherJson,
    Binary,
}

impl Cause {
    /// Its name in counts.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Broken => "input broke off",
            Self::CutShort => "audit event cut short",
            Self::NotJson => "not JSON",
            Self::WrongField => "audit event with a field of another type",
            Self::NoRequest => "audit event without requestURI and objectRef",
            Self::LongLine => "line over 64 MiB",
            Self::LongField => "audit event with a name or path over 8 KiB",
            Self::PrettyPrinted => "pretty-printed JSON",
            Self::Array => "JSON array of events",
            Self::List => "list of events in one object",
            Self::NodePrefix => "node name in front of the event",
            Self::LogPrefix => "time stamp in front of the event",
            Self::Yaml => "YAML",
            Self::LegacyText => "legacy text format of the audit log",
            Self::Wrapped => "audit event inside another object",
            Self::Eks => "CloudWatch export (EKS)",
            Self::Gke => "Cloud Logging entry (GKE)",
            Self::Aks => "Azure diagnostic record (AKS)",
            Self::Rancher => "Rancher API audit log",
            Self::CoreEvent => "core/v1 Event",
            Self::Policy => "audit policy",
            Self::Review => "admission review",
            Self::Auditd => "Linux auditd record",
            Self::Klog => "klog line",
            Self::JsonLog => "JSON log of another program",
            Self::OtherKind => "object of another kind",
            Self::OtherJson => "JSON of unknown shape",
            Self::Binary => "binary data",
        }
    }

    /// What the reader can do, or what the line is instead.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Broken => "what came before it counts",
            Self::CutShort => "the end of the line is missing",
            Self::NotJson | Self::OtherKind | Self::OtherJson | Self::WrongField | Self::NoRequest => {
                "this reads `audit.k8s.io` events, one JSON object a line"
            }
            Self::LongLine | Self::LongField => "passed over to keep memory bounded",
            Self::PrettyPrinted => "write one event a line: `jq -c .`",
            Self::Array => "write one event a line: `jq -c '.[]'`",
            Self::List => "write one event a line: `jq -c '.items[]'`",
            Self::NodePrefix => "take it off: `sed 's/^[^ ]* //'`",
            Self::LogPrefix => "give the audit log itself, or take off what stands before the `{`",
            Self::Yaml => "write one event a line, as JSON: `yq -o=json -I=0`",
            Self::LegacyText => "it has neither object nor decision: set `--audit-log-format=json`",
            Self::Wrapped => "write the inner event, one a line",
            Self::Eks => "write the messages, one a line: `jq -r '.events[].message'`",
            Self::Gke => "its entries are no Kubernetes audit events and are not read yet",
            Self::Aks => "write the events, one a line: `jq -r '.records[].properties.log'`",
            Self::Rancher => "it records calls to Rancher, not to the Kubernetes API server",
            Self::CoreEvent => "that is what `kubectl get events` shows, not an audit log",
            Self::Policy => "it says what to log, it is no log",
            Self::Review => "it carries no authorization decision",
            Self::Auditd => "it is the audit log of the Linux kernel",
            Self::Klog => "it is the API server's own log, not its audit log",
            Self::JsonLog => "it is no audit log",
            Self::Binary => "decompress it first; only gzip is read as it is",
        }
    }

    /// Whether the cause is that of the whole text, so that the lines that follow share it.
    pub(super) fn spreads(self) -> bool {
        matches!(self, Self::PrettyPrinted | Self::Array | Self::Yaml | Self::Binary)
    }

    /// The cause for a line that does not start an object.
    pub(super) fn of_text(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line.get(..line.len().min(512)).unwrap_or_default());
        let text = &*text;
        let word = text.split_ascii_whitespace().next().unwrap_or_default();
        // zstd, gzip within gzip, xz, UTF-16, zero-filled blocks.
        let magic: [&[u8]; 5] = [b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"\xfd7zXZ", b"\xff\xfe", b"\xfe\xff"];
        if magic.iter().any(|magic| line.starts_with(magic)) || memchr::memchr(0, line).is_some() {
            Self::Binary
        } else if text.starts_with(['[', ']']) {
            Self::Array
        } else if word.starts_with("type=") && text.contains("msg=audit(") {
            Self::Auditd
        } else if is_klog(word) {
            Self::Klog
        } else if text.contains(" AUDIT: id=\"") {
            Self::LegacyText
        } else if matches!(word, "kind:" | "apiVersion:" | "items:" | "---" | "-" | "auditID:") {
            Self::Yaml
        } else if text.split_once(' ').is_some_and(|(_, rest)| rest.trim_start().starts_with('{'))
            && word.bytes().all(|b| b.is_ascii_alphanumeric() || b".-_".contains(&b))
        {
            Self::NodePrefix
        } else if word.starts_with(|c: char| c.is_ascii_digit()) && word.contains(':') && text.contains('{') {
            Self::LogPrefix
        } else {
            Self::NotJson
        }
    }

    /// The cause for a line that starts an object but was not read as an event: the kind to show, if any.
    pub(super) fn of_object(line: &[u8], error: Option<&serde_json::Error>) -> (Self, Option<String>) {
        if line.trim_ascii() == b"{" {
            return (Self::PrettyPrinted, None);
        }
        match error.map(serde_json::Error::classify) {
            Some(Category::Eof) => return (Self::CutShort, None),
            Some(Category::Syntax | Category::Io) => return (Self::NotJson, None),
            Some(Category::Data) | None => {}
        }
        let Ok(shape) = serde_json::from_slice::<Shape<'_>>(line) else {
            return (Self::OtherJson, None);
        };
        let cause = shape.cause(error.is_some());
        let kind = Some(&*shape.kind).filter(|kind| !kind.is_empty() && cause == Self::OtherKind);
        (cause, kind.map(|kind| kind.chars().take(60).collect::<String>().escape_debug().to_string()))
    }
}

fn is_klog(word: &str) -> bool {
    let digits = word.strip_prefix(['I', 'W', 'E', 'F']).unwrap_or_default();
    digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit())
}

/// The top-level keys by which shapes are told apart.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Shape<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    api_version: Text<'a>,
    #[serde(rename = "auditID")]
    audit_id: Option<IgnoredAny>,
    involved_object: Option<IgnoredAny>,
    items: Option<IgnoredAny>,
    // EKS
    events: Option<IgnoredAny>,
    log_events: Option<IgnoredAny>,
    // GKE
    proto_payload: Option<IgnoredAny>,
    protopayload_auditlog: Option<IgnoredAny>,
    #[serde(rename = "AuditPayload")]
    audit_payload: Option<IgnoredAny>,
    // AKS
    records: Option<IgnoredAny>,
    properties: Option<IgnoredAny>,
    log_s: Option<IgnoredAny>,
    // Rancher
    method: Option<IgnoredAny>,
    response_code: Option<IgnoredAny>,
    #[serde(rename = "requestURI")]
    request_uri: Option<IgnoredAny>,
    // collectors
    log: Option<IgnoredAny>,
    line: Option<IgnoredAny>,
    event: Option<IgnoredAny>,
    resource_logs: Option<IgnoredAny>,
    streams: Option<IgnoredAny>,
    kubernetes: Option<IgnoredAny>,
    // other logs
    message: Option<IgnoredAny>,
    msg: Option<IgnoredAny>,
}

impl Shape<'_> {
    fn cause(&self, wrong_field: bool) -> Cause {
        let is_audit = self.api_version.starts_with("audit.k8s.io/");
        match &*self.kind {
            "Event" if is_audit && wrong_field => return Cause::WrongField,
            "EventList" | "List" => return Cause::List,
            "Event" if !is_audit => return Cause::CoreEvent,
            "Policy" if is_audit => return Cause::Policy,
            "AdmissionReview" => return Cause::Review,
            "" => {}
            _ => return Cause::OtherKind,
        }
        let gke = [&self.proto_payload, &self.protopayload_auditlog, &self.audit_payload];
        let aks = [&self.records, &self.properties, &self.log_s];
        let wrapped = [&self.log, &self.line, &self.event, &self.resource_logs, &self.streams];
        let any = |keys: &[&Option<IgnoredAny>]| keys.iter().any(|key| key.is_some());
        if self.involved_object.is_some() {
            Cause::CoreEvent
        } else if any(&[&self.events, &self.log_events]) {
            Cause::Eks
        } else if any(&gke) {
            Cause::Gke
        } else if any(&aks) {
            Cause::Aks
        } else if self.request_uri.is_some() && any(&[&self.method, &self.response_code, &self.audit_id]) {
            Cause::Rancher
        } else if any(&wrapped) || self.kubernetes.is_some() {
            Cause::Wrapped
        } else if self.items.is_some() {
            Cause::List
        } else if any(&[&self.message, &self.msg]) {
            Cause::JsonLog
        } else {
            Cause::OtherJson
        }
    }
}

#[cfg(test)]
mod tests;
