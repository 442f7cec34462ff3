//! What a record is that is no `audit.k8s.io` event by itself: an envelope with records in it, an event in the words of
//! another log, or a look-alike, which is refused by name. Between `framing` and the events.

mod dotted;
mod envelope;
mod flat;
mod gke;
mod losses;
mod ocsf;

use std::borrow::Cow;

use serde_json::value::RawValue;

pub use losses::{Known, Loss};

use super::cause::Cause;
use super::event::Event;
use super::pieces::Piece;

/// Envelopes within envelopes are opened this deep: OTLP has four around the event.
pub(super) const DEEPEST: usize = 8;

/// In which shape events came, by its outermost envelope.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Shape {
    /// `audit.k8s.io` events as the API server writes them.
    #[default]
    Native,
    /// Kubernetes lists and JSON arrays of them.
    List,
    /// With a node's name, a time, or what a container runtime writes in front of them.
    Prefixed,
    /// As JSON strings.
    Quoted,
    /// CloudWatch: its API, subscriptions, exports and Insights.
    CloudWatch,
    /// Cloud Logging entries, and their rows in BigQuery.
    Gke,
    /// Diagnostic records of Azure.
    Aks,
    /// Tables of Log Analytics: AzureDiagnostics, AKSAudit, ArcK8sAudit.
    AzureTable,
    /// OpenShift's collector, by its own data model.
    ViaQ,
    /// OpenTelemetry's protocol.
    Otlp,
    /// Alibaba's Log Service.
    Sls,
    /// Elastic's schema.
    Ecs,
    /// Splunk's HTTP collector and its exports.
    Splunk,
    /// Panther's normalised events.
    Panther,
    /// OCSF API Activity.
    Ocsf,
    /// Loki: pushed, queried, and what `logcli` writes.
    Loki,
    /// Objects with the event in `log` or `message`.
    Collector,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 17] = [
        Self::Native,
        Self::List,
        Self::Prefixed,
        Self::Quoted,
        Self::CloudWatch,
        Self::Gke,
        Self::Aks,
        Self::AzureTable,
        Self::ViaQ,
        Self::Otlp,
        Self::Sls,
        Self::Ecs,
        Self::Splunk,
        Self::Panther,
        Self::Ocsf,
        Self::Loki,
        Self::Collector,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "audit.k8s.io events",
            Self::List => "lists of audit.k8s.io events",
            Self::Prefixed => "events behind a prefix (node name, container log)",
            Self::Quoted => "events in JSON strings",
            Self::CloudWatch => "CloudWatch (EKS)",
            Self::Gke => "Cloud Logging (GKE)",
            Self::Aks => "Azure diagnostic records (AKS)",
            Self::AzureTable => "Log Analytics rows (AKS)",
            Self::ViaQ => "OpenShift ViaQ",
            Self::Otlp => "OpenTelemetry (OTLP)",
            Self::Sls => "Log Service (ACK)",
            Self::Ecs => "Elastic (ECS)",
            Self::Splunk => "Splunk",
            Self::Panther => "Panther",
            Self::Ocsf => "OCSF (Security Lake)",
            Self::Loki => "Loki",
            Self::Collector => "log collector (docker, Fluent, Vector)",
        }
    }

    /// Whose answer has these `results`: rows of Insights are lists, those of Splunk objects.
    fn of_results(results: Option<&RawValue>) -> Self {
        let is_object = |raw: &RawValue| raw.get().get(1..).is_some_and(|rest| rest.trim_start().starts_with('{'));
        if results.is_some_and(is_object) { Self::Splunk } else { Self::CloudWatch }
    }

    /// The shape of an event found in `inner` within an envelope of this shape: the outermost that says something.
    pub(super) fn around(self, inner: Self) -> Self {
        match self {
            Self::Native | Self::List | Self::Prefixed | Self::Quoted | Self::Collector if inner != Self::Native => {
                inner
            }
            _ => self,
        }
    }
}

/// A record that was looked into.
#[derive(Debug)]
pub(super) enum Opened<'a> {
    /// An envelope: the records in it.
    Inner(Shape, Vec<Cow<'a, [u8]>>),
    /// What a container runtime wrote: a text may go on in the next record of the same stream.
    Piece(Piece<'a>),
    /// An event in other words.
    Event(Shape, Box<Event<'a>>),
    /// Neither, with what to show of it.
    Refused(Cause, Option<String>),
}

/// Looks into a record that is JSON but no event; `error` is what reading it as one said.
pub(super) fn open<'a>(text: &'a [u8], error: Option<&serde_json::Error>) -> Opened<'a> {
    match text.first() {
        Some(b'"') => match serde_json::from_slice::<String>(text) {
            Ok(inner) => Opened::Inner(Shape::Quoted, vec![Cow::Owned(inner.into_bytes())]),
            Err(error) => Opened::Refused(Cause::of_json(&error), None),
        },
        Some(b'[') => envelope::row(text),
        _ => {
            let found = serde_json::from_slice::<envelope::Outer<'_>>(text).ok().and_then(|outer| {
                gke::event(text, &outer)
                    .or_else(|| flat::event(text, &outer))
                    .or_else(|| ocsf::event(text, &outer))
                    .or_else(|| outer.open())
                    .or_else(|| dotted::event(text))
            });
            found.unwrap_or_else(|| {
                let (cause, shown) = Cause::of_object(text, error);
                Opened::Refused(cause, shown)
            })
        }
    }
}

/// Finishes an event that a collector changed while it passed: in which shape it came.
pub(super) fn mend(text: &[u8], event: &mut Event<'_>) -> Shape {
    if event.request_received_timestamp.contains(' ') {
        return Shape::Panther;
    }
    // OpenShift's collector writes its own severity where the level was.
    let key = memchr::memmem::find(text, b"_audit_level\"");
    match key.and_then(|_| serde_json::from_slice::<envelope::Levels>(text).ok()?.level()) {
        Some(level) => {
            event.level.0 = Cow::Owned(level);
            Shape::ViaQ
        }
        None => Shape::Native,
    }
}

/// The text of a JSON string; `None` for another value.
fn text_of(raw: &RawValue) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    #[serde(transparent)]
    struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);
    raw.get().starts_with('"').then(|| serde_json::from_str::<Borrowed<'_>>(raw.get()).ok())?.map(|text| text.0)
}

#[cfg(test)]
mod tests;
