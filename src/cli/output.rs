//! Standard output, standard error, and which format goes where.

use std::io::{IsTerminal, Write};
use std::str::FromStr;

use anstream::{AutoStream, ColorChoice};
use anyhow::Result;

use super::args::Color;

/// The terminal (or the pipes in its place).
#[derive(Debug)]
pub(super) struct Terminal {
    choice: ColorChoice,
    quiet: bool,
}

impl Terminal {
    pub(super) fn new(color: Color, quiet: bool) -> Self {
        let choice = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        Self { choice, quiet }
    }

    /// Prints a result.
    pub(super) fn result(&self, text: &str) -> Result<()> {
        self.result_with(&mut |out| Ok(out.write_all(text.as_bytes())?))
    }

    /// The result, written piece by piece.
    pub(super) fn result_with(&self, write: &mut dyn FnMut(&mut dyn std::io::Write) -> Result<()>) -> Result<()> {
        let mut stdout = AutoStream::new(std::io::stdout().lock(), self.choice);
        write(&mut stdout)?;
        stdout.flush()?;
        Ok(())
    }

    /// Says something beside the result.
    pub(super) fn note(&self, text: &str) {
        if !self.quiet {
            self.error_line("note", text);
        }
    }

    /// Says why the command failed.
    pub(super) fn error(&self, text: &str) {
        self.error_line("error", text);
    }

    fn error_line(&self, label: &str, text: &str) {
        let mut stderr = AutoStream::new(std::io::stderr().lock(), self.choice);
        // Nobody is left to tell when standard error is gone.
        let _ = writeln!(stderr, "{label}: {}", crate::report::text::safe(text));
    }

    /// Whether a progress bar has anyone to look at it.
    pub(super) fn shows_progress(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal()
    }
}

/// Formats of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Table,
    Json,
    Sarif,
    Markdown,
}

/// One `--output FORMAT[=PATH]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Output {
    pub(super) format: Format,
    /// Standard output without a path.
    pub(super) path: Option<String>,
}

impl FromStr for Output {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (format, path) = match text.split_once('=') {
            Some((_, "")) => return Err(format!("`{text}` names no file")),
            Some((format, path)) => (format, (path != "-").then(|| path.to_owned())),
            None => (text, None),
        };
        let format = match format {
            "table" => Format::Table,
            "json" => Format::Json,
            "sarif" => Format::Sarif,
            "markdown" => Format::Markdown,
            other => return Err(format!("`{other}` is no format (table, json, sarif, markdown)")),
        };
        Ok(Self { format, path })
    }
}
