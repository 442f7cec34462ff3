//! Manifest files: as given, found in directories, or on standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::Error;
use crate::source::{Diagnostic, DiagnosticKind, Diagnostics, Location, SourceId, SourceMap};

/// Larger manifest files are not read.
const MAX_BYTES: u64 = 64 << 20;

/// What was found.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The texts.
    pub sources: SourceMap,
    /// Manifest files, sorted by path.
    pub files: Vec<File>,
    /// Other files in directories, by extension (`(none)` without one).
    pub other: BTreeMap<String, u64>,
    /// Files that could not be read.
    pub diagnostics: Diagnostics,
}

/// A manifest file.
#[derive(Debug, Clone)]
pub struct File {
    /// As shown: the argument, joined with the way below it, `/`-separated.
    pub path: String,
    /// Its text; `None` when it could not be read.
    pub source: Option<SourceId>,
}

/// Finds and reads manifest files: files as given, whatever their name; `.yaml`, `.yml` and `.json` files in
/// directories, `.gitignore` and hidden files respected; `-` is standard input. A file reached twice is read once.
pub fn manifests(paths: &[String]) -> Result<Discovered, Error> {
    let mut found = Discovered::default();
    let mut wanted: BTreeMap<String, PathBuf> = BTreeMap::new();
    for path in paths {
        if path == "-" {
            wanted.insert(path.clone(), PathBuf::new());
            continue;
        }
        let metadata = fs::metadata(path).map_err(|source| Error::Open { path: path.clone(), source })?;
        if !metadata.is_dir() {
            wanted.insert(shown(Path::new(path)), PathBuf::from(path));
            continue;
        }
        for entry in WalkBuilder::new(path).require_git(false).build() {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
                Ok(entry) => found.sort_in(entry.path(), &mut wanted),
                // A part that cannot be entered costs that part.
                Err(source) if source.depth() != Some(0) => found.lost(path, &source.to_string()),
                Err(source) => return Err(Error::Walk { path: path.clone(), source }),
            }
        }
    }
    let mut seen = BTreeSet::new();
    for (shown, path) in wanted {
        let identity = fs::canonicalize(&path).unwrap_or_else(|_| PathBuf::from(&shown));
        if seen.insert(identity) {
            found.read(shown, &path);
        }
    }
    Ok(found)
}

impl Discovered {
    fn sort_in(&mut self, path: &Path, wanted: &mut BTreeMap<String, PathBuf>) {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("(none)");
        if matches!(extension, "yaml" | "yml" | "json") {
            wanted.insert(shown(path), path.to_owned());
        } else {
            *self.other.entry(extension.to_owned()).or_default() += 1;
        }
    }

    fn read(&mut self, path: String, file: &Path) {
        let source = match text_of(&path, file) {
            Ok(text) => Some(self.sources.add(path.clone(), text)),
            Err(why) => {
                self.lost(&path, &why);
                None
            }
        };
        self.files.push(File { path, source });
    }

    fn lost(&mut self, path: &str, why: &str) {
        let location = Location { path: path.to_owned(), line: 1, column: 1, end_line: 1, end_column: 1, span: None };
        self.diagnostics.push(Diagnostic { kind: DiagnosticKind::Unreadable, location, message: why.to_owned() });
    }
}

#[expect(clippy::disallowed_methods, reason = "this is where files are read")]
fn text_of(path: &str, file: &Path) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        fs::File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(format!("larger than {} MiB", MAX_BYTES >> 20));
    }
    if bytes.contains(&0) {
        return Err("a binary file (it holds NUL bytes)".to_owned());
    }
    String::from_utf8(bytes).map_err(|error| format!("not UTF-8 (byte {})", error.utf8_error().valid_up_to() + 1))
}

/// A path as people write it: `/` between its parts, no `./` before it.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace('\\', "/");
    let mut rest = text.as_str();
    while let Some(stripped) = rest.strip_prefix("./") {
        rest = stripped.trim_start_matches('/');
    }
    rest.to_owned()
}
