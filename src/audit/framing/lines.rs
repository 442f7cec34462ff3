//! Lines of a buffered stream in bounded memory: a line is read where it lies in the buffer, or put together when it
//! runs over its end; a line beyond the limit is passed over.

use std::io::BufRead;

use super::{Lost, Step, filled};

const SHRINK_ABOVE: usize = 4 << 20;

/// A stream cut into lines.
#[derive(Debug)]
pub(super) struct Lines {
    /// A line that does not lie in one buffer.
    whole: Vec<u8>,
    /// Bytes of the line that was handed out, still to be taken from the stream.
    pending: usize,
    longest: usize,
    /// The line that was handed out.
    pub(super) line: u64,
    /// Bytes read so far.
    pub(super) bytes: u64,
}

impl Lines {
    /// Lines of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self { whole: Vec::new(), pending: 0, longest, line: 0, bytes: 0 }
    }

    /// The next line of `input`, which must be the same in every call.
    pub(super) fn next<'a>(&'a mut self, input: &'a mut dyn BufRead) -> Step<'a> {
        input.consume(std::mem::take(&mut self.pending));
        self.line += 1;
        let end = match filled(input) {
            Err(error) => return Step::Broken(error),
            Ok([]) => return Step::End,
            Ok(buffer) => memchr::memchr(b'\n', buffer),
        };
        let Some(end) = end else { return self.put_together(input) };
        self.pending = end + 1;
        self.bytes += self.pending as u64;
        if end > self.longest {
            return Step::Lost(Lost::TooLong);
        }
        match input.fill_buf() {
            Ok(buffer) => Step::Record(self.line, buffer.get(..end).unwrap_or_default()),
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
                return if length > self.longest {
                    Step::Lost(Lost::TooLong)
                } else {
                    Step::Record(self.line, &self.whole)
                };
            }
        }
    }
}

#[cfg(test)]
mod tests;
