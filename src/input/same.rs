//! Whether two paths lead to one regular file: what is read must not be written over.

use std::fs;
use std::path::Path;

/// Whether both are there and are one regular file, by its path or, on Unix, by its inode. Devices may be both read and
/// written.
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (fs::canonicalize(a), fs::canonicalize(b)) {
        (Ok(a), Ok(b)) => a.is_file() && (a == b || is_linked(&a, &b)),
        _ => false,
    }
}

#[cfg(unix)]
fn is_linked(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |path| fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()));
    identity(a).is_some_and(|identity_of_a| identity(b) == Some(identity_of_a))
}

#[cfg(not(unix))]
fn is_linked(_: &Path, _: &Path) -> bool {
    false
}
