//! Documents of a YAML log, each handed out as JSON: `gcloud --format=yaml`, and events saved by people.

use std::io::BufRead;

use super::lines::Lines;
use super::{Lost, Step};

/// Longest document that is read: its tree takes many times its text.
const LONGEST: usize = 16 << 20;

/// Cuts a stream into documents.
#[derive(Debug)]
pub(super) struct Documents {
    lines: Lines,
    text: String,
    json: Vec<u8>,
    too_long: bool,
    ended: bool,
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl Documents {
    /// Documents with lines of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self {
            lines: Lines::new(longest),
            text: String::new(),
            json: Vec::new(),
            too_long: false,
            ended: false,
            start: 1,
            bytes: 0,
        }
    }

    /// The next document of `input`, as JSON.
    pub(super) fn next(&mut self, input: &mut dyn BufRead) -> Step<'_> {
        loop {
            if self.ended {
                return Step::End;
            }
            let first = self.lines.line + 1;
            if let Err(error) = self.gather(input) {
                self.ended = true;
                return Step::Broken(error);
            }
            self.start = first;
            let text = std::mem::take(&mut self.text);
            if std::mem::take(&mut self.too_long) {
                return Step::Lost(Lost::TooLong);
            }
            if text.lines().all(|line| line.trim_ascii_start().is_empty() || line.trim_ascii_start().starts_with('#')) {
                continue;
            }
            return match json(&text) {
                Ok(json) => {
                    self.json = json;
                    Step::Record(self.start, &self.json)
                }
                Err(why) => Step::Lost(Lost::Yaml(why)),
            };
        }
    }

    /// Takes the lines up to the next `---`.
    fn gather(&mut self, input: &mut dyn BufRead) -> std::io::Result<()> {
        loop {
            match self.lines.next(input) {
                Step::Record(_, line) => {
                    let line = String::from_utf8_lossy(line);
                    let marker =
                        line.strip_prefix("---").filter(|rest| rest.is_empty() || rest.starts_with([' ', '\r']));
                    let content = marker.unwrap_or(&line);
                    if self.text.len() + content.len() > LONGEST {
                        self.too_long = true;
                        self.text = String::new();
                    }
                    let begins = marker.is_some() && !self.text.is_empty();
                    if begins {
                        self.bytes = self.lines.bytes;
                        return Ok(());
                    }
                    if !self.too_long {
                        self.text.push_str(content);
                        self.text.push('\n');
                    }
                    if marker.is_some() && self.too_long {
                        return Ok(());
                    }
                }
                Step::Lost(_) => self.too_long = true,
                Step::Broken(error) => return Err(error),
                Step::End => {
                    self.ended = true;
                    self.bytes = self.lines.bytes;
                    return Ok(());
                }
            }
        }
    }
}

/// The document as JSON.
fn json(text: &str) -> Result<Vec<u8>, String> {
    let value: serde_json::Value = serde_saphyr::from_str(text).map_err(|error| error.to_string())?;
    serde_json::to_vec(&value).map_err(|error| error.to_string())
}

/// Whether the first line that says something is one of YAML.
pub(super) fn is_yaml(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head.get(..head.len().min(4 << 10)).unwrap_or_default());
    let mut lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| {
        let key = line.trim_start().trim_start_matches("- ").split_once(':');
        let is_key = |(key, rest): (&str, &str)| {
            let word = key.bytes().all(|b| b.is_ascii_alphanumeric() || b"@._-/".contains(&b));
            let starts = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '@');
            word && starts && (rest.is_empty() || rest.starts_with(' '))
        };
        line == "---" || line.starts_with("--- ") || key.is_some_and(is_key)
    })
}
