//! The report as JSON, and its schema.

use std::fmt::Write as _;

use serde::Serialize;

use super::Report;
use super::text::is_harmful;
use crate::audit::Profile;

/// The report, pretty-printed.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    to_text(report)
}

/// Any value, pretty-printed. Harmful characters, which JSON would leave as they are, are escaped: the same value, and
/// nothing that a terminal interprets.
pub(super) fn to_text(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let json = serde_json::to_string_pretty(value)? + "\n";
    let harmful = |c: char| c != '\n' && is_harmful(c);
    if !json.contains(harmful) {
        return Ok(json);
    }
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if harmful(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(escaped, "\\u{unit:04x}");
            }
        } else {
            escaped.push(c);
        }
    }
    Ok(escaped)
}

/// A usage profile, pretty-printed.
pub fn profile(profile: &Profile) -> Result<String, serde_json::Error> {
    to_text(profile)
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
