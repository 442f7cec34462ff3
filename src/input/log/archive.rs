//! Logs in a tar archive, such as a must-gather: every file in it is one. A thread unpacks while another reads; nothing
//! is written to disk, so a hostile name only matters as text.

use std::cell::Cell;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, SendError, SyncSender, sync_channel};
use std::thread;

use super::files::is_beside_logs;

/// Entries looked at.
const MOST_ENTRIES: usize = 100_000;
/// Bytes of a name (Linux `PATH_MAX`).
const LONGEST_NAME: usize = 4096;
/// Bytes of an archive that one entry takes before its contents. Headers of their own hold long names, at any length.
const MOST_OF_HEADERS: u64 = 1 << 20;
const PIECE: usize = 128 << 10;
/// Pieces between the threads.
const IN_HAND: usize = 4;

/// The magic of POSIX and GNU tar.
pub(super) fn is_one(head: &[u8]) -> bool {
    head.get(257..262) == Some(b"ustar")
}

/// What comes out of an archive, in its order.
#[derive(Debug)]
enum Piece {
    /// A file of that name begins.
    Begin(String),
    Bytes(Vec<u8>),
    /// The file ends.
    End,
    /// The file breaks off.
    Broken(io::Error),
    /// What is not read: its name, empty for the rest of the archive, and why.
    Lost(String, String),
}

/// A file of an archive, or what of the archive is not read and why.
#[derive(Debug)]
pub(super) enum Found<'a> {
    Log(String, Entry<'a>),
    Lost(String, String),
}

/// The bytes of a file in an archive.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    pieces: &'a mut Receiver<Piece>,
    piece: io::Cursor<Vec<u8>>,
    ended: bool,
}

/// Hands out the files of an archive, one after the other.
pub(super) fn read(archive: impl Read + Send, each: &mut dyn FnMut(Found<'_>)) {
    let (sender, mut pieces) = sync_channel(IN_HAND);
    thread::scope(|scope| {
        scope.spawn(move || unpack(archive, &sender));
        while let Ok(piece) = pieces.recv() {
            match piece {
                Piece::Begin(name) => {
                    each(Found::Log(name, Entry { pieces: &mut pieces, piece: io::Cursor::default(), ended: false }));
                }
                Piece::Lost(name, why) => each(Found::Lost(name, why)),
                // Of a file that was not read to its end.
                Piece::Bytes(_) | Piece::End | Piece::Broken(_) => {}
            }
        }
    });
}

impl Read for Entry<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(into)?;
            if read > 0 || self.ended || into.is_empty() {
                return Ok(read);
            }
            match self.pieces.recv() {
                Ok(Piece::Bytes(bytes)) => self.piece = io::Cursor::new(bytes),
                Ok(Piece::Broken(error)) => {
                    self.ended = true;
                    return Err(error);
                }
                _ => self.ended = true,
            }
        }
    }
}

/// A stream of which no more is read than there is left.
struct Budgeted<'a, R> {
    inner: R,
    left: &'a Cell<u64>,
}

impl<R: Read> Read for Budgeted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other(format!("more than {} MiB of headers for a file", MOST_OF_HEADERS >> 20)));
        }
        let read = self.inner.by_ref().take(self.left.get()).read(into)?;
        self.left.set(self.left.get() - read as u64);
        Ok(read)
    }
}

/// Sends what is in an archive; an error when nobody listens.
fn unpack(archive: impl Read, to: &SyncSender<Piece>) -> Result<(), SendError<Piece>> {
    let lost = |name: &str, why: String| to.send(Piece::Lost(name.to_owned(), why));
    let broken = |error: io::Error| format!("the archive is broken, the rest is not read: {error}");
    let budget = Cell::new(MOST_OF_HEADERS);
    let mut archive = tar::Archive::new(Budgeted { inner: archive, left: &budget });
    let entries = match archive.entries() {
        Ok(entries) => entries,
        Err(error) => return lost("", broken(error)),
    };
    for (seen, entry) in entries.enumerate() {
        if seen == MOST_ENTRIES {
            return lost("", format!("more than {MOST_ENTRIES} files, the rest is not read"));
        }
        let mut entry = match entry {
            Ok(entry) => entry,
            Err(error) => return lost("", broken(error)),
        };
        budget.set(u64::MAX);
        let path = entry.path_bytes();
        let kept = path.get(..LONGEST_NAME).unwrap_or(&path);
        let name = String::from_utf8_lossy(kept).trim_start_matches("./").to_owned();
        let kind = entry.header().entry_type();
        let why = if kept.len() < path.len() {
            Some(format!("its name goes on: longer than {LONGEST_NAME} bytes"))
        } else {
            (!kind.is_file() && !kind.is_contiguous()).then(|| "not a regular file".to_owned())
        };
        match why {
            _ if kind.is_dir() || is_beside_logs(name.as_ref()) => {}
            Some(why) => lost(&name, why)?,
            None => {
                to.send(Piece::Begin(name))?;
                send(&mut entry, to)?;
            }
        }
        // What is not read of an entry would be passed over with the headers of the next.
        if let Err(error) = io::copy(&mut entry, &mut io::sink()) {
            return lost("", broken(error));
        }
        budget.set(MOST_OF_HEADERS);
    }
    Ok(())
}

/// Sends a file.
fn send(entry: &mut tar::Entry<'_, impl Read>, to: &SyncSender<Piece>) -> Result<(), SendError<Piece>> {
    let mut left = entry.size();
    loop {
        let mut bytes = Vec::new();
        let read = entry.by_ref().take(PIECE as u64).read_to_end(&mut bytes);
        left = left.saturating_sub(bytes.len() as u64);
        let ended = bytes.is_empty();
        if !ended {
            to.send(Piece::Bytes(bytes))?;
        }
        return to.send(match read {
            Err(error) => Piece::Broken(error),
            Ok(_) if !ended => continue,
            Ok(_) if left > 0 => Piece::Broken(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => Piece::End,
        });
    }
}
