//! Which grants cover a request, without asking each of them.

use std::collections::HashMap;

use super::Grant;
use super::verdict::covers;
use crate::needs::Ask;
use crate::rbac::{Request, ResourceRequest, Scope};

/// (apiGroup, resource[/subresource], verb), wildcards as words.
type Words<'a> = (&'a str, &'a str, &'a str);

/// Grants by what they name, where they hold and for which object, so that thousands of wildcards, namespaces or names
/// cost a call no more than a few. URLs with a wildcard, which are few, are asked one by one.
#[derive(Debug, Default)]
pub(super) struct GrantIndex<'a> {
    grants: &'a [Grant],
    resources: HashMap<Words<'a>, HashMap<&'a Scope, Holders<'a>>>,
    urls: HashMap<&'a str, Vec<usize>>,
    patterns: Vec<usize>,
}

/// Grants of the same permission in the same scope.
#[derive(Debug, Default)]
struct Holders<'a> {
    all: Vec<usize>,
    named: HashMap<&'a str, Vec<usize>>,
}

impl<'a> GrantIndex<'a> {
    pub(super) fn new(grants: &'a [Grant]) -> Self {
        let mut index = Self { grants, ..Self::default() };
        for (at, grant) in grants.iter().enumerate() {
            index.add(at, grant);
        }
        index
    }

    fn add(&mut self, at: usize, grant: &'a Grant) {
        let rule = &grant.rule;
        if let (Some(group), Some(resource), Some(verb)) =
            (rule.api_groups.first(), rule.resources.first(), rule.verbs.first())
        {
            let places = self.resources.entry((group, resource, verb)).or_default();
            let holders = places.entry(&grant.scope).or_default();
            if rule.resource_names.is_empty() {
                holders.all.push(at);
            }
            for name in &rule.resource_names {
                holders.named.entry(name).or_default().push(at);
            }
        } else if let Some(url) = rule.non_resource_urls.first() {
            if url.ends_with('*') {
                self.patterns.push(at);
            } else {
                self.urls.entry(url).or_default().push(at);
            }
        }
    }

    /// The grants that cover the request, scope included, in order.
    pub(super) fn covering(&self, request: &Request) -> Vec<&'a Grant> {
        self.candidates(request, |grant| covers(grant, request))
    }

    /// The grants that give what a need asks for, in order.
    pub(super) fn covering_ask(&self, ask: &Ask) -> Vec<&'a Grant> {
        match ask {
            Ask::Make(request) => self.covering(request),
            Ask::Hold(..) => self.candidates(&ask.request(), |grant| ask.is_given(&grant.scope, &grant.rule)),
        }
    }

    fn candidates(&self, request: &Request, fits: impl Fn(&Grant) -> bool) -> Vec<&'a Grant> {
        let mut found = match request {
            Request::Resource(asked) => self.holders(asked),
            Request::NonResource(asked) => {
                [self.urls.get(asked.path.as_str()).map_or(&[][..], Vec::as_slice), &self.patterns].concat()
            }
        };
        found.sort_unstable();
        found.dedup();
        found.into_iter().filter_map(|at| self.grants.get(at)).filter(|grant| fits(grant)).collect()
    }

    /// Grants with these words or wildcards in their place.
    fn holders(&self, asked: &ResourceRequest) -> Vec<usize> {
        let resource = asked.combined();
        let below = if asked.subresource.is_empty() { String::new() } else { format!("*/{}", asked.subresource) };
        let namespace = Scope::Namespace(asked.namespace.clone());
        let mut found = Vec::new();
        for group in [asked.api_group.as_str(), "*"] {
            for resource in [resource.as_str(), "*", below.as_str()] {
                for verb in [asked.verb.as_str(), "*"] {
                    let Some(places) = self.resources.get(&(group, resource, verb)) else { continue };
                    for holders in [&Scope::Cluster, &namespace].into_iter().filter_map(|scope| places.get(scope)) {
                        found.extend_from_slice(&holders.all);
                        found.extend(holders.named.get(asked.name.as_str()).into_iter().flatten());
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rbac::{NonResourceRequest, Rule};

    fn grant(index: usize, scope: &str, rule: Rule) -> Grant {
        let scope = match scope {
            "" => Scope::Cluster,
            namespace => Scope::Namespace(namespace.to_owned()),
        };
        Grant { index, ..Grant::new(scope, rule) }
    }

    proptest! {
        #[test]
        fn it_finds_what_asking_each_grant_finds(
            held in prop::collection::vec(("[ab]?", "[a*]", "(pods|\\*)(/(log|\\*))?|\\*/log", "get|\\*", "(|x|y|xy)"), 0..12),
            urls in prop::collection::vec(("(/[ab*]{0,2}){1,2}\\*{0,2}|\\*", "get|\\*"), 0..4),
            asked in ("[ab]?", "[a*]", "pods|\\*", "(|log)", "get|\\*", "(|x|z)"),
            path in "(/[ab]{0,2}){1,2}",
        ) {
            let one = |text: &str| vec![text.to_owned()];
            let mut grants: Vec<Grant> = Vec::new();
            for (scope, group, resource, verb, names) in &held {
                let resource_names = names.chars().map(String::from).collect();
                let rule = Rule {
                    api_groups: one(group), resources: one(resource), verbs: one(verb), resource_names, ..Rule::default()
                };
                grants.push(grant(grants.len(), scope, rule));
            }
            for (url, verb) in &urls {
                let rule = Rule { non_resource_urls: one(url), verbs: one(verb), ..Rule::default() };
                grants.push(grant(grants.len(), "", rule));
            }
            let index = GrantIndex::new(&grants);
            let (namespace, api_group, resource, subresource, verb, name) = asked;
            let request = ResourceRequest { api_group, resource, subresource, verb: verb.clone(), namespace, name };
            let found = |grants: Vec<&Grant>| grants.iter().map(|grant| grant.index).collect::<Vec<_>>();
            let url = Request::NonResource(NonResourceRequest { path, verb });
            for request in [Request::Resource(request.clone()), url] {
                let each = grants.iter().filter(|grant| covers(grant, &request)).collect();
                prop_assert_eq!(found(index.covering(&request)), found(each), "{:?}", request);
            }
            let scope = match request.namespace.as_str() {
                "" => Scope::Cluster,
                namespace => Scope::Namespace(namespace.to_owned()),
            };
            let part = Rule {
                api_groups: one(&request.api_group), resources: one(&request.combined()), verbs: one(&request.verb),
                resource_names: Some(request.name).filter(|name| !name.is_empty()).into_iter().collect(),
                ..Rule::default()
            };
            let ask = Ask::Hold(scope, part);
            let each = grants.iter().filter(|grant| ask.is_given(&grant.scope, &grant.rule)).collect();
            prop_assert_eq!(found(index.covering_ask(&ask)), found(each), "{:?}", ask);
        }
    }
}
