//! Charts and kustomizations among the files: what they install is known only once they are rendered. Recognised by
//! the names of their files, so that nobody takes a template for what it yields.

use std::collections::{BTreeMap, BTreeSet};

use crate::source::yaml::{self, Content, Node};
use crate::source::{SourceId, SourceMap};

/// What makes manifests out of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Renderer {
    /// A folder with a `Chart.yaml` and `templates/`.
    Helm,
    /// A folder with a `kustomization.yaml` that no other one takes in.
    Kustomize,
}

/// A folder whose files are not yet what is installed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrendered {
    /// What renders it.
    pub renderer: Renderer,
    /// The folder.
    pub directory: String,
    /// Its `Chart.yaml` or `kustomization.yaml`.
    pub source: SourceId,
    /// Paths of the files that it is made of, those of charts and kustomizations below it too; `None` where all
    /// kustomizations together take in more than is looked through.
    pub files: Option<BTreeSet<String>>,
}

impl Unrendered {
    /// The program that renders it, with its arguments.
    pub fn command(&self) -> Vec<String> {
        let words: &[&str] = match self.renderer {
            Renderer::Helm => &["helm", "template", "--include-crds", "release"],
            Renderer::Kustomize => &["kubectl", "kustomize"],
        };
        // A folder must not be taken for an option.
        let directory =
            if self.directory.starts_with('-') { format!("./{}", self.directory) } else { self.directory.clone() };
        words.iter().map(|word| (*word).to_owned()).chain([directory]).collect()
    }
}

/// Charts and kustomizations among the files, by folder; of those that others take in, only the others.
pub fn find(sources: &SourceMap, files: &[(String, SourceId)]) -> Vec<Unrendered> {
    let mut found = charts(sources, files);
    found.extend(kustomizations(sources, files));
    found.sort_by(|a, b| (&a.directory, a.renderer).cmp(&(&b.directory, b.renderer)));
    found
}

fn charts(sources: &SourceMap, files: &[(String, SourceId)]) -> Vec<Unrendered> {
    let mut found: Vec<Unrendered> = Vec::new();
    let mut roots: Vec<(&str, SourceId)> = files
        .iter()
        .filter(|(path, _)| file_name(path) == "Chart.yaml")
        .map(|(path, source)| (directory(path), *source))
        .collect();
    roots.sort_unstable();
    let paths: BTreeSet<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    let mut charts: BTreeSet<&str> = BTreeSet::new();
    for (root, source) in roots {
        if above(root).any(|above| charts.contains(above)) {
            continue;
        }
        // What is below a folder stands together in the order of paths.
        let prefix = if root == "." { String::new() } else { format!("{root}/") };
        let below = paths.range(prefix.as_str()..).take_while(|path| path.starts_with(&prefix));
        let below: BTreeSet<String> = below.map(|path| (*path).to_owned()).collect();
        let templates = join(root, "templates");
        let of_library = top(sources, source, |top| top.get("type").and_then(Node::text) == Some("library"));
        if !of_library && below.iter().any(|path| is_below(path, &templates)) {
            charts.insert(root);
            found.push(Unrendered { renderer: Renderer::Helm, directory: root.to_owned(), source, files: Some(below) });
        }
    }
    found
}

/// What a kustomization takes in: other folders, and files.
struct Kustomization {
    source: SourceId,
    resources: Vec<String>,
}

fn kustomizations(sources: &SourceMap, files: &[(String, SourceId)]) -> Vec<Unrendered> {
    let all: BTreeMap<&str, Kustomization> = files
        .iter()
        .filter(|(path, _)| is_kustomization(path))
        .map(|(path, source)| {
            let here = directory(path);
            let resources = top(sources, *source, |top| {
                let lists = ["resources", "bases", "components", "crds"].iter().filter_map(|key| top.get(key)?.items());
                lists.flatten().filter_map(Node::text).filter_map(|to| resolve(here, to)).collect()
            });
            (here, Kustomization { source: *source, resources })
        })
        .collect();
    let taken_in: BTreeSet<&str> =
        all.values().flat_map(|kustomization| kustomization.resources.iter().map(String::as_str)).collect();
    let roots = all.iter().filter(|(root, _)| !taken_in.contains(*root));
    let mut steps = MOST_STEPS;
    roots
        .map(|(root, kustomization)| Unrendered {
            renderer: Renderer::Kustomize,
            directory: (*root).to_owned(),
            source: kustomization.source,
            files: reached(&all, root, &mut steps),
        })
        .collect()
}

/// From how many resources to the next the kustomizations of a run are followed: many that share much would else cost
/// the product of both.
pub(super) const MOST_STEPS: usize = 2_000_000;

/// All files that the kustomization of a folder takes in; `None` when that takes more steps than are left.
fn reached(all: &BTreeMap<&str, Kustomization>, root: &str, steps: &mut usize) -> Option<BTreeSet<String>> {
    let (mut files, mut seen) = (BTreeSet::new(), BTreeSet::new());
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        *steps = steps.checked_sub(1)?;
        let Some(kustomization) = all.get(folder.as_str()) else {
            files.insert(folder);
            continue;
        };
        if seen.insert(folder.clone()) {
            open.extend(kustomization.resources.iter().cloned());
        }
    }
    Some(files)
}

/// Whether a file is the one that kustomize looks for (kustomize `api/konfig/general.go`).
pub(super) fn is_kustomization(path: &str) -> bool {
    matches!(file_name(path), "kustomization.yaml" | "kustomization.yml" | "Kustomization")
}

/// Reads something off the first document of a source; the default when that is no mapping.
fn top<T: Default>(sources: &SourceMap, id: SourceId, read: impl FnOnce(Node<'_>) -> T) -> T {
    let Some(source) = sources.get(id) else { return T::default() };
    let first = yaml::parse(id, &source.text).next();
    match first.map(|document| document.content) {
        Some(Content::Tree(tree)) => tree.root().map(read).unwrap_or_default(),
        _ => T::default(),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

/// The folder of a file; `.` for one without.
fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(directory, _)| directory)
}

/// The folders that a folder is in, `.` for the one of everything.
fn above(folder: &str) -> impl Iterator<Item = &str> {
    let parents = std::iter::successors(Some(folder), |path| path.rsplit_once('/').map(|(parent, _)| parent));
    parents.skip(1).chain((folder != ".").then_some("."))
}

pub(super) fn join(directory: &str, name: &str) -> String {
    if directory == "." { name.to_owned() } else { format!("{directory}/{name}") }
}

fn is_below(path: &str, directory: &str) -> bool {
    directory == "." || path.strip_prefix(directory).is_some_and(|rest| rest.starts_with('/'))
}

/// A path relative to a folder; `None` for one that is elsewhere: a URL, or above where the input begins.
fn resolve(directory: &str, to: &str) -> Option<String> {
    if to.starts_with('/') || to.contains("://") {
        return None;
    }
    let mut parts: Vec<&str> = directory.split('/').filter(|part| *part != ".").collect();
    for part in to.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match part {
            ".." if parts.last().is_none_or(|last| *last == "..") => parts.push(".."),
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
}
