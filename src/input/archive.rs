//! Manifests inside archives: Helm packages, layers of bundle images, zipped folders. Read in memory, within limits;
//! nothing is written to disk, so a hostile name only matters as text.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::discover::{MAX_BYTES, is_wanted, too_large};

/// What an archive may unpack to, all of it together; what comes after is left out, and said.
const MAX_UNPACKED: u64 = 256 << 20;
/// Entries looked at.
const MAX_ENTRIES: usize = 100_000;
/// Longer names no file system takes (Linux, `PATH_MAX`).
const MAX_NAME: usize = 4096;

/// Where it leads may be out of the archive.
const LINK: &str = "a link in an archive is not followed";

/// What an archive holds.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// Manifest files by their path in the archive.
    pub(super) files: Vec<(String, Vec<u8>)>,
    /// Other files, by extension.
    pub(super) other: BTreeMap<String, u64>,
    /// What was left out: its path in the archive, empty for the rest of the archive, and why.
    pub(super) lost: Vec<(String, String)>,
    /// Bytes unpacked, also those of files that turned out too large.
    unpacked: u64,
}

/// The manifests in a tar, compressed tar or zip archive; `None` when the bytes are none. `.gz` of a single file is
/// that file.
pub(super) fn unpack(bytes: &[u8]) -> Option<Unpacked> {
    let mut unpacked = Unpacked::default();
    if bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06") {
        unpacked.zip(bytes);
    } else if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut start = Vec::new();
        // A broken end does not matter for what the start is.
        let _ = MultiGzDecoder::new(bytes).take(512).read_to_end(&mut start);
        if is_tar(&start) {
            unpacked.tar(MultiGzDecoder::new(bytes));
        } else {
            unpacked.add(String::new(), None, MultiGzDecoder::new(bytes));
        }
    } else if is_tar(bytes) {
        unpacked.tar(bytes);
    } else {
        return None;
    }
    // As they stand in a directory; of two with one name the later counts, as when they are unpacked.
    unpacked.files.reverse();
    unpacked.files.sort_by(|a, b| a.0.cmp(&b.0));
    unpacked.files.dedup_by(|a, b| a.0 == b.0);
    Some(unpacked)
}

/// The magic of POSIX and GNU tar.
fn is_tar(bytes: &[u8]) -> bool {
    bytes.get(257..262) == Some(b"ustar")
}

impl Unpacked {
    fn tar(&mut self, stream: impl Read) {
        let mut archive = tar::Archive::new(stream.take(MAX_UNPACKED));
        let entries = match archive.entries() {
            Ok(entries) => entries,
            Err(error) => return self.lose("", &error.to_string()),
        };
        for (seen, entry) in entries.enumerate() {
            if seen == MAX_ENTRIES {
                return self.lose("", &format!("more than {MAX_ENTRIES} entries: the rest is left out"));
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let limit = format!("broken, or unpacks to more than {} MiB", MAX_UNPACKED >> 20);
                    return self.lose("", &format!("{limit}: the rest is left out ({error})"));
                }
            };
            let Some(name) = self.name(&entry.path_bytes()) else { continue };
            let kind = entry.header().entry_type();
            if kind.is_file() || kind.is_contiguous() {
                self.entry(&name, entry.size(), entry);
            } else if kind.is_symlink() || kind.is_hard_link() {
                self.leave(&name, LINK);
            } else if !kind.is_dir() {
                self.leave(&name, "not a regular file");
            }
        }
    }

    fn zip(&mut self, bytes: &[u8]) {
        let mut archive = match zip::ZipArchive::new(Cursor::new(bytes)) {
            Ok(archive) => archive,
            Err(error) => return self.lose("", &error.to_string()),
        };
        for index in 0..archive.len() {
            if index == MAX_ENTRIES {
                return self.lose("", &format!("more than {MAX_ENTRIES} entries: the rest is left out"));
            }
            let entry = match archive.by_index(index) {
                Ok(entry) => entry,
                Err(error) => {
                    self.lose(&format!("entry {index}"), &error.to_string());
                    continue;
                }
            };
            let Some(name) = self.name(entry.name_raw()) else { continue };
            if entry.is_symlink() {
                self.leave(&name, LINK);
            } else if !entry.is_dir() {
                self.entry(&name, entry.size(), entry);
            }
            if self.unpacked >= MAX_UNPACKED {
                let limit = MAX_UNPACKED >> 20;
                return self.lose("", &format!("unpacks to more than {limit} MiB: the rest is left out"));
            }
        }
    }

    fn name(&mut self, raw: &[u8]) -> Option<String> {
        if raw.len() > MAX_NAME {
            self.lose("", &format!("an entry whose name is longer than {MAX_NAME} bytes is left out"));
            return None;
        }
        Some(String::from_utf8_lossy(raw).into_owned())
    }

    fn leave(&mut self, name: &str, why: &str) {
        if is_wanted(Path::new(name)) {
            self.lose(name, why);
        }
    }

    fn entry(&mut self, name: &str, size: u64, content: impl Read) {
        let Some(inside) = inside(name) else {
            return self.lose("", &format!("`{name}` leads out of the archive and is left out"));
        };
        let path = Path::new(&inside);
        if is_wanted(path) {
            self.add(inside, Some(size), content);
        } else {
            let extension = path.extension().map_or("(none)".into(), |extension| extension.to_string_lossy());
            *self.other.entry(extension.into_owned()).or_default() += 1;
        }
    }

    fn add(&mut self, path: String, size: Option<u64>, content: impl Read) {
        let mut bytes = Vec::new();
        let read = content.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        // Entries of a zip may share their bytes, so that a small one unpacks without end.
        self.unpacked += bytes.len() as u64;
        match read {
            Ok(_) if bytes.len() as u64 > MAX_BYTES => self.lose(&path, &too_large()),
            // A stream that was cut, or reached the limit, just ends.
            Ok(read) if size.is_some_and(|size| read as u64 != size) => self.lose(&path, "the archive ends in it"),
            Ok(_) => self.files.push((path, bytes)),
            Err(error) => self.lose(&path, &error.to_string()),
        }
    }

    fn lose(&mut self, path: &str, why: &str) {
        self.lost.push((path.to_owned(), why.to_owned()));
    }
}

/// The path below the archive; `None` when it would leave it.
fn inside(name: &str) -> Option<String> {
    let name = name.replace('\\', "/");
    if name.starts_with('/') || name.split('/').any(|part| part == "..") {
        return None;
    }
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    Some(parts.join("/")).filter(|path| !path.is_empty())
}

#[cfg(test)]
mod tests;
