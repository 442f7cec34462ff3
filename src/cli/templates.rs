//! Charts and kustomizations of the input: said, rendered on request, and findings in rendered text led back to the
//! template that they come from.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::output::Terminal;
use crate::finding::{Finding, Related};
use crate::input::{self, Discovered};
use crate::manifest::rendered::{Documents, Rendered};
use crate::manifest::unrendered::{self, Renderer, Unrendered};
use crate::source::{Diagnostic, DiagnosticKind, SourceMap, Span};

/// What was found, and what of it was rendered.
#[derive(Debug, Default)]
pub(super) struct Templates {
    unrendered: Vec<Raw>,
    rendered: Rendered,
}

/// A chart or kustomization that was not rendered.
#[derive(Debug)]
struct Raw {
    what: Unrendered,
    /// Why rendering failed, where it was tried.
    failed: Option<String>,
    /// Parts that could not be read.
    lost: u64,
}

impl Templates {
    /// Finds charts and kustomizations; with `render` their files give way to what they yield.
    pub(super) fn find(found: &mut Discovered, render: bool) -> Self {
        let files = found.files.iter().filter_map(|file| Some((file.path.clone(), file.source?)));
        let files: Vec<_> = files.collect();
        let mut templates = Self::default();
        for mut one in unrendered::find(&found.sources, &files) {
            let archive = found.archives.iter().find(|archive| one.directory.starts_with(&format!("{archive}/")));
            if let Some(archive) = archive.filter(|_| one.renderer == Renderer::Helm) {
                one.directory.clone_from(archive);
            }
            if !render {
                templates.unrendered.push(Raw { what: one, failed: None, lost: 0 });
                continue;
            }
            let Some(files) = &one.files else {
                let why = "the kustomizations take in too much together to tell what this one replaces".to_owned();
                templates.unrendered.push(Raw { what: one, failed: Some(why), lost: 0 });
                continue;
            };
            let command = one.command();
            match input::render(&command) {
                Ok(text) => {
                    let program = command.iter().take(2).map(String::as_str).collect::<Vec<_>>().join(" ");
                    let source = found.replace(files, format!("{}/({program})", one.directory), text);
                    templates.rendered.add(source, one.directory);
                }
                Err(why) => templates.unrendered.push(Raw { what: one, failed: Some(why), lost: 0 }),
            }
        }
        templates
    }

    /// Whether `say` tells of what is lost: what is lost of a chart is counted there, and what was not rendered is named.
    pub(super) fn tells(&self) -> impl Fn(&Diagnostic) -> bool {
        let of_charts: BTreeSet<&str> = self.unrendered.iter().flat_map(Raw::chart_files).map(String::as_str).collect();
        let said: BTreeSet<String> = self.unrendered.iter().map(Raw::said).collect();
        move |lost| of_charts.contains(&*lost.location.path) || said.contains(&lost.message)
    }

    /// Counts the parts that cannot be read, given by file.
    pub(super) fn count_lost(&mut self, lost: &BTreeMap<Arc<str>, u64>) {
        for raw in &mut self.unrendered {
            raw.lost = raw.chart_files().filter_map(|path| lost.get(path.as_str())).sum();
        }
    }

    /// Forgets kustomizations that are known to grant or run nothing of what was read; where building failed, nobody
    /// knows.
    pub(super) fn keep_relevant(&mut self, matters: impl Fn(&str) -> bool) {
        self.unrendered.retain(|raw| {
            let matter = |files: &BTreeSet<String>| files.iter().any(|path| matters(path));
            let unknown = raw.what.renderer == Renderer::Helm || raw.failed.is_some();
            unknown || raw.what.files.as_ref().is_none_or(matter)
        });
    }

    /// One for each that was not rendered, for the report.
    pub(super) fn diagnostics(&self, sources: &SourceMap) -> Vec<Diagnostic> {
        let diagnostic = |raw: &Raw| Diagnostic {
            // What was asked for and did not happen is lost; the rest stands as it was found.
            kind: if raw.failed.is_some() { DiagnosticKind::Unreadable } else { DiagnosticKind::Note },
            location: sources.locate(Span { source: raw.what.source, start: 0, end: 0 }),
            message: raw.said(),
        };
        self.unrendered.iter().map(diagnostic).collect()
    }

    /// The same for people.
    pub(super) fn say(&self, terminal: &Terminal) {
        const SHOWN: usize = 5;
        for raw in self.unrendered.iter().take(SHOWN) {
            terminal.note(&format!("{}: {}", raw.what.directory, raw.said()));
        }
        let more = self.unrendered.len().saturating_sub(SHOWN);
        if more > 0 {
            terminal.note(&format!("{more} more charts and kustomizations that were not rendered"));
        }
    }

    /// Names the template of each finding in rendered text; where it is a file of the input the finding points to it.
    pub(super) fn lead_back(&self, sources: &SourceMap, findings: &mut [Finding]) {
        let mut documents = Documents::default();
        for finding in findings {
            let template = self.rendered.template(sources, &mut documents, &finding.location);
            let Some((mut template, is_input)) = template else { continue };
            let label = if is_input {
                std::mem::swap(&mut template, &mut finding.location);
                "rendered"
            } else {
                "template"
            };
            finding.related.push(Related { label: label.to_owned(), location: Some(template) });
        }
    }
}

impl Raw {
    fn chart_files(&self) -> impl Iterator<Item = &String> {
        self.what.files.iter().filter(|_| self.what.renderer == Renderer::Helm).flatten()
    }

    fn said(&self) -> String {
        let (what, done) = match self.what.renderer {
            Renderer::Helm => ("a Helm chart", "rendered"),
            Renderer::Kustomize => ("a kustomization", "built"),
        };
        let failed = self.failed.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
        let lost = match self.what.renderer {
            Renderer::Helm if self.lost > 0 => format!(", {} of its parts cannot be read", self.lost),
            Renderer::Helm => String::new(),
            Renderer::Kustomize => ", names may change".to_owned(),
        };
        let command: Vec<String> = self.what.command().into_iter().map(quoted).collect();
        // Who has asked for it already needs the command only, to see why it fails.
        let or = if self.failed.is_some() { "" } else { ", or --render" };
        format!("{what} that was not {done}{failed}{lost}: `{} | rolecall scan -`{or}", command.join(" "))
    }
}

/// A word as a shell takes it for one.
fn quoted(word: String) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@+,".contains(c);
    if word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
}
