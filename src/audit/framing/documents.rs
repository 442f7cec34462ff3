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
    /// What stands behind the `---` that ended the last document, and its line.
    behind: Option<(u64, String)>,
    json: Vec<u8>,
    too_long: bool,
    ended: bool,
    /// The first line of the document that says something.
    pub(super) start: u64,
    pub(super) bytes: u64,
}

impl Documents {
    /// Documents with lines of at most `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self {
            lines: Lines::new(longest),
            text: String::new(),
            behind: None,
            json: Vec::new(),
            too_long: false,
            ended: false,
            start: 1,
            bytes: 0,
        }
    }

    /// The next document of `input`, as JSON.
    pub(super) fn next(&mut self, input: &mut dyn BufRead) -> Step<'_> {
        while !self.ended {
            self.start = 0;
            let gathered = self.gather(input);
            self.bytes = self.lines.bytes;
            if let Err(error) = gathered {
                self.ended = true;
                return Step::Broken(error);
            }
            let text = std::mem::take(&mut self.text);
            if std::mem::take(&mut self.too_long) {
                return Step::Lost(Lost::TooLong);
            }
            if self.start == 0 {
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
        Step::End
    }

    /// Takes the lines up to the next `---`.
    fn gather(&mut self, input: &mut dyn BufRead) -> std::io::Result<()> {
        if let Some((line, content)) = self.behind.take() {
            self.add(line, &content);
        }
        loop {
            match self.lines.next(input) {
                Step::Record(number, line) => {
                    let line = String::from_utf8_lossy(line).into_owned();
                    let ends = |rest: &&str| rest.is_empty() || rest.starts_with([' ', '\r']);
                    if let Some(content) = line.strip_prefix("---").filter(ends) {
                        self.behind = Some((number, content.to_owned()));
                        return Ok(());
                    }
                    self.add(number, &line);
                }
                Step::Lost(_) => self.give_up(self.lines.line),
                Step::Broken(error) => return Err(error),
                Step::End => {
                    self.ended = true;
                    return Ok(());
                }
            }
        }
    }

    fn add(&mut self, number: u64, line: &str) {
        let says = line.trim_ascii_start();
        if self.start == 0 && !says.is_empty() && !says.starts_with('#') {
            self.start = number;
        }
        if self.text.len() + line.len() > LONGEST {
            self.give_up(number);
        }
        if !self.too_long {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    fn give_up(&mut self, number: u64) {
        self.too_long = true;
        self.text = String::new();
        if self.start == 0 {
            self.start = number;
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

#[cfg(test)]
mod tests;
