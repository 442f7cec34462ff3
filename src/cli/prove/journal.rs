//! What a swap changes, written down before it is made, so that it can be undone by whoever comes after a `kill -9`.

use std::io::Write;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const SCHEMA: &str = "rolecall-prove/v0";

/// What is to be put back and what to be removed.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Journal {
    schema: String,
    /// The cluster.
    pub(super) server: String,
    /// Whose roles.
    pub(super) subject: String,
    /// Bindings as they were.
    pub(super) saved: Vec<Value>,
    /// Objects that did not exist before.
    pub(super) made: Vec<Value>,
}

impl Journal {
    pub(super) fn new(server: &str, subject: &str, saved: Vec<Value>, made: Vec<Value>) -> Self {
        Self { schema: SCHEMA.to_owned(), server: server.to_owned(), subject: subject.to_owned(), saved, made }
    }

    /// Writes it to disk, where nothing stands yet: what stands there may be the way back from another swap.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        let cannot = || format!("cannot write {}", path.display());
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
        serde_json::to_writer_pretty(&mut file, self).with_context(cannot)?;
        file.write_all(b"\n").with_context(cannot)?;
        file.as_file().sync_all().with_context(cannot)?;
        file.persist_noclobber(path).with_context(cannot)?;
        Ok(())
    }

    #[expect(clippy::disallowed_methods, reason = "its own file")]
    pub(super) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let no_journal = || format!("{} is no journal of `rolecall prove`", path.display());
        let journal: Self = serde_json::from_str(&text).with_context(no_journal)?;
        if journal.schema != SCHEMA {
            bail!("{}: its schema is `{}`, not {SCHEMA}", no_journal(), journal.schema);
        }
        Ok(journal)
    }
}
