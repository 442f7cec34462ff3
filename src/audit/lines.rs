//! Lines of a buffered stream in bounded memory: a line is read where it lies in the buffer, or put together when it
//! runs over its end; a line beyond the limit is passed over.

use std::io::{self, BufRead, ErrorKind};

/// Longest line that is kept. The longest audit event seen in the wild has 220 KB.
pub(super) const LONGEST_LINE: usize = 64 << 20;
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
    /// A line that does not lie in one buffer.
    whole: Vec<u8>,
    /// Bytes of the line that was handed out, still to be taken from the stream.
    pending: usize,
    longest: usize,
    /// Bytes read so far.
    pub(super) bytes: u64,
}

impl Lines {
    /// Lines of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self { whole: Vec::new(), pending: 0, longest, bytes: 0 }
    }

    /// The next line of `input`, which must be the same in every call.
    pub(super) fn next<'a>(&'a mut self, input: &'a mut dyn BufRead) -> Step<'a> {
        input.consume(std::mem::take(&mut self.pending));
        let end = match filled(input) {
            Err(error) => return Step::Broken(error),
            Ok([]) => return Step::End,
            Ok(buffer) => memchr::memchr(b'\n', buffer),
        };
        let Some(end) = end else { return self.put_together(input) };
        self.pending = end + 1;
        self.bytes += self.pending as u64;
        if end > self.longest {
            return Step::TooLong;
        }
        match input.fill_buf() {
            Ok(buffer) => Step::Line(buffer.get(..end).unwrap_or_default()),
            Err(error) => Step::Broken(error),
        }
    }

    /// A line that ends in a later buffer, or with the stream.
    fn put_together(&mut self, input: &mut dyn BufRead) -> Step<'_> {
        self.whole.clear();
        if self.whole.capacity() > SHRINK_ABOVE {
            self.whole.shrink_to(SHRINK_ABOVE);
        }
        let mut length = 0;
        loop {
            let (taken, ends) = match filled(input) {
                Err(error) => return Step::Broken(error),
                Ok(buffer) => {
                    let end = memchr::memchr(b'\n', buffer);
                    let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
                    length += part.len();
                    if length <= self.longest {
                        self.whole.extend_from_slice(part);
                    } else {
                        self.whole = Vec::new();
                    }
                    (part.len() + usize::from(end.is_some()), end.is_some() || buffer.is_empty())
                }
            };
            input.consume(taken);
            self.bytes += taken as u64;
            if ends {
                return if length > self.longest { Step::TooLong } else { Step::Line(&self.whole) };
            }
        }
    }
}

/// What lies in the buffer; empty at the end of the stream.
fn filled(input: &mut dyn BufRead) -> io::Result<&[u8]> {
    loop {
        match input.fill_buf() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
            // Asked once more, for the sake of the borrow; the buffer is filled.
            Ok(_) => return input.fill_buf(),
        }
    }
}

#[cfg(test)]
mod tests;
