//! Where the rules of a role stand in their text: entries, keys, lists and tokens, each with its whole extent (quotes
//! too). What cannot be changed safely is refused with a reason.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::source::yaml::{Document, Node, Tree};
use crate::source::{Span, Spanned};

/// A role is never deeper in a document than this.
const MAX_DEPTH: usize = 64;

/// The fields of a rule entry that are lists of texts.
pub(super) const FIELDS: [&str; 5] = ["apiGroups", "resources", "resourceNames", "nonResourceURLs", "verbs"];

/// Why a role is left as it is.
pub(super) type Refusal = String;

/// A scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) range: Range<usize>,
    pub(super) value: String,
}

/// A list and where its items stand.
#[derive(Debug)]
pub(super) struct List<T> {
    pub(super) key: Token,
    pub(super) range: Range<usize>,
    /// `[…]`, else a line (or more) an item.
    pub(super) flow: bool,
    pub(super) items: Vec<T>,
}

/// A rule entry.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) range: Range<usize>,
    /// `{…}`.
    pub(super) flow: bool,
    /// All its keys in order.
    pub(super) keys: Vec<Token>,
    pub(super) lists: Vec<List<Token>>,
}

/// Something with an extent.
pub(super) trait Extent {
    fn range(&self) -> &Range<usize>;
}

impl Extent for Token {
    fn range(&self) -> &Range<usize> {
        &self.range
    }
}

impl Extent for Entry {
    fn range(&self) -> &Range<usize> {
        &self.range
    }
}

impl Entry {
    pub(super) fn list(&self, field: &str) -> Option<&List<Token>> {
        self.lists.iter().find(|list| list.key.value == field)
    }
}

/// A text with its comments.
#[derive(Debug, Clone, Copy)]
pub(super) struct Written<'t> {
    pub(super) text: &'t str,
    pub(super) comments: &'t [Spanned<String>],
}

impl<'t> Written<'t> {
    pub(super) fn new(text: &'t str, document: &'t Document) -> Self {
        Self { text, comments: &document.comments }
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    /// The comment that starts at this byte.
    pub(super) fn comment_at(&self, at: usize) -> Option<Range<usize>> {
        let index = self.comments.binary_search_by_key(&at, |comment| comment.span.start as usize).ok()?;
        self.comments.get(index).map(|comment| bytes(comment.span))
    }

    /// The rules of the object (or of the entry of a ClusterServiceVersion) that stands at `role`.
    pub(super) fn rules(&self, tree: &Tree, role: Span) -> Result<List<Entry>, Refusal> {
        let object = at(tree, role).ok_or("it is not written where its document says")?;
        let (key, rules) = value(object, "rules").ok_or("its rules are not written in it")?;
        let (key, outer) = (self.token(key), self.extent(object));
        // What an alias stands for stands before it; nothing is read through one.
        after(rules, key.range.end)?;
        let range = self.extent(rules);
        let items: Vec<Node<'_>> = rules.items().ok_or("its rules are no list")?.collect();
        let mut list = List { key, flow: self.is_flow(&range), range, items: Vec::new() };
        let mut end = list.key.range.end;
        for item in items {
            after(item, end)?;
            let entry = self.entry(item)?;
            end = entry.range.end;
            list.items.push(entry);
        }
        if end > outer.end || list.range.end > outer.end { Err(ALIAS.to_owned()) } else { Ok(list) }
    }

    fn entry(&self, node: Node<'_>) -> Result<Entry, Refusal> {
        let range = self.extent(node);
        let pairs: Vec<(Node<'_>, Node<'_>)> = node.pairs().ok_or("an entry of its rules is no mapping")?.collect();
        let mut entry = Entry {
            flow: self.slice(range.clone()).starts_with('{'),
            range: range.clone(),
            keys: Vec::new(),
            lists: Vec::new(),
        };
        let mut scalars = Vec::new();
        let mut seen = BTreeSet::new();
        let mut end = range.start;
        for (key, value) in pairs {
            after(key, end)?;
            let key = self.token(key);
            end = key.range.end;
            if !seen.insert(key.value.clone()) {
                return Err(format!("`{}` is given twice in an entry", key.value));
            }
            scalars.push(key.range.clone());
            entry.keys.push(key.clone());
            if !FIELDS.contains(&key.value.as_str()) || value.is_null() {
                continue;
            }
            after(value, end)?;
            let items: Vec<Node<'_>> = value.items().ok_or_else(|| format!("`{}` is no list", key.value))?.collect();
            if items.iter().any(|item| item.text().is_none()) {
                return Err(format!("an item of `{}` is no text", key.value));
            }
            let items: Vec<Token> = items.into_iter().map(|item| self.token(item)).collect();
            for item in &items {
                scalars.push(item.range.clone());
                if item.range.start < end {
                    return Err(ALIAS.to_owned());
                }
                end = item.range.end;
            }
            let list_range = self.extent(value);
            entry.lists.push(List { key, flow: self.is_flow(&list_range), range: list_range, items });
        }
        match self.marks(&range, &scalars) {
            Some('*') => Err(ALIAS.to_owned()),
            Some(_) => Err("an entry holds text in several lines".to_owned()),
            None => Ok(entry),
        }
    }

    /// What stands outside of scalars and comments and is more than structure: an alias, or a block scalar.
    fn marks(&self, range: &Range<usize>, scalars: &[Range<usize>]) -> Option<char> {
        let mut at = range.start;
        let mut scalars = scalars.iter().peekable();
        while at < range.end {
            if let Some(scalar) = scalars.next_if(|scalar| scalar.start <= at) {
                at = at.max(scalar.end);
            } else if let Some(comment) = self.comment_at(at) {
                at = comment.end;
            } else {
                let letter = self.slice(at..range.end).chars().next()?;
                if matches!(letter, '*' | '|' | '>') {
                    return Some(letter);
                }
                at += letter.len_utf8();
            }
        }
        None
    }

    fn is_flow(&self, range: &Range<usize>) -> bool {
        self.slice(range.clone()).starts_with('[')
    }

    fn token(&self, node: Node<'_>) -> Token {
        Token { range: self.extent(node), value: node.text().unwrap_or_default().to_owned() }
    }

    /// From its first to its last byte. A block collection ends with its last item, which may be a flow collection that
    /// ends later than what is in it.
    fn extent(&self, node: Node<'_>) -> Range<usize> {
        let mut range = bytes(node.span());
        let last_pair = || node.pairs().and_then(|mut pairs| pairs.next_back()).map(|(_, value)| value);
        let last = node.items().and_then(Iterator::last).or_else(last_pair);
        if let Some(last) = last.filter(|last| bytes(last.span()).start >= range.start) {
            range.end = range.end.max(self.nested_end(last, MAX_DEPTH));
        }
        let quote = |at: usize| self.text.as_bytes().get(at).copied().filter(|byte| matches!(byte, b'"' | b'\''));
        let before = range.start.checked_sub(1).and_then(quote);
        if node.items().is_none() && node.pairs().is_none() && before.is_some() && before == quote(range.end) {
            return range.start - 1..range.end + 1;
        }
        range
    }

    fn nested_end(&self, node: Node<'_>, depth: usize) -> usize {
        let own = bytes(node.span());
        let last = node.items().and_then(Iterator::last);
        let last = last.or_else(|| node.pairs().and_then(|mut pairs| pairs.next_back()).map(|(_, value)| value));
        match (last, depth.checked_sub(1)) {
            (Some(last), Some(depth)) if bytes(last.span()).start >= own.start => {
                own.end.max(self.nested_end(last, depth))
            }
            (Some(_), _) => own.end,
            (None, _) => self.scalar_end(own),
        }
    }

    fn scalar_end(&self, range: Range<usize>) -> usize {
        let bytes = self.text.as_bytes();
        let before = range.start.checked_sub(1).and_then(|at| bytes.get(at));
        let quoted = matches!(before, Some(b'"' | b'\'')) && before == bytes.get(range.end);
        range.end + usize::from(quoted)
    }
}

const ALIAS: &str = "its rules are written with an alias (`*name`) or a merge key";

/// Refuses what does not stand behind `end`.
fn after(node: Node<'_>, end: usize) -> Result<(), Refusal> {
    if bytes(node.span()).start < end { Err(ALIAS.to_owned()) } else { Ok(()) }
}

fn bytes(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// The last pair of this key that is written in the mapping itself.
fn value<'a>(mapping: Node<'a>, name: &str) -> Option<(Node<'a>, Node<'a>)> {
    mapping.pairs()?.rev().find(|(key, _)| key.text() == Some(name))
}

/// The mapping with this span.
fn at(tree: &Tree, span: Span) -> Option<Node<'_>> {
    let mut node = tree.root()?;
    for _ in 0..MAX_DEPTH {
        if node.span() == span && node.pairs().is_some() {
            return Some(node);
        }
        let holds = |node: &Node<'_>| node.span().start <= span.start && span.end <= node.span().end;
        let pairs = node.pairs().into_iter().flatten().map(|(_, value)| value);
        node = node.items().into_iter().flatten().chain(pairs).find(holds)?;
    }
    None
}
