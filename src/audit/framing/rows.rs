//! Rows of a CSV export, each handed out as a JSON object of texts by the names of its columns: Log Analytics,
//! CloudWatch Insights, Splunk.

use std::io::BufRead;

use csv_core::{ReadRecordResult, Reader};
use serde_json::{Map, Value};

use super::{Lost, Step, filled};

/// Columns by which an export of audit events is known.
const COLUMNS: [&str; 7] = ["@message", "log_s", "AuditId", "RequestUri", "_raw", "Message", "kubernetes.audit.verb"];
const MOST_COLUMNS: usize = 1 << 10;

/// Cuts a stream into rows.
#[derive(Debug)]
pub(super) struct Rows {
    reader: Reader,
    names: Vec<String>,
    fields: Vec<u8>,
    ends: Vec<usize>,
    json: Vec<u8>,
    longest: usize,
    /// Lines that the reader did not see.
    skipped: u64,
    pub(super) start: u64,
    pub(super) bytes: u64,
}

/// One row, or none.
enum Row {
    Whole { length: usize, fields: usize },
    TooLong,
    End,
}

impl Rows {
    /// Rows of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self {
            reader: Reader::new(),
            names: Vec::new(),
            fields: vec![0; 16 << 10],
            ends: vec![0; MOST_COLUMNS],
            json: Vec::new(),
            longest,
            skipped: 0,
            start: 1,
            bytes: 0,
        }
    }

    /// The next row of `input`, as JSON.
    pub(super) fn next(&mut self, input: &mut dyn BufRead) -> Step<'_> {
        loop {
            if let Err(error) = self.skip_line_ends(input) {
                return Step::Broken(error);
            }
            self.start = self.reader.line() + self.skipped;
            let (length, fields) = match self.row(input) {
                Ok(Row::Whole { length, fields }) => (length, fields),
                Ok(Row::TooLong) => return Step::Lost(Lost::TooLong),
                Ok(Row::End) => return Step::End,
                Err(error) => return Step::Broken(error),
            };
            let texts = self.texts(length, fields);
            if self.names.is_empty() {
                self.names = texts;
                continue;
            }
            if texts.len() != self.names.len() {
                let why = format!("{} fields under {} columns", texts.len(), self.names.len());
                return Step::Lost(Lost::Row(why));
            }
            let object: Map<String, Value> =
                self.names.iter().cloned().zip(texts.into_iter().map(Value::String)).collect();
            return match serde_json::to_vec(&object) {
                Ok(json) => {
                    self.json = json;
                    Step::Record(self.start, &self.json)
                }
                Err(error) => Step::Lost(Lost::Row(error.to_string())),
            };
        }
    }

    /// The reader leaves the second half of CRLF, which it would count to the row that follows.
    fn skip_line_ends(&mut self, input: &mut dyn BufRead) -> std::io::Result<()> {
        loop {
            let chunk = filled(input)?;
            let ends = chunk.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
            let (mut used, mut lines) = (0, 0);
            ends.for_each(|byte| (used, lines) = (used + 1, lines + u64::from(*byte == b'\n')));
            input.consume(used);
            self.bytes += used as u64;
            self.skipped += lines;
            if used == 0 {
                return Ok(());
            }
        }
    }

    fn row(&mut self, input: &mut dyn BufRead) -> std::io::Result<Row> {
        let (mut length, mut fields, mut too_long) = (0, 0, false);
        loop {
            let chunk = filled(input)?;
            let (out, ends) = (self.fields.get_mut(length..), self.ends.get_mut(fields..));
            let (result, used, written, ended) =
                self.reader.read_record(chunk, out.unwrap_or_default(), ends.unwrap_or_default());
            input.consume(used);
            self.bytes += used as u64;
            length += written;
            fields += ended;
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull if self.fields.len() < self.longest => {
                    self.fields.resize(self.fields.len() * 2, 0);
                }
                // What does not fit is read and forgotten.
                ReadRecordResult::OutputFull => (too_long, length) = (true, 0),
                ReadRecordResult::OutputEndsFull => (too_long, fields) = (true, 0),
                ReadRecordResult::Record if too_long => return Ok(Row::TooLong),
                ReadRecordResult::Record => return Ok(Row::Whole { length, fields }),
                ReadRecordResult::End => return Ok(Row::End),
            }
        }
    }

    fn texts(&self, length: usize, fields: usize) -> Vec<String> {
        let whole = self.fields.get(..length).unwrap_or_default();
        let mut start = 0;
        let ends = self.ends.iter().take(fields);
        ends.map(|&end| {
            let text = String::from_utf8_lossy(whole.get(start..end).unwrap_or_default()).into_owned();
            start = end;
            text
        })
        .collect()
    }
}

/// Whether a line names columns of such an export.
pub(super) fn is_header(line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let names = || line.split(',').map(|name| name.trim().trim_matches('"'));
    !line.contains('{') && names().count() > 1 && names().any(|name| COLUMNS.contains(&name))
}

#[cfg(test)]
mod tests;
