//! Standard output, standard error and result files.

use std::fs::Permissions;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::str::FromStr;

use anstream::{AutoStream, ColorChoice};
use anyhow::{Context, Result};

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
        let mut stdout = AutoStream::new(std::io::stdout().lock(), self.choice);
        stdout.write_all(text.as_bytes())?;
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

/// Writes a file so that it is always whole: the old one or the new.
pub(super) fn write_atomically(path: &Path, text: &str) -> Result<()> {
    // A temporary file is nobody else's; a result is as any other file.
    #[cfg(unix)]
    let permissions = Some(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    #[cfg(not(unix))]
    let permissions = None;
    write_whole(path, text, permissions)
}

/// Writes a file anew, whole as above, with the permissions that it has.
pub(super) fn rewrite(path: &Path, text: &str) -> Result<()> {
    let permissions =
        std::fs::metadata(path).with_context(|| format!("cannot write {}", path.display()))?.permissions();
    write_whole(path, text, Some(permissions))
}

fn write_whole(path: &Path, text: &str, permissions: Option<Permissions>) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    file.write_all(text.as_bytes()).with_context(cannot)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions).with_context(cannot)?;
    }
    file.persist(path).with_context(cannot)?;
    Ok(())
}

/// Writes a result file, exactly at the path given. Colours do not go into files.
pub(super) fn write_file(path: &str, text: &str) -> Result<()> {
    let plain = anstream::adapter::strip_str(text).to_string();
    std::fs::write(path, plain).with_context(|| format!("cannot write {path}"))
}
