//! RC182: calls that the authorizer denied, or a check behind it.

use std::collections::{BTreeMap, BTreeSet};

use super::Input;
use crate::analysis::{Assessment, CallVerdict, Deficit, JudgedCall, RefusedBy, RoleState};
use crate::finding::{Finding, LocationOf, Related, ScopeClass};
use crate::rbac::Request;
use crate::rules::document::RuleDoc;
use crate::rules::draft::{Draft, log_line, object};
use crate::rules::evidence::{counted, some_of};
use crate::source::Location;

pub(super) fn check(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    calls(input, doc, findings, CallVerdict::Denied);
    hidden(input, doc, findings);
}

/// One finding for each call that was allowed, and then refused for a permission that it does not name.
fn hidden(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>) {
    let assessment = input.assessment;
    let refused = assessment.deficits.iter().filter(|deficit| deficit.refused_by == RefusedBy::HiddenCheck);
    let mut by_call: BTreeMap<(String, String), Vec<&Deficit>> = BTreeMap::new();
    for deficit in refused {
        by_call.entry((deficit.call(), deficit.reason.clone())).or_default().push(deficit);
    }
    for ((call, reason), deficits) in by_call {
        let wants: BTreeSet<String> = deficits.iter().map(|deficit| deficit.wants()).collect();
        let namespaces: BTreeSet<&str> = deficits.iter().map(|deficit| deficit.request.namespace()).collect();
        let class = if namespaces.contains("") { ScopeClass::Cluster } else { ScopeClass::Namespace };
        let message = format!("{}: `{call}` wants {}: {reason}", doc.title, some_of(wants.iter().map(String::as_str)));
        let mut draft = Draft::new(assessment, class, message);
        draft.evidence = counted(assessment, deficits.iter().fold(0, |sum, one| sum.saturating_add(one.count)));
        let samples: Vec<_> = deficits.iter().flat_map(|deficit| &deficit.samples).collect();
        draft.related = related(samples);
        let line =
            || draft.related.iter().find_map(|sample| sample.location.clone()).map(|at| (at, LocationOf::LogLine));
        let (binding, role) = role_that_may_hold(assessment, &namespaces).unzip();
        draft.at = role.or_else(|| object(assessment, None)).or_else(line);
        draft.bindings.extend(binding);
        draft.permission = format!("{call}: {}", wants.into_iter().collect::<Vec<_>>().join(", "));
        findings.extend(draft.finish(doc));
    }
}

/// One finding per permission (verb and resource, over namespaces and names) of the calls with this verdict.
pub(super) fn calls(input: &Input<'_>, doc: &RuleDoc, findings: &mut Vec<Finding>, verdict: CallVerdict) {
    let assessment = input.assessment;
    let mut by_permission: BTreeMap<String, Vec<&JudgedCall>> = BTreeMap::new();
    for call in assessment.calls.iter().filter(|call| call.verdict == verdict) {
        by_permission.entry(crate::analysis::describe(&call.observed.request)).or_default().push(call);
    }
    for (permission, calls) in by_permission {
        findings.extend(finding(assessment, doc, permission, &calls));
    }
}

fn finding(assessment: &Assessment, doc: &RuleDoc, permission: String, calls: &[&JudgedCall]) -> Option<Finding> {
    let namespaces: BTreeSet<&str> = calls.iter().map(|call| call.observed.request.namespace()).collect();
    let names: BTreeSet<&str> = calls.iter().filter_map(|call| name(&call.observed.request)).collect();
    let class = if namespaces.contains("") { ScopeClass::Cluster } else { ScopeClass::Namespace };
    let place = match class {
        ScopeClass::Cluster => "at cluster scope".to_owned(),
        _ => format!("in namespace {}", some_of(namespaces.iter().copied())),
    };
    let on = if names.is_empty() { String::new() } else { format!(" on {}", some_of(names)) };
    let count = calls.iter().fold(0, |sum: u64, call| sum.saturating_add(call.observed.count));
    let mut draft = Draft::new(assessment, class, format!("{}: `{permission}`{on} {place}", doc.title));
    draft.evidence = counted(assessment, count);
    draft.related = samples(calls);
    // With nothing of the subject in the input, the line of the log is the place.
    let line = || draft.related.iter().find_map(|sample| sample.location.clone()).map(|at| (at, LocationOf::LogLine));
    let (binding, role) = role_that_may_hold(assessment, &namespaces).unzip();
    draft.at = role.or_else(|| object(assessment, None)).or_else(line);
    draft.bindings.extend(binding);
    draft.permission = permission;
    draft.finish(doc)
}

fn name(request: &Request) -> Option<&str> {
    match request {
        Request::Resource(request) if !request.name.is_empty() => Some(&request.name),
        Request::Resource(_) | Request::NonResource(_) => None,
    }
}

/// The first role of the input that grants where the calls were: where the missing entry would stand.
/// With the index of its binding.
fn role_that_may_hold(assessment: &Assessment, namespaces: &BTreeSet<&str>) -> Option<(usize, (Location, LocationOf))> {
    assessment.bindings.iter().enumerate().find_map(|(index, binding)| {
        let reaches = namespaces.iter().all(|namespace| binding.scope.reaches(namespace));
        let location = binding.role.location.clone().filter(|_| reaches && binding.role_state == RoleState::Shipped)?;
        Some((index, (location, LocationOf::Name)))
    })
}

fn samples(calls: &[&JudgedCall]) -> Vec<Related> {
    related(calls.iter().flat_map(|call| &call.observed.samples).collect())
}

fn related(mut samples: Vec<&crate::audit::Sample>) -> Vec<Related> {
    samples.sort();
    let related = |sample: &&crate::audit::Sample| Related {
        label: format!("audit event {}", sample.audit_id),
        location: Some(log_line(&sample.path, sample.line)),
    };
    samples.iter().take(3).map(related).collect()
}
