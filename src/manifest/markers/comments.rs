//! Which comments of a Go file are markers of its package, as controller-tools' collector has it
//! (`pkg/markers/collect.go`, on the comment groups of `go/parser`): line comments that begin with `+` and stand
//! outside of declarations and apart from them. The comment of a declaration, right above it, is its documentation:
//! markers there are passed over without a word. Nothing continues a marker on a second line.

use super::tokens::{Kind, Token, Tokens};

/// A line comment whose text begins with `+`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Comment<'a> {
    /// From the `+` on, without blanks around it.
    pub(super) text: &'a str,
    /// Where that begins.
    pub(super) start: usize,
    /// Whether it is read as a marker of the package.
    pub(super) counts: bool,
}

/// All of them, in order.
pub(super) fn markers(text: &str) -> Vec<Comment<'_>> {
    let mut collector = Collector::default();
    for token in Tokens::of(text) {
        match token.kind {
            Kind::Comment => collector.pending.push(token),
            _ => collector.take(token),
        }
    }
    collector.end();
    collector.found
}

/// Comments on adjacent lines.
type Group<'a> = Vec<Token<'a>>;

#[derive(Debug, Default)]
struct Collector<'a> {
    found: Vec<Comment<'a>>,
    /// Comments since the last token.
    pending: Vec<Token<'a>>,
    last: Option<Token<'a>>,
    /// Brackets that are open.
    depth: usize,
    seen_package: bool,
    declaration: Declaration,
    /// A comment stood inside of the declaration, or of the type of its list, that was read last.
    inner: bool,
}

/// The declaration that is being read, or was read last.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Declaration {
    /// A function, or nothing yet.
    #[default]
    Other,
    /// The keyword of an import, constant, variable (`false`) or type (`true`); a list of them may follow.
    Keyword(bool),
    /// One import, constant, variable or type.
    Single,
    /// `var ( … )` and the like.
    List,
    /// `type ( … )`.
    Types,
}

impl<'a> Collector<'a> {
    fn take(&mut self, token: Token<'a>) {
        let starts = self.last.is_none_or(|last| {
            last.text == ";" && last.kind == Kind::Sign || last.ends_statement() && token.line > last.end_line
        });
        if !self.seen_package {
            self.groups(token.line).0.into_iter().for_each(|group| self.add(group, true));
            self.seen_package = token.text == "package";
        } else if self.depth == 0 && starts {
            self.between(token);
        } else if self.depth == 1 && self.declaration == Declaration::Types {
            self.in_types(token, starts);
        } else {
            self.inside(token);
        }
        match token.kind {
            Kind::Open => self.depth += 1,
            Kind::Close => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
        self.last = Some(token);
    }

    /// A new declaration: what stands before it counts, but for its documentation, and the comment behind an import,
    /// constant, variable or type on its last line.
    fn between(&mut self, token: Token<'a>) {
        let (mut groups, documented) = self.groups(token.line);
        let next = match (token.kind, token.text) {
            (Kind::Word, "type") => Some(Declaration::Keyword(true)),
            (Kind::Word, "import" | "const" | "var") => Some(Declaration::Keyword(false)),
            (Kind::Word, "func") => Some(Declaration::Other),
            _ => None,
        };
        let documentation = groups.pop_if(|_| documented && next.is_some());
        self.drop_trailing(&mut groups, self.declaration == Declaration::Single);
        groups.into_iter().for_each(|group| self.add(group, true));
        documentation.into_iter().for_each(|group| self.add(group, false));
        self.declaration = next.unwrap_or_default();
        self.inner = false;
    }

    /// Before a type of a list, the closest comment that is not its documentation counts.
    fn in_types(&mut self, token: Token<'a>, starts: bool) {
        let opens = self.last.is_some_and(|last| last.kind == Kind::Open);
        if token.kind != Kind::Word || !(opens || starts) {
            return self.inside(token);
        }
        let (mut groups, documented) = self.groups(token.line);
        let documentation = groups.pop_if(|_| documented);
        self.drop_trailing(&mut groups, !opens);
        let closest = groups.pop();
        groups.into_iter().for_each(|group| self.add(group, false));
        closest.into_iter().for_each(|group| self.add(group, true));
        documentation.into_iter().for_each(|group| self.add(group, false));
        self.inner = false;
    }

    fn inside(&mut self, token: Token<'a>) {
        let groups = self.groups(token.line).0;
        self.inner |= !groups.is_empty();
        groups.into_iter().for_each(|group| self.add(group, false));
        if let Declaration::Keyword(is_type) = self.declaration {
            self.declaration = match (token.text, is_type) {
                ("(", true) => Declaration::Types,
                ("(", false) => Declaration::List,
                _ => Declaration::Single,
            };
        }
    }

    /// Takes out the comment on the last line of what was declared before (the collector forgets it when other
    /// comments stand inside).
    fn drop_trailing(&mut self, groups: &mut Vec<Group<'a>>, declared: bool) {
        let line = self.last.map(|last| last.line);
        let trails = |group: &Group<'a>| group.first().map(|comment| comment.line) == line;
        if declared && !self.inner && groups.first().is_some_and(trails) {
            self.add(groups.remove(0), false);
        }
    }

    /// At the end of the file, all that stands after the last declaration counts.
    fn end(&mut self) {
        let (mut groups, _) = self.groups(usize::MAX);
        self.drop_trailing(&mut groups, self.depth == 0 && self.declaration == Declaration::Single);
        let counts = self.depth == 0;
        groups.into_iter().for_each(|group| self.add(group, counts));
    }

    /// The pending comments as `go/parser` groups them, and whether the last group is the documentation of what stands
    /// in this line.
    fn groups(&mut self, next_line: usize) -> (Vec<Group<'a>>, bool) {
        let mut groups: Vec<Group<'a>> = Vec::new();
        let last_line = self.last.map(|last| last.line);
        let (mut behind, mut end) = (false, None);
        for comment in self.pending.drain(..) {
            let joins = end.is_some_and(|end| comment.line <= end + usize::from(!behind));
            match groups.last_mut() {
                Some(group) if joins => group.push(comment),
                _ => {
                    behind = groups.is_empty() && last_line == Some(comment.line);
                    groups.push(vec![comment]);
                }
            }
            end = Some(comment.end_line);
        }
        (groups, !behind && end.is_some_and(|end| end + 1 == next_line))
    }

    fn add(&mut self, group: Group<'a>, counts: bool) {
        for comment in group {
            let Some(text) = comment.text.strip_prefix("//") else { continue };
            let marker = text.trim_start();
            if marker.starts_with('+') {
                let start = comment.start + comment.text.len() - marker.len();
                self.found.push(Comment { text: marker.trim_end(), start, counts });
            }
        }
    }
}
