//! Records that a container runtime cut into pieces, put together again by their stream. Between envelopes and records.

use std::borrow::Cow;

use super::cause::Cause;
use super::reader::{Collector, Current};
use super::records::parse;
use super::shape::Shape;

/// How often it is tried whether pieces are an event, where nothing says which is the last. Runtimes cut at 16 KiB: an
/// event of one MiB.
const MOST_TRIES: u32 = 64;

/// Where a container wrote to: what an API server tells on one stream stands between the pieces of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stream {
    /// Standard output, and whatever has no streams.
    Out,
    /// Standard error.
    Err,
}

/// What a container runtime wrote at once.
#[derive(Debug)]
pub(super) struct Piece<'a> {
    pub(super) text: Cow<'a, [u8]>,
    pub(super) stream: Stream,
    /// Whether a line of the container ends with it; `None` where that is not said.
    pub(super) ends: Option<bool>,
}

impl Stream {
    pub(super) fn of(name: &[u8]) -> Option<Self> {
        match name {
            b"stdout" => Some(Self::Out),
            b"stderr" => Some(Self::Err),
            _ => None,
        }
    }
}

impl<'a> Piece<'a> {
    /// A line of the Container Runtime Interface's log (Kubernetes `pkg/kubelet/kuberuntime/logs`).
    pub(super) fn of_line(line: &'a [u8]) -> Option<Self> {
        let mut parts = line.splitn(4, |byte| *byte == b' ');
        let time = parts.next()?;
        let stream = Stream::of(parts.next()?)?;
        let ends = ends(parts.next()?)?;
        let text = Cow::Borrowed(parts.next().unwrap_or_default());
        time.first()?.is_ascii_digit().then_some(Self { text, stream, ends: Some(ends) })
    }
}

/// What the tag of a piece says: whether it is the last of its line.
pub(super) fn ends(tag: &[u8]) -> Option<bool> {
    match tag {
        b"F" => Some(true),
        b"P" => Some(false),
        _ => None,
    }
}

/// The beginnings of records whose rest is still to come, by stream.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts([Part; 2]);

#[derive(Debug, Clone, Default)]
struct Part {
    bytes: Vec<u8>,
    /// Where it began.
    line: u64,
    tries: u32,
}

impl Parts {
    fn of(&mut self, stream: Stream) -> &mut Part {
        let [out, err] = &mut self.0;
        match stream {
            Stream::Out => out,
            Stream::Err => err,
        }
    }
}

impl Collector {
    /// Reads a piece; `form` is the shape around it and how deep it lies.
    pub(super) fn piece(&mut self, current: &mut Current, piece: &Piece<'_>, form: (Shape, usize)) {
        let text = &*piece.text;
        match piece.ends {
            Some(true) => self.end_of_part(current, text, piece.stream, form),
            Some(false) => self.part(current, text, piece.stream),
            None => {
                let part = current.parts.of(piece.stream);
                // Text that begins no event is no part of one.
                if part.bytes.is_empty() && !text.starts_with(b"{") || Cause::of_text(text) == Cause::Klog {
                    return self.record(current, text, form.0, form.1);
                }
                self.part(current, text, piece.stream);
                let part = current.parts.of(piece.stream);
                if text.trim_ascii_end().ends_with(b"}") && part.tries < MOST_TRIES {
                    part.tries += 1;
                    if is_event(&part.bytes) {
                        let whole = std::mem::take(part).bytes;
                        self.record(current, &whole, form.0, form.1);
                    }
                }
            }
        }
    }

    /// Keeps a part of a record until the rest of it comes.
    fn part(&mut self, current: &mut Current, text: &[u8], stream: Stream) {
        let part = current.parts.of(stream);
        if part.bytes.is_empty() {
            part.line = current.line;
        }
        // It may end within a character.
        part.bytes.extend_from_slice(text);
        if part.bytes.len() > self.longest {
            *part = Part::default();
            self.lose(current, Cause::LongLine, 1, None);
        }
    }

    /// Reads a record, with what came of it before in front.
    pub(super) fn end_of_part(&mut self, current: &mut Current, record: &[u8], stream: Stream, form: (Shape, usize)) {
        let part = current.parts.of(stream);
        // Some collectors do not say which stream it was.
        if part.bytes.is_empty() || Cause::of_text(record) == Cause::Klog {
            return self.record(current, record, form.0, form.1);
        }
        let whole = [&*part.bytes, record].concat();
        if is_event(record) && !is_event(&whole) {
            // The rest of what came before was never written.
            self.lose_part(current, stream);
            return self.record(current, record, form.0, form.1);
        }
        *part = Part::default();
        self.record(current, &whole, form.0, form.1);
    }

    /// Counts parts whose rest never came.
    pub(super) fn lose_parts(&mut self, current: &mut Current) {
        self.lose_part(current, Stream::Out);
        self.lose_part(current, Stream::Err);
    }

    fn lose_part(&mut self, current: &mut Current, stream: Stream) {
        let part = std::mem::take(current.parts.of(stream));
        if !part.bytes.is_empty() {
            let cause = if part.bytes.starts_with(b"{") { Cause::CutShort } else { Cause::of_text(&part.bytes) };
            let line = std::mem::replace(&mut current.line, part.line);
            self.lose(current, cause, 1, None);
            current.line = line;
        }
    }
}

fn is_event(text: &[u8]) -> bool {
    parse(text).is_ok_and(|event| event.is_audit())
}

#[cfg(test)]
mod tests;
