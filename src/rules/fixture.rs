//! Assessments built by hand, for the tests of rules.

use std::collections::BTreeMap;

use super::document::RuleDoc;
use crate::analysis::{
    Assessment, BindingPlace, CallVerdict, Evidence, Grant, GrantPlaces, JudgedCall, Place, Platform, Points,
    RoleState, SubjectId, Verdict,
};
use crate::audit::{Decision, LogQuality, Observed, Origin, Sample};
use crate::finding::Finding;
use crate::rbac::{Request, ResourceRequest, Rule, Scope};
use crate::source::Location;

pub(crate) fn at(line: u32, column: u32) -> Location {
    Location { path: "role.yaml".into(), line, column, end_line: line, end_column: column + 1, span: None }
}

/// A rule of one verb, group and resource.
pub(crate) fn rule(group: &str, resource: &str, verb: &str, names: &[&str]) -> Rule {
    Rule {
        api_groups: vec![group.to_owned()],
        resources: vec![resource.to_owned()],
        resource_names: names.iter().map(|name| (*name).to_owned()).collect(),
        non_resource_urls: Vec::new(),
        verbs: vec![verb.to_owned()],
    }
}

fn small(count: usize) -> u32 {
    u32::try_from(count).unwrap()
}

fn place(kind: &str, namespace: &str, name: &str, line: u32) -> Place {
    Place { kind: kind.to_owned(), namespace: namespace.to_owned(), name: name.to_owned(), location: Some(at(line, 9)) }
}

/// `op-ns/op` with a Deployment and an account, holding nothing.
pub(crate) fn subject() -> Assessment {
    Assessment {
        package: "op".to_owned(),
        subject: SubjectId {
            name: "op-ns/op".to_owned(),
            user: "system:serviceaccount:op-ns:op".to_owned(),
            groups: Vec::new(),
            unbound: false,
        },
        workloads: vec![place("Deployment", "op-ns", "op", 901)],
        account: Some(place("ServiceAccount", "op-ns", "op", 902)),
        bindings: Vec::new(),
        crds: vec!["widgets.example.com".to_owned()],
        accounts_beside: Vec::new(),
        platform: Platform::Vanilla,
        points: Points::default(),
        evidence: None,
        grants: Vec::new(),
        calls: Vec::new(),
        coverage: None,
        deficits: Vec::new(),
        entries_left_out: 0,
        minimal: None,
        notes: Vec::new(),
    }
}

/// Adds a binding to a role of this name; grants of [`grant`] follow it.
pub(crate) fn bind(mut assessment: Assessment, scope: Scope, role: &str, role_state: RoleState) -> Assessment {
    let line = 800 + 10 * small(assessment.bindings.len());
    let (kind, namespace) = match &scope {
        Scope::Cluster => ("ClusterRoleBinding", ""),
        Scope::Namespace(namespace) => ("RoleBinding", namespace.as_str()),
    };
    let mut role = place("ClusterRole", "", role, line + 3);
    if role_state != RoleState::Shipped {
        role.location = None;
    }
    assessment.bindings.push(BindingPlace {
        binding: place(kind, namespace, "op-binding", line),
        role,
        subject_location: Some(at(line + 1, 9)),
        role_ref_location: Some(at(line + 2, 9)),
        scope,
        role_state,
        via_group: None,
        drift: None,
    });
    assessment
}

/// Adds entry `entry` to the last binding: all verbs × groups × resources, on line `10 * (entry + 1)` and below.
pub(crate) fn entry(
    mut assessment: Assessment,
    entry: usize,
    groups: &str,
    resources: &str,
    verbs: &str,
) -> Assessment {
    let binding = assessment.bindings.len() - 1;
    let line = 10 * (small(entry) + 1);
    let shipped = assessment.bindings[binding].role_state == RoleState::Shipped;
    for (v, verb) in verbs.split(' ').enumerate() {
        for (g, group) in groups.split(' ').enumerate() {
            for (r, resource) in resources.split(' ').enumerate() {
                let (resource, names) = resource.split_once(':').unwrap_or((resource, ""));
                let group = if group == "core" { "" } else { group };
                let rule = Rule {
                    api_groups: vec![group.to_owned()],
                    resources: vec![resource.to_owned()],
                    resource_names: names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
                    non_resource_urls: Vec::new(),
                    verbs: vec![verb.to_owned()],
                };
                let places = GrantPlaces {
                    verb: at(line + 2, 1 + small(v)),
                    resource: at(line + 1, 1 + small(r)),
                    group: Some(at(line, 1 + small(g))),
                    entry: at(line, 0),
                    generated: None,
                    also: Vec::new(),
                };
                assessment.grants.push(Grant {
                    index: assessment.grants.len(),
                    binding,
                    entry,
                    served: true,
                    places: shipped.then_some(places),
                    ..Grant::new(assessment.bindings[binding].scope.clone(), rule)
                });
            }
        }
    }
    assessment
}

/// `op-ns/op` holding one entry of a shipped role in this scope.
pub(crate) fn holding(scope: Scope, groups: &str, resources: &str, verbs: &str) -> Assessment {
    entry(bind(subject(), scope, "op-role", RoleState::Shipped), 0, groups, resources, verbs)
}

pub(crate) fn in_ns() -> Scope {
    Scope::Namespace("op-ns".to_owned())
}

/// Judges: what `is` says; grants judged `Used` get one call.
pub(crate) fn judged(mut assessment: Assessment, is: impl Fn(&Grant) -> Verdict) -> Assessment {
    for grant in &mut assessment.grants {
        grant.verdict = is(grant);
        grant.calls = u64::from(grant.verdict == Verdict::Used);
    }
    assessment.evidence = Some(Evidence {
        calls: 113,
        distinct: 9,
        first: "2026-12-01T00:59:32Z".to_owned(),
        last: "2026-12-01T01:00:25Z".to_owned(),
        log: LogQuality::default(),
    });
    assessment
}

/// Adds a call, covered by the grants of these indices.
pub(crate) fn call(
    mut assessment: Assessment,
    text: &str,
    namespace: &str,
    verdict: CallVerdict,
    grants: &[usize],
) -> Assessment {
    let (verb, resource) = text.split_once(' ').unwrap();
    let request = Request::Resource(ResourceRequest {
        resource: resource.to_owned(),
        verb: verb.to_owned(),
        namespace: namespace.to_owned(),
        ..ResourceRequest::default()
    });
    let decision = if verdict == CallVerdict::Denied { Decision::Denied } else { Decision::Allowed };
    let line = assessment.calls.len() as u64 + 1;
    let observed = Observed {
        user: assessment.subject.user.clone(),
        request,
        origin: Origin::Call,
        decision,
        count: 1,
        codes: BTreeMap::new(),
        first: String::new(),
        last: String::new(),
        samples: vec![Sample { path: "audit.log".to_owned(), line, audit_id: format!("id-{line}") }],
        reasons: Vec::new(),
        object_namespace: String::new(),
        level: "Metadata".to_owned(),
        impersonators: Vec::new(),
        attributed_from: Vec::new(),
        attributed: 0,
        behind: Vec::new(),
        unread: 0,
        more_than: None,
    };
    assessment.calls.push(JudgedCall { observed: observed.into(), verdict, grants: grants.to_vec() });
    assessment
}

/// Runs one embedded rule.
pub(crate) fn run(id: &str, assessment: &Assessment) -> Vec<Finding> {
    super::run_with([doc(id)], std::slice::from_ref(assessment))
}

pub(crate) fn doc(id: &str) -> &'static RuleDoc {
    super::get(id).unwrap()
}
