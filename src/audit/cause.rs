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
    NoVerb,
    LongLine,
    LongField,
    NoEnd,
    Yaml,
    Row,
    Nested,
    LegacyText,
    OtherService,
    Rancher,
    CoreEvent,
    Policy,
    Review,
    Auditd,
    Ovn,
    Klog,
    JsonLog,
    TextLog,
    Control,
    OtherKind,
    OtherJson,
    Profile,
    Utf16,
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
            Self::NoVerb => "audit event without a verb",
            Self::LongLine => "record over 64 MiB",
            Self::LongField => "audit event with a name or path over 8 KiB",
            Self::NoEnd => "list without an end",
            Self::Yaml => "YAML that cannot be read",
            Self::Row => "row that does not fit its header",
            Self::Nested => "envelopes within envelopes",
            Self::LegacyText => "legacy text format of the audit log",
            Self::OtherService => "Cloud Logging entry of another service",
            Self::Rancher => "Rancher API audit log",
            Self::CoreEvent => "core/v1 Event",
            Self::Policy => "audit policy",
            Self::Review => "admission review",
            Self::Auditd => "Linux auditd record",
            Self::Ovn => "OVN network audit record",
            Self::Klog => "klog line",
            Self::JsonLog => "JSON log of another program",
            Self::TextLog => "text log of another program",
            Self::Control => "CloudWatch control message",
            Self::OtherKind => "object of another kind",
            Self::OtherJson => "object of unknown shape",
            Self::Profile => "usage profile with its parts in another order",
            Self::Utf16 => "UTF-16",
            Self::Binary => "binary data",
        }
    }

    /// What the reader can do, or what the line is instead.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Broken => "what came before it counts",
            Self::CutShort => "the end of the line is missing",
            Self::NotJson | Self::OtherKind | Self::OtherJson | Self::WrongField | Self::NoRequest => {
                "no shape of an audit event that this reads"
            }
            Self::NoVerb => "it tells of no call",
            Self::LongLine | Self::LongField => "passed over to keep memory bounded",
            Self::NoEnd => "the file was cut; what came before counts",
            Self::Yaml => "the document is passed over",
            Self::Row => "the row is passed over",
            Self::Nested => "deeper than any log known; passed over",
            Self::LegacyText => "it has neither object nor decision: set `--audit-log-format=json`",
            Self::OtherService => "it is no audit event of a Kubernetes API server (`k8s.io`)",
            Self::Rancher => "it records calls to Rancher, not to the Kubernetes API server",
            Self::CoreEvent => "that is what `kubectl get events` shows, not an audit log",
            Self::Policy => "it says what to log, it is no log",
            Self::Review => "it carries no authorization decision",
            Self::Auditd => "it is the audit log of the Linux kernel",
            Self::Ovn => "it tells of network connections",
            Self::Klog => "it is the API server's own log, not its audit log",
            Self::JsonLog | Self::TextLog => "it is no audit log",
            Self::Control => "it says that the subscription works, nothing else",
            Self::Profile => "`schema` must be the first key, as `rolecall observe` writes it",
            Self::Utf16 => "convert it to UTF-8 first, such as by `iconv -f UTF-16 -t UTF-8`",
            Self::Binary => {
                "decompress it first; gzip and zstd are read as they are, also one within the other, and so are the files of a tar archive"
            }
        }
    }

    /// Whether the cause is that of the whole text, so that the lines that follow share it.
    pub(super) fn spreads(self) -> bool {
        matches!(self, Self::Binary | Self::Utf16)
    }

    /// The cause for a record whose JSON cannot be read.
    pub(super) fn of_json(error: &serde_json::Error) -> Self {
        match error.classify() {
            Category::Eof => Self::CutShort,
            Category::Syntax | Category::Io => Self::NotJson,
            Category::Data => Self::OtherJson,
        }
    }

    /// The text of a JSON error without its position.
    pub(super) fn plain(error: &serde_json::Error) -> String {
        let text = error.to_string();
        let text = text.split_once(" at line ").map_or(&*text, |(text, _)| text);
        text.chars().take(120).collect::<String>().escape_debug().to_string()
    }

    /// The cause for a line that does not start an object.
    pub(super) fn of_text(line: &[u8]) -> Self {
        let text = String::from_utf8_lossy(line.get(..line.len().min(512)).unwrap_or_default());
        let text = &*text;
        let word = text.split_ascii_whitespace().next().unwrap_or_default();
        // zstd, gzip, xz, zero-filled blocks.
        let magic: [&[u8]; 3] = [b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"\xfd7zXZ"];
        if is_utf16(line) {
            Self::Utf16
        } else if magic.iter().any(|magic| line.starts_with(magic)) || memchr::memchr(0, line).is_some() {
            Self::Binary
        } else if word.starts_with("type=") && text.contains("msg=audit(") {
            Self::Auditd
        } else if is_klog(word) {
            Self::Klog
        } else if text.contains(" AUDIT: id=\"") {
            Self::LegacyText
        } else if text.starts_with("CWL CONTROL MESSAGE") {
            Self::Control
        } else if text.contains("|acl_log(") {
            Self::Ovn
        } else if word.starts_with("time=") && text.contains(" level=") {
            Self::TextLog
        } else {
            Self::NotJson
        }
    }

    /// The cause for a line that starts an object but was not read as an event: the kind to show, if any.
    pub(super) fn of_object(line: &[u8], error: Option<&serde_json::Error>) -> (Self, Option<String>) {
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

/// Whether it begins with the mark of UTF-16, or as JSON does in it. PowerShell writes it.
pub(super) fn is_utf16(text: &[u8]) -> bool {
    matches!(text, [0xff, 0xfe, ..] | [0xfe, 0xff, ..] | [b'{' | b'[', 0, ..] | [0, b'{' | b'[', ..])
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
    #[serde(borrow)]
    schema: Text<'a>,
    // What an event without its kind has, and Rancher's not.
    level: Option<IgnoredAny>,
    stage: Option<IgnoredAny>,
    // Rancher
    method: Option<IgnoredAny>,
    response_code: Option<IgnoredAny>,
    #[serde(rename = "requestURI")]
    request_uri: Option<IgnoredAny>,
    // What OpenShift's collector says where a record is from.
    #[serde(borrow, rename = "log_source")]
    log_source: Text<'a>,
    // other logs
    message: Option<IgnoredAny>,
    msg: Option<IgnoredAny>,
}

impl Shape<'_> {
    fn cause(&self, wrong_field: bool) -> Cause {
        let is_audit = self.api_version.starts_with("audit.k8s.io/");
        match &*self.kind {
            "Event" if is_audit && wrong_field => return Cause::WrongField,
            "Event" if !is_audit => return Cause::CoreEvent,
            "Policy" if is_audit => return Cause::Policy,
            "AdmissionReview" => return Cause::Review,
            "" if wrong_field && self.audit_id.is_some() && self.level.is_some() && self.stage.is_some() => {
                return Cause::WrongField;
            }
            "" => {}
            _ => return Cause::OtherKind,
        }
        match &*self.log_source {
            "auditd" => return Cause::Auditd,
            "ovn" => return Cause::Ovn,
            _ => {}
        }
        let any = |keys: &[&Option<IgnoredAny>]| keys.iter().any(|key| key.is_some());
        if self.schema.starts_with("rolecall-usage/") {
            Cause::Profile
        } else if self.involved_object.is_some() {
            Cause::CoreEvent
        } else if self.request_uri.is_some() && any(&[&self.method, &self.response_code, &self.audit_id]) {
            Cause::Rancher
        } else if any(&[&self.message, &self.msg]) {
            Cause::JsonLog
        } else {
            Cause::OtherJson
        }
    }
}

#[cfg(test)]
mod tests;
