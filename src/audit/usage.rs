//! The usage profile: distinct observed calls with counts, and how good the log was.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::behind::Behind;
use super::clients::Clients;
use super::limits::Limit;
use crate::rbac::Request;
use crate::source::Diagnostics;

/// Most samples of a call.
pub(super) const MOST_SAMPLES: usize = 3;
/// Most reasons of a call.
pub(super) const MOST_REASONS: usize = 4;
/// Most users kept who made a call as another, or whose call it was.
pub const MOST_IMPERSONATORS: usize = 4;

/// What a log showed, for all its users.
#[derive(Debug, Clone, Default)]
pub struct Usage {
    /// Distinct calls, sorted by (user, request, origin, decision); shared with what is judged of them.
    pub calls: Vec<Arc<Observed>>,
    /// From where the calls of a user came, by user; those of an impersonated user from who impersonated.
    pub clients: BTreeMap<String, Clients>,
    /// How good the log was.
    pub quality: LogQuality,
    /// Lines that were lost, with position and reason (the first of each cause; the rest is counted).
    pub diagnostics: Diagnostics,
}

/// One distinct call of one user, with its counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// The effective user name: the impersonated one where a request was impersonated.
    pub user: String,
    /// The authorization attributes.
    pub request: Request,
    /// Whether the request itself was seen or the check behind it.
    pub origin: Origin,
    /// What the authorizer said.
    pub decision: Decision,
    /// Number of calls (stages of one call counted once).
    pub count: u64,
    /// Calls by HTTP status code (0: none logged).
    pub codes: BTreeMap<u16, u64>,
    /// Earliest `requestReceivedTimestamp`, as logged.
    pub first: String,
    /// Latest `requestReceivedTimestamp`, as logged.
    pub last: String,
    /// Up to three samples, the earliest lines.
    pub samples: Vec<Sample>,
    /// `authorization.k8s.io/reason` texts seen, at most four, each cut at 1 KiB.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
    /// objectRef.namespace where it differs from the request's namespace (it is filled from the body for
    /// some cluster-scoped objects); else empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub object_namespace: String,
    /// Audit level of the best-logged of these calls: `Metadata`, `Request` or `RequestResponse`.
    pub level: String,
    /// Users that made these calls as `user`, at most four, sorted; empty when none was impersonated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub impersonators: Vec<String>,
    /// Users whose calls were counted as those of `user` because the caller of rolecall said so, at most four, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attributed_from: Vec<String>,
    /// How many of these calls were counted so; the others the log shows as those of `user`.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub attributed: u64,
    /// What bodies and answers show of the checks behind these calls, bounded, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub behind: Vec<Behind>,
    /// Authorized calls whose body decides what else was checked, and whose body the log does not have.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unread: u64,
    /// More names of objects than this were seen: this stands for all of them, and its request has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_than: Option<u64>,
}

/// A place in a log.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sample {
    /// Path of the log as given.
    pub path: String,
    /// Line, from 1.
    pub line: u64,
    /// `auditID`.
    pub audit_id: String,
}

/// How a permission shows in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The request itself.
    Call,
    /// `impersonate`, checked on the real user of an impersonated request.
    Impersonation,
    /// The user asked whether it may (SelfSubjectAccessReview); the decision is the answer.
    Asked,
    /// Somebody else asked whether the user may (SubjectAccessReview): a kubelet, an aggregated API server, a webhook.
    AskedBy,
}

/// What the authorizer said of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// Authorized; whatever the code was (404, 409, 422, 500 count as use).
    Allowed,
    /// `authorization.k8s.io/decision: forbid`; without that annotation, a 403 in the authorizer's words.
    Denied,
    /// Never reached or never answered by the authorizer: 401, 429, denied impersonation, RequestReceived
    /// only, a 403 that says nothing.
    Undecided,
}

/// How good the log was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogQuality {
    /// Log files read.
    pub files: u64,
    /// Bytes read, after decompression.
    pub bytes: u64,
    /// Records read, each an event or skipped. A record is a line, or what an envelope, a list or a document holds.
    pub lines: u64,
    /// Records that were audit events.
    pub events: u64,
    /// Events left out because they were of another time, or of other users, than was asked for; of a usage profile,
    /// calls, whatever their stages.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Events by the shape that they came in.
    pub shapes: BTreeMap<String, u64>,
    /// Records that were no events, by cause.
    pub skipped: Vec<Skipped>,
    /// Events by stage; `other` for names that Kubernetes does not know.
    pub stages: BTreeMap<String, u64>,
    /// Events by level; `other` as above.
    pub levels: BTreeMap<String, u64>,
    /// What the log seems never to show of anybody.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub limits: BTreeSet<Limit>,
    /// Earliest time of an event, as logged.
    pub first: String,
    /// Latest time of an event, as logged.
    pub last: String,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Records lost to one cause.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Skipped {
    /// The cause, such as `not JSON` or `audit event cut short`.
    pub cause: String,
    /// How many records.
    pub lines: u64,
}
