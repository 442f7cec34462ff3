//! Where the recorded data lie.

use std::path::{Path, PathBuf};

/// A folder of `../shared/cases`, or `None` with a word about it.
pub(crate) fn folder(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/cases")
        .join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: ../shared/cases/{name} is not here");
    None
}

/// The entries of a folder, by name.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<_> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    entries
}
