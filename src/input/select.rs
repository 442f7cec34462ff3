//! Which manifest files of a directory or archive are read: `--include` and `--exclude`.

use std::path::Path;

use glob::MatchOptions;
use ignore::overrides::{Override, OverrideBuilder};

use super::Error;

/// Globs as in a `.gitignore`: without a slash they match a name at any depth, with one the path below the directory.
#[derive(Debug, Clone, Default)]
pub struct Select {
    /// Only these files; all when empty. They count before what a `.gitignore` says of files.
    pub include: Vec<String>,
    /// Not these files and directories.
    pub exclude: Vec<String>,
}

impl Select {
    /// Ready to match paths below `root`.
    pub(super) fn below(&self, root: &str) -> Result<Chosen, Error> {
        let mut builder = OverrideBuilder::new(root);
        // For the `ignore` crate an override with `!` leaves out.
        let excluded = self.exclude.iter().map(|glob| (glob, format!("!{glob}")));
        for (glob, line) in self.include.iter().map(|glob| (glob, glob.clone())).chain(excluded) {
            builder.add(&line).map_err(|source| Error::Glob { glob: glob.clone(), source: source.into() })?;
        }
        let globs = builder.build().map_err(|source| Error::Glob { glob: String::new(), source: source.into() })?;
        Ok(Chosen { globs })
    }
}

/// A path with wildcards as the paths that it matches, sorted, for shells that leave that to the program; any other, or
/// one that is there under this very name, as it is.
pub fn expand(path: &str) -> Result<Vec<String>, Error> {
    if !path.contains(['*', '?', '[']) || Path::new(path).exists() {
        return Ok(vec![path.to_owned()]);
    }
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let found = glob::glob_with(path, options)
        .map_err(|source| Error::Glob { glob: path.to_owned(), source: source.into() })?;
    let paths: Vec<String> = found.filter_map(Result::ok).map(|path| path.to_string_lossy().into_owned()).collect();
    if paths.is_empty() { Err(Error::NoMatch { glob: path.to_owned() }) } else { Ok(paths) }
}

/// See [`Select::below`].
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) globs: Override,
}

impl Chosen {
    /// Whether the globs leave out a file, itself or with a directory above it.
    pub(super) fn leaves_out(&self, file: &Path) -> bool {
        let ignored = |path: &Path, directory| self.globs.matched(path, directory).is_ignore();
        ignored(file, false) || file.ancestors().skip(1).any(|above| ignored(above, true))
    }
}
