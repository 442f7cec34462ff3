//! A log read as it grows: whole lines are counted, the rest waits for its end.

use super::cause::Cause;
use super::framing::{LONGEST, MARK};
use super::reader::{Collector, Current};
use super::records::parse;
use super::shape::Shape;
use super::usage::Usage;

/// How far a growing log has been read.
#[derive(Debug, Clone)]
pub struct Following {
    current: Current,
    /// A line without its end yet.
    part: Vec<u8>,
    /// The line is too long and passed over.
    too_long: bool,
}

/// A line without the mark that the first of a log may begin with.
fn unmarked(line: &[u8]) -> &[u8] {
    line.strip_prefix(MARK).unwrap_or(line)
}

impl Collector {
    /// Begins to read a log that grows.
    pub fn follow(&mut self, path: &str) -> Following {
        Following { current: self.begin(path), part: Vec::new(), too_long: false }
    }

    /// Reads more of it.
    pub fn feed(&mut self, following: &mut Following, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            following.part.extend_from_slice(rest.get(..end).unwrap_or_default());
            rest = rest.get(end + 1..).unwrap_or_default();
            self.whole_line(following);
        }
        following.part.extend_from_slice(rest);
        if following.part.len() > LONGEST {
            (following.part, following.too_long) = (Vec::new(), true);
        }
    }

    fn whole_line(&mut self, following: &mut Following) {
        following.current.line += 1;
        let line = std::mem::take(&mut following.part);
        if std::mem::take(&mut following.too_long) || line.len() > LONGEST {
            self.lose(&mut following.current, Cause::LongLine, 1, None);
        } else {
            self.record(&mut following.current, unmarked(&line), Shape::Native, 0);
        }
        following.part = line;
        following.part.clear();
    }

    /// The log goes on no more.
    pub fn end_following(&mut self, path: &str, mut following: Following) {
        if !following.part.is_empty() {
            self.whole_line(&mut following);
        }
        self.end(path, following.current);
    }

    /// What was seen so far, without a line of which more is to come.
    #[must_use]
    pub fn stopped(mut self, path: &str, mut following: Following) -> Usage {
        if parse(unmarked(&following.part)).is_ok_and(|event| event.is_audit()) {
            self.whole_line(&mut following);
        }
        self.end(path, following.current);
        self.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_taken_off_and_the_last_line_counts_once_it_is_whole() {
        const EVENT: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"a","stage":"ResponseComplete","requestURI":"/api/v1/pods","verb":"list","user":{"username":"u"},"responseStatus":{"code":200}}"#;
        let (head, rest) = EVENT.split_at(100);
        let mut collector = Collector::new();
        let mut following = collector.follow("a.log");
        let mut seen = |bytes: &[u8]| {
            collector.feed(&mut following, bytes);
            let usage = collector.clone().stopped("a.log", following.clone());
            (usage.quality.events, usage.quality.shapes.into_keys().collect::<Vec<_>>(), usage.quality.skipped.len())
        };
        let plain = || vec![Shape::Native.name().to_owned()];
        assert_eq!(seen(MARK), (0, vec![], 0));
        assert_eq!(seen(head.as_bytes()), (0, vec![], 0));
        assert_eq!(seen(rest.as_bytes()), (1, plain(), 0));
        assert_eq!(seen(b"\n"), (1, plain(), 0));
        assert_eq!(seen(EVENT.as_bytes()), (2, plain(), 0));
    }
}
