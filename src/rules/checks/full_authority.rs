//! RC001: a rule entry of the input grants every verb on every resource of every group.

use super::Input;
use super::wildcard::used_as;
use crate::finding::{Finding, LocationOf, ScopeClass};
use crate::rbac::Scope;
use crate::rules::capability::is_full;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::evidence::{calls_of, counted};

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    for entry in input.entries {
        let full: Vec<_> = entry.grants.iter().copied().filter(|grant| is_full(&grant.rule)).collect();
        let Some(first) = full.first() else { continue };
        let widest = full.iter().map(|grant| &grant.scope).min().unwrap_or(&first.scope);
        let (class, reach) = match widest {
            Scope::Cluster => (ScopeClass::Cluster, "the whole cluster".to_owned()),
            Scope::Namespace(namespace) => (ScopeClass::Namespace, format!("namespace `{namespace}`")),
        };
        let message = format!("{}: everything in {reach}{}", doc.title, used_as(assessment, &full));
        let mut draft = Draft::new(assessment, class, message);
        draft.role = label(&entry.role);
        draft.permission = "* *.*".to_owned();
        draft.evidence = counted(assessment, calls_of(assessment, &full));
        draft.at = first.places.as_ref().map(|places| (places.verb.clone(), LocationOf::Verb));
        draft.grants = full;
        findings.extend(draft.finish(doc));
    }
}
