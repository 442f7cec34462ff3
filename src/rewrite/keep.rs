//! What each shipped role keeps: its grants, cut down to what the minimal roles of those who hold it have inside them.
//! No text here; the patch of a file, and the patch for kustomize, are written from it.

mod elsewhere;
mod meet;
mod needs;

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Assessment, Basis, MinimalRule};
use crate::manifest::{Package, PolicyRule, Role, RoleKind};
use crate::rbac::cover::{self, Entry};
use crate::rbac::{PermissionSet, Rule, Scope};
use crate::source::Span;
pub use elsewhere::Elsewhere;
use meet::single_atom;
use needs::{Needs, is_at};

/// What becomes of the roles of a package.
#[derive(Debug, Default)]
pub struct Plan<'a> {
    /// Roles whose holders the log shows.
    pub roles: Vec<KeptRole<'a>>,
    /// Roles that stay as they are.
    pub left_out: Vec<LeftOut>,
    /// Additions that no role of the input can take without giving them to others or elsewhere too.
    pub homeless: Vec<String>,
}

/// A role and what is left of it.
#[derive(Debug)]
pub struct KeptRole<'a> {
    /// The role.
    pub role: &'a Role,
    /// Its rule entries in order.
    pub entries: Vec<Kept>,
    /// What its holder used and no role of the input grants.
    pub additions: Vec<&'a MinimalRule>,
    /// What is kept although unseen, with the reasons.
    pub unseen: Vec<&'a MinimalRule>,
    /// It is generated from `+kubebuilder:rbac` markers, which would bring back what is taken here.
    pub generated: bool,
}

/// What is left of a rule entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// All of it.
    Whole,
    /// Nothing.
    Nothing,
    /// What these rules grant, the first to be the entry itself.
    Parts(Vec<Rule>),
}

/// A role that stays as it is, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Where its name stands.
    pub name: Span,
    /// `KIND NAME`.
    pub role: String,
    /// In plain words.
    pub why: String,
}

impl LeftOut {
    /// Of a role.
    pub fn of(role: &Role, why: impl Into<String>) -> Self {
        Self { name: role.name.span, role: label(role), why: why.into() }
    }
}

impl KeptRole<'_> {
    /// The rules that the role has afterwards.
    pub fn rules(&self) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (written, kept) in self.role.rules.iter().zip(&self.entries) {
            match kept {
                Kept::Whole => rules.push(written.to_rule()),
                Kept::Nothing => {}
                Kept::Parts(parts) => rules.extend(parts.iter().cloned()),
            }
        }
        rules.extend(self.additions.iter().map(|addition| addition.rule.clone()));
        rules
    }

    /// Whether nothing changes.
    pub fn is_unchanged(&self) -> bool {
        self.additions.is_empty() && self.entries.iter().all(|kept| *kept == Kept::Whole)
    }
}

fn label(role: &Role) -> String {
    let kind = match role.kind {
        RoleKind::Role => "Role",
        RoleKind::ClusterRole => "ClusterRole",
    };
    format!("{kind} {}", role.name.value)
}

/// Decides for every role that a subject of `wanted` holds. The assessments are those of all subjects of the package,
/// so that a role keeps what any of its holders needs; a role that has others too stays.
pub fn plan<'a>(
    package: &'a Package,
    assessments: &[&'a Assessment],
    elsewhere: &Elsewhere<'_>,
    wanted: &dyn Fn(&Assessment) -> bool,
) -> Plan<'a> {
    let bound: Vec<&Assessment> = assessments.iter().copied().filter(|a| !a.subject.unbound).collect();
    let needs: Vec<Needs<'a>> = bound.iter().map(|assessment| Needs::of(assessment)).collect();
    let mut plan = Plan::default();
    let mut homes = BTreeMap::new();
    for (index, role) in package.facts.roles.iter().enumerate() {
        let holders: Vec<&Needs<'a>> = needs.iter().filter(|needs| needs.holds(role)).collect();
        if !holders.iter().any(|needs| wanted(needs.assessment)) {
            continue;
        }
        if let Some(why) = unsafe_to_cut(role, &holders).or_else(|| elsewhere.reaches(package, role, &holders)) {
            plan.left_out.push(LeftOut::of(role, why));
            continue;
        }
        if let Some((subject, scope)) = only_home(role, &holders) {
            // A Role before a ClusterRole, which may be bound elsewhere later.
            let better = |known: &usize| plan.roles.get(*known).is_some_and(|known| known.role.kind > role.kind);
            if homes.get(&(subject, scope)).is_none_or(better) {
                homes.insert((subject, scope), plan.roles.len());
            }
        }
        let generated = package.generated(index).is_some();
        let unseen = holders.iter().flat_map(|needs| needs.on(Basis::Kept)).map(|(_, rule)| rule).collect();
        plan.roles.push(KeptRole { role, entries: entries(role, &holders), additions: Vec::new(), unseen, generated });
    }
    for needs in needs.iter().filter(|needs| wanted(needs.assessment)) {
        for (scope, addition) in needs.on(Basis::Unexplained) {
            let home = homes.get(&(needs.subject(), scope)).and_then(|&home| plan.roles.get_mut(home));
            match home {
                Some(home) => home.additions.push(addition),
                None => plan.homeless.push(format!(
                    "{}: not added, no role of the input is held by it alone in {scope} only: {}",
                    needs.subject(),
                    in_words(&addition.rule)
                )),
            }
        }
    }
    plan
}

fn in_words(rule: &Rule) -> String {
    let things = if rule.resources.is_empty() { &rule.non_resource_urls } else { &rule.resources };
    let group = rule.api_groups.first().filter(|group| !group.is_empty()).map(|group| format!(" of {group}"));
    format!("`{} {}`{}", rule.verbs.join(","), things.join(","), group.unwrap_or_default())
}

/// Why a role must stay as it is.
fn unsafe_to_cut(role: &Role, holders: &[&Needs<'_>]) -> Option<String> {
    let aggregated = |label: &&String| label.starts_with("rbac.authorization.k8s.io/aggregate-to-");
    if let Some(label) = role.labels.keys().find(aggregated) {
        return Some(format!("`{label}` hands it to people too"));
    }
    if let Some(unseen) = holders.iter().find(|needs| needs.assessment.minimal.is_none()) {
        return Some(format!("{} holds it, and the log shows nothing of that", unseen.subject()));
    }
    let unjudged = holders.iter().find(|needs| needs.assessment.entries_left_out > 0)?;
    Some(format!("not every entry that {} holds is judged", unjudged.subject()))
}

/// The one subject and scope that an addition to this role would reach, if it is one.
fn only_home<'n>(role: &Role, holders: &[&'n Needs<'_>]) -> Option<(&'n str, &'n Scope)> {
    let mut reached = BTreeSet::new();
    for needs in holders {
        let direct = needs.assessment.bindings.iter().filter(|binding| is_at(role, binding.role.location.as_ref()));
        reached.extend(direct.map(|binding| (needs.subject(), &binding.scope)));
        let aggregated = needs.grants_of(role).filter(|grant| grant.aggregated_from.is_some());
        reached.extend(aggregated.map(|grant| (needs.subject(), &grant.scope)));
    }
    let only = reached.first().copied();
    only.filter(|_| reached.len() == 1 && role.aggregation.is_none())
}

/// What is left of each entry of a role.
fn entries(role: &Role, holders: &[&Needs<'_>]) -> Vec<Kept> {
    let mut as_written: Vec<Rule> = Vec::new();
    // Of each entry: whether it is whole, and its atoms with whether they stand there as written.
    let mut found: Vec<(bool, BTreeMap<Entry, bool>)> = Vec::new();
    for rule in &role.rules {
        let mut whole = true;
        let mut atoms = BTreeMap::new();
        let mut inside: BTreeMap<Entry, BTreeSet<Entry>> = BTreeMap::new();
        for needs in holders {
            for grant in needs.by_entry.get(&rule.span).into_iter().flatten() {
                // What grants nothing has nothing to lose.
                let Some(own) = single_atom(&grant.rule) else { continue };
                let found = needs.inside(grant, &own);
                inside.entry(own).or_default().extend(found);
            }
        }
        for (own, mut inside) in inside {
            if inside.contains(&own) {
                as_written.push(own.rule());
                inside = BTreeSet::from([own.clone()]);
            } else {
                whole = false;
            }
            atoms.extend(inside.into_iter().map(|atom| (atom.clone(), atom == own)));
        }
        found.push((whole, atoms));
    }
    // What a wildcard is narrowed to may stand in the role already.
    let mut there = PermissionSet::from_rules(&as_written);
    let kept = role.rules.iter().zip(found).map(|(written, (whole, mut atoms))| {
        if whole {
            return Kept::Whole;
        }
        atoms.retain(|atom, as_written| *as_written || !there.covers(&PermissionSet::from_rules([&atom.rule()])));
        if atoms.is_empty() {
            return Kept::Nothing;
        }
        let mut parts = cover::rules(atoms.into_keys());
        if PermissionSet::from_rules(&parts) == PermissionSet::from_rules([&written.to_rule()]) {
            return Kept::Whole;
        }
        there = there.union(&PermissionSet::from_rules(&parts));
        parts.sort_by_key(|part| order(written, part));
        Kept::Parts(parts)
    });
    kept.collect()
}

/// Parts come in the order in which the entry names what they are about.
fn order(written: &PolicyRule, part: &Rule) -> [Option<usize>; 3] {
    let first = |list: &[crate::source::Spanned<String>], values: &[String]| {
        let places = values.iter().map(|value| list.iter().position(|item| item.value == *value));
        places.map(|place| place.unwrap_or(list.len())).min()
    };
    [
        first(&written.api_groups, &part.api_groups),
        first(&written.resources, &part.resources),
        first(&written.verbs, &part.verbs),
    ]
}
