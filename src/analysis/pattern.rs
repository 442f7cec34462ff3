//! Which grants the user speaks of: `VERB RESOURCE[/SUBRESOURCE][.GROUP]` or `VERB /PATH`, as grants are named in every
//! result, with `*` for anything.

use std::str::FromStr;

use globset::{Glob, GlobMatcher};

use super::Grant;
use crate::rbac::Rule;

/// A pattern of grants.
#[derive(Debug, Clone)]
pub struct GrantPattern {
    text: String,
    verb: GlobMatcher,
    what: GlobMatcher,
}

impl FromStr for GrantPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let usage = || format!("`{text}` is not VERB RESOURCE[/SUBRESOURCE][.GROUP] or VERB /PATH");
        let (verb, what) = text.trim().split_once(' ').ok_or_else(usage)?;
        let what = what.trim();
        if what.is_empty() || what.contains(' ') {
            return Err(usage());
        }
        let glob = |text: &str| Glob::new(text).map(|glob| glob.compile_matcher()).map_err(|error| error.to_string());
        Ok(Self { text: text.trim().to_owned(), verb: glob(verb)?, what: glob(what)? })
    }
}

impl GrantPattern {
    /// Whether it means this grant.
    pub fn matches(&self, grant: &Grant) -> bool {
        let verb = grant.rule.verbs.first().map_or("", String::as_str);
        self.verb.is_match(verb) && self.what.is_match(thing(&grant.rule))
    }

    /// As it was written.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// `VERB RESOURCE[/SUBRESOURCE][.GROUP]` or `VERB /PATH` of a grant.
pub(super) fn name(grant: &Grant) -> String {
    format!("{} {}", grant.rule.verbs.first().map_or("", String::as_str), thing(&grant.rule))
}

fn thing(rule: &Rule) -> String {
    match (rule.resources.first(), rule.api_groups.first(), rule.non_resource_urls.first()) {
        (Some(resource), Some(group), _) if !group.is_empty() => format!("{resource}.{group}"),
        (Some(thing), ..) | (None, _, Some(thing)) => thing.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rbac::Scope;

    fn grant(group: &str, resource: &str, verb: &str) -> Grant {
        let one = |text: &str| vec![text.to_owned()];
        let rule = Rule { api_groups: one(group), resources: one(resource), verbs: one(verb), ..Rule::default() };
        Grant::new(Scope::Cluster, rule)
    }

    #[test]
    fn a_pattern_means_grants_as_results_name_them() {
        let exec = grant("", "pods/exec", "create");
        let deployments = grant("apps", "deployments", "delete");
        let url =
            Rule { non_resource_urls: vec!["/metrics".to_owned()], verbs: vec!["get".to_owned()], ..Rule::default() };
        let url = Grant::new(Scope::Cluster, url);
        for (pattern, expected) in [
            ("create pods/exec", [true, false, false]),
            ("* pods/*", [true, false, false]),
            ("delete deployments", [false, false, false]),
            ("delete deployments.apps", [false, true, false]),
            ("* *.apps", [false, true, false]),
            ("get /met*", [false, false, true]),
            ("* *", [true, true, true]),
        ] {
            let pattern: GrantPattern = pattern.parse().unwrap();
            assert_eq!([&exec, &deployments, &url].map(|grant| pattern.matches(grant)), expected, "{pattern:?}");
        }
        for wrong in ["", "get", "get ", "get a b", "get [a"] {
            assert!(wrong.parse::<GrantPattern>().is_err(), "{wrong}");
        }
    }
}
