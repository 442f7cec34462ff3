//! The parts of a request URI, decoded as Go's `net/url` does, and the name that a `fieldSelector` fixes
//! (Kubernetes `staging/src/k8s.io/apimachinery/pkg/fields/selector.go`).

use std::borrow::Cow;

/// Path and query (without `?`) of a request URI, both still encoded.
pub(super) fn split(uri: &str) -> (&str, &str) {
    // `split_once` is slower.
    let at = memchr::memchr(b'?', uri.as_bytes());
    at.and_then(|at| uri.get(..at).zip(uri.get(at + 1..))).unwrap_or((uri, ""))
}

/// The decoded path: segments are split after decoding, as Kubernetes does. What cannot be decoded stays.
pub(super) fn path(encoded: &str) -> Cow<'_, str> {
    decode(encoded, false).unwrap_or(Cow::Borrowed(encoded))
}

/// The object name that a list or watch is about: `fieldSelector` with `metadata.name=x`. A query that the
/// API server cannot decode gives none.
pub(super) fn selected_name(query: &str) -> Option<Cow<'_, str>> {
    let numbers = ["limit", "timeoutSeconds"];
    if numbers.into_iter().filter_map(|key| value(query, key)).any(|text| text.parse::<i64>().is_err()) {
        return None;
    }
    let name = match value(query, "fieldSelector")? {
        Cow::Borrowed(selector) => exact_name(selector)?,
        Cow::Owned(selector) => Cow::Owned(exact_name(&selector)?.into_owned()),
    };
    let fits_path = name != "." && name != ".." && !name.contains(['/', '%']);
    fits_path.then_some(name)
}

/// The first value of a query key, decoded; pairs that Go refuses are left out.
fn value<'a>(query: &'a str, key: &str) -> Option<Cow<'a, str>> {
    query
        .split('&')
        .filter(|pair| !pair.contains(';'))
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .filter(|(name, _)| decode(name, true).is_some_and(|name| name == key))
        .find_map(|(_, value)| decode(value, true))
}

/// The value that a field selector asks `metadata.name` to have. Kubernetes sorts the terms and takes the
/// first; one that it cannot read spoils the whole selector.
fn exact_name(selector: &str) -> Option<Cow<'_, str>> {
    let mut found: Option<(&str, Cow<'_, str>)> = None;
    for term in terms(selector).filter(|term| !term.is_empty()) {
        let at = term.find("!=").into_iter().chain(term.find('=')).min()?;
        let (field, rest) = term.split_at_checked(at)?;
        let (negated, raw) = match rest.strip_prefix("!=") {
            Some(raw) => (true, raw),
            None => (false, rest.strip_prefix("==").or(rest.strip_prefix('='))?),
        };
        let value = unescape(raw)?;
        if field == "metadata.name" && !negated && found.as_ref().is_none_or(|(first, _)| term < *first) {
            found = Some((term, value));
        }
    }
    found.map(|(_, value)| value)
}

/// Splits at commas that no backslash escapes.
fn terms(selector: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    selector.split(move |c| match c {
        _ if escaped => {
            escaped = false;
            false
        }
        '\\' => {
            escaped = true;
            false
        }
        c => c == ',',
    })
}

/// Takes the backslashes out of a selector value; `None` where Kubernetes refuses it.
fn unescape(value: &str) -> Option<Cow<'_, str>> {
    if !value.contains(['\\', ',', '=']) {
        return Some(Cow::Borrowed(value));
    }
    let mut plain = String::with_capacity(value.len());
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => plain.push(chars.next().filter(|c| matches!(c, '\\' | ',' | '='))?),
            ',' | '=' => return None,
            c => plain.push(c),
        }
    }
    Some(Cow::Owned(plain))
}

/// Percent-decodes; in a query `+` is a space. `None` where Go refuses the text or it is no UTF-8.
fn decode(text: &str, query: bool) -> Option<Cow<'_, str>> {
    let plain_plus = !query || memchr::memchr(b'+', text.as_bytes()).is_none();
    if plain_plus && memchr::memchr(b'%', text.as_bytes()).is_none() {
        return Some(Cow::Borrowed(text));
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex(bytes.next()?)? << 4 | hex(bytes.next()?)?,
            b'+' if query => b' ',
            other => other,
        });
    }
    String::from_utf8(decoded).ok().map(Cow::Owned)
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
