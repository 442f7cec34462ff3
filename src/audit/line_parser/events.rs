//! The events of a block, one a line, read by one deserialiser as long as they follow each other: a new one for each
//! line would allocate anew where escapes are undone, and threads that allocate wait for each other.

use serde_json::StreamDeserializer;
use serde_json::de::StrRead;

use super::super::event::Event;
use super::super::records;

/// Lines of which some are events.
pub(super) struct Events<'a> {
    lines: &'a [u8],
    /// The lines, where they can be read by one deserialiser.
    text: Option<&'a str>,
    stream: Option<Stream<'a>>,
}

/// A deserialiser, and where in the lines it began.
struct Stream<'a>(usize, StreamDeserializer<'a, StrRead<'a>, Event<'a>>);

impl<'a> Events<'a> {
    /// The events of these lines.
    pub(super) fn of(lines: &'a [u8]) -> Self {
        Self { lines, text: std::str::from_utf8(lines).ok(), stream: None }
    }

    /// The event that is the line from one byte to another: `None` where it is anything else. Lines are asked for in
    /// their order.
    #[inline]
    pub(super) fn on_line(&mut self, start: usize, end: usize) -> Option<Event<'a>> {
        let line = self.lines.get(start..end)?;
        let Some(text) = self.text else { return records::parse(line.trim_ascii()).ok() };
        let start = end - line.trim_ascii_start().len();
        let Stream(began, mut stream) = match self.stream.take() {
            Some(stream) if is_blank(self.lines.get(stream.behind()..start)?) => stream,
            _ => Stream(start, serde_json::Deserializer::from_str(text.get(start..)?).into_iter()),
        };
        match stream.next()? {
            Ok(event) => {
                let stream = Stream(began, stream);
                let behind = self.lines.get(stream.behind()..end);
                let fills = behind.is_some_and(|behind| behind.trim_ascii().is_empty());
                match behind {
                    Some(_) => self.stream = Some(stream),
                    None => self.text = None,
                }
                fills.then_some(event)
            }
            Err(error) => {
                let lines = self.lines.get(began..end).map_or(0, |read| memchr::memchr_iter(b'\n', read).count());
                if error.line() > lines + 1 {
                    self.text = None;
                }
                None
            }
        }
    }
}

impl Stream<'_> {
    /// Where in the lines it goes on.
    fn behind(&self) -> usize {
        self.0 + self.1.byte_offset()
    }
}

/// Whether JSON may have this between two values.
fn is_blank(between: &[u8]) -> bool {
    between.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
}
