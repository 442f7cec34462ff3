//! Authorization attributes from a request URI and a verb
//! (Kubernetes `staging/src/k8s.io/apiserver/pkg/endpoints/request/requestinfo.go`).
//! Everything borrows from the URI unless it holds percent escapes.

use std::borrow::Cow;

use super::event::ObjectRef;
use super::url;

/// What the authorizer was asked, without the user.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Attributes<'a> {
    /// The verb of the event: it is authoritative.
    pub(super) verb: Cow<'a, str>,
    /// What it was asked of.
    pub(super) target: Target<'a>,
}

/// A resource or a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Target<'a> {
    /// An API resource.
    Resource(Resource<'a>),
    /// Any other path, without query, decoded.
    Path(&'a str),
}

/// The attributes of a resource request; empty means none.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Resource<'a> {
    pub(super) group: &'a str,
    pub(super) resource: &'a str,
    pub(super) subresource: &'a str,
    pub(super) namespace: &'a str,
    pub(super) name: Cow<'a, str>,
}

impl<'a> Attributes<'a> {
    /// Attributes of a request: `path` is the decoded path of its URI ([`url::path`]), `query` what
    /// follows the `?`.
    pub(super) fn of_uri(verb: &'a str, path: &'a str, query: &'a str) -> Self {
        let target = match resource(verb, path) {
            Some((mut resource, verb_in_path)) => {
                let selects = matches!(verb, "list" | "watch");
                if selects && !verb_in_path && resource.name.is_empty() && query.contains("fieldSelector") {
                    resource.name = url::selected_name(query).unwrap_or_default();
                }
                Target::Resource(resource)
            }
            None => Target::Path(path),
        };
        Self { verb: Cow::Borrowed(verb), target }
    }

    /// Attributes out of `objectRef`, for logs that dropped the URI. The name of a plain create is left
    /// out: it was filled in from the body.
    pub(super) fn of_object(verb: &'a str, object: &'a ObjectRef<'a>) -> Option<Self> {
        let (resource, glued) = object.resource.split_once('/').unwrap_or((&object.resource, ""));
        if resource.is_empty() {
            return None;
        }
        let subresource = if object.subresource.is_empty() { glued } else { &object.subresource };
        // v1alpha1 has no apiGroup and writes `group/version`.
        let group = match object.api_version.split_once('/') {
            Some((group, _)) if object.api_group.is_empty() => group,
            _ => &object.api_group,
        };
        let from_body = verb == "deletecollection" || (verb == "create" && subresource.is_empty());
        let name = if from_body { "" } else { &object.name };
        Some(Self {
            verb: Cow::Borrowed(verb),
            target: Target::Resource(Resource {
                group,
                resource,
                subresource,
                namespace: &object.namespace,
                name: Cow::Borrowed(name),
            }),
        })
    }

    /// Bytes of all its texts.
    pub(super) fn len(&self) -> usize {
        self.verb.len()
            + match &self.target {
                Target::Resource(r) => {
                    let texts = [r.group, r.resource, r.subresource, r.namespace, &*r.name];
                    texts.into_iter().map(str::len).sum()
                }
                Target::Path(path) => path.len(),
            }
    }

    /// The namespace asked in.
    pub(super) fn namespace(&self) -> &str {
        match &self.target {
            Target::Resource(resource) => resource.namespace,
            Target::Path(_) => "",
        }
    }
}

/// The resource that a path names, and whether the path itself says the verb (`/api/v1/watch/…`).
fn resource<'a>(verb: &str, path: &'a str) -> Option<(Resource<'a>, bool)> {
    let mut parts = Parts::of(path);
    let group = match parts.next()? {
        "api" => "",
        "apis" => parts.next()?,
        _ => return None,
    };
    let _version = parts.next()?;
    let mut resource = parts.next()?;
    let verb_in_path = matches!(resource, "watch" | "proxy");
    if verb_in_path {
        // Kubernetes answers such a path without more parts with an error.
        resource = parts.next()?;
    }
    let mut found = Resource { group, resource, ..Resource::default() };
    let mut name = parts.next();
    let mut subresource = parts.next();
    if resource == "namespaces"
        && let Some(namespace) = name
    {
        found.namespace = namespace;
        // `/namespaces/x/status` is still the Namespace object; anything else lives in the namespace.
        if let Some(resource) = subresource.filter(|part| !matches!(*part, "status" | "finalize")) {
            found.resource = resource;
            name = parts.next();
            subresource = parts.next();
        }
    }
    found.name = Cow::Borrowed(name.unwrap_or_default());
    if verb != "proxy" {
        found.subresource = subresource.unwrap_or_default();
    }
    Some((found, verb_in_path))
}

/// The segments of a path, without slashes around it (`str::split` is slower).
struct Parts<'a>(Option<&'a str>);

impl<'a> Parts<'a> {
    fn of(path: &'a str) -> Self {
        let mut path = path;
        while let Some(rest) = path.strip_prefix('/') {
            path = rest;
        }
        while let Some(rest) = path.strip_suffix('/') {
            path = rest;
        }
        Self(Some(path))
    }

    fn next(&mut self) -> Option<&'a str> {
        let path = self.0?;
        let Some(at) = memchr::memchr(b'/', path.as_bytes()) else {
            self.0 = None;
            return Some(path);
        };
        self.0 = path.get(at + 1..);
        path.get(..at)
    }
}

#[cfg(test)]
mod tests;
