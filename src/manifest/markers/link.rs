//! Which role of a package was generated from its markers. `rbac:roleName=…` stands in a Makefile, so the role is told
//! by what it holds.

use super::super::{Marker, Package, PolicyRule, Role, RoleKind};
use super::{Generated, GeneratedRole, derive};
use crate::rbac::Rule;
use crate::source::{Diagnostic, DiagnosticKind, Diagnostics, SourceMap, Spanned};

/// Markers that multiply out to more permissions are not linked: ten times what a large operator has.
pub(super) const MOST: u64 = 50_000;

impl Package {
    /// Finds the roles that are generated from the package's markers.
    ///
    /// The role that is named by no marker is the role of the same kind that has half of the generated rules or more;
    /// of several, one in a file `role.yaml`, as controller-gen calls it; then the one with most of the rules; then one
    /// named `manager-role`. A role that has none of the rules must have that name, or stand in `rbac/role.yaml`.
    /// Where two remain, none is taken.
    pub fn link_markers(&mut self, sources: &SourceMap) -> Diagnostics {
        self.generated.clear();
        let facts = &self.facts;
        let Some(first) = facts.markers.first() else { return Diagnostics::new() };
        let note = |message: &str| {
            let location = sources.locate(first.rule.span);
            vec![Diagnostic { kind: DiagnosticKind::Note, location, message: message.to_owned() }]
        };
        if facts.markers.iter().map(|marker| size(&marker.rule)).fold(0, u64::saturating_add) > MOST {
            return note("the markers multiply out to too many permissions: they are not compared with any role");
        }
        let mut candidates: Vec<Candidate> = self.candidates(sources);
        candidates.sort_by_key(|candidate| candidate.rank);
        let Some(best) = candidates.pop() else {
            return note("no role of the input is generated from these markers");
        };
        let ties = candidates.iter().any(|other| other.rank == best.rank && other.name != best.name);
        if ties {
            return note("several roles may be generated from these markers: none is taken");
        }
        let wanted = derive(&facts.markers, &best.name);
        let clashing: Vec<usize> = wanted
            .iter()
            .flat_map(|role| &role.rules)
            .filter(|rule| rule.clashes)
            .flat_map(|rule| rule.markers.iter().copied())
            .collect();
        let mut notes = Diagnostics::new();
        if let Some(marker) = clashing.iter().min().and_then(|index| facts.markers.get(*index)) {
            let location = sources.locate(marker.rule.span);
            let message =
                "controller-gen merges this marker with others into two rules that differ in their verbs, and \
                           keeps one of them at random: name the same groups in all of them"
                    .to_owned();
            notes.push(Diagnostic { kind: DiagnosticKind::Note, location, message });
        }
        self.generated = wanted.into_iter().filter_map(|wanted| Generated::find(&self.facts, wanted)).collect();
        notes
    }

    /// The generated role that a role of the package is.
    pub fn generated(&self, role: usize) -> Option<&Generated> {
        self.generated.iter().find(|generated| generated.role == role)
    }

    fn candidates(&self, sources: &SourceMap) -> Vec<Candidate> {
        let nameless = |marker: &&Marker| marker.role_name.as_ref().is_none_or(|name| name.value.is_empty());
        let markers: Vec<Marker> = self.facts.markers.iter().filter(nameless).cloned().collect();
        let wanted = derive(&markers, "");
        // Roles per name: a name stands for all kinds and namespaces.
        let mut candidates = Vec::new();
        for role in self.facts.roles.iter().filter(|role| is_plain(role)) {
            let Some(wanted) = wanted.iter().find(|wanted| is_place_of(role, wanted)) else { continue };
            let equal = equal_rules(role, wanted);
            let path = sources.get(role.span.source).map_or("", |source| &*source.path);
            let named = role.name.as_str() == "manager-role" || role.name.value.ends_with("-manager-role");
            let filed = path == "role.yaml" || path.ends_with("/role.yaml");
            if equal > 0 || named || path.ends_with("rbac/role.yaml") {
                let half = 2 * equal >= wanted.rules.len();
                candidates.push(Candidate { rank: (half, filed, equal, named), name: role.name.value.clone() });
            }
        }
        // Without a marker that leaves the name open, any name will do.
        if markers.is_empty() {
            candidates.push(Candidate { rank: (true, true, 0, true), name: String::new() });
        }
        candidates
    }
}

/// A name that the command line may have given.
#[derive(Debug)]
struct Candidate {
    /// Has half of the rules, stands in `role.yaml`, equal rules, has the name of the scaffolding.
    rank: (bool, bool, usize, bool),
    name: String,
}

/// What a rule multiplies out to.
pub(super) fn size(rule: &PolicyRule) -> u64 {
    let [verbs, groups, resources, urls] =
        [&rule.verbs, &rule.api_groups, &rule.resources, &rule.non_resource_urls].map(|list| list.len() as u64);
    let names = rule.resource_names.len() as u64 + 1;
    // A marker without groups still makes a rule for each resource.
    let pairs = groups.max(1).saturating_mul(resources.max(1)).saturating_mul(names);
    verbs.max(1).saturating_mul(pairs.saturating_add(urls))
}

/// controller-gen writes neither bundles nor aggregation.
pub(super) fn is_plain(role: &Role) -> bool {
    !role.olm_permissions && role.aggregation.is_none()
}

pub(super) fn is_place_of(role: &Role, wanted: &GeneratedRole) -> bool {
    let namespace = role.namespace.as_ref().map(Spanned::as_str);
    role.kind == wanted.kind && (role.kind == RoleKind::ClusterRole || namespace == wanted.namespace.as_deref())
}

fn equal_rules(role: &Role, wanted: &GeneratedRole) -> usize {
    let mut written: Vec<_> = role.rules.iter().map(|rule| sorted(rule.to_rule())).collect();
    written.sort();
    wanted.rules.iter().filter(|rule| written.binary_search(&rule.rule).is_ok()).count()
}

fn sorted(mut rule: Rule) -> Rule {
    let lists = [&mut rule.api_groups, &mut rule.resources, &mut rule.resource_names, &mut rule.non_resource_urls];
    for list in lists.into_iter().chain([&mut rule.verbs]) {
        list.sort();
        list.dedup();
    }
    rule
}
