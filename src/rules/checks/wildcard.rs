//! RC017, RC018, RC020: `*` as verb, resource or API group of a rule entry, with what was really used of it.
//! URLs are left to RC029.

use std::collections::{BTreeMap, BTreeSet};

use super::Input;
use crate::analysis::{Assessment, Grant, Verdict};
use crate::finding::{Finding, LocationOf, ScopeClass};
use crate::rbac::Scope;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::entries::{self, Entry};
use crate::rules::evidence::{calls_of, counted, some_of};

pub(super) fn verb(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    tokens(input, doc, findings, LocationOf::Verb, |grant| {
        entries::group(grant).is_some() && entries::verb(grant) == "*"
    });
}

/// `*` and `*/sub`.
pub(super) fn resource(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    tokens(input, doc, findings, LocationOf::Resource, |grant| {
        let thing = grant.rule.resources.first().map(String::as_str).unwrap_or_default();
        thing == "*" || thing.strip_prefix("*/").is_some_and(|sub| sub != "*")
    });
}

pub(super) fn group(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    tokens(input, doc, findings, LocationOf::Group, |grant| entries::group(grant) == Some("*"));
}

fn tokens(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>, of: LocationOf, wild: fn(&Grant) -> bool) {
    for entry in input.entries {
        // One finding a token: `*` may stand beside `*/status`.
        let mut by_token: BTreeMap<&str, Vec<&Grant>> = BTreeMap::new();
        for grant in entry.grants.iter().filter(|grant| grant.verdict != Verdict::Dead && wild(grant)) {
            by_token
                .entry(if of == LocationOf::Resource { entries::thing(grant) } else { "*" })
                .or_default()
                .push(grant);
        }
        for (token, grants) in by_token {
            findings.extend(finding(input.assessment, doc, of, entry, token, grants));
        }
    }
}

fn finding(
    assessment: &Assessment,
    doc: &RuleDoc,
    of: LocationOf,
    entry: &Entry<'_>,
    token: &str,
    grants: Vec<&Grant>,
) -> Option<Finding> {
    let first = *grants.first()?;
    let on = match of {
        LocationOf::Verb => format!("on {}", some_of(entries::things(&grants))),
        LocationOf::Resource => {
            let verbs: BTreeSet<&str> = grants.iter().map(|grant| entries::verb(grant)).collect();
            format!("with the verbs {}", some_of(verbs))
        }
        _ => format!("for {}", some_of(entries::things(&grants))),
    };
    let message = format!("{}: `{token}` {on}{}", doc.title, used_as(assessment, &grants));
    let mut draft = Draft::new(assessment, class(assessment, &grants), message);
    draft.role = label(&entry.role);
    draft.permission = entries::permission(&grants);
    draft.evidence = counted(assessment, calls_of(assessment, &grants));
    draft.at = first.places.as_ref().map(|places| match of {
        LocationOf::Verb => (places.verb.clone(), of),
        LocationOf::Group => (places.group.clone().unwrap_or_else(|| places.entry.clone()), of),
        _ => (places.resource.clone(), LocationOf::Resource),
    });
    draft.grants = grants;
    draft.finish(doc)
}

/// The gravest class among the grants.
fn class(assessment: &Assessment, grants: &[&Grant]) -> ScopeClass {
    let own: BTreeSet<&str> =
        assessment.crds.iter().filter_map(|crd| crd.split_once('.')).map(|(_, group)| group).collect();
    let each = grants.iter().map(|grant| {
        if entries::group(grant).is_some_and(|group| own.contains(group)) {
            ScopeClass::OwnGroup
        } else if !grant.rule.resource_names.is_empty() {
            ScopeClass::Named
        } else if grant.scope == Scope::Cluster {
            ScopeClass::Cluster
        } else {
            ScopeClass::Namespace
        }
    });
    each.min().unwrap_or(ScopeClass::Cluster)
}

/// `; used as …`, or that nothing of it was; empty where nothing could be judged.
pub(super) fn used_as(assessment: &Assessment, grants: &[&Grant]) -> String {
    let judged = assessment.evidence.as_ref().is_some_and(|evidence| evidence.calls > 0);
    let used: BTreeSet<&str> = grants.iter().flat_map(|grant| grant.used_as.iter().map(String::as_str)).collect();
    match (judged, used.is_empty()) {
        (false, _) => String::new(),
        (true, true) => "; nothing of it was used".to_owned(),
        (true, false) => format!("; used as {}", some_of(used)),
    }
}
