//! The arguments of one marker, `groups=apps;batch,resources={a,b},verbs="get"`, by the grammar of controller-tools
//! (`pkg/markers/parse.go`, on Go's `text/scanner`). A bare value runs to the next `,`, `;` or `}` with all that is in
//! it, whatever it begins with; an argument given twice counts once, the last time.

use std::ops::Range;

/// A value and its bytes, quotes included.
pub(super) type Value = (String, Range<usize>);

/// The arguments of `kubebuilder:rbac`, as written.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    pub(super) groups: Vec<Value>,
    pub(super) resources: Vec<Value>,
    pub(super) resource_names: Vec<Value>,
    pub(super) verbs: Vec<Value>,
    pub(super) urls: Vec<Value>,
    pub(super) namespace: Option<Value>,
    pub(super) role_name: Option<Value>,
}

/// What controller-gen would refuse, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) at: Range<usize>,
    pub(super) why: String,
}

/// Parses arguments; places are bytes of `text`.
pub(super) fn parse(text: &str) -> Result<Arguments, Refused> {
    let mut scanner = Scanner { text, at: 0, token: 0..0 };
    let mut arguments = Arguments::default();
    let mut has_verbs = false;
    while !text.is_empty() {
        scanner.expect(Token::Word, "the name of an argument")?;
        let name = scanner.token.clone();
        scanner.expect(Token::Sign('='), "`=`")?;
        match text.get(name.clone()).unwrap_or_default() {
            "groups" => arguments.groups = scanner.list()?,
            "resources" => arguments.resources = scanner.list()?,
            "resourceNames" => arguments.resource_names = scanner.list()?,
            "urls" => arguments.urls = scanner.list()?,
            "namespace" => arguments.namespace = Some(scanner.value()?),
            "roleName" => arguments.role_name = Some(scanner.value()?),
            "verbs" => {
                arguments.verbs = scanner.list()?;
                has_verbs = true;
            }
            other => return Err(Refused { why: format!("`{other}` is no argument of it"), at: name }),
        }
        if scanner.peek().is_none() {
            break;
        }
        scanner.expect(Token::Sign(','), "a comma")?;
    }
    if has_verbs { Ok(arguments) } else { Err(Refused { at: 0..text.len(), why: "`verbs` is missing".to_owned() }) }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    Word,
    /// `"…"` or `` `…` ``, with its value.
    Text(String),
    Sign(char),
    End,
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    /// The token that was read last.
    token: Range<usize>,
}

impl Scanner<'_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    /// The next sign that is no blank.
    fn ahead(&mut self) -> Option<char> {
        let rest = self.text.get(self.at..)?;
        self.at += rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.peek()
    }

    fn scan(&mut self) -> Result<Token, Refused> {
        let first = self.ahead();
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        let is_word = |c: char| c == '_' || c.is_alphanumeric();
        let (token, length) = match first {
            None => (Token::End, 0),
            Some(quote @ ('"' | '`')) => {
                let length = literal(rest, quote).ok_or_else(|| self.refuse(rest.len(), "a quote is not closed"))?;
                let inner = rest.get(1..length - 1).unwrap_or_default();
                let value = if quote == '`' { Some(inner.replace('\r', "")) } else { unescape(inner) };
                let value = value.ok_or_else(|| self.refuse(length, "an escape that Go does not know"))?;
                (Token::Text(value), length)
            }
            Some('\0' | '\u{feff}') => return Err(self.refuse(1, "a character that Go does not read")),
            Some(first) if is_word(first) && !first.is_numeric() => {
                (Token::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()))
            }
            Some(first) => (Token::Sign(first), first.len_utf8()),
        };
        self.at = start + length;
        self.token = start..self.at;
        Ok(token)
    }

    fn expect(&mut self, wanted: Token, name: &str) -> Result<(), Refused> {
        if self.scan()? == wanted {
            return Ok(());
        }
        let found = self.text.get(self.token.clone()).unwrap_or_default();
        let found = if found.is_empty() { "the end".to_owned() } else { format!("`{found}`") };
        Err(Refused { at: self.token.clone(), why: format!("{name} is expected, not {found}") })
    }

    fn refuse(&self, length: usize, why: &str) -> Refused {
        let end = (self.at + length).min(self.text.len());
        Refused { at: self.at..end, why: why.to_owned() }
    }

    /// A quoted value, or a bare one.
    fn value(&mut self) -> Result<Value, Refused> {
        if let Token::Text(value) = self.scan()? {
            return Ok((value, self.token.clone()));
        }
        let start = self.token.start;
        while !matches!(self.ahead(), None | Some(',' | ';' | '}')) {
            self.scan()?;
        }
        // With blanks behind it, the last token is lost there: `get ;list` is an empty name and `list`.
        let end = if self.at == self.token.end { self.token.end } else { self.token.start };
        Ok((self.text.get(start..end).unwrap_or_default().to_owned(), start..self.token.end))
    }

    /// `a;b` or `{a, b}`.
    fn list(&mut self) -> Result<Vec<Value>, Refused> {
        let mut values = Vec::new();
        if self.ahead() == Some('{') {
            self.scan()?;
            while !matches!(self.ahead(), None | Some('}')) {
                values.push(self.value()?);
                if self.ahead() == Some('}') {
                    break;
                }
                self.expect(Token::Sign(','), "a comma")?;
            }
            self.expect(Token::Sign('}'), "`}`")?;
            return Ok(values);
        }
        while !matches!(self.ahead(), None | Some(',' | '}')) {
            values.push(self.value()?);
            if matches!(self.ahead(), None | Some(',' | '}')) {
                break;
            }
            self.expect(Token::Sign(';'), "`;`")?;
        }
        Ok(values)
    }
}

/// Length of a quoted text; `None` when it does not end.
fn literal(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = quote == '"',
            c if c == quote => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The text of an interpreted Go string (`strconv.Unquote`); `None` where Go would refuse an escape.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        let mut push = |c: char| bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        if c != '\\' {
            push(c);
            continue;
        }
        match rest.next()? {
            'a' => push('\x07'),
            'b' => push('\x08'),
            'f' => push('\x0c'),
            'n' => push('\n'),
            'r' => push('\r'),
            't' => push('\t'),
            'v' => push('\x0b'),
            '\\' => push('\\'),
            '"' => push('"'),
            'x' => bytes.push(u8::try_from(number(&mut rest, 0, 2, 16)?).ok()?),
            'u' => push(char::from_u32(number(&mut rest, 0, 4, 16)?)?),
            'U' => push(char::from_u32(number(&mut rest, 0, 8, 16)?)?),
            octal => bytes.push(u8::try_from(number(&mut rest, octal.to_digit(8)?, 2, 8)?).ok()?),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// So many more digits.
fn number(rest: &mut std::str::Chars<'_>, first: u32, digits: u32, base: u32) -> Option<u32> {
    let mut number = first;
    for _ in 0..digits {
        number = number.checked_mul(base)?.checked_add(rest.next()?.to_digit(base)?)?;
    }
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        parse(text).unwrap().verbs.into_iter().map(|(value, _)| value).collect()
    }

    #[test]
    fn lists_in_every_form() {
        for (text, expected) in [
            ("verbs=get;list", &["get", "list"][..]),
            ("verbs={get,list}", &["get", "list"]),
            ("verbs={ get, \"list\" , }", &["get", "list"]),
            ("verbs=get; list", &["get", "list"]),
            ("verbs=get ; list", &["", "list"]),
            ("verbs=a b ;c", &["a ", "c"]),
            ("verbs=\"get;list\"", &["get;list"]),
            ("verbs=`get`;\"\\x6cist\"", &["get", "list"]),
            ("verbs=*", &["*"]),
            ("verbs=", &[]),
            ("verbs={}", &[]),
            ("verbs=get;", &["get"]),
            // What stands first is taken, also a sign that would end the value.
            ("verbs=get;;list", &["get", ";list"]),
            ("verbs=a b/c", &["a b/c"]),
            ("verbs=get,verbs=list", &["list"]),
            (" verbs = get", &["get"]),
        ] {
            assert_eq!(values(text), expected, "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_tokens() {
        let text = "groups=\"\";apps,namespace= a-b,verbs=get";
        let arguments = parse(text).unwrap();
        let at = |place: &Range<usize>| text.get(place.clone()).unwrap();
        let (value, place) = arguments.namespace.unwrap();
        assert_eq!((value.as_str(), at(&place)), ("a-b", "a-b"));
        assert_eq!((arguments.groups[0].0.as_str(), at(&arguments.groups[0].1)), ("", "\"\""));
        assert_eq!(at(&arguments.groups[1].1), "apps");
    }

    #[test]
    fn what_controller_gen_refuses_is_refused_with_its_place() {
        for (text, at, why) in [
            ("groups=apps", 0..11, "`verbs` is missing"),
            ("", 0..0, "`verbs` is missing"),
            ("verbs=get,", 10..10, "the name of an argument is expected, not the end"),
            ("verb=get", 0..4, "`verb` is no argument of it"),
            ("verbs:get", 5..6, "`=` is expected, not `:`"),
            ("verbs=\"get", 6..10, "a quote is not closed"),
            ("verbs=\"\\q\"", 6..10, "an escape that Go does not know"),
            ("verbs={get;list}", 10..11, "a comma is expected, not `;`"),
            ("verbs={get", 10..10, "a comma is expected, not the end"),
            ("verbs=\"get\"list", 11..15, "`;` is expected, not `list`"),
            ("verbs=get}", 9..10, "a comma is expected, not `}`"),
            ("namespace=,verbs=get", 0..20, "`verbs` is missing"),
        ] {
            assert_eq!(parse(text).unwrap_err(), Refused { at, why: why.to_owned() }, "{text}");
        }
    }
}
