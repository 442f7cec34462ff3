//! Which logs are read: files as named, the files of directories by name, standard input.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Error, STDIN, head_is_of_profile};
use crate::input::is_same_file;

/// Logs to read, in their order.
#[derive(Debug)]
pub struct Logs(pub(super) Vec<Log>);

/// One log to read.
#[derive(Debug)]
pub(super) struct Log {
    pub(super) path: PathBuf,
    /// Named by the user, not found in a directory.
    pub(super) named: bool,
    /// It is a directory within one that was named, and this is why it is not read.
    pub(super) unlisted: Option<io::Error>,
}

impl Log {
    pub(super) fn identity(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }
}

impl Logs {
    /// The logs at these paths.
    pub fn find(paths: &[String]) -> Result<Self, Error> {
        let mut logs = Vec::new();
        for path in paths {
            if path != STDIN && Path::new(path).is_dir() {
                let path = Path::new(path);
                let failed = |source| Error::List { path: path.to_string_lossy().into_owned(), source };
                list(path, &mut logs).map_err(failed)?;
            } else {
                logs.push(Log { path: PathBuf::from(path), named: true, unlisted: None });
            }
        }
        Ok(Self(logs))
    }

    /// How many bytes they have on disk; `None` when standard input is among them.
    pub fn bytes(&self) -> Option<u64> {
        let on_disk = |log: &Log| fs::metadata(&log.path).ok().filter(|_| log.path != Path::new(STDIN));
        self.0.iter().map(on_disk).try_fold(0, |total, metadata| Some(total + metadata?.len()))
    }

    /// Whether standard input is among them.
    pub fn have_stdin(&self) -> bool {
        self.0.iter().any(|log| log.path == Path::new(STDIN))
    }

    /// Their paths.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|log| log.path.to_str())
    }

    /// Without the usage profile that was written among them before: a directory of logs may hold it. Whether it did.
    /// One that is named, and any other file, stays.
    pub fn leave_out(&mut self, profile: &Path) -> bool {
        let before = self.0.len();
        self.0.retain(|log| log.named || !is_same_file(&log.path, profile) || !head_is_of_profile(&log.path));
        self.0.len() < before
    }
}

/// The files under a directory, by name. Links to directories are not followed: they may lead in circles.
#[expect(clippy::disallowed_methods, reason = "input lists directories")]
fn list(directory: &Path, logs: &mut Vec<Log>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            if let Err(error) = list(&path, logs) {
                logs.push(Log { path, named: false, unlisted: Some(error) });
            }
        } else if !is_beside_logs(&path) {
            logs.push(Log { path, named: false, unlisted: None });
        }
    }
    Ok(())
}

/// What lies beside the logs in OpenShift's folders of them: locks, marks of a shutdown, lists of the logs gathered.
pub(super) fn is_beside_logs(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    [".lock", ".terminating", ".audit_logs_listing"].iter().any(|end| name.ends_with(end))
}
