//! Authorization attributes from a request URI and a verb
//! (Kubernetes `staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`, `NewRequestInfo`).

use std::borrow::Cow;

/// What RBAC sees of a request, borrowed from its URI where nothing is escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestInfo<'a> {
    /// Whether it asks for an API resource.
    pub is_resource: bool,
    /// API group, empty for core.
    pub api_group: Cow<'a, str>,
    /// Resource.
    pub resource: Cow<'a, str>,
    /// Subresource.
    pub subresource: Cow<'a, str>,
    /// Namespace.
    pub namespace: Cow<'a, str>,
    /// Name: from the path, or from a `metadata.name` field selector of a list or watch.
    pub name: Cow<'a, str>,
    /// The path of a non-resource request, without query.
    pub path: Cow<'a, str>,
}

/// Reads the attributes of a request. `verb` is the one of the audit event; it only decides whether a field selector
/// names the object, and that a proxy prefix leaves no subresource.
pub fn request_info<'a>(verb: &str, uri: &'a str) -> RequestInfo<'a> {
    let (raw_path, query) = uri.split_once('?').unwrap_or((uri, ""));
    match percent_decoded(raw_path, false) {
        Cow::Borrowed(path) => of_path(verb, path, query, Cow::Borrowed),
        // The parts of a decoded path cannot be borrowed from the URI.
        Cow::Owned(path) => of_path(verb, &path, query, |part| Cow::Owned(part.to_owned())),
    }
}

fn of_path<'a, 'p>(verb: &str, path: &'p str, query: &'a str, keep: impl Fn(&'p str) -> Cow<'a, str>) -> RequestInfo<'a> {
    let non_resource = || RequestInfo { path: keep(path), ..RequestInfo::default() };
    let mut parts = path.trim_matches('/').split('/');
    let (Some(prefix), Some(second), Some(third)) = (parts.next(), parts.next(), parts.next()) else {
        return non_resource();
    };
    let mut info = RequestInfo { is_resource: true, ..RequestInfo::default() };
    let first = match prefix {
        // /api/VERSION/…
        "api" => third,
        // /apis/GROUP/VERSION/…
        "apis" => match parts.next() {
            Some(first) => {
                info.api_group = keep(second);
                first
            }
            None => return non_resource(),
        },
        _ => return non_resource(),
    };
    // The old prefixes /watch/ and /proxy/.
    let mut first = first;
    if matches!(first, "watch" | "proxy") {
        match parts.next() {
            Some(next) => first = next,
            None => return info,
        }
    }
    let mut name = parts.next();
    let mut subresource = parts.next();
    if first == "namespaces"
        && let Some(namespace) = name
    {
        info.namespace = keep(namespace);
        // Below a namespace stands a resource, unless it is a subresource of the Namespace object.
        if let Some(resource) = subresource.filter(|part| !matches!(*part, "status" | "finalize")) {
            first = resource;
            name = parts.next();
            subresource = parts.next();
        }
    }
    info.resource = keep(first);
    info.name = keep(name.unwrap_or_default());
    if verb != "proxy" {
        info.subresource = keep(subresource.unwrap_or_default());
    }
    if info.name.is_empty() && matches!(verb, "list" | "watch" | "get") && query.contains("fieldSelector=") {
        info.name = selected_name(query).unwrap_or_default();
    }
    info
}

/// The name that `fieldSelector=metadata.name=NAME` requires.
fn selected_name(query: &str) -> Option<Cow<'_, str>> {
    let selector = query.split('&').find_map(|pair| pair.strip_prefix("fieldSelector="))?;
    let selector = percent_decoded(selector, true);
    let name = selector.split(',').find_map(|term| {
        let value = term.strip_prefix("metadata.name=")?;
        Some(value.strip_prefix('=').unwrap_or(value).to_owned())
    })?;
    let is_segment = !matches!(name.as_str(), "" | "." | "..") && !name.contains(['/', '%']);
    is_segment.then_some(Cow::Owned(name))
}

/// `%XX` decoded, and in a query `+` as a blank. Bytes that are no UTF-8 become replacement characters.
fn percent_decoded(text: &str, query: bool) -> Cow<'_, str> {
    if !text.contains('%') && !(query && text.contains('+')) {
        return Cow::Borrowed(text);
    }
    let mut decoded = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let hex = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        decoded.push(match byte {
            b'%' => match (hex(ahead.next()), hex(ahead.next())) {
                (Some(high), Some(low)) => {
                    bytes = ahead;
                    u8::try_from(high * 16 + low).unwrap_or(b'%')
                }
                _ => b'%',
            },
            b'+' if query => b' ',
            byte => byte,
        });
    }
    Cow::Owned(String::from_utf8_lossy(&decoded).into_owned())
}
