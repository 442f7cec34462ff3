//! The files that hold the roles: which text is whose, where a patch of them is to be applied, and all of them written or
//! none.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::input;
use crate::source::Source;

/// What the user gave, without links.
pub(super) fn roots(paths: &[String]) -> Result<Vec<PathBuf>> {
    let mut roots = Vec::new();
    for path in paths {
        roots.extend(input::expand(path)?.iter().filter_map(|path| std::fs::canonicalize(path).ok()));
    }
    Ok(roots)
}

/// The file of a text, without links, if it is one that holds just that text and lies in what the user gave.
#[expect(
    clippy::disallowed_methods,
    reason = "whether the file is still what was read is asked right before it is written"
)]
pub(super) fn on_disk(source: &Source, roots: &[PathBuf]) -> std::result::Result<PathBuf, String> {
    let path = Path::new(&*source.path);
    if &*source.path == "-" {
        return Err("it was read from standard input".to_owned());
    }
    if !path.is_file() {
        return Err("it is in an archive or was rendered, so no file holds it".to_owned());
    }
    let real = std::fs::canonicalize(path).map_err(|error| error.to_string())?;
    if !roots.iter().any(|root| real.starts_with(root)) {
        return Err("a link leads to it out of the given paths".to_owned());
    }
    match std::fs::read(&real) {
        Ok(bytes) if bytes == source.text.as_bytes() => Ok(real),
        Ok(_) => Err("its file is compressed, no UTF-8, or changed since it was read".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Where a patch is to be applied.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Base {
    pub(super) folder: PathBuf,
    /// It is the top of a git work tree.
    pub(super) is_top: bool,
    /// It is the working folder.
    pub(super) is_here: bool,
}

impl Base {
    /// The top of the git work tree that holds all these files, else the working folder, else the folder next above them.
    pub(super) fn of(files: &[&Path]) -> Self {
        let here = std::env::current_dir().and_then(std::fs::canonicalize).unwrap_or_default();
        let tops: BTreeSet<Option<&Path>> = files.iter().map(|file| top(file)).collect();
        let (folder, is_top) = match tops.first() {
            Some(Some(top)) if tops.len() == 1 => ((*top).to_owned(), true),
            _ if files.iter().all(|file| file.starts_with(&here)) => (here.clone(), false),
            _ => (common(files), false),
        };
        Self { is_here: folder == here, folder, is_top }
    }

    /// The path of a file in the patch.
    pub(super) fn path(&self, file: &Path) -> String {
        let below = file.strip_prefix(&self.folder).unwrap_or(file);
        below.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
    }
}

/// The folder with `.git`, which is a file in work trees beside the first and in submodules.
fn top(file: &Path) -> Option<&Path> {
    file.ancestors().skip(1).find(|folder| folder.join(".git").exists())
}

fn common(files: &[&Path]) -> PathBuf {
    let first = files.first().and_then(|file| file.parent()).unwrap_or(Path::new(""));
    let all = |folder: &&Path| files.iter().all(|file| file.starts_with(folder));
    first.ancestors().find(all).unwrap_or(first).to_owned()
}

/// New text of a file, written beside it.
#[derive(Debug)]
pub(super) struct Prepared {
    file: tempfile::NamedTempFile,
    target: PathBuf,
}

impl Prepared {
    /// Everything that may fail but the last step: the file itself is as it was.
    pub(super) fn new(target: &Path, text: &str) -> Result<Self> {
        let cannot = || format!("cannot write {}", target.display());
        let permissions = std::fs::metadata(target).with_context(cannot)?.permissions();
        let mut file = tempfile::NamedTempFile::new_in(target.parent().unwrap_or(target)).with_context(cannot)?;
        file.write_all(text.as_bytes()).with_context(cannot)?;
        file.as_file().set_permissions(permissions).with_context(cannot)?;
        Ok(Self { file, target: target.to_owned() })
    }

    /// The new text takes the place of the old.
    pub(super) fn put(self) -> Result<()> {
        let Self { file, target } = self;
        file.persist(&target).with_context(|| format!("cannot write {}", target.display()))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_starts_where_all_its_files_are() {
        let folder = tempfile::tempdir().unwrap();
        let folder = std::fs::canonicalize(folder.path()).unwrap();
        let (one, two) = (folder.join("a/x/one.yaml"), folder.join("a/y/two.yaml"));
        let of = |files: &[&Path]| Base::of(files);
        let expected = |folder: &Path, is_top| Base { folder: folder.to_owned(), is_top, is_here: false };
        assert_eq!(of(&[&one]), expected(&folder.join("a/x"), false));
        assert_eq!(of(&[&one, &two]), expected(&folder.join("a"), false));
        assert_eq!(of(&[&one, &two]).path(&two), "y/two.yaml");
        std::fs::create_dir_all(folder.join(".git")).unwrap();
        assert_eq!(of(&[&one, &two]), expected(&folder, true));
        assert_eq!(of(&[&one]).path(&one), "a/x/one.yaml");
        // Of another work tree.
        std::fs::create_dir_all(folder.join("a/y")).unwrap();
        std::fs::write(folder.join("a/y/.git"), "gitdir: ../../.git/modules/y\n").unwrap();
        assert_eq!(of(&[&two]), expected(&folder.join("a/y"), true));
        assert_eq!(of(&[&one, &two]), expected(&folder.join("a"), false));
    }
}
