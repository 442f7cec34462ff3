//! The report as JSON, and its schema.

use super::Report;

/// The report, pretty-printed.
pub fn render(report: &Report) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(report)? + "\n")
}

/// JSON schema of the report (`rolecall/v0`).
pub fn schema() -> String {
    let settings = schemars::generate::SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<Report>();
    serde_json::to_string_pretty(&schema).unwrap_or_default() + "\n"
}
