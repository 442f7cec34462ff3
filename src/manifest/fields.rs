//! Typed access to the fields of an object. A field of a wrong type is a problem with its place; the rest is kept.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::source::yaml::Node;
use crate::source::{Span, Spanned};

/// How much may still be read of one source: a unit for each item and key, and one for each byte of text. What is written out
/// is read a few times at most, so only aliases can spend more than a few times the size of the source.
#[derive(Debug)]
pub(super) struct Allowance(Cell<u64>);

impl Allowance {
    pub(super) fn of(source: &str) -> Self {
        Self(Cell::new(4 * source.len() as u64 + (64 << 10)))
    }

    /// Whether so much was left; after the first refusal nothing is.
    pub(super) fn spend(&self, units: usize) -> bool {
        let rest = self.0.get().checked_sub(units as u64);
        self.0.set(rest.unwrap_or_default());
        rest.is_some()
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0.get() == 0
    }
}

/// An object, and the problems met while reading it.
pub(super) struct Fields<'a> {
    node: Node<'a>,
    pub(super) allowance: &'a Allowance,
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
    pub(super) fn new(node: Node<'a>, allowance: &'a Allowance) -> Self {
        allowance.spend(1 + node.width());
        Self { node, allowance, problems: Vec::new() }
    }

    pub(super) fn span(&self) -> Span {
        self.node.span()
    }

    pub(super) fn node(&self) -> Node<'a> {
        self.node
    }

    /// Reads another mapping with the same list of problems.
    pub(super) fn within<T>(&mut self, node: Node<'a>, read: impl FnOnce(&mut Self) -> T) -> T {
        self.allowance.spend(1 + node.width());
        let outer = std::mem::replace(&mut self.node, node);
        let result = read(self);
        self.node = outer;
        result
    }

    /// A text without a word about other types.
    pub(super) fn optional_text(&self, key: &str) -> Option<Spanned<String>> {
        self.text_of(self.node.get(key)?)
    }

    fn text_of(&self, node: Node<'_>) -> Option<Spanned<String>> {
        let text = node.text()?;
        self.allowance.spend(1 + text.len()).then(|| Spanned::new(text.to_owned(), node.span()))
    }

    /// A text field; empty counts as missing, as in Kubernetes.
    pub(super) fn text(&mut self, key: &str) -> Option<Spanned<String>> {
        let node = self.node.get(key)?;
        match self.text_of(node) {
            Some(text) => (!text.value.is_empty()).then_some(text),
            None if self.allowance.is_spent() => None,
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
            match self.text_of(node) {
                Some(text) => texts.push(text),
                None if self.allowance.is_spent() => break,
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
            Some(items) => items.take_while(|_| self.allowance.spend(1)).collect(),
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

    /// A mapping.
    pub(super) fn mapping(&mut self, key: &str) -> Option<Node<'a>> {
        let node = self.node.get(key)?;
        if node.pairs().is_none() {
            self.wrong_type(key, "a mapping", node);
            return None;
        }
        Some(node)
    }

    /// A mapping of texts to texts; null is the empty text, as in Kubernetes; pairs of other types are left out.
    pub(super) fn text_map(&mut self, key: &str) -> BTreeMap<String, String> {
        let Some(node) = self.mapping(key) else { return BTreeMap::new() };
        let mut texts = BTreeMap::new();
        for (name, value) in node.pairs().into_iter().flatten() {
            if !self.allowance.spend(1) {
                break;
            }
            let text = if value.is_null() { Some(String::new()) } else { self.text_of(value).map(|text| text.value) };
            match (self.text_of(name), text) {
                (Some(name), Some(text)) => {
                    texts.insert(name.value, text);
                }
                _ if self.allowance.is_spent() => break,
                (None, _) => self.wrong_type(key, "a mapping of strings", node),
                (_, None) => {
                    self.problems.push((value.span(), format!("an entry of `{key}` is {}, not a string", hint(value))))
                }
            }
        }
        texts
    }

    pub(super) fn metadata(&mut self) -> Metadata {
        let Some(node) = self.mapping("metadata") else { return Metadata::default() };
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
