//! Lines of an API server that cannot be of the users who are asked for, told from their bytes: they are counted by how
//! they begin and end, and not parsed in between. What is damaged between may thus count as an event of others.

use std::sync::{Arc, OnceLock};

use memchr::memmem::{self, Finder};

use super::decision::Stage;
use super::key;
use super::level::Level;
use super::limits::Sights;
use super::select::Select;
use super::time::Time;

/// How an API server begins a line (`apis/audit/v1/types.go`, in the order of the fields).
const HEAD: &[u8] = br#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":""#;
/// Where the fields behind the bodies and before the annotations begin.
const TIMES: &[u8] = br#","requestReceivedTimestamp":""#;
/// Most bytes from there on.
const LONGEST_TAIL: usize = 4 << 10;

/// Tells of lines whether they can be of users who are asked for.
#[derive(Debug, Clone)]
pub(super) struct Prefilter {
    /// Users who are asked for, and those whose calls are theirs.
    users: Vec<Finder<'static>>,
    /// Characters of their names: what is escaped in a line may be one of them.
    letters: Vec<u8>,
    another: Finder<'static>,
    escape: Finder<'static>,
    object: Finder<'static>,
    /// What was read in full. Kinds of requests that it lacks are read too: the whole log is judged by them.
    sights: Sights,
    /// What the first block of the log showed, for all threads: every block begins with it, so that which lines are
    /// passed over does not depend on which thread reads them.
    first: Arc<OnceLock<Sights>>,
}

impl Prefilter {
    /// Of what is asked for; `None` where lines of anybody are, or where a name can be written in more ways than are
    /// looked for.
    pub(super) fn of(select: &Select) -> Option<Self> {
        let plain = |user: &str| {
            let is_plain = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b'/');
            !user.is_empty() && user.bytes().all(is_plain)
        };
        let users: Vec<&String> = select.users.iter().chain(select.attribute.iter().map(|one| &one.who)).collect();
        if select.users.is_empty() || !users.iter().all(|user| plain(user)) {
            return None;
        }
        let mut letters: Vec<u8> = users.iter().flat_map(|user| user.bytes()).collect();
        letters.sort_unstable();
        letters.dedup();
        Some(Self {
            users: users.iter().map(|user| Finder::new(user.as_bytes()).into_owned()).collect(),
            letters,
            another: Finder::new(br#"{"kind":"Event","apiVersion":"audit"#),
            escape: Finder::new(br"\u00"),
            object: Finder::new(br#","objectRef":{"#),
            sights: Sights::default(),
            first: Arc::default(),
        })
    }

    /// Begins the `number`th block of the log, from 0; waits for the first.
    pub(super) fn begin(&mut self, number: u64) {
        self.sights = if number == 0 { Sights::default() } else { self.first.wait().clone() };
    }

    /// Ends the `number`th block.
    pub(super) fn end(&mut self, number: u64) {
        if number == 0 {
            // Nobody else has it.
            let _ = self.first.set(self.sights.clone());
        }
    }

    /// Takes note of an event that was read in full, by the key of its call.
    pub(super) fn note(&mut self, key: &str) {
        self.sights.note(key);
    }

    /// The stage and level of a whole event that is of nobody who is asked for; `None` of what must be read in full.
    pub(super) fn passes_over(&self, line: &[u8]) -> Option<(Stage, Level)> {
        if self.sights.lack_common_kinds() {
            return None;
        }
        let rest = line.strip_prefix(HEAD)?;
        let (level, rest) = string(rest)?;
        let (_, rest) = string(rest.strip_prefix(br#","auditID":""#)?)?;
        let (stage, rest) = string(rest.strip_prefix(br#","stage":""#)?)?;
        let (uri, rest) = string(rest.strip_prefix(br#","requestURI":""#)?)?;
        let (_, rest) = string(rest.strip_prefix(br#","verb":""#)?)?;
        let rest = rest.strip_prefix(br#","user":{"#)?;
        let (level, stage) = (Level::of(level), Stage::of(stage));
        let is_known =
            level != Level::Other && stage != Stage::Other && uri.starts_with('/') && uri.len() < key::LONGEST;
        let is_new_kind = (self.sights.lack_core_events() && uri.contains("/events"))
            || (self.sights.lack_paths() && self.object.find(rest).is_none());
        let is_of_others =
            || !self.users.iter().any(|user| user.find(line).is_some()) && !self.has_escaped_letter(line);
        let is_whole = || ends_whole(rest) && self.another.find(rest).is_none();
        (is_known && !is_new_kind && is_of_others() && is_whole()).then_some((stage, level))
    }

    /// Whether a character of the names is written as an escape. API servers escape `&`, `<` and `>`.
    fn has_escaped_letter(&self, line: &[u8]) -> bool {
        self.escape.find_iter(line).any(|at| {
            let hex = line.get(at + 4..at + 6).and_then(|hex| std::str::from_utf8(hex).ok());
            hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()).is_none_or(|letter| self.letters.contains(&letter))
        })
    }
}

/// The text up to the next quote, and what is behind it; `None` where a quote may be escaped.
fn string(text: &[u8]) -> Option<(&str, &[u8])> {
    let end = memchr::memchr(b'"', text)?;
    let (string, rest) = text.split_at_checked(end)?;
    (string.last() != Some(&b'\\')).then_some(())?;
    Some((std::str::from_utf8(string).ok()?, rest.get(1..)?))
}

/// Whether an event ends as API servers end one: with both times, and annotations or none.
fn ends_whole(text: &[u8]) -> bool {
    let tail = text.get(text.len().saturating_sub(LONGEST_TAIL)..).unwrap_or(text);
    let times = memmem::rfind(tail, TIMES).and_then(|at| tail.get(at + TIMES.len()..));
    let Some((received, rest)) = times.and_then(string) else { return false };
    let Some((stage, rest)) = rest.strip_prefix(br#","stageTimestamp":""#).and_then(string) else { return false };
    let ends = rest == b"}" || (rest.starts_with(br#","annotations":{""#) && rest.ends_with(br#""}}"#));
    // A collector that writes times with a space is a shape of its own.
    ends && !received.contains(' ') && !Time::of(received).is_none() && !stage.is_empty()
}

#[cfg(test)]
mod tests;
