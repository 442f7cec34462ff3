//! From "this rule, this assessment, these grants" to a whole [`Finding`]: severity, place, chain, evidence.

use std::collections::BTreeSet;

use super::document::RuleDoc;
use super::entries;
use super::evidence::window;
use crate::analysis::{Assessment, BindingPlace, Grant, GrantPlaces, Place, RoleState};
use crate::finding::{Confidence, Finding, LocationOf, Related, ScopeClass, fingerprint};
use crate::rbac::Scope;
use crate::source::Location;

/// Label of a marker that a rule is generated from.
const MARKER: &str = "marker";
/// Most further places that one finding lists.
const MOST_RELATED: usize = 20;

/// A finding in the making.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    /// The subject it is about.
    pub(super) assessment: &'a Assessment,
    /// The scope class, which chooses the severity.
    pub(super) class: ScopeClass,
    /// One sentence.
    pub(super) message: String,
    /// Empty: the evidence of the assessment without a count.
    pub(super) evidence: String,
    /// Empty: the rule's own advice.
    pub(super) remedy: String,
    /// The permission as text, without names of places.
    pub(super) permission: String,
    /// The role it speaks of, for the fingerprint.
    pub(super) role: String,
    /// The grants it speaks of, the most telling first.
    pub(super) grants: Vec<&'a Grant>,
    /// Bindings beside those of the grants.
    pub(super) bindings: Vec<usize>,
    /// The primary place; `None` falls back to an object of the subject.
    pub(super) at: Option<(Location, LocationOf)>,
    /// Further places.
    pub(super) related: Vec<Related>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(assessment: &'a Assessment, class: ScopeClass, message: String) -> Self {
        Self {
            assessment,
            class,
            message,
            evidence: String::new(),
            remedy: String::new(),
            permission: String::new(),
            role: String::new(),
            grants: Vec::new(),
            bindings: Vec::new(),
            at: None,
            related: Vec::new(),
        }
    }

    /// About these grants of a role, where the verb of the first is written.
    pub(super) fn of_grants(assessment: &'a Assessment, message: String, role: &Place, grants: Vec<&'a Grant>) -> Self {
        let places = grants.first().and_then(|grant| grant.places.as_ref());
        let class = class(&grants);
        Self {
            permission: entries::permission(&grants),
            role: label(role),
            at: places.map(|places| (places.verb.clone(), LocationOf::Verb)),
            grants,
            ..Self::new(assessment, class, message)
        }
    }

    /// The finding; `None` where the rule has no severity in this class, or nothing has a place.
    pub(super) fn finish(self, doc: &RuleDoc) -> Option<Finding> {
        let severity = doc.severity.get(self.class)?;
        let assessment = self.assessment;
        let bindings: BTreeSet<usize> =
            self.grants.iter().map(|grant| grant.binding).chain(self.bindings.iter().copied()).collect();
        let first = self.grants.first().map(|grant| grant.binding).or_else(|| bindings.iter().next().copied());
        let chain = chain(assessment, first, self.grants.first().copied());
        let (location, location_of) = self.at.or_else(|| anchor(assessment, first))?;
        let mut related = self.related;
        related.extend(self.grants.iter().filter_map(|grant| grant.places.as_ref()).flat_map(sources_of));
        // Always with the binding as a related place.
        for binding in bindings.iter().filter_map(|index| assessment.bindings.get(*index)) {
            if binding.binding.location.is_some() {
                related.push(related_to(&binding.binding));
            }
        }
        related.sort_by_key(|place| (place.location.is_none(), place.location.clone(), place.label.clone()));
        related.dedup();
        let own_marker = |place: &Related| {
            let line = |place: &Location| (place.path.clone(), place.line);
            place.label == MARKER && place.location.as_ref().map(line) == Some(line(&location))
        };
        related.retain(|place| place.location.as_ref() != Some(&location) && !own_marker(place));
        related.truncate(MOST_RELATED);
        let mut remedy = if self.remedy.is_empty() { doc.remedy() } else { self.remedy };
        if self.grants.iter().any(|grant| grant.places.as_ref().is_some_and(|places| places.generated.is_some())) {
            remedy += " The role is generated: change its marker and run controller-gen (`make manifests`).";
        }
        let subject = assessment.subject.name.clone();
        let fingerprint = fingerprint::of(&[&doc.id, &assessment.package, &subject, &self.role, &self.permission]);
        Some(Finding {
            rule: doc.id.clone(),
            severity,
            scope: self.class,
            confidence: confidence(doc.confidence, assessment),
            package: assessment.package.clone(),
            subject,
            message: self.message,
            evidence: if self.evidence.is_empty() { window(assessment) } else { self.evidence },
            remedy,
            permission: self.permission,
            location,
            location_of,
            chain,
            related,
            controls: doc.controls.shown(),
            fingerprint,
        })
    }
}

/// The widest class among the grants.
pub(super) fn class(grants: &[&Grant]) -> ScopeClass {
    let each = grants.iter().map(|grant| match (&grant.scope, grant.rule.resource_names.is_empty()) {
        (_, false) => ScopeClass::Named,
        (Scope::Cluster, true) => ScopeClass::Cluster,
        (Scope::Namespace(_), true) => ScopeClass::Namespace,
    });
    each.min().unwrap_or(ScopeClass::Cluster)
}

/// A role that nobody is bound to has no effect yet, so nothing about its effect is certain.
fn confidence(of_rule: Confidence, assessment: &Assessment) -> Confidence {
    if assessment.subject.unbound { of_rule.min(Confidence::Medium) } else { of_rule }
}

/// Workload → account → binding → role → rule entry.
fn chain(assessment: &Assessment, binding: Option<usize>, grant: Option<&Grant>) -> Vec<Related> {
    let mut chain: Vec<Related> = assessment.workloads.iter().take(MOST_RELATED).map(related_to).collect();
    let binding = binding.and_then(|index| assessment.bindings.get(index));
    if !assessment.subject.unbound {
        let account = assessment.account.as_ref().and_then(|account| account.location.clone());
        chain.push(Related {
            label: format!("ServiceAccount {}", assessment.subject.name),
            location: account.or_else(|| binding.and_then(|binding| binding.subject_location.clone())),
        });
    }
    let Some(binding) = binding else { return chain };
    if let Some(group) = &binding.via_group {
        chain.push(Related { label: format!("Group {group}"), location: binding.subject_location.clone() });
    }
    chain.push(match binding.binding.location {
        Some(_) => related_to(&binding.binding),
        None => Related { label: "bound to nobody in the input".to_owned(), location: None },
    });
    chain.push(Related {
        label: role_label(binding),
        location: binding.role.location.clone().or_else(|| binding.role_ref_location.clone()),
    });
    let Some(grant) = grant else { return chain };
    if let Some(contributor) = &grant.aggregated_from {
        chain.push(Related { label: format!("aggregated from ClusterRole {contributor}"), location: None });
    }
    chain.push(Related {
        label: format!("rule entry {}", grant.entry + 1),
        location: grant.places.as_ref().map(|places| places.generated.clone().unwrap_or(places.entry.clone())),
    });
    if let Some(places) = grant.places.as_ref().filter(|places| places.generated.is_some()) {
        chain.push(Related { label: MARKER.to_owned(), location: Some(places.entry.clone()) });
    }
    chain
}

/// Of a grant that points at a marker: the rule that was generated, and other markers for the same.
fn sources_of(places: &GrantPlaces) -> Vec<Related> {
    let rule = places.generated.iter().map(|place| ("generated rule", place));
    let markers = places.also.iter().chain(places.generated.is_some().then_some(&places.entry));
    let all = rule.chain(markers.map(|place| (MARKER, place)));
    all.map(|(label, place)| Related { label: label.to_owned(), location: Some(place.clone()) }).collect()
}

fn role_label(binding: &BindingPlace) -> String {
    let role = label(&binding.role);
    match binding.role_state {
        RoleState::Shipped => role,
        RoleState::BuiltIn | RoleState::BuiltInUnknown => format!("{role} (built in)"),
        RoleState::Missing | RoleState::Unrendered => format!("{role} (not in the input)"),
    }
}

/// `KIND NAMESPACE/NAME`.
pub(super) fn label(place: &Place) -> String {
    match place.namespace.as_str() {
        "" => format!("{} {}", place.kind, place.name),
        namespace => format!("{} {namespace}/{}", place.kind, place.name),
    }
}

pub(super) fn related_to(place: &Place) -> Related {
    Related { label: label(place), location: place.location.clone() }
}

/// The best place that the subject has: an object of the input, else a line of the log.
fn anchor(assessment: &Assessment, binding: Option<usize>) -> Option<(Location, LocationOf)> {
    object(assessment, binding).or_else(|| {
        let sample = assessment.calls.iter().find_map(|call| call.observed.samples.first())?;
        Some((log_line(&sample.path, sample.line), LocationOf::LogLine))
    })
}

/// Where the binding names the role, the binding, the role, the account, a workload.
pub(super) fn object(assessment: &Assessment, binding: Option<usize>) -> Option<(Location, LocationOf)> {
    let first = binding.and_then(|index| assessment.bindings.get(index));
    let of_binding = first.into_iter().chain(&assessment.bindings).find_map(|binding| {
        let places = [&binding.role_ref_location, &binding.binding.location, &binding.role.location];
        places.into_iter().flatten().next()
    });
    let account = assessment.account.as_ref().and_then(|account| account.location.as_ref());
    let workload = assessment.workloads.iter().find_map(|workload| workload.location.as_ref());
    Some((of_binding.or(account).or(workload)?.clone(), LocationOf::Name))
}

/// A whole line of a log, as a place.
pub(super) fn log_line(path: &str, line: u64) -> Location {
    let line = u32::try_from(line).unwrap_or(u32::MAX).max(1);
    Location { path: path.into(), line, column: 1, end_line: line, end_column: 1, span: None }
}
