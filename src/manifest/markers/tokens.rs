//! Go text as tokens: just enough of Go's lexical grammar (go.dev/ref/spec) to tell comments from strings, and where
//! statements end.

/// A token or a comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// Its text; of a line comment without the line break.
    pub(super) text: &'a str,
    /// Its first byte.
    pub(super) start: usize,
    /// Its first line.
    pub(super) line: usize,
    /// Its last line.
    pub(super) end_line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or keyword.
    Word,
    /// A number, string or rune.
    Literal,
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// Any other sign.
    Sign,
    /// `// …` or `/* … */`.
    Comment,
}

impl Token<'_> {
    /// Whether a line break after it ends a statement (automatic semicolons).
    pub(super) fn ends_statement(&self) -> bool {
        match self.kind {
            Kind::Literal | Kind::Close => true,
            Kind::Word => !CONTINUING.contains(&self.text),
            Kind::Open | Kind::Comment => false,
            Kind::Sign => self.text == ";",
        }
    }
}

/// Keywords after which a statement goes on in the next line.
const CONTINUING: [&str; 21] = [
    "case",
    "chan",
    "const",
    "default",
    "defer",
    "else",
    "for",
    "func",
    "go",
    "goto",
    "if",
    "import",
    "interface",
    "map",
    "package",
    "range",
    "select",
    "struct",
    "switch",
    "type",
    "var",
];

/// Reads tokens until the text ends.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        Self { text, at: 0, line: 1 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip_blanks(&mut self) {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\u{feff}']).len();
        self.line += breaks(rest.get(..blanks).unwrap_or_default());
        self.at += blanks;
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip_blanks();
        let rest = self.rest();
        let first = rest.chars().next()?;
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let (kind, length) = match first {
            '/' if rest.starts_with("//") => (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
            '/' if rest.starts_with("/*") => (Kind::Comment, rest.find("*/").map_or(rest.len(), |end| end + 2)),
            '`' => (Kind::Literal, rest.get(1..).and_then(|rest| rest.find('`')).map_or(rest.len(), |end| end + 2)),
            '"' | '\'' => (Kind::Literal, quoted(rest, first)),
            '(' | '[' | '{' => (Kind::Open, 1),
            ')' | ']' | '}' => (Kind::Close, 1),
            first if is_word(first) => {
                let kind = if first.is_numeric() { Kind::Literal } else { Kind::Word };
                (kind, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
            }
            first => (Kind::Sign, first.len_utf8()),
        };
        let text = rest.get(..length)?;
        let (start, line) = (self.at, self.line);
        self.at += length;
        self.line += breaks(text);
        Some(Token { kind, text, start, line, end_line: self.line })
    }
}

/// Length of a string or rune, which ends at the end of its line at the latest.
fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' => return at,
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    text.len()
}

fn breaks(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}
