//! Lines of a byte stream in bounded memory: the buffer grows for a long line and shrinks back; a line
//! beyond the limit is passed over.

use std::io::{self, ErrorKind, Read};

/// Longest line that is kept. The longest audit event seen in the wild has 220 KB.
pub(super) const LONGEST_LINE: usize = 64 << 20;
const CHUNK: usize = 64 << 10;
const SHRINK_ABOVE: usize = 4 << 20;

/// What comes next in a stream.
#[derive(Debug)]
pub(super) enum Step<'a> {
    /// A line without its line feed.
    Line(&'a [u8]),
    /// A line longer than the limit, passed over.
    TooLong,
    /// The stream ended.
    End,
    /// The stream broke in or before this line.
    Broken(io::Error),
}

/// A stream cut into lines.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// The unread bytes are `start..end`; `start..scanned` hold no line feed.
    start: usize,
    scanned: usize,
    end: usize,
    longest: usize,
    /// Bytes read so far.
    pub(super) bytes: u64,
}

impl Lines {
    /// Lines of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self { buffer: vec![0; CHUNK], start: 0, scanned: 0, end: 0, longest, bytes: 0 }
    }

    /// The next line of `input`, which must be the same in every call.
    pub(super) fn next(&mut self, input: &mut dyn Read) -> Step<'_> {
        let mut too_long = false;
        loop {
            let unscanned = self.buffer.get(self.scanned..self.end).unwrap_or_default();
            if let Some(length) = memchr::memchr(b'\n', unscanned) {
                let (start, end) = (self.start, self.scanned + length);
                (self.start, self.scanned) = (end + 1, end + 1);
                if too_long || end - start > self.longest {
                    return Step::TooLong;
                }
                return Step::Line(self.buffer.get(start..end).unwrap_or_default());
            }
            self.scanned = self.end;
            if self.end - self.start > self.longest {
                too_long = true;
                self.start = self.end;
            }
            self.make_room();
            match self.fill(input) {
                Ok(0) if too_long => {
                    self.start = self.end;
                    return Step::TooLong;
                }
                Ok(0) if self.start == self.end => return Step::End,
                Ok(0) => {
                    let start = self.start;
                    self.start = self.end;
                    return Step::Line(self.buffer.get(start..self.end).unwrap_or_default());
                }
                Ok(_) => {}
                Err(error) => return Step::Broken(error),
            }
        }
    }

    /// Moves the unread bytes to the front, and grows or shrinks the buffer around them.
    fn make_room(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
        }
        if self.end == self.buffer.len() {
            let longer = self.buffer.len().saturating_mul(2).min(self.longest + CHUNK);
            self.buffer.resize(longer, 0);
        } else if self.buffer.len() > SHRINK_ABOVE && self.end < CHUNK {
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        }
    }

    fn fill(&mut self, input: &mut dyn Read) -> io::Result<usize> {
        let free = self.buffer.get_mut(self.end..).unwrap_or_default();
        loop {
            match input.read(free) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
                Ok(read) => {
                    let read = read.min(free.len());
                    self.end += read;
                    self.bytes += read as u64;
                    return Ok(read);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
