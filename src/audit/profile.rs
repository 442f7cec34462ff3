//! The usage profile as a file: what logs showed, without the logs. Read where a log is.

mod check;
mod cut;

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::clients::Clients;
use super::select::Select;
use super::usage::{LogQuality, Observed, Usage};
use crate::source::{Diagnostic, DiagnosticKind, Location};

/// Version of the file.
pub(super) const SCHEMA: &str = "rolecall-usage/v0";
/// Largest profile that is read.
const MOST_BYTES: u64 = 1 << 30;
/// The byte order mark that some editors write in front.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A usage profile.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// `rolecall-usage/v0`.
    pub schema: String,
    /// How good the logs were.
    pub quality: LogQuality,
    /// What the logs lost or is worth knowing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<Said>,
    /// From where the calls of a user came, by user; those of an impersonated user from who impersonated.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clients: BTreeMap<String, Clients>,
    /// Distinct calls, sorted.
    pub calls: Vec<Observed>,
}

/// A diagnostic of a log.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Said {
    /// What it means for completeness.
    pub kind: DiagnosticKind,
    /// The log.
    pub path: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What and why.
    pub message: String,
}

impl Profile {
    /// The profile of what logs showed.
    pub fn of(usage: Usage) -> Self {
        let said = |diagnostic: &Diagnostic| Said {
            kind: diagnostic.kind,
            path: diagnostic.location.path.to_string(),
            line: diagnostic.location.line,
            column: diagnostic.location.column,
            message: diagnostic.message.clone(),
        };
        Self {
            schema: SCHEMA.to_owned(),
            quality: usage.quality,
            diagnostics: usage.diagnostics.iter().map(said).collect(),
            clients: usage.clients,
            calls: usage.calls.into_iter().map(Arc::unwrap_or_clone).collect(),
        }
    }

    /// What the logs showed.
    pub fn usage(self) -> Usage {
        let diagnostic = |said: Said| {
            let Said { kind, path, line, column, message } = said;
            let location = Location { path: path.into(), line, column, end_line: line, end_column: column, span: None };
            Diagnostic { kind, location, message }
        };
        let whole = Usage {
            calls: self.calls.into_iter().map(Arc::new).collect(),
            clients: self.clients,
            quality: self.quality,
            diagnostics: self.diagnostics.into_iter().map(diagnostic).collect(),
        };
        // Somebody may have put it together by hand.
        Usage::default().merge(whole)
    }

    /// Of what the logs showed what is asked for; `path` is the profile's.
    pub fn selected(self, select: &Select, path: &str) -> Usage {
        let (mut usage, said) = cut::cut(self.usage(), select);
        usage.diagnostics.extend(said.into_iter().map(|message| note(path, message)));
        // Calls of two users may now be one's.
        Usage::default().merge(usage)
    }

    /// Whether a file that begins so is a profile.
    pub fn is_one(head: &[u8]) -> bool {
        let head = head.strip_prefix(MARK).unwrap_or(head);
        let head: Vec<u8> = head.iter().take(256).copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        head.starts_with(b"{\"schema\":\"rolecall-usage/")
    }

    /// Reads a profile.
    pub fn read(input: &mut dyn Read) -> Result<Self, String> {
        let mut bytes = Vec::new();
        input.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err("a usage profile over 1 GiB".to_owned());
        }
        let profile: Self = serde_json::from_slice(bytes.strip_prefix(MARK).unwrap_or(&bytes))
            .map_err(|error| format!("not a usage profile: {error}"))?;
        if profile.schema != SCHEMA {
            let schema: String = profile.schema.chars().take(60).collect();
            return Err(format!(
                "a usage profile of another version (`{}`), this reads {SCHEMA}",
                schema.escape_debug()
            ));
        }
        profile.check()?;
        Ok(profile)
    }
}

/// Something worth knowing of a file, which loses nothing.
pub(super) fn note(path: &str, message: String) -> Diagnostic {
    let location = Location { path: path.into(), line: 1, column: 1, end_line: 1, end_column: 1, span: None };
    Diagnostic { kind: DiagnosticKind::Note, location, message }
}

#[cfg(test)]
mod tests;
