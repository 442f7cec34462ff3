//! The report as JSON, and its schema.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use serde::Serialize;

use super::Report;
use super::text::is_harmful;
use crate::audit::Profile;

/// The report, pretty-printed.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    to_text(report)
}

/// Any value, pretty-printed, see [`write`].
pub(super) fn to_text(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut json = Vec::new();
    write(&mut json, value)?;
    Ok(String::from_utf8(json).unwrap_or_default())
}

/// Writes a value, pretty-printed. Harmful characters, which JSON would leave as they are, are escaped: the same value,
/// and nothing that a terminal interprets.
fn write(to: &mut impl io::Write, value: &impl Serialize) -> Result<(), serde_json::Error> {
    let mut to = Escaped(to);
    serde_json::to_writer_pretty(&mut to, value)?;
    to.write_all(b"\n").and_then(|()| to.flush()).map_err(serde_json::Error::io)
}

/// Escapes harmful characters. Each write is whole text, as the serializer writes it.
struct Escaped<W>(W);

impl<W: io::Write> io::Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        let harmful = |c: char| c != '\n' && is_harmful(c);
        let Some(text) = std::str::from_utf8(bytes).ok().filter(|text| text.contains(harmful)) else {
            return self.0.write_all(bytes);
        };
        let mut escaped = String::with_capacity(text.len());
        for c in text.chars() {
            if harmful(c) {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(escaped, "\\u{unit:04x}");
                }
            } else {
                escaped.push(c);
            }
        }
        self.0.write_all(escaped.as_bytes())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes a usage profile, pretty-printed.
pub fn profile(to: &mut impl io::Write, profile: &Profile) -> Result<(), serde_json::Error> {
    write(to, profile)
}

/// JSON schema of the usage profile.
pub fn profile_schema() -> String {
    let schema = schemars::schema_for!(Profile);
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

/// JSON schema of the report (`rolecall/v0`).
pub fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Report>();
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmful_characters_are_escaped_and_nothing_is_changed() {
        let value = ["a\u{1b}b", "\u{7f}\u{9b}31m", "\u{202e}\u{e0041}", "plain é \n"];
        let text = to_text(&value).unwrap();
        assert!(!text.contains(|c: char| c != '\n' && is_harmful(c)), "{text}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), value);
    }
}
