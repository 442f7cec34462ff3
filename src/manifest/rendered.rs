//! From rendered text back to its template: Helm names it in a comment before each object.

use std::collections::BTreeMap;
use std::sync::Arc;

use memchr::memmem;

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
    pub fn template(&self, sources: &SourceMap, place: &Location) -> Option<(Location, bool)> {
        let span = place.span?;
        let template = template_of(sources, span)?;
        let whole =
            |path: Arc<str>, line| Location { path, line, column: 1, end_line: line, end_column: 1, span: None };
        let known = self.0.get(&span.source).and_then(|directory| {
            // It begins with the chart's name, which need not be the folder's.
            let inside = template.split_once('/')?.1;
            let path = if directory == "." { inside.to_owned() } else { format!("{directory}/{inside}") };
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

/// The template named in the document that a span lies in.
fn template_of(sources: &SourceMap, span: Span) -> Option<&str> {
    let before = sources.get(span.source)?.text.get(..span.start as usize)?;
    let document = memmem::rfind(before.as_bytes(), b"\n---").map_or(0, |at| at + 1);
    let head = before.get(document..)?;
    let comment =
        head.lines().take_while(|line| line.starts_with(['-', '#'])).find_map(|line| line.strip_prefix(SOURCE));
    comment.map(str::trim).filter(|template| !template.is_empty())
}
