//! Audit logs: files, folders of them, standard input; gzip by its magic bytes, not by its name.

use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use flate2::bufread::MultiGzDecoder;

use super::Error;
use crate::audit::{Collector, Usage};

const BUFFER: usize = 256 << 10;

/// Reads the logs in the order given, the files of a folder by name. `progress` is told of bytes as they are read.
pub fn read_logs(paths: &[String], progress: &mut dyn FnMut(u64)) -> Result<Usage, Error> {
    let mut collector = Collector::new();
    let mut seen = Vec::new();
    for path in paths {
        for file in expand(path)? {
            let identity = fs::canonicalize(&file).unwrap_or_else(|_| PathBuf::from(&file));
            // A log given twice counts once.
            if seen.contains(&identity) {
                continue;
            }
            seen.push(identity);
            let raw = open(&file).map_err(|source| Error::Open { path: file.clone(), source })?;
            let mut counted = BufReader::with_capacity(BUFFER, Counted { inner: raw, progress });
            match is_gzip(&mut counted) {
                Ok(true) => collector.read(&file, &mut MultiGzDecoder::new(counted)),
                Ok(false) => collector.read(&file, &mut counted),
                Err(source) => return Err(Error::Open { path: file, source }),
            }
        }
    }
    Ok(collector.finish())
}

fn is_gzip(reader: &mut impl BufRead) -> io::Result<bool> {
    Ok(reader.fill_buf()?.starts_with(&[0x1f, 0x8b]))
}

#[expect(clippy::disallowed_methods, reason = "this is where logs are opened")]
fn open(path: &str) -> io::Result<Box<dyn Read>> {
    Ok(match path {
        "-" => Box::new(io::stdin().lock()),
        path => Box::new(fs::File::open(path)?),
    })
}

/// The files of a folder by name; any other path as it is.
#[expect(clippy::disallowed_methods, reason = "this is where folders of logs are listed")]
fn expand(path: &str) -> Result<Vec<String>, Error> {
    if path == "-" || !fs::metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
        return Ok(vec![path.to_owned()]);
    }
    let failed = |source| Error::Open { path: path.to_owned(), source };
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().is_file() {
            files.push(entry.path().to_string_lossy().into_owned());
        }
    }
    files.sort();
    if files.is_empty() { Err(Error::EmptyFolder { path: path.to_owned() }) } else { Ok(files) }
}

struct Counted<'a> {
    inner: Box<dyn Read>,
    progress: &'a mut dyn FnMut(u64),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        (self.progress)(read as u64);
        Ok(read)
    }
}
