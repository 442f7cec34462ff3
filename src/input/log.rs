//! Opens audit logs and usage profiles; gzip, zstd and tar are recognised by their first bytes.

mod archive;
mod files;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use flate2::bufread::MultiGzDecoder;

use crate::audit::{Collector, Profile, Select, Usage};

use super::Error;
pub use files::Logs;

/// The argument that stands for standard input.
pub const STDIN: &str = "-";
const GZIP: &[u8] = b"\x1f\x8b";
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const BUFFER: usize = 128 << 10;
/// How much of a log is looked at.
const HEAD: u64 = 512;

/// Everything in these logs, see [`read_selected`].
pub fn read_logs(paths: &[String], progress: &mut dyn FnMut(u64)) -> Result<Usage, Error> {
    read_selected(&Logs::find(paths)?, &Select::default(), progress)
}

/// Reads logs, and usage profiles of logs, in their order into one profile, on as many cores as the process may use.
/// `progress` gets the number of bytes taken from the files since its last call, before decompression: of [`log_bytes`]
/// in all.
pub fn read_selected(logs: &Logs, select: &Select, progress: &mut dyn FnMut(u64)) -> Result<Usage, Error> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let taken = AtomicU64::new(0);
    let tick = &mut || progress(taken.swap(0, Ordering::Relaxed));
    let collector = Collector::selecting(select.clone());
    let mut reading = Reading { collector, profiles: Usage::default(), select, cores, tick };
    let mut read = BTreeSet::new();
    for log in &logs.0 {
        let shown = shown(&log.path);
        if !read.insert(log.identity()) {
            reading.collector.note(&shown, "given twice, read once");
            continue;
        }
        if let Some(error) = &log.unlisted {
            reading.collector.refuse(&shown, format!("the directory cannot be listed: {error}"));
            continue;
        }
        // A pipe in a directory may never end; who names one knows.
        if !log.named && !log.path.is_file() {
            reading.collector.unreadable(&shown, &io::Error::other("neither a file nor a directory"));
            continue;
        }
        match source(&log.path).and_then(|inner| decompressed(Counted { inner, taken: &taken })) {
            Ok((head, input)) if archive::is_one(&head) => reading.archive(&shown, input)?,
            Ok((head, input)) => reading.log(&shown, &head, input)?,
            Err(source) if log.named => return Err(Error::Open { path: shown, source }),
            Err(error) => reading.collector.unreadable(&shown, &error),
        }
    }
    let (logs, profiles) = (reading.collector.finish(), reading.profiles);
    Ok(if profiles.quality.files == 0 && profiles.calls.is_empty() { logs } else { logs.merge_profile(profiles, None) })
}

/// What was read so far.
struct Reading<'a> {
    collector: Collector,
    profiles: Usage,
    select: &'a Select,
    cores: usize,
    tick: &'a mut dyn FnMut(),
}

impl Reading<'_> {
    /// Reads a log or a profile, which begins with `head`.
    fn log(&mut self, shown: &str, head: &[u8], mut input: impl Read + Send) -> Result<(), Error> {
        if !Profile::is_one(head) {
            self.collector.read_on(self.cores, shown, input, self.tick);
            return Ok(());
        }
        if self.select.asks_for_agents() {
            return Err(Error::NoAgents { path: shown.to_owned() });
        }
        match Profile::read(&mut input) {
            Ok(profile) => {
                let profile = profile.selected(self.select, shown);
                self.profiles = std::mem::take(&mut self.profiles).merge_profile(profile, Some(shown));
            }
            Err(why) => self.collector.refuse(shown, why),
        }
        Ok(())
    }

    /// Reads what is in an archive.
    fn archive(&mut self, shown: &str, input: impl Read + Send) -> Result<(), Error> {
        let mut read = Ok(());
        archive::read(input, &mut |found| match found {
            _ if read.is_err() => {}
            archive::Found::Log(name, entry) => {
                let shown = format!("{shown}/{name}");
                match decompressed(entry) {
                    Ok((head, input)) => read = self.log(&shown, &head, input),
                    Err(error) => self.collector.unreadable(&shown, &error),
                }
            }
            archive::Found::Lost(name, why) if name.is_empty() => self.collector.refuse(shown, why),
            archive::Found::Lost(name, why) => self.collector.refuse(&format!("{shown}/{name}"), why),
        });
        read
    }
}

/// How many bytes the logs have on disk; `None` when standard input is among them.
pub fn log_bytes(paths: &[String]) -> Option<u64> {
    Logs::find(paths).ok()?.bytes()
}

/// Whether a log is compressed, or an archive. Pipes and devices are not looked into: what is read of them is gone.
pub fn is_packed(path: &Path) -> Result<bool, Error> {
    if !path.is_file() {
        return Ok(false);
    }
    let failed = |source| Error::Open { path: shown(path), source };
    let (head, _) = with_head(source(path).map_err(failed)?);
    Ok(head.starts_with(GZIP) || head.starts_with(ZSTD) || is_skippable(&head) || archive::is_one(&head))
}

/// Whether a file that can be opened begins as a usage profile.
fn head_is_of_profile(path: &Path) -> bool {
    source(path).and_then(decompressed).is_ok_and(|(head, _)| Profile::is_one(&head))
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[expect(clippy::disallowed_methods, reason = "input opens files")]
fn source(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(if path == Path::new(STDIN) { Box::new(io::stdin()) } else { Box::new(File::open(path)?) })
}

/// The log as it was written, with its first bytes. What was packed already is packed again by some that rotate logs.
fn decompressed<'a>(input: impl Read + Send + 'a) -> io::Result<(Vec<u8>, Box<dyn Read + Send + 'a>)> {
    const LAYERS: usize = 2;
    let (mut head, mut log) = with_head(Box::new(input));
    for _ in 0..LAYERS {
        (head, log) = if head.starts_with(GZIP) {
            with_head(Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, log))))
        } else if head.starts_with(ZSTD) || is_skippable(&head) {
            with_head(Box::new(zstd::Decoder::new(log)?))
        } else {
            break;
        };
    }
    Ok((head, log))
}

/// A frame that zstd passes over, as its parallel form writes them in front (RFC 8878, 3.1.2).
fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..])
}

/// A stream with its first bytes, which stay in it.
fn with_head<'a>(mut log: Box<dyn Read + Send + 'a>) -> (Vec<u8>, Box<dyn Read + Send + 'a>) {
    let mut head = Vec::new();
    // What is broken breaks again where it is read.
    let broken = log.by_ref().take(HEAD).read_to_end(&mut head).err();
    let rest: Box<dyn Read + Send> = match broken {
        None => log,
        Some(error) => Box::new(Broken(Some(error))),
    };
    (head.clone(), Box::new(Cursor::new(head).chain(rest)))
}

/// An error, met where it was; then the end.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
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
