//! Sets of resource requests: products of sets of texts, one set for each attribute, that can be cut out of one another
//! exactly. What a grant allows and what a rule of a policy matches are unions of such products.

use std::array;
use std::collections::BTreeSet;

use super::{GroupResources, PolicyRule};
use crate::rbac::{Rule, Scope};

/// A set of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Texts<'a> {
    /// These.
    In(BTreeSet<&'a str>),
    /// All but these.
    NotIn(BTreeSet<&'a str>),
}

impl<'a> Texts<'a> {
    const ALL: Self = Self::NotIn(BTreeSet::new());

    fn one(text: &'a str) -> Self {
        Self::In(BTreeSet::from([text]))
    }

    /// These, or all where there are none.
    fn these_or_all(texts: &'a [String]) -> Self {
        if texts.is_empty() { Self::ALL } else { Self::In(texts.iter().map(String::as_str).collect()) }
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::In(texts) if texts.is_empty())
    }

    fn and(&self, other: &Self) -> Self {
        match (self, other) {
            (Self::In(a), Self::In(b)) => Self::In(a & b),
            (Self::In(a), Self::NotIn(b)) | (Self::NotIn(b), Self::In(a)) => Self::In(a - b),
            (Self::NotIn(a), Self::NotIn(b)) => Self::NotIn(a | b),
        }
    }

    fn and_not(&self, other: &Self) -> Self {
        match other {
            Self::In(texts) => self.and(&Self::NotIn(texts.clone())),
            Self::NotIn(texts) => self.and(&Self::In(texts.clone())),
        }
    }
}

const ATTRIBUTES: usize = 6;
const VERB: usize = 0;
const GROUP: usize = 1;
const RESOURCE: usize = 2;
const SUBRESOURCE: usize = 3;
const NAMESPACE: usize = 4;
const NAME: usize = 5;

/// The requests of which each attribute is in its set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Product<'a>([Texts<'a>; ATTRIBUTES]);

impl<'a> Product<'a> {
    fn all() -> Self {
        Self(array::from_fn(|_| Texts::ALL))
    }

    fn with(mut self, attribute: usize, texts: Texts<'a>) -> Self {
        if let Some(place) = self.0.get_mut(attribute) {
            *place = texts;
        }
        self
    }

    fn is_empty(&self) -> bool {
        self.0.iter().any(Texts::is_empty)
    }

    /// What both have; `None` for nothing.
    pub(super) fn and(&self, other: &Self) -> Option<Self> {
        let mut pairs = self.0.iter().zip(&other.0);
        let both = Self(array::from_fn(|_| pairs.next().map_or(Texts::ALL, |(a, b)| a.and(b))));
        (!both.is_empty()).then_some(both)
    }

    /// What the other does not have, as products that have nothing in common.
    pub(super) fn and_not(&self, other: &Self) -> Vec<Self> {
        let mut rest = Vec::new();
        let mut inside = self.clone();
        for (at, (own, cut)) in self.0.iter().zip(&other.0).enumerate() {
            let outside = inside.clone().with(at, own.and_not(cut));
            if !outside.is_empty() {
                rest.push(outside);
            }
            inside = inside.with(at, own.and(cut));
            if inside.is_empty() {
                break;
            }
        }
        rest
    }
}

/// Splits `resource[/subresource]` as both kinds of rule write it. `None` where no request has it.
fn split(resource: &str) -> Option<(&str, &str)> {
    match resource.split_once('/') {
        Some((_, "")) => None,
        Some(pair) => Some(pair),
        None => Some((resource, "")),
    }
}

/// The resource requests that a grant allows. `cluster_scoped`: its resource has no namespaces.
pub(super) fn of_grant<'a>(rule: &'a Rule, scope: &'a Scope, cluster_scoped: bool) -> Vec<Product<'a>> {
    let one_or_all = |text: &'a str| if text == "*" { Texts::ALL } else { Texts::one(text) };
    let namespace = match scope {
        Scope::Namespace(namespace) => Texts::one(namespace),
        Scope::Cluster if cluster_scoped => Texts::one(""),
        Scope::Cluster => Texts::ALL,
    };
    let mut products = Vec::new();
    for (verb, group) in rule.verbs.iter().flat_map(|verb| rule.api_groups.iter().map(move |group| (verb, group))) {
        for resource in &rule.resources {
            let Some((main, sub)) = split(resource) else { continue };
            // These ask for no name, so that a grant with names does not allow them.
            let nameless = sub.is_empty() && resource != "*" && matches!(verb.as_str(), "create" | "deletecollection");
            let product = Product::all()
                .with(VERB, one_or_all(verb))
                .with(GROUP, one_or_all(group))
                .with(RESOURCE, one_or_all(main))
                .with(SUBRESOURCE, if resource == "*" { Texts::ALL } else { Texts::one(sub) })
                .with(NAMESPACE, namespace.clone())
                .with(NAME, if nameless { Texts::one("") } else { Texts::these_or_all(&rule.resource_names) });
            products.push(product);
        }
    }
    products
}

/// The resource requests that a rule of a policy matches.
pub(super) fn of_policy_rule(rule: &PolicyRule) -> Vec<Product<'_>> {
    let on_resources = !rule.resources.is_empty() || !rule.namespaces.is_empty();
    if !on_resources && !rule.non_resource_urls.is_empty() {
        return Vec::new();
    }
    let any = Product::all()
        .with(VERB, Texts::these_or_all(&rule.verbs))
        .with(NAMESPACE, Texts::these_or_all(&rule.namespaces));
    if rule.resources.is_empty() {
        return vec![any];
    }
    rule.resources.iter().flat_map(|resources| of_group_resources(resources, &any)).collect()
}

fn of_group_resources<'a>(resources: &'a GroupResources, any: &Product<'a>) -> Vec<Product<'a>> {
    let group = if resources.group == "*" { Texts::ALL } else { Texts::one(&resources.group) };
    let of_group = any.clone().with(GROUP, group);
    if resources.resources.is_empty() {
        return vec![of_group];
    }
    let named = of_group.with(NAME, Texts::these_or_all(&resources.resource_names));
    let mut products = Vec::new();
    // What is served has no name `*`.
    for pattern in &resources.resources {
        if pattern == "*" {
            products.push(named.clone());
            continue;
        }
        if let Some(sub) = pattern.strip_prefix("*/").filter(|sub| !sub.is_empty() && *sub != "*") {
            products.push(named.clone().with(SUBRESOURCE, Texts::one(sub)));
        }
        if let Some(main) = pattern.strip_suffix("/*").filter(|main| *main != "*") {
            products.push(named.clone().with(RESOURCE, Texts::one(main)));
        }
        if let Some((main, sub)) = split(pattern).filter(|(main, sub)| *main != "*" && *sub != "*") {
            products.push(named.clone().with(RESOURCE, Texts::one(main)).with(SUBRESOURCE, Texts::one(sub)));
        }
    }
    products
}

/// Requests of which the API server sends the head of the answer long before its end
/// (`BasicLongRunningRequestCheck`, with kube-apiserver's verbs and subresources).
pub(super) fn long_running() -> [Product<'static>; 2] {
    let verbs = Texts::In(BTreeSet::from(["watch", "proxy"]));
    let subresources = Texts::In(BTreeSet::from(["attach", "exec", "proxy", "log", "portforward"]));
    [Product::all().with(VERB, verbs), Product::all().with(SUBRESOURCE, subresources)]
}
