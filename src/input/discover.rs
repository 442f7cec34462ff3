//! Manifest files: as given, found in directories, or on standard input.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::Error;
use super::archive;
use super::select::{Chosen, Select};
use crate::manifest::markers;
use crate::source::{Diagnostic, DiagnosticKind, Diagnostics, Location, SourceId, SourceMap, Span};

/// Larger manifest files are not read.
pub(super) const MAX_BYTES: u64 = 64 << 20;
/// What all archives of a run may unpack to together; what comes after is left out, and said.
const MAX_OF_ARCHIVES: u64 = 1 << 30;

/// What was found.
#[derive(Debug, Default)]
pub struct Discovered {
    /// The texts.
    pub sources: SourceMap,
    /// Manifest files, sorted by path.
    pub files: Vec<File>,
    /// Archives among the arguments.
    pub archives: Vec<String>,
    /// Files whose rendered form is read instead, see [`Discovered::replace`].
    pub replaced: Vec<String>,
    /// Other files in directories, by extension (`(none)` without one).
    pub other: BTreeMap<String, u64>,
    /// Manifest files in directories that a `.gitignore` leaves out.
    pub git_ignored: u64,
    /// Manifest files in directories and archives that `--include` and `--exclude` leave out.
    pub deselected: u64,
    /// Files that could not be read.
    pub diagnostics: Diagnostics,
    /// Bytes out of archives.
    unpacked: u64,
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
/// directories, hidden ones too, less what a `.gitignore` leaves out; `-` is standard input. An archive that is given
/// is read as a directory. A file reached twice is read once. Go files are kept when controller-gen would read rbac
/// markers in them.
pub fn manifests(paths: &[String], select: &Select) -> Result<Discovered, Error> {
    let mut found = Discovered::default();
    let in_archives = select.below("")?;
    // With whether an argument names it. Two names that are no UTF-8 may be shown alike.
    let mut wanted: BTreeMap<(String, PathBuf), bool> = BTreeMap::new();
    for path in paths {
        if path == "-" {
            wanted.insert((path.clone(), PathBuf::new()), true);
            continue;
        }
        let metadata = fs::metadata(path).map_err(|source| Error::Open { path: path.clone(), source })?;
        if !metadata.is_dir() {
            wanted.insert((shown(Path::new(path)), PathBuf::from(path)), true);
            continue;
        }
        let mut here = BTreeSet::new();
        let chosen = select.below(path)?;
        for entry in walk(path, Some(&chosen)) {
            match entry {
                Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => {}
                Ok(entry) => found.sort_in(Path::new(path), entry.path(), &mut here),
                // A part that cannot be entered costs that part.
                Err(source) if source.depth() != Some(0) => found.lost(path, &source.to_string()),
                Err(source) => return Err(Error::Walk { path: path.clone(), source }),
            }
        }
        for entry in walk(path, None).filter_map(Result::ok) {
            let file = entry.file_type().is_some_and(|kind| !kind.is_dir());
            if !file || !is_manifest(entry.path()) || here.contains(entry.path()) {
                continue;
            }
            let below = entry.path().strip_prefix(path).unwrap_or(entry.path());
            let count = if chosen.leaves_out(below) { &mut found.deselected } else { &mut found.git_ignored };
            *count += 1;
        }
        for path in here {
            wanted.entry((shown(&path), path)).or_default();
        }
    }
    let mut seen = BTreeSet::new();
    for ((shown, path), named) in wanted {
        let identity = fs::canonicalize(&path).unwrap_or_else(|_| PathBuf::from(&shown));
        if !seen.insert(identity) {
            continue;
        }
        // A pipe or device may never end; who names one as an argument knows. A dangling link fails when it is opened.
        if !named && fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            found.unreadable(shown, "not a regular file");
        } else {
            found.read(shown, &path, &in_archives);
        }
    }
    found.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

/// Everything under a directory but git's own folder. What a machine's user ignores everywhere has no say.
/// With `chosen` only what it and `.gitignore` leave.
fn walk(directory: &str, chosen: Option<&Chosen>) -> ignore::Walk {
    let mut builder = WalkBuilder::new(directory);
    if let Some(chosen) = chosen {
        builder.overrides(chosen.globs.clone());
    }
    builder
        .hidden(false)
        .ignore(false)
        .git_global(false)
        .git_exclude(false)
        .git_ignore(chosen.is_some())
        .require_git(false)
        .sort_by_file_name(Ord::cmp)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build()
}

/// Whether a file below a directory is read; Go files without markers are put aside once they are.
pub(super) fn is_wanted(below: &Path) -> bool {
    is_manifest(below) || markers::is_source(&shown(below))
}

fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "yaml" || extension == "yml" || extension == "json")
}

impl Discovered {
    fn sort_in(&mut self, root: &Path, path: &Path, manifests: &mut BTreeSet<PathBuf>) {
        if is_wanted(path.strip_prefix(root).unwrap_or(path)) {
            manifests.insert(path.to_owned());
        } else {
            self.put_aside(path);
        }
    }

    fn put_aside(&mut self, path: &Path) {
        let extension = path.extension().map_or("(none)".into(), |extension| extension.to_string_lossy());
        *self.other.entry(extension.into_owned()).or_default() += 1;
    }

    fn read(&mut self, path: String, file: &Path, in_archives: &Chosen) {
        let bytes = match bytes_of(&path, file) {
            Ok(bytes) => bytes,
            Err(why) => return self.unreadable(path, &why),
        };
        let Some(unpacked) = archive::unpack(&bytes) else { return self.add(path, bytes) };
        self.unpacked += unpacked.files.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        if self.unpacked > MAX_OF_ARCHIVES {
            let limit = MAX_OF_ARCHIVES >> 20;
            return self
                .unreadable(path, &format!("the archives unpack to more than {limit} MiB: this one is left out"));
        }
        self.archives.push(path.clone());
        for (inside, bytes) in unpacked.files {
            if in_archives.leaves_out(Path::new(&inside)) {
                self.deselected += 1;
            } else {
                self.add(below(&path, &inside), bytes);
            }
        }
        for (inside, why) in unpacked.lost {
            self.lost(&below(&path, &inside), &why);
        }
        for (extension, count) in unpacked.other {
            *self.other.entry(extension).or_default() += count;
        }
    }

    fn add(&mut self, path: String, bytes: Vec<u8>) {
        match text_of(bytes) {
            Ok(Text { text, .. }) if markers::is_go(&path) && !markers::are_in(&text) => {
                self.put_aside(Path::new(&path));
            }
            Ok(Text { text, bad }) => {
                let source = self.sources.add(path.clone(), text);
                if let Some(at) = bad {
                    let place = Span { source, start: at, end: at };
                    let message = "not UTF-8 from here on in places: those bytes are read as U+FFFD".to_owned();
                    let location = self.sources.locate(place);
                    self.diagnostics.push(Diagnostic { kind: DiagnosticKind::Unreadable, location, message });
                }
                self.files.push(File { path, source: Some(source) });
            }
            Err(why) => self.unreadable(path, &why),
        }
    }

    /// Takes a rendered text in place of the files that it was made from. Their texts stay, for positions.
    pub fn replace(&mut self, files: &BTreeSet<String>, path: String, text: String) -> SourceId {
        let (replaced, kept): (Vec<File>, Vec<File>) =
            std::mem::take(&mut self.files).into_iter().partition(|file| files.contains(&file.path));
        self.files = kept;
        self.replaced.extend(replaced.into_iter().map(|file| file.path));
        let source = self.sources.add(path.clone(), text);
        self.files.push(File { path, source: Some(source) });
        source
    }

    fn unreadable(&mut self, path: String, why: &str) {
        self.lost(&path, why);
        self.files.push(File { path, source: None });
    }

    fn lost(&mut self, path: &str, why: &str) {
        let location = Location { path: path.into(), line: 1, column: 1, end_line: 1, end_column: 1, span: None };
        self.diagnostics.push(Diagnostic { kind: DiagnosticKind::Unreadable, location, message: why.to_owned() });
    }
}

/// The text of a file, and where its first bytes stand that are none.
struct Text {
    text: String,
    bad: Option<u32>,
}

#[expect(clippy::disallowed_methods, reason = "this is where files are read")]
fn bytes_of(path: &str, file: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        std::io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes)
    } else {
        fs::File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_BYTES { Err(too_large()) } else { Ok(bytes) }
}

pub(super) fn too_large() -> String {
    format!("larger than {} MiB", MAX_BYTES >> 20)
}

fn text_of(bytes: Vec<u8>) -> Result<Text, String> {
    // As git tells them; a NUL further on costs its document.
    if bytes.iter().take(8_000).any(|byte| *byte == 0) {
        return Err("a binary file (it holds NUL bytes)".to_owned());
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => Text { text, bad: None },
        Err(error) => {
            let bad = u32::try_from(error.utf8_error().valid_up_to()).ok();
            Text { text: String::from_utf8_lossy(error.as_bytes()).into_owned(), bad }
        }
    })
}

/// A path in an archive; of a single compressed file the file's own.
fn below(archive: &str, inside: &str) -> String {
    if inside.is_empty() { archive.to_owned() } else { format!("{archive}/{inside}") }
}

/// A path as people write it: `/` between its parts, no `./` before it.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    let text = if std::path::MAIN_SEPARATOR == '/' { text.into_owned() } else { text.replace('\\', "/") };
    let mut rest = text.as_str();
    while let Some(stripped) = rest.strip_prefix("./") {
        rest = stripped.trim_start_matches('/');
    }
    rest.to_owned()
}
