//! Opens audit logs: files, directories of them and standard input; gzip and zstd are recognised by their first bytes.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use flate2::bufread::MultiGzDecoder;

use crate::audit::{Collector, Usage};

use super::Error;

/// The argument that stands for standard input.
pub const STDIN: &str = "-";
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const BUFFER: usize = 128 << 10;

/// Reads logs in the order given, a directory's files by name, into one profile, on as many cores as the process may
/// use. `progress` gets the number of bytes taken from the files since its last call, before decompression: of
/// [`log_bytes`] in all.
pub fn read_logs(paths: &[String], progress: &mut dyn FnMut(u64)) -> Result<Usage, Error> {
    let mut collector = Collector::new();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let taken = AtomicU64::new(0);
    let mut read = BTreeSet::new();
    for log in files(paths)? {
        let shown = shown(&log.path);
        if !read.insert(log.identity()) {
            collector.note(&shown, "given twice, read once");
            continue;
        }
        // A pipe in a directory may never end; who names one knows.
        if !log.named && !log.path.is_file() {
            collector.unreadable(&shown, &io::Error::other("neither a file nor a directory"));
            continue;
        }
        match source(&log.path).and_then(|inner| decompressed(Counted { inner, taken: &taken })) {
            Ok(input) => {
                collector.read_on(cores, &shown, input, &mut || progress(taken.swap(0, Ordering::Relaxed)));
            }
            Err(source) if log.named => return Err(Error::Open { path: shown, source }),
            Err(error) => collector.unreadable(&shown, &error),
        }
    }
    Ok(collector.finish())
}

/// How many bytes the logs have on disk; `None` when standard input is among them.
pub fn log_bytes(paths: &[String]) -> Option<u64> {
    let logs = files(paths).ok()?;
    logs.iter()
        .map(|log| fs::metadata(&log.path).ok().filter(|_| log.path != Path::new(STDIN)))
        .try_fold(0, |total, metadata| Some(total + metadata?.len()))
}

/// One log to read.
struct Log {
    path: PathBuf,
    /// Named by the user, not found in a directory.
    named: bool,
}

impl Log {
    fn identity(&self) -> PathBuf {
        fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone())
    }
}

fn files(paths: &[String]) -> Result<Vec<Log>, Error> {
    let mut logs = Vec::new();
    for path in paths {
        if path != STDIN && Path::new(path).is_dir() {
            list(Path::new(path), &mut logs)?;
        } else {
            logs.push(Log { path: PathBuf::from(path), named: true });
        }
    }
    Ok(logs)
}

/// The files under a directory, by name. Links to directories are not followed: they may lead in circles.
#[expect(clippy::disallowed_methods, reason = "input lists directories")]
fn list(directory: &Path, logs: &mut Vec<Log>) -> Result<(), Error> {
    let failed = |source| Error::List { path: shown(directory), source };
    let entries: Result<Vec<_>, _> = fs::read_dir(directory).map_err(failed)?.collect();
    let mut entries = entries.map_err(failed)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            list(&path, logs)?;
        } else {
            logs.push(Log { path, named: false });
        }
    }
    Ok(())
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[expect(clippy::disallowed_methods, reason = "input opens files")]
fn source(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(if path == Path::new(STDIN) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) })
}

fn decompressed<'a>(mut input: impl Read + Send + 'a) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut head = Vec::new();
    input.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head)?;
    let (gzip, zstd) = (head.starts_with(GZIP), head == ZSTD);
    let whole = Cursor::new(head).chain(input);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, whole)))
    } else if zstd {
        Box::new(zstd::Decoder::new(whole)?)
    } else {
        Box::new(whole)
    })
}

/// Counts the bytes that pass.
struct Counted<'a, R> {
    inner: R,
    taken: &'a AtomicU64,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(into)?;
        self.taken.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests;
