//! From rendered text back to its template: Helm names it in a comment before each object.

use std::collections::BTreeMap;
use std::iter;
use std::sync::Arc;

use memchr::memmem;

use super::unrendered::join;
use crate::source::{Location, SourceId, SourceMap, Span};

/// Helm writes it before each object (helm `pkg/action/action.go`, `renderResources`).
const SOURCE: &str = "# Source: ";

/// Sources that were rendered in this run: the folder of the chart each came from.
#[derive(Debug, Default)]
pub struct Rendered(BTreeMap<SourceId, String>);

impl Rendered {
    /// Remembers which chart a source is the rendered text of.
    pub fn add(&mut self, source: SourceId, directory: String) {
        self.0.insert(source, directory);
    }

    /// The template that a place comes from, and whether that is a file of the input. There the line is the one that
    /// reads the same, when only one does; else the first.
    pub fn template<'s>(
        &self,
        sources: &'s SourceMap,
        documents: &mut Documents<'s>,
        place: &Location,
    ) -> Option<(Location, bool)> {
        let span = place.span?;
        let template = documents.template(sources, span)?;
        let whole =
            |path: Arc<str>, line| Location { path, line, column: 1, end_line: line, end_column: 1, span: None };
        let known = self.0.get(&span.source).and_then(|directory| {
            // It begins with the chart's name, which need not be the folder's.
            let inside = template.split_once('/')?.1;
            let path = join(directory, inside);
            sources.iter().find(|(_, source)| *source.path == *path)
        });
        let Some((_, source)) = known else { return Some((whole(template.into(), 1), false)) };
        let wanted = sources.get(span.source)?.line_text(place.line).trim();
        let mut alike =
            source.text.lines().zip(1..).filter(|(line, _)| line.trim() == wanted).map(|(_, number)| number);
        let line = alike.next().filter(|_| alike.next().is_none()).unwrap_or(1);
        Some((whole(Arc::clone(&source.path), line), true))
    }
}

/// The documents of the sources asked for so far, each text gone through once.
#[derive(Debug, Default)]
pub struct Documents<'s>(BTreeMap<SourceId, Vec<(usize, Option<&'s str>)>>);

impl<'s> Documents<'s> {
    /// The template named in the document that a span lies in.
    fn template(&mut self, sources: &'s SourceMap, span: Span) -> Option<&'s str> {
        let source = sources.get(span.source)?;
        let documents = self.0.entry(span.source).or_insert_with(|| documents(&source.text));
        let after = documents.partition_point(|(start, _)| *start <= span.start as usize);
        documents.get(after.checked_sub(1)?)?.1
    }
}

/// Where each document of a text begins, with the template named before its object.
fn documents(text: &str) -> Vec<(usize, Option<&str>)> {
    let starts = iter::once(0).chain(memmem::find_iter(text.as_bytes(), b"\n---").map(|at| at + 1));
    let template = |start: usize| {
        let mut head = text.get(start..)?.lines().take_while(|line| line.starts_with(['-', '#']));
        head.find_map(|line| line.strip_prefix(SOURCE)).map(str::trim).filter(|template| !template.is_empty())
    };
    starts.map(|start| (start, template(start))).collect()
}
