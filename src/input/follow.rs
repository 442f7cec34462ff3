//! Follows a log that grows, is cut, or is moved aside for a new one, as API servers rotate theirs.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::Error;
use crate::audit::{Collector, Select, Usage};

const PAUSE: Duration = Duration::from_millis(200);
/// Most reads before what was seen is told, and before it is asked whether to stop: a pipe may never be empty.
const MOST_READS: usize = 64;

/// Reads a log, and whatever is added to it until `stop`; `each` gets what was seen so far whenever there was more, and
/// once at the end. The log has one event a line, and is not compressed.
pub fn follow<E: From<Error>>(
    path: &Path,
    select: Select,
    stop: &AtomicBool,
    each: &mut dyn FnMut(Usage) -> Result<(), E>,
) -> Result<(), E> {
    Tail::from_start(path)?.follow(select, stop, each)
}

/// A log that is followed from a place on.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    log: Log,
}

impl Tail {
    /// All of the log.
    pub fn from_start(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_string_lossy().into_owned(), source };
        Ok(Self { path: path.to_owned(), log: Log::open(path).map_err(failed)? })
    }

    /// What is added to the log from now on.
    pub fn from_end(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::Open { path: path.to_string_lossy().into_owned(), source };
        let mut tail = Self::from_start(path)?;
        tail.log.read = tail.log.file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(tail)
    }

    /// As [`follow`].
    pub fn follow<E: From<Error>>(
        self,
        select: Select,
        stop: &AtomicBool,
        each: &mut dyn FnMut(Usage) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { path, mut log } = self;
        let shown = path.to_string_lossy().into_owned();
        let failed = |source| Error::Open { path: shown.clone(), source };
        let mut collector = Collector::selecting(select);
        let mut following = collector.follow(&shown);
        loop {
            let stopping = stop.load(Ordering::SeqCst);
            // Looked for first: what was written to the old file until then is read below.
            let new = log.replaced(&path);
            let (mut reads, mut at_end) = (0, false);
            // An old file is read to its end, which nobody moves.
            while !at_end && (reads < MOST_READS || new.is_some()) {
                let bytes = log.more().map_err(failed)?;
                at_end = bytes.is_empty();
                reads += 1;
                collector.feed(&mut following, bytes);
            }
            let seen = reads > 1 || !at_end;
            if stopping || seen {
                each(collector.clone().stopped(&shown, following.clone()))?;
            }
            if let Some(new) = new {
                collector.end_following(&shown, following);
                following = collector.follow(&shown);
                log = new;
                continue;
            }
            if stopping {
                return Ok(());
            }
            if at_end {
                thread::sleep(PAUSE);
            }
        }
    }
}

#[derive(Debug)]
struct Log {
    file: File,
    read: u64,
    chunk: Vec<u8>,
}

impl Log {
    #[expect(clippy::disallowed_methods, reason = "input opens files")]
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { file: File::open(path)?, read: 0, chunk: vec![0; 1 << 20] })
    }

    fn more(&mut self) -> io::Result<&[u8]> {
        let read = self.file.read(&mut self.chunk)?;
        self.read += read as u64;
        Ok(self.chunk.get(..read).unwrap_or_default())
    }

    /// The new log, when another file stands at the path, or this one was cut.
    fn replaced(&mut self, path: &Path) -> Option<Self> {
        let (own, there) = (self.file.metadata().ok()?, fs::metadata(path).ok()?);
        if !is_same(&own, &there) {
            return Self::open(path).ok();
        }
        // Pipes and devices have no length.
        if own.is_file() && own.len() < self.read {
            let mut log = Self::open(path).ok()?;
            log.file.seek(SeekFrom::Start(0)).ok()?;
            return Some(log);
        }
        None
    }
}

#[cfg(unix)]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(a: &fs::Metadata, b: &fs::Metadata) -> bool {
    a.created().ok() == b.created().ok()
}
