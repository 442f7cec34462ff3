//! RC190: a role that differs from the `+kubebuilder:rbac` markers that it is generated from. It is about the role, so it
//! speaks once, whoever holds it.

use std::collections::{BTreeMap, BTreeSet};

use super::Input;
use crate::analysis::Drifted;
use crate::finding::{Confidence, Finding, LocationOf, Related, ScopeClass, fingerprint};
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, label};
use crate::rules::evidence::some_of;

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    let mut said = BTreeSet::new();
    for binding in &assessment.bindings {
        let (role, Some(drift)) = (&binding.role, &binding.drift) else { continue };
        if !input.uses.is_first(assessment, role) || !said.insert(role) {
            continue;
        }
        let sides = [(&drift.only_in_markers, "only markers name"), (&drift.only_in_role, "only the role names")];
        let texts = sides.iter().filter(|(side, _)| !side.is_empty()).map(|(side, what)| {
            let all = clauses(side);
            format!("{what} {}", some_of(all.iter().map(String::as_str)))
        });
        let texts = texts.collect::<Vec<_>>().join("; ");
        let class = if role.kind == "ClusterRole" { ScopeClass::Cluster } else { ScopeClass::Namespace };
        let mut draft = Draft::new(assessment, class, format!("{}: {}: {texts}", doc.title, label(role)));
        draft.role = label(role);
        draft.permission = "differs from its markers".to_owned();
        draft.at = role.location.clone().map(|location| (location, LocationOf::Name));
        draft.related = sides.into_iter().flat_map(|(side, what)| places(side, what)).collect();
        let Some(mut finding) = draft.finish(doc) else { continue };
        finding.subject = String::new();
        finding.chain.clear();
        finding.evidence = String::new();
        // Bound or not, it is stale.
        finding.confidence = if assessment.subject.unbound { Confidence::High } else { finding.confidence };
        finding.fingerprint = fingerprint::of(&[&doc.id, &assessment.package, "", &label(role), &finding.permission]);
        findings.push(finding);
    }
}

/// The verbs of each thing in one text: `get,list pods`.
fn clauses(side: &[Drifted]) -> Vec<String> {
    let mut verbs: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for drifted in side {
        let (verb, thing) = drifted.permission.split_once(' ').unwrap_or_default();
        verbs.entry(thing).or_default().push(verb);
    }
    verbs.into_iter().map(|(thing, verbs)| format!("{} {thing}", verbs.join(","))).collect()
}

/// Each line once.
fn places(side: &[Drifted], what: &str) -> Vec<Related> {
    let mut lines: BTreeMap<(&str, u32), &Drifted> = BTreeMap::new();
    for drifted in side {
        lines.entry((&drifted.location.path, drifted.location.line)).or_insert(drifted);
    }
    let related = |drifted: &Drifted| Related {
        label: format!("{what} `{}`", drifted.permission),
        location: Some(drifted.location.clone()),
    };
    lines.into_values().map(related).collect()
}
