//! Events → distinct calls with counts. A call costs memory the first time only.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash, Hasher};
use std::io::Read;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::call::{Call, KeyRef, Level, Seen, widen};
use super::event::{Event, text};
use super::lines::{Line, Lines, MAX_LINE};
use super::{Decision, LogQuality, Observed, Origin, RequestInfo, Skipped, Usage, request_info};
use super::{impersonation, lookalike};
use crate::rbac::ResourceRequest;
use crate::source::{Diagnostic, DiagnosticKind, Location};

/// Requests whose last stage is awaited; more at once are not folded (and said so).
const MAX_PENDING: usize = 1 << 20;

/// Collects the distinct calls of one or more logs.
#[derive(Debug, Default)]
pub struct Collector {
    hasher: RandomState,
    index: HashTable<u32>,
    calls: Vec<Call>,
    paths: Vec<String>,
    /// auditID of requests seen in an earlier stage → what was counted for them.
    pending: HashMap<u128, Vec<(u32, u16)>, RandomState>,
    skipped: BTreeMap<String, (u64, Diagnostic)>,
    stages: Counter,
    levels: Counter,
    quality: LogQuality,
}

impl Collector {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one log (already decompressed) to its end. Never fails: what cannot be read, an I/O error
    /// included, becomes a diagnostic with `path` and line.
    pub fn read(&mut self, path: &str, input: &mut dyn Read) {
        let file = u32::try_from(self.paths.len()).unwrap_or(u32::MAX);
        self.paths.push(path.to_owned());
        self.quality.files += 1;
        let mut number = 0;
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next_line() {
            number += 1;
            match line {
                Ok(Line::Bytes(bytes)) => {
                    self.quality.bytes += bytes.len() as u64 + 1;
                    self.line(file, number, bytes);
                }
                Ok(Line::TooLong) => {
                    self.quality.lines += 1;
                    self.skip(file, number, 1, format!("longer than {} MiB", MAX_LINE >> 20));
                }
                Err(error) => self.skip(file, number, 1, format!("the log ends here: {error}")),
            }
        }
    }

    fn line(&mut self, file: u32, number: u64, line: &[u8]) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let begin = line.iter().find(|byte| !byte.is_ascii_whitespace());
        let Some(begin) = begin else { return };
        self.quality.lines += 1;
        if *begin != b'{' {
            self.skip(file, number, 1, lookalike::of_text(line).to_owned());
            return;
        }
        match serde_json::from_slice::<Event<'_>>(line) {
            Ok(event) => {
                let version = text(&event.api_version);
                let ours = version.starts_with("audit.k8s.io/") || (version.is_empty() && event.audit_id.is_some());
                if ours && event.stage.is_some() && event.user.is_some() {
                    self.event(file, number, &event);
                } else {
                    self.skip(file, number, 1, lookalike::of_object(line).to_owned());
                }
            }
            Err(error) => {
                let column = u32::try_from(error.column()).unwrap_or(u32::MAX).max(1);
                let cause = match error.classify() {
                    serde_json::error::Category::Eof if line.trim_ascii().len() <= 2 => {
                        "a part of pretty-printed JSON; only one JSON object a line is read yet".to_owned()
                    }
                    serde_json::error::Category::Eof => "a JSON object that is cut short".to_owned(),
                    serde_json::error::Category::Data => lookalike::of_object(line).to_owned(),
                    _ => "not JSON".to_owned(),
                };
                self.skip(file, number, column, cause);
            }
        }
    }

    fn skip(&mut self, file: u32, line: u64, column: u32, cause: String) {
        let path = self.paths.get(file as usize).cloned().unwrap_or_default();
        let entry = self.skipped.entry(cause).or_insert_with_key(|cause| {
            let line = u32::try_from(line).unwrap_or(u32::MAX);
            let location = Location { path, line, column, end_line: line, end_column: column, span: None };
            (0, Diagnostic { kind: DiagnosticKind::Unreadable, location, message: cause.clone() })
        });
        entry.0 += 1;
    }

    fn event(&mut self, file: u32, line: u64, event: &Event<'_>) {
        self.quality.events += 1;
        let stage = text(&event.stage);
        self.stages.add(stage);
        self.levels.add(text(&event.level));
        let received = text(&event.request_received_timestamp);
        let time = if received.is_empty() { text(&event.stage_timestamp) } else { received };
        widen(&mut self.quality.first, &mut self.quality.last, time);

        let real_user = event.user.as_ref().map(|user| text(&user.username)).unwrap_or_default();
        let impersonated = event.impersonated_user.as_ref().map(|user| text(&user.username));
        let user = impersonated.unwrap_or(real_user);
        let verb = text(&event.verb);
        let info = attributes(event, verb);
        let status = event.response_status.as_ref();
        let code = match stage {
            "Panic" => 500,
            _ => status.and_then(|status| status.code).and_then(|code| u16::try_from(code).ok()).unwrap_or_default(),
        };
        let decision = decide(event, stage, code);
        let object_namespace = match &event.object_ref {
            Some(object) if text(&object.namespace) != &*info.namespace => text(&object.namespace),
            _ => "",
        };
        let seen = Seen {
            code,
            time,
            level: match text(&event.level) {
                "RequestResponse" => Level::RequestResponse,
                "Request" => Level::Request,
                _ => Level::Metadata,
            },
            reason: event.annotations.as_ref().map(|a| text(&a.reason)).unwrap_or_default(),
            path: file,
            line,
            audit_id: text(&event.audit_id),
        };

        let id = self.id_of(event, verb);
        let last = matches!(stage, "ResponseComplete" | "Panic");
        if !last || !self.pending.is_empty() {
            // What an earlier stage counted is taken back; this one says more.
            for (call, code) in self.pending.remove(&id).unwrap_or_default() {
                if let Some(call) = self.calls.get_mut(call as usize) {
                    call.take_back(code);
                }
            }
        }
        let mut counted = Vec::new();
        let key = KeyRef {
            user,
            is_resource: info.is_resource,
            verb,
            api_group: &info.api_group,
            resource: if info.is_resource { &info.resource } else { &info.path },
            subresource: &info.subresource,
            namespace: &info.namespace,
            name: &info.name,
            object_namespace,
            origin: Origin::Call,
            decision,
        };
        let call = self.count(key, seen);
        if !last {
            counted.push((call, code));
        }
        for (request, decision) in impersonations(event, &info, verb, stage, code) {
            let key = KeyRef {
                user: real_user,
                is_resource: true,
                verb: &request.verb,
                api_group: &request.api_group,
                resource: &request.resource,
                subresource: &request.subresource,
                namespace: &request.namespace,
                name: &request.name,
                object_namespace: "",
                origin: Origin::Impersonation,
                decision,
            };
            let call = self.count(key, Seen { reason: "", ..seen });
            if !last {
                counted.push((call, code));
            }
        }
        if !counted.is_empty() {
            if self.pending.len() < MAX_PENDING {
                self.pending.insert(id, counted);
            } else {
                self.skip(file, line, 1, format!("more than {MAX_PENDING} requests without their last stage: counted once a stage"));
            }
        }
    }

    /// Two requests to which a client gave one id stay two.
    fn id_of(&self, event: &Event<'_>, verb: &str) -> u128 {
        let half = |salt: u8| {
            let mut hasher = self.hasher.build_hasher();
            (salt, text(&event.audit_id), verb, text(&event.request_uri)).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        (half(0) << 64) | half(1)
    }

    fn count(&mut self, key: KeyRef<'_>, seen: Seen<'_>) -> u32 {
        let hash = key.hash(&self.hasher);
        let (index, calls) = (&mut self.index, &mut self.calls);
        let known = index.find(hash, |&at| calls.get(at as usize).is_some_and(|call| key.is(&call.key))).copied();
        let at = known.unwrap_or_else(|| {
            let at = u32::try_from(calls.len()).unwrap_or(u32::MAX);
            calls.push(Call::new(key, hash));
            index.insert_unique(hash, at, |&at| calls.get(at as usize).map_or(0, |call| call.hash));
            at
        });
        if let Some(call) = calls.get_mut(at as usize) {
            call.add(seen);
        }
        at
    }

    /// The profile of everything read.
    pub fn finish(mut self) -> Usage {
        let paths = self.paths;
        let calls = self.calls.into_iter().filter(|call| call.count > 0);
        let mut calls: Vec<Observed> = calls.map(|call| call.observed(&paths)).collect();
        calls.sort_by(|a, b| {
            (&a.user, &a.request, a.origin, a.decision, &a.object_namespace)
                .cmp(&(&b.user, &b.request, b.origin, b.decision, &b.object_namespace))
        });
        self.quality.stages = self.stages.into_map();
        self.quality.levels = self.levels.into_map();
        let mut diagnostics = Vec::new();
        for (cause, (lines, mut diagnostic)) in self.skipped {
            if lines > 1 {
                diagnostic.message = format!("{cause} ({lines} lines, this is the first)");
            }
            self.quality.skipped.push(Skipped { cause, lines });
            diagnostics.push(diagnostic);
        }
        diagnostics.sort_by(|a, b| a.location.cmp(&b.location));
        Usage { calls, quality: self.quality, diagnostics }
    }
}

/// Attributes out of the URI; out of `objectRef` where the URI was dropped.
fn attributes<'a>(event: &'a Event<'_>, verb: &str) -> RequestInfo<'a> {
    let uri = text(&event.request_uri);
    match (&event.object_ref, uri.is_empty()) {
        (Some(object), true) => {
            let version = text(&object.api_version);
            // v1alpha1 has group and version in one.
            let split = version.split_once('/').map_or("", |(group, _)| group);
            let group = text(&object.api_group);
            RequestInfo {
                is_resource: true,
                api_group: (if group.is_empty() { split } else { group }).into(),
                resource: text(&object.resource).into(),
                subresource: text(&object.subresource).into(),
                namespace: text(&object.namespace).into(),
                // Completed from the body on create, where RBAC saw none.
                name: (if verb == "create" { "" } else { text(&object.name) }).into(),
                path: "".into(),
            }
        }
        _ => request_info(verb, uri),
    }
}

/// What the authorizer said (`staging/src/k8s.io/apiserver/pkg/endpoints/filters/authorization.go`). Authentication,
/// impersonation and priority come before it, so their refusals carry no decision.
fn decide(event: &Event<'_>, stage: &str, code: u16) -> Decision {
    let annotated = event.annotations.as_ref().map(|annotations| text(&annotations.decision)).unwrap_or_default();
    match (annotated, code) {
        ("allow", _) => Decision::Allowed,
        ("forbid", _) => Decision::Denied,
        _ if stage == "RequestReceived" => Decision::Undecided,
        (_, 0 | 401 | 429) => Decision::Undecided,
        (_, 403) => {
            // Without a decision a 403 is a denied impersonation, unless a collector dropped the annotations: then the
            // authorizer's own message tells.
            let message = event.response_status.as_ref().map(|status| text(&status.message)).unwrap_or_default();
            let authorizers = message.contains("\" cannot ") && !message.contains("\" cannot impersonate");
            if authorizers { Decision::Denied } else { Decision::Undecided }
        }
        _ => Decision::Allowed,
    }
}

/// Impersonation checks on the real user: passed ones where a user is impersonated, and the refused one.
fn impersonations(
    event: &Event<'_>,
    info: &RequestInfo<'_>,
    verb: &str,
    stage: &str,
    code: u16,
) -> Vec<(ResourceRequest, Decision)> {
    if event.impersonated_user.is_some() {
        // A request that was only received has not been checked yet by what follows, but impersonation comes before.
        return impersonation::checks(event, info, verb).into_iter().map(|check| (check, Decision::Allowed)).collect();
    }
    let annotated = event.annotations.as_ref().is_some_and(|annotations| annotations.decision.is_some());
    if code != 403 || annotated || stage == "RequestReceived" {
        return Vec::new();
    }
    let message = event.response_status.as_ref().map(|status| text(&status.message)).unwrap_or_default();
    impersonation::denied(message).map(|check| (check, Decision::Denied)).into_iter().collect()
}

/// Counts of a few different words.
#[derive(Debug, Default)]
struct Counter {
    counts: Vec<(String, u64)>,
}

impl Counter {
    /// More words than these come from no API server.
    const MOST: usize = 16;

    fn add(&mut self, word: &str) {
        if let Some((_, count)) = self.counts.iter_mut().find(|(known, _)| known == word) {
            *count += 1;
        } else if self.counts.len() < Self::MOST {
            self.counts.push((word.to_owned(), 1));
        }
    }

    fn into_map(self) -> BTreeMap<String, u64> {
        self.counts.into_iter().collect()
    }
}
