//! Lines out of a stream of bytes, in bounded memory.

use std::io::{self, ErrorKind, Read};

/// Longer lines are skipped.
pub(super) const MAX_LINE: usize = 64 << 20;
const CHUNK: usize = 256 << 10;

/// A line, or what stands in its place.
#[derive(Debug)]
pub enum Line<'a> {
    /// Its bytes without the line break.
    Bytes(&'a [u8]),
    /// It is longer than the limit, so its bytes are gone.
    TooLong,
}

/// Splits a reader into lines.
pub struct Lines<'r> {
    input: &'r mut dyn Read,
    buffer: Vec<u8>,
    /// What is not consumed yet is `buffer[start..end]`, of which `start..seen` holds no line break.
    start: usize,
    seen: usize,
    end: usize,
    skipping: bool,
    done: bool,
}

impl std::fmt::Debug for Lines<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lines").field("buffered", &(self.end - self.start)).finish_non_exhaustive()
    }
}

impl<'r> Lines<'r> {
    /// Lines of the input.
    pub fn new(input: &'r mut dyn Read) -> Self {
        Self { input, buffer: vec![0; CHUNK], start: 0, seen: 0, end: 0, skipping: false, done: false }
    }

    /// The next line; `None` at the end. After an error comes the end.
    pub fn next_line(&mut self) -> Option<io::Result<Line<'_>>> {
        loop {
            let unseen = self.buffer.get(self.seen..self.end).unwrap_or_default();
            if let Some(at) = memchr::memchr(b'\n', unseen) {
                let (start, end) = (self.start, self.seen + at);
                self.start = end + 1;
                self.seen = self.start;
                if std::mem::take(&mut self.skipping) || end - start > MAX_LINE {
                    return Some(Ok(Line::TooLong));
                }
                return Some(Ok(Line::Bytes(self.buffer.get(start..end).unwrap_or_default())));
            }
            self.seen = self.end;
            if self.end - self.start > MAX_LINE {
                self.skipping = true;
                self.start = self.end;
            }
            if self.done {
                let (start, end) = (self.start, self.end);
                self.start = end;
                return match (std::mem::take(&mut self.skipping), start == end) {
                    (true, _) => Some(Ok(Line::TooLong)),
                    (false, true) => None,
                    (false, false) => Some(Ok(Line::Bytes(self.buffer.get(start..end).unwrap_or_default()))),
                };
            }
            if let Err(error) = self.fill() {
                self.done = true;
                // What was read of the last line is not worth more than the error.
                (self.start, self.skipping) = (self.end, false);
                return Some(Err(error));
            }
        }
    }

    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.seen -= self.start;
            self.start = 0;
        }
        // After a long line the memory is given back.
        if self.buffer.len() > 4 * CHUNK && self.end < CHUNK {
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        loop {
            let Some(free) = self.buffer.get_mut(self.end..) else { return Ok(()) };
            match self.input.read(free) {
                Ok(0) => self.done = true,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            return Ok(());
        }
    }
}
