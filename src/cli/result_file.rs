//! Result files: written whole where that can be, and never over what was read.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::input;

/// The file of `-o FILE`; none is standard output, and so is `-`.
pub(super) fn named(output: Option<&String>) -> Option<&Path> {
    output.filter(|path| path.as_str() != "-").map(Path::new)
}

/// Writes a file so that it is always whole: the old one or the new. What is no regular file (a device, a pipe), or is
/// yet to be made behind a link, is written in place.
pub(super) fn write_atomically(path: &Path, text: &str) -> Result<()> {
    write_atomically_with(path, &mut |file| Ok(file.write_all(text.as_bytes())?))
}

/// The same of a text that is written piece by piece.
pub(super) fn write_atomically_with(path: &Path, write: &mut dyn FnMut(&mut File) -> Result<()>) -> Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    let there = fs::metadata(path);
    let in_place = there.as_ref().map_or_else(|_| path.is_symlink(), |metadata| !metadata.is_file());
    if in_place {
        return File::create(path).map_err(Into::into).and_then(|mut file| write(&mut file)).with_context(cannot);
    }
    // The file that a link leads to, not the link.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let mut file = temporary(folder).with_context(cannot)?;
    write(file.as_file_mut()).with_context(cannot)?;
    if let Ok(old) = there {
        file.as_file().set_permissions(old.permissions()).with_context(cannot)?;
    }
    file.persist(&target).with_context(cannot)?;
    Ok(())
}

/// A temporary file is nobody else's; a result is as any other file that the user makes.
fn temporary(folder: &Path) -> std::io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Writes a result file, exactly at the path given. Colours do not go into files.
pub(super) fn write_file(path: &str, text: &str) -> Result<()> {
    let plain = anstream::adapter::strip_str(text).to_string();
    fs::write(path, plain).with_context(|| format!("cannot write {path}"))
}

/// Refuses to write over one of the files that were read.
pub(super) fn not_over<'a>(output: &Path, read: impl IntoIterator<Item = &'a str>) -> Result<()> {
    if read.into_iter().any(|input| input::is_same_file(output, Path::new(input))) {
        bail!("{} is read: the result needs another file", output.display());
    }
    Ok(())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests read what was written")]
mod tests;
