//! Which grants cover a request, without asking each of them.

use std::collections::BTreeMap;

use super::Grant;
use super::verdict::covers;
use crate::needs::Ask;
use crate::rbac::Request;

/// (apiGroup, resource[/subresource], verb).
type Exact<'a> = (&'a str, &'a str, &'a str);

/// Grants by what they name exactly; those with a wildcard or a URL are asked one by one.
#[derive(Debug)]
pub(super) struct GrantIndex<'a> {
    grants: &'a [Grant],
    exact: BTreeMap<Exact<'a>, Vec<usize>>,
    open: Vec<usize>,
}

impl<'a> GrantIndex<'a> {
    pub(super) fn new(grants: &'a [Grant]) -> Self {
        let mut index = Self { grants, exact: BTreeMap::new(), open: Vec::new() };
        for (at, grant) in grants.iter().enumerate() {
            match exact(grant) {
                Some(key) => index.exact.entry(key).or_default().push(at),
                None => index.open.push(at),
            }
        }
        index
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
        let named = match request {
            Request::Resource(asked) => {
                let resource = asked.combined();
                self.exact.get(&(asked.api_group.as_str(), resource.as_str(), asked.verb.as_str())).cloned()
            }
            Request::NonResource(_) => None,
        };
        let named = named.unwrap_or_default();
        let candidates = named.iter().chain(&self.open).filter_map(|&at| self.grants.get(at));
        let mut covering: Vec<&Grant> = candidates.filter(|grant| fits(grant)).collect();
        covering.sort_by_key(|grant| grant.index);
        covering
    }
}

fn exact(grant: &Grant) -> Option<Exact<'_>> {
    let rule = &grant.rule;
    let [group, resource, verb] = [&rule.api_groups, &rule.resources, &rule.verbs].map(|list| list.first());
    let (group, resource, verb) = (group?, resource?, verb?);
    let wildcard = group == "*" || verb == "*" || resource == "*" || resource.starts_with("*/");
    (!wildcard).then_some((group, resource, verb))
}
