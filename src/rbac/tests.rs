//! What the algebra promises: Kubernetes' matching row by row, laws point by point, exact covers.

mod authority;
mod cover;
mod laws;
mod matching;
mod set;

use super::{NonResourceRequest, Request, ResourceRequest, Rule};

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|&word| word.to_owned()).collect()
}

/// A resource rule from space-separated lists; `-` in a list is the empty string.
fn rule(groups: &str, resources: &str, verbs: &str) -> Rule {
    let list = |text: &str| text.split(' ').map(|word| word.replace('-', "")).collect();
    Rule { api_groups: list(groups), resources: list(resources), verbs: list(verbs), ..Rule::default() }
}

fn named(groups: &str, resources: &str, verbs: &str, names: &[&str]) -> Rule {
    Rule { resource_names: words(names), ..rule(groups, resources, verbs) }
}

fn urls(urls: &[&str], verbs: &[&str]) -> Rule {
    Rule { non_resource_urls: words(urls), verbs: words(verbs), ..Rule::default() }
}

/// A request for `verb resource[/subresource][@name]` in a group.
fn asks(group: &str, verb: &str, resource: &str) -> Request {
    let (resource, name) = resource.split_once('@').unwrap_or((resource, ""));
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Request::Resource(ResourceRequest {
        api_group: group.into(),
        resource: resource.into(),
        subresource: subresource.into(),
        verb: verb.into(),
        namespace: String::new(),
        name: name.into(),
    })
}

fn gets(path: &str) -> Request {
    Request::NonResource(NonResourceRequest { path: path.into(), verb: "get".into() })
}
