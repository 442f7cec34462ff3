//! YAML (and so JSON) as a tree with byte spans: what `manifest` reads. Aliases stay references, so that an alias bomb
//! costs its own size; merge keys are honoured when a key is looked up.

mod parse;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use super::{Span, Spanned};

pub use parse::parse;

/// One document of a stream.
#[derive(Debug)]
pub struct Document {
    /// From its first to its last node; for a broken one, the place of the error.
    pub span: Span,
    /// What it holds.
    pub content: Content,
    /// Its comments, in order.
    pub comments: Vec<Spanned<String>>,
}

/// What a document holds.
#[derive(Debug)]
pub enum Content {
    /// Nothing but blanks and comments.
    Blank,
    /// A tree.
    Tree(Tree),
    /// A document that is not YAML, and why.
    Broken(String),
}

/// A document as an arena of nodes.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Data>,
    /// Keys written twice in one mapping, at the later place; the later value counts.
    pub duplicate_keys: Vec<Spanned<String>>,
}

/// Index of a node; the root is the first.
type NodeId = u32;

#[derive(Debug)]
struct Data {
    span: Span,
    value: Value,
}

#[derive(Debug)]
enum Value {
    Scalar { text: String, plain: bool },
    Sequence(Vec<NodeId>),
    Mapping(Vec<(NodeId, NodeId)>),
    Alias(NodeId),
}

/// Aliases and merge keys are followed this deep. Anchors come before their aliases, so only cycles and bombs go deeper.
const MAX_INDIRECTIONS: usize = 32;

/// A node of a tree; an alias is seen as what it stands for, at the place of the alias's target.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    tree: &'a Tree,
    data: &'a Data,
}

impl Tree {
    /// The top node.
    pub fn root(&self) -> Option<Node<'_>> {
        self.node(0)
    }

    fn node(&self, id: NodeId) -> Option<Node<'_>> {
        let mut data = self.nodes.get(id as usize)?;
        for _ in 0..MAX_INDIRECTIONS {
            let Value::Alias(target) = data.value else { return Some(Node { tree: self, data }) };
            data = self.nodes.get(target as usize)?;
        }
        None
    }
}

impl<'a> Node<'a> {
    /// Where it stands. A quoted scalar is what stands between the quotes; an empty one is the quotes.
    pub fn span(self) -> Span {
        self.data.span
    }

    /// The text of a scalar, null not being one.
    pub fn text(self) -> Option<&'a str> {
        match &self.data.value {
            Value::Scalar { text, .. } if !self.is_null() => Some(text),
            _ => None,
        }
    }

    /// Whether it is null (YAML 1.2 core schema).
    pub fn is_null(self) -> bool {
        matches!(&self.data.value, Value::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The items of a sequence.
    pub fn items(self) -> Option<impl Iterator<Item = Node<'a>>> {
        let Value::Sequence(items) = &self.data.value else { return None };
        Some(items.iter().filter_map(move |&item| self.tree.node(item)))
    }

    /// The pairs of a mapping as written, merge keys among them.
    pub fn pairs(self) -> Option<impl DoubleEndedIterator<Item = (Node<'a>, Node<'a>)>> {
        let Value::Mapping(pairs) = &self.data.value else { return None };
        Some(pairs.iter().filter_map(move |&(key, value)| Some((self.tree.node(key)?, self.tree.node(value)?))))
    }

    /// How many items, or pairs with those of the mappings that it merges, may have to be looked at.
    pub fn width(self) -> usize {
        let mut width = 0;
        let mut open = vec![self];
        let mut seen = HashSet::from([self.address()]);
        while let Some(node) = open.pop() {
            let Value::Mapping(pairs) = &node.data.value else {
                width += node.items().map_or(0, Iterator::count);
                continue;
            };
            width += pairs.len();
            open.extend(node.merges().filter(|merged| seen.insert(merged.address())));
        }
        width
    }

    /// The mappings that it merges, the first to be asked first: `<<: *a` or `<<: [*a, *b]`.
    fn merges(self) -> impl Iterator<Item = Node<'a>> {
        let merged = self.pairs().into_iter().flatten().filter(|(key, _)| key.is_merge()).map(|(_, value)| value);
        merged.flat_map(|value| {
            let one = value.items().is_none().then_some(value);
            value.items().into_iter().flatten().chain(one)
        })
    }

    /// The value of a key: the last one written, else the one of a merged mapping. Null counts as missing.
    pub fn get(self, key: &str) -> Option<Node<'a>> {
        self.lookup(key, &mut HashSet::new(), MAX_INDIRECTIONS).filter(|node| !node.is_null())
    }

    fn lookup(self, wanted: &str, merged: &mut HashSet<usize>, depth: usize) -> Option<Node<'a>> {
        let depth = depth.checked_sub(1)?;
        let own = self.pairs()?.rev().find(|(key, _)| key.text() == Some(wanted));
        if let Some((_, value)) = own {
            return Some(value);
        }
        for mapping in self.merges() {
            // What was looked through once has not got it.
            if merged.insert(mapping.address())
                && let Some(found) = mapping.lookup(wanted, merged, depth)
            {
                return Some(found);
            }
        }
        None
    }

    fn address(self) -> usize {
        std::ptr::from_ref(self.data).addr()
    }

    fn is_merge(self) -> bool {
        matches!(&self.data.value, Value::Scalar { text, plain: true } if text == "<<")
    }

    /// What it is, for messages.
    pub fn describe(self) -> &'static str {
        match &self.data.value {
            _ if self.is_null() => "null",
            Value::Scalar { .. } => "a scalar",
            Value::Sequence(_) => "a list",
            Value::Mapping(_) => "a mapping",
            Value::Alias(_) => "an alias",
        }
    }
}
