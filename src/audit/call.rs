//! A distinct call and what is remembered of it.

use std::hash::{BuildHasher, Hash, Hasher};

use foldhash::fast::RandomState;

use super::{Decision, Observed, Origin, Sample};
use crate::rbac::{NonResourceRequest, Request, ResourceRequest};

const MAX_SAMPLES: usize = 3;
const MAX_REASONS: usize = 4;

/// A distinct call under way.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) key: Key,
    pub(super) hash: u64,
    pub(super) count: u64,
    pub(super) codes: Vec<(u16, u64)>,
    pub(super) first: String,
    pub(super) last: String,
    pub(super) level: Level,
    pub(super) samples: Vec<(u32, u64, String)>,
    pub(super) reasons: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Key {
    pub(super) user: Box<str>,
    pub(super) is_resource: bool,
    pub(super) verb: Box<str>,
    pub(super) api_group: Box<str>,
    /// Resource, or the path of a non-resource request.
    pub(super) resource: Box<str>,
    pub(super) subresource: Box<str>,
    pub(super) namespace: Box<str>,
    pub(super) name: Box<str>,
    pub(super) object_namespace: Box<str>,
    pub(super) origin: Origin,
    pub(super) decision: Decision,
}

/// A key that is not stored yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeyRef<'a> {
    pub(super) user: &'a str,
    pub(super) is_resource: bool,
    pub(super) verb: &'a str,
    pub(super) api_group: &'a str,
    pub(super) resource: &'a str,
    pub(super) subresource: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    pub(super) object_namespace: &'a str,
    pub(super) origin: Origin,
    pub(super) decision: Decision,
}

/// What an event adds to the call of its key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Seen<'a> {
    pub(super) code: u16,
    pub(super) time: &'a str,
    pub(super) level: Level,
    pub(super) reason: &'a str,
    pub(super) path: u32,
    pub(super) line: u64,
    pub(super) audit_id: &'a str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Metadata,
    Request,
    RequestResponse,
}

impl KeyRef<'_> {
    pub(super) fn hash(&self, hasher: &RandomState) -> u64 {
        let mut state = hasher.build_hasher();
        let flags = (self.is_resource, self.origin, self.decision);
        let parts = (self.user, self.verb, self.api_group, self.resource, self.subresource, self.namespace, self.name);
        (parts, self.object_namespace, flags).hash(&mut state);
        state.finish()
    }

    pub(super) fn is(&self, key: &Key) -> bool {
        *self.name == *key.name
            && *self.user == *key.user
            && *self.resource == *key.resource
            && *self.verb == *key.verb
            && *self.api_group == *key.api_group
            && *self.subresource == *key.subresource
            && *self.namespace == *key.namespace
            && *self.object_namespace == *key.object_namespace
            && (self.is_resource, self.origin, self.decision) == (key.is_resource, key.origin, key.decision)
    }
}

impl Call {
    pub(super) fn new(key: KeyRef<'_>, hash: u64) -> Self {
        Self {
            key: Key {
                user: key.user.into(),
                is_resource: key.is_resource,
                verb: key.verb.into(),
                api_group: key.api_group.into(),
                resource: key.resource.into(),
                subresource: key.subresource.into(),
                namespace: key.namespace.into(),
                name: key.name.into(),
                object_namespace: key.object_namespace.into(),
                origin: key.origin,
                decision: key.decision,
            },
            hash,
            count: 0,
            codes: Vec::new(),
            first: String::new(),
            last: String::new(),
            level: Level::Metadata,
            samples: Vec::new(),
            reasons: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, seen: Seen<'_>) {
        self.count += 1;
        match self.codes.iter_mut().find(|(code, _)| *code == seen.code) {
            Some((_, count)) => *count += 1,
            None => self.codes.push((seen.code, 1)),
        }
        widen(&mut self.first, &mut self.last, seen.time);
        self.level = self.level.max(seen.level);
        if self.samples.len() < MAX_SAMPLES && self.samples.last().is_none_or(|(_, _, id)| id != seen.audit_id) {
            self.samples.push((seen.path, seen.line, seen.audit_id.to_owned()));
        }
        if !seen.reason.is_empty()
            && self.reasons.len() < MAX_REASONS
            && !self.reasons.iter().any(|reason| reason == seen.reason)
        {
            self.reasons.push(seen.reason.to_owned());
        }
    }

    pub(super) fn take_back(&mut self, code: u16) {
        self.count = self.count.saturating_sub(1);
        if let Some((_, count)) = self.codes.iter_mut().find(|(known, _)| *known == code) {
            *count = count.saturating_sub(1);
        }
    }

    pub(super) fn observed(self, paths: &[String]) -> Observed {
        let Key { user, is_resource, verb, api_group, resource, subresource, namespace, name, .. } = self.key;
        let request = if is_resource {
            Request::Resource(ResourceRequest {
                api_group: api_group.into(),
                resource: resource.into(),
                subresource: subresource.into(),
                verb: verb.into(),
                namespace: namespace.into(),
                name: name.into(),
            })
        } else {
            Request::NonResource(NonResourceRequest { path: resource.into(), verb: verb.into() })
        };
        let samples = self.samples.into_iter().map(|(path, line, audit_id)| Sample {
            path: paths.get(path as usize).cloned().unwrap_or_default(),
            line,
            audit_id,
        });
        let mut reasons = self.reasons;
        reasons.sort();
        Observed {
            user: user.into(),
            request,
            origin: self.key.origin,
            decision: self.key.decision,
            count: self.count,
            codes: self.codes.into_iter().filter(|(_, count)| *count > 0).collect(),
            first: self.first,
            last: self.last,
            samples: samples.collect(),
            reasons,
            object_namespace: self.key.object_namespace.into(),
            level: match self.level {
                Level::Metadata => "Metadata",
                Level::Request => "Request",
                Level::RequestResponse => "RequestResponse",
            }
            .to_owned(),
        }
    }
}

/// Widens a span of time; times of one shape sort as texts.
pub(super) fn widen(first: &mut String, last: &mut String, time: &str) {
    if time.is_empty() {
        return;
    }
    if first.is_empty() || time < first.as_str() {
        first.clear();
        first.push_str(time);
    }
    if time > last.as_str() {
        last.clear();
        last.push_str(time);
    }
}
