//! Writes a rule entry as its neighbour is written: its order of keys, brackets or lines, indentation and quotes.

use std::collections::BTreeMap;

use super::edit::line_start;
use super::written::{Entry, FIELDS, List, Token, Written};
use crate::rbac::Rule;
use crate::rewrite::yaml_text::scalar;

/// How an entry is written.
#[derive(Debug)]
pub(super) struct Style {
    newline: &'static str,
    /// Between braces: what stands after the first, between pairs, and before the last.
    braces: Option<[String; 3]>,
    /// Before a key in a line of its own.
    indent: String,
    /// Fields in order, each with its key and how its list is written.
    fields: Vec<(String, String, Lines)>,
    /// Quotes around keys, around what needs none.
    key_quote: Option<char>,
    quote: Option<char>,
    /// Values as they are written in the entry.
    known: BTreeMap<String, String>,
}

/// How a list is written.
#[derive(Debug, Clone)]
enum Lines {
    /// What stands after the bracket, between items, and before the closing one.
    Brackets([String; 3]),
    /// What stands before an item in its line.
    Dashes(String),
}

impl Style {
    pub(super) fn of(written: &Written<'_>, entry: &Entry) -> Self {
        let text = written.text;
        let quote_of = |token: &Token| written.slice(token.range.clone()).chars().next().filter(|c| "\"'".contains(*c));
        let key_quote = entry.keys.first().and_then(quote_of);
        let lists = || entry.lists.iter().filter(|list| !list.items.is_empty());
        let column = |at: usize| at - line_start(text, at);
        let indent = " ".repeat(entry.keys.first().map_or(0, |key| column(key.range.start)));
        let fields = lists().map(|list| {
            (list.key.value.clone(), written.slice(list.key.range.clone()).to_owned(), lines(written, list))
        });
        let words =
            || lists().flat_map(|list| &list.items).filter(|token| !token.value.is_empty() && token.value != "*");
        let quote = match words().next() {
            Some(word) => quote_of(word),
            None => {
                key_quote.or_else(|| lists().flat_map(|list| &list.items).find_map(quote_of).filter(|_| entry.flow))
            }
        };
        let known = lists().flat_map(|list| &list.items);
        Self {
            newline: super::edit::line_break(text),
            braces: entry.flow.then(|| braces(written, entry)),
            indent,
            fields: fields.collect(),
            key_quote,
            quote,
            known: known.map(|token| (token.value.clone(), written.slice(token.range.clone()).to_owned())).collect(),
        }
    }

    /// Where there is no neighbour: `{key: [item]}` between brackets.
    pub(super) fn between_brackets(written: &Written<'_>, rules_key: &Token) -> Self {
        let key_quote = written.slice(rules_key.range.clone()).chars().next().filter(|c| "\"'".contains(*c));
        Self {
            newline: super::edit::line_break(written.text),
            braces: Some([String::new(), ", ".to_owned(), String::new()]),
            indent: String::new(),
            fields: Vec::new(),
            key_quote,
            quote: key_quote,
            known: BTreeMap::new(),
        }
    }

    /// The entry, without what stands before its first key in its line.
    pub(super) fn entry(&self, rule: &Rule) -> String {
        let pairs: Vec<String> = self
            .order(rule)
            .into_iter()
            .map(|field| format!("{}:{}", self.key(field), self.list(field, values(rule, field))))
            .collect();
        match &self.braces {
            Some([open, between, close]) => format!("{{{open}{}{close}}}", pairs.join(between)),
            None => pairs.join(&format!("{}{}", self.newline, self.indent)),
        }
    }

    /// A pair to stand before another of the same entry.
    pub(super) fn pair_before(&self, field: &str, values: &[String]) -> String {
        let pair = format!("{}:{}", self.key(field), self.list(field, values));
        match &self.braces {
            Some([_, between, _]) => format!("{pair}{between}"),
            None => format!("{pair}{}{}", self.newline, self.indent),
        }
    }

    /// A value as it is written in the entry, or as its like would be.
    pub(super) fn value(&self, value: &str) -> String {
        if let Some(known) = self.known.get(value) {
            return known.clone();
        }
        let plain = scalar(value);
        match self.quote {
            _ if plain.starts_with('"') => plain,
            Some('\'') => format!("'{plain}'"),
            Some(quote) => format!("{quote}{plain}{quote}"),
            None => plain,
        }
    }

    /// Fields that have values, in the order of the entry; others where they usually stand.
    fn order<'r>(&'r self, rule: &Rule) -> Vec<&'r str> {
        let mut order: Vec<&str> = self.fields.iter().map(|(field, ..)| field.as_str()).collect();
        for (place, field) in FIELDS.iter().enumerate() {
            if order.contains(field) {
                continue;
            }
            let before = FIELDS.iter().take(place).rev();
            let after = before.filter_map(|known| order.iter().position(|field| field == known)).next();
            order.insert(after.map_or(0, |after| after + 1), field);
        }
        order.retain(|field| !values(rule, field).is_empty());
        order
    }

    fn key(&self, field: &str) -> String {
        match (self.fields.iter().find(|(known, ..)| known == field), self.key_quote) {
            (Some((_, key, _)), _) => key.clone(),
            (None, Some(quote)) => format!("{quote}{field}{quote}"),
            (None, None) => field.to_owned(),
        }
    }

    fn list(&self, field: &str, values: &[String]) -> String {
        let own = self.fields.iter().find(|(known, ..)| known == field);
        let like = own.or_else(|| self.fields.iter().find(|(known, ..)| known == "resources"));
        let lines = like.or(self.fields.first()).map(|(_, _, lines)| lines);
        let values: Vec<String> = values.iter().map(|value| self.value(value)).collect();
        match lines {
            Some(Lines::Dashes(prefix)) => {
                values.iter().map(|value| format!("{}{prefix}{value}", self.newline)).collect()
            }
            Some(Lines::Brackets([open, between, close])) => format!(" [{open}{}{close}]", values.join(between)),
            None => format!(" [{}]", values.join(", ")),
        }
    }
}

/// The values of a field of a rule.
pub(super) fn values<'r>(rule: &'r Rule, field: &str) -> &'r [String] {
    match field {
        "apiGroups" => &rule.api_groups,
        "resources" => &rule.resources,
        "resourceNames" => &rule.resource_names,
        "nonResourceURLs" => &rule.non_resource_urls,
        "verbs" => &rule.verbs,
        _ => &[],
    }
}

/// A gap as whitespace that separates as it does.
fn blanks(gap: &str) -> String {
    match gap.rsplit_once('\n') {
        Some((before, indent)) => {
            let indent: String = indent.chars().take_while(|c| *c == ' ').collect();
            format!("{}{indent}", if before.ends_with('\r') { "\r\n" } else { "\n" })
        }
        None => gap.chars().filter(|c| *c == ' ').collect(),
    }
}

fn between(open: &str, gap: Option<&str>) -> String {
    match gap {
        Some(gap) => format!(",{}", blanks(gap)),
        None if open.contains('\n') => format!(",{open}"),
        None => ", ".to_owned(),
    }
}

fn lines(written: &Written<'_>, list: &List<Token>) -> Lines {
    let [Some(first), Some(last)] = [list.items.first(), list.items.last()] else {
        return Lines::Brackets([String::new(), ", ".to_owned(), String::new()]);
    };
    if !list.flow {
        let line = written.slice(line_start(written.text, first.range.start)..first.range.start);
        let indent = line.len() - line.trim_start_matches(' ').len();
        let gap = line.trim_start_matches(' ').trim_start_matches('-').chars().take_while(|c| *c == ' ').count();
        return Lines::Dashes(format!("{}-{}", " ".repeat(indent), " ".repeat(gap.max(1))));
    }
    let open = blanks(written.slice(list.range.start + 1..first.range.start));
    let gap = list.items.get(1).map(|second| written.slice(first.range.end..second.range.start));
    let close = blanks(written.slice(last.range.end..list.range.end.saturating_sub(1)));
    Lines::Brackets([open.clone(), between(&open, gap), close])
}

fn braces(written: &Written<'_>, entry: &Entry) -> [String; 3] {
    let (first, last) = (entry.keys.first(), entry.lists.last());
    let open = first.map_or("", |key| written.slice(entry.range.start + 1..key.range.start));
    let open = blanks(open);
    let second = entry.keys.get(1).and_then(|second| {
        let before = entry.lists.iter().rfind(|list| list.range.end <= second.range.start)?;
        Some(written.slice(before.range.end..second.range.start))
    });
    let close = last.map_or("", |list| written.slice(list.range.end..entry.range.end.saturating_sub(1)));
    [open.clone(), between(&open, second), blanks(close)]
}
