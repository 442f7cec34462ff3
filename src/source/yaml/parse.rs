//! Parser events → documents. A broken document costs that document.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, StructureStyle};

use super::{Content, Data, Document, NodeId, Tree, Value};
use crate::source::{SourceId, Span, Spanned};

/// Nodes and comments of one document. Each takes some eighty bytes, however few it has in the text.
const MAX_NODES: usize = 3_000_000;

/// Reads the documents of a text one by one, so that only one is held.
pub fn parse(source: SourceId, text: &str) -> impl Iterator<Item = Document> {
    let mut options = Options::default();
    // A licence header is a long run of comments; the text itself is the bound.
    options.max_buffered_comment_events = usize::MAX;
    let mut parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder::new(source, text);
    let mut ended = false;
    let mut last = None;
    std::iter::from_fn(move || {
        while !ended {
            let lost = match parser.next_event() {
                Some(Ok((event, span))) => {
                    let range = span.byte_range().unwrap_or_default();
                    if let Some(document) = builder.event(event, range.start, range.end) {
                        return Some(document);
                    }
                    if builder.tree.nodes.len() + builder.comments.len() <= MAX_NODES {
                        continue;
                    }
                    let why = format!("more than {MAX_NODES} values and comments in one document");
                    builder.broken(range.start, why)
                }
                Some(Err(error)) => builder.broken_by(&error),
                None => return None,
            };
            builder = Builder::new(source, text);
            // What follows the next document marker is read as if nothing had happened.
            match parser.proceed_next_document() {
                Ok(more) => ended = !more,
                Err(error) => {
                    ended = true;
                    last = Some(builder.broken_by(&error));
                }
            }
            return Some(lost);
        }
        last.take()
    })
}

/// The document under construction.
struct Builder<'t> {
    source: SourceId,
    text: &'t str,
    tree: Tree,
    comments: Vec<Spanned<String>>,
    /// Open collections, outermost first.
    open: Vec<Open>,
    anchors: HashMap<usize, NodeId>,
}

struct Open {
    id: NodeId,
    flow: bool,
    /// A mapping's key that waits for its value.
    key: Option<NodeId>,
    /// Keys of a mapping so far.
    keys: HashSet<String>,
}

impl<'t> Builder<'t> {
    fn new(source: SourceId, text: &'t str) -> Self {
        Self { source, text, tree: Tree::default(), comments: Vec::new(), open: Vec::new(), anchors: HashMap::new() }
    }

    fn broken_by(&self, error: &ScanError) -> Document {
        self.broken(error.marker().byte_offset().unwrap_or_default(), error.info())
    }

    fn broken(&self, at: usize, why: String) -> Document {
        let at = at.min(self.text.len());
        Document { span: self.span(at, at), content: Content::Broken(why), comments: Vec::new() }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        let clamp = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Span { source: self.source, start: clamp(start), end: clamp(end.max(start)) }
    }

    /// Takes an event; a document that it ends comes back.
    fn event(&mut self, event: Event<'_>, start: usize, end: usize) -> Option<Document> {
        match event {
            Event::Scalar(text, style, anchor, _) => {
                let (start, end) = self.inside_quotes(style, start, end);
                let value = Value::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain };
                self.add(value, anchor, start, end);
            }
            Event::SequenceStart(style, anchor, _) => self.open(Value::Sequence(Vec::new()), style, anchor, start, end),
            Event::MappingStart(style, anchor, _) => self.open(Value::Mapping(Vec::new()), style, anchor, start, end),
            Event::SequenceEnd | Event::MappingEnd => self.close(end),
            Event::Alias(anchor) => {
                let target = self.anchors.get(&anchor).copied().unwrap_or(NodeId::MAX);
                self.add(Value::Alias(target), 0, start, end);
            }
            Event::Comment(text, _) => {
                let span = self.span(start, end);
                self.comments.push(Spanned::new(Cow::into_owned(text), span));
            }
            Event::DocumentEnd => return Some(self.finish()),
            _ => {}
        }
        None
    }

    /// The scalar without its quotes (of an empty one they are all there is to point at), where the source really has them there.
    fn inside_quotes(&self, style: ScalarStyle, start: usize, end: usize) -> (usize, usize) {
        let quote = match style {
            ScalarStyle::SingleQuoted => '\'',
            ScalarStyle::DoubleQuoted => '"',
            _ => return (start, end),
        };
        let token = self.text.get(start..end).unwrap_or_default();
        let quoted = token.len() > 2 && token.starts_with(quote) && token.ends_with(quote);
        if quoted { (start + 1, end - 1) } else { (start, end) }
    }

    fn add(&mut self, value: Value, anchor: usize, start: usize, end: usize) -> NodeId {
        let id = NodeId::try_from(self.tree.nodes.len()).unwrap_or(NodeId::MAX);
        let span = self.span(start, end);
        if let Value::Scalar { text, .. } = &value {
            self.note_key(text, span);
        }
        self.tree.nodes.push(Data { span, value });
        if anchor != 0 {
            self.anchors.insert(anchor, id);
        }
        if let Some(parent) = self.open.last_mut() {
            match self.tree.nodes.get_mut(parent.id as usize).map(|data| &mut data.value) {
                Some(Value::Sequence(items)) => items.push(id),
                Some(Value::Mapping(pairs)) => match parent.key.take() {
                    Some(key) => pairs.push((key, id)),
                    None => parent.key = Some(id),
                },
                _ => {}
            }
        }
        id
    }

    /// Remembers a scalar that is about to become a key; merge keys may repeat.
    fn note_key(&mut self, text: &str, span: Span) {
        let Some(parent) = self.open.last_mut() else { return };
        let mapping = matches!(self.tree.nodes.get(parent.id as usize).map(|d| &d.value), Some(Value::Mapping(_)));
        if mapping && parent.key.is_none() && text != "<<" && !parent.keys.insert(text.to_owned()) {
            self.tree.duplicate_keys.push(Spanned::new(text.to_owned(), span));
        }
    }

    fn open(&mut self, value: Value, style: StructureStyle, anchor: usize, start: usize, end: usize) {
        let id = self.add(value, anchor, start, end);
        self.open.push(Open { id, flow: style == StructureStyle::Flow, key: None, keys: HashSet::new() });
    }

    fn close(&mut self, end: usize) {
        let Some(closed) = self.open.pop() else { return };
        // The end of a block collection is only noticed at what follows it: its last node tells better.
        let last = self.tree.nodes.last().map_or(0, |data| data.span.end as usize);
        let end = if closed.flow { end } else { last };
        let end = u32::try_from(end).unwrap_or(u32::MAX);
        if let Some(data) = self.tree.nodes.get_mut(closed.id as usize) {
            data.span.end = data.span.start.max(end);
        }
    }

    fn finish(&mut self) -> Document {
        let tree = std::mem::take(&mut self.tree);
        let comments = std::mem::take(&mut self.comments);
        self.open.clear();
        self.anchors.clear();
        let span = match (tree.nodes.first(), comments.first()) {
            (Some(root), _) => root.span,
            (None, Some(comment)) => comment.span,
            (None, None) => self.span(0, 0),
        };
        let blank = tree.root().is_none_or(super::Node::is_null);
        let content = if blank { Content::Blank } else { Content::Tree(tree) };
        Document { span, content, comments }
    }
}
