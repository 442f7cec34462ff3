//! Typed access to the fields of an object. A field of a wrong type is a problem with its place; the rest is kept.

use std::collections::BTreeMap;

use crate::source::yaml::Node;
use crate::source::{Span, Spanned};

/// An object, and the problems met while reading it.
pub(super) struct Fields<'a> {
    node: Node<'a>,
    pub(super) problems: Vec<(Span, String)>,
}

/// `metadata` of an object.
#[derive(Debug, Clone, Default)]
pub(super) struct Metadata {
    pub(super) namespace: Option<Spanned<String>>,
    pub(super) name: Option<Spanned<String>>,
    pub(super) labels: BTreeMap<String, String>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(node: Node<'a>) -> Self {
        Self { node, problems: Vec::new() }
    }

    pub(super) fn span(&self) -> Span {
        self.node.span()
    }

    pub(super) fn node(&self) -> Node<'a> {
        self.node
    }

    /// Reads another mapping with the same list of problems.
    pub(super) fn within<T>(&mut self, node: Node<'a>, read: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.node, node);
        let result = read(self);
        self.node = outer;
        result
    }

    /// A text without a word about other types.
    pub(super) fn optional_text(&self, key: &str) -> Option<Spanned<String>> {
        text(self.node.get(key)?)
    }

    /// A text field; empty counts as missing, as in Kubernetes.
    pub(super) fn text(&mut self, key: &str) -> Option<Spanned<String>> {
        let node = self.node.get(key)?;
        match text(node) {
            Some(text) => (!text.value.is_empty()).then_some(text),
            None => {
                self.wrong_type(key, "a string", node);
                None
            }
        }
    }

    /// A list of texts; entries of other types are left out.
    pub(super) fn texts(&mut self, key: &str) -> Vec<Spanned<String>> {
        let mut texts = Vec::new();
        for node in self.list(key) {
            match text(node) {
                Some(text) => texts.push(text),
                None => {
                    self.problems.push((node.span(), format!("an entry of `{key}` is {}, not a string", hint(node))))
                }
            }
        }
        texts
    }

    /// A list; null and missing are empty.
    pub(super) fn list(&mut self, key: &str) -> Vec<Node<'a>> {
        let Some(node) = self.node.get(key) else { return Vec::new() };
        match node.items() {
            Some(items) => items.collect(),
            None => {
                self.wrong_type(key, "a list", node);
                Vec::new()
            }
        }
    }

    /// A list of mappings; other entries are left out.
    pub(super) fn mappings(&mut self, key: &str) -> Vec<Node<'a>> {
        let (mappings, others): (Vec<_>, Vec<_>) = self.list(key).into_iter().partition(|node| node.pairs().is_some());
        for node in others {
            self.problems.push((node.span(), format!("an entry of `{key}` is {}, not a mapping", hint(node))));
        }
        mappings
    }

    /// A mapping of texts to texts; other pairs are left out.
    pub(super) fn text_map(&mut self, key: &str) -> BTreeMap<String, String> {
        let Some(pairs) = self.node.get(key).and_then(Node::pairs) else { return BTreeMap::new() };
        pairs.filter_map(|(key, value)| Some((key.text()?.to_owned(), value.text()?.to_owned()))).collect()
    }

    pub(super) fn metadata(&mut self) -> Metadata {
        let Some(node) = self.node.get("metadata") else { return Metadata::default() };
        self.within(node, |metadata| Metadata {
            namespace: metadata.text("namespace"),
            name: metadata.text("name"),
            labels: metadata.text_map("labels"),
        })
    }

    fn wrong_type(&mut self, key: &str, wanted: &str, node: Node<'_>) {
        self.problems.push((node.span(), format!("`{key}` is {}, not {wanted}", hint(node))));
    }
}

/// `{{ … }}` that was not rendered reads as a mapping within a mapping.
fn hint(node: Node<'_>) -> &'static str {
    let template = node.pairs().is_some_and(|mut pairs| pairs.next().is_some_and(|(key, _)| key.pairs().is_some()));
    if template { "a template that was not rendered" } else { node.describe() }
}

fn text(node: Node<'_>) -> Option<Spanned<String>> {
    Some(Spanned::new(node.text()?.to_owned(), node.span()))
}
