//! What each shipped role keeps: its grants, cut down to what the minimal roles of those who hold it have inside them.
//! No text here; the patch of a file, and the patch for kustomize, are written from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::analysis::{Assessment, Basis, Grant, MinimalRule, singles};
use crate::manifest::{Package, PolicyRule, Role, RoleKind};
use crate::rbac::cover::{self, Entry};
use crate::rbac::{PermissionSet, Rule, Scope};
use crate::source::Span;

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
/// so that a role keeps what any of its holders needs.
pub fn plan<'a>(
    package: &'a Package,
    assessments: &[&'a Assessment],
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
        if let Some(why) = unsafe_to_cut(role, &holders) {
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
        plan.roles.push(KeptRole { role, entries: entries(role, &holders), additions: Vec::new(), generated });
    }
    for needs in needs.iter().filter(|needs| wanted(needs.assessment)) {
        for (scope, addition) in needs.additions() {
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
        return Some(format!("{} holds it too, and the log shows nothing of it", unseen.subject()));
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

fn is_at(role: &Role, location: Option<&crate::source::Location>) -> bool {
    location.and_then(|location| location.span) == Some(role.name.span)
}

/// The entry of a file that a grant stands in.
fn entry_of(grant: &Grant) -> Option<Span> {
    let places = grant.places.as_ref()?;
    places.generated.as_ref().unwrap_or(&places.entry).span
}

/// A subject with what its minimal role holds, by verb, group and resource.
struct Needs<'a> {
    assessment: &'a Assessment,
    by_entry: BTreeMap<Span, Vec<&'a Grant>>,
    wanted: BTreeMap<(String, String, String), Vec<(&'a Scope, Entry)>>,
    /// What grants hold in single namespaces.
    in_namespaces: BTreeMap<&'a str, PermissionSet>,
}

impl<'a> Needs<'a> {
    fn of(assessment: &'a Assessment) -> Self {
        let mut by_entry: BTreeMap<Span, Vec<&Grant>> = BTreeMap::new();
        let mut rules: BTreeMap<&str, Vec<&Rule>> = BTreeMap::new();
        for grant in &assessment.grants {
            if let Some(entry) = entry_of(grant) {
                by_entry.entry(entry).or_default().push(grant);
            }
            if let Scope::Namespace(namespace) = &grant.scope {
                rules.entry(namespace).or_default().push(&grant.rule);
            }
        }
        let mut wanted: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for scoped in assessment.minimal.iter().flat_map(|minimal| &minimal.scopes) {
            for rule in scoped.rules.iter().filter(|rule| rule.basis != Basis::Unexplained) {
                for entry in singles(&rule.rule).iter().filter_map(atom) {
                    wanted.entry(key(&entry)).or_default().push((&scoped.scope, entry));
                }
            }
        }
        let in_namespaces =
            rules.into_iter().map(|(namespace, rules)| (namespace, PermissionSet::from_rules(rules))).collect();
        Self { assessment, by_entry, wanted, in_namespaces }
    }

    fn subject(&self) -> &'a str {
        &self.assessment.subject.name
    }

    fn holds(&self, role: &Role) -> bool {
        let bound = self.assessment.bindings.iter().any(|binding| is_at(role, binding.role.location.as_ref()));
        bound || self.grants_of(role).next().is_some()
    }

    fn grants_of(&self, role: &Role) -> impl Iterator<Item = &&'a Grant> {
        role.rules.iter().filter_map(|rule| self.by_entry.get(&rule.span)).flatten()
    }

    fn additions(&self) -> impl Iterator<Item = (&'a Scope, &'a MinimalRule)> {
        let scopes = self.assessment.minimal.iter().flat_map(|minimal| &minimal.scopes);
        let rules = scopes.flat_map(|scoped| scoped.rules.iter().map(move |rule| (&scoped.scope, rule)));
        rules.filter(|(_, rule)| rule.basis == Basis::Unexplained)
    }

    /// What the minimal role has inside a grant.
    fn inside(&self, grant: &Grant, own: &Entry) -> BTreeSet<Entry> {
        let mut found = BTreeSet::new();
        for (scope, wanted) in self.candidates(own).flatten() {
            let Some(both) = meet(own, wanted) else { continue };
            let reached = match (&grant.scope, scope) {
                (grant, wanted) if grant == *wanted => true,
                // What is held in the namespace alone needs no grant in the whole cluster.
                (Scope::Cluster, Scope::Namespace(namespace)) => {
                    let there = self.in_namespaces.get(namespace.as_str());
                    there.is_none_or(|there| !there.covers(&PermissionSet::from_rules([&single(&both)])))
                }
                _ => false,
            };
            if reached {
                found.insert(both);
            }
        }
        found
    }

    /// Entries of the minimal role that may meet this one: by key where nothing in it is a wildcard.
    fn candidates(&self, own: &Entry) -> Box<dyn Iterator<Item = &Vec<(&'a Scope, Entry)>> + '_> {
        let (verb, group, thing) = key(own);
        if [&verb, &group, &thing].iter().any(|word| word.contains('*')) || matches!(own, Entry::NonResource { .. }) {
            return Box::new(self.wanted.values());
        }
        let all = || "*".to_owned();
        let of_any = thing.split_once('/').map(|(_, subresource)| format!("*/{subresource}"));
        let things: Vec<String> = [Some(thing), of_any, Some(all())].into_iter().flatten().collect();
        let mut keys = Vec::new();
        for verb in [verb, all()] {
            for group in [group.clone(), all()] {
                keys.extend(things.iter().map(|thing| (verb.clone(), group.clone(), thing.clone())));
            }
        }
        Box::new(keys.into_iter().filter_map(|key| self.wanted.get(&key)))
    }
}

fn key(entry: &Entry) -> (String, String, String) {
    match entry {
        Entry::Resource { api_group, resource, verb, .. } => (verb.clone(), api_group.clone(), resource.clone()),
        Entry::NonResource { url, verb } => (verb.clone(), String::new(), url.clone()),
    }
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
                as_written.push(single(&own));
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
        atoms.retain(|atom, as_written| *as_written || !there.covers(&PermissionSet::from_rules([&single(atom)])));
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

fn single_atom(rule: &Rule) -> Option<Entry> {
    let one = rule.verbs.len() == 1 && (rule.resources.len(), rule.non_resource_urls.len()) != (0, 0);
    if one { atom(rule) } else { None }
}

/// A rule of one verb and one (group, resource) or one URL.
fn atom(rule: &Rule) -> Option<Entry> {
    let verb = rule.verbs.first()?.clone();
    if let Some(url) = rule.non_resource_urls.first() {
        return Some(Entry::NonResource { url: url.clone(), verb });
    }
    let (api_group, resource) = (rule.api_groups.first()?.clone(), rule.resources.first()?.clone());
    Some(Entry::Resource { api_group, resource, verb, names: sorted(rule.resource_names.clone()) })
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names.dedup();
    names
}

fn single(entry: &Entry) -> Rule {
    match entry {
        Entry::Resource { api_group, resource, verb, names } => Rule {
            api_groups: vec![api_group.clone()],
            resources: vec![resource.clone()],
            resource_names: names.clone(),
            verbs: vec![verb.clone()],
            ..Rule::default()
        },
        Entry::NonResource { url, verb } => {
            Rule { non_resource_urls: vec![url.clone()], verbs: vec![verb.clone()], ..Rule::default() }
        }
    }
}

/// What two permissions have in common: of wildcards that overlap, one always holds the other.
fn meet(a: &Entry, b: &Entry) -> Option<Entry> {
    let word = |a: &str, b: &str| match (a, b) {
        ("*", other) | (other, "*") => Some(other.to_owned()),
        _ => (a == b).then(|| a.to_owned()),
    };
    match (a, b) {
        (
            Entry::Resource { api_group, resource, verb, names },
            Entry::Resource { api_group: other_group, resource: other_resource, verb: other_verb, names: other_names },
        ) => Some(Entry::Resource {
            api_group: word(api_group, other_group)?,
            resource: word(resource, other_resource)
                .or_else(|| of_any(resource, other_resource))
                .or_else(|| of_any(other_resource, resource))?,
            verb: word(verb, other_verb)?,
            names: match (names.as_slice(), other_names.as_slice()) {
                ([], names) | (names, []) => sorted(names.to_vec()),
                (own, other) => {
                    let both: Vec<String> = own.iter().filter(|name| other.contains(name)).cloned().collect();
                    (!both.is_empty()).then(|| sorted(both))?
                }
            },
        }),
        (Entry::NonResource { url, verb }, Entry::NonResource { url: other_url, verb: other_verb }) => {
            let below = |pattern: &str, url: &str| {
                let prefix = pattern.strip_suffix('*').map(|_| pattern.trim_end_matches('*'));
                prefix.is_some_and(|prefix| url.starts_with(prefix))
            };
            let url = match (url, other_url) {
                (a, b) if a == b || below(a, b) => b,
                (a, b) if below(b, a) => a,
                _ => return None,
            };
            Some(Entry::NonResource { url: url.clone(), verb: word(verb, other_verb)? })
        }
        _ => None,
    }
}

/// `resource`, where `*/subresource` holds it.
fn of_any(pattern: &str, resource: &str) -> Option<String> {
    let subresource = pattern.strip_prefix("*/")?;
    let (_, own) = resource.split_once('/')?;
    (own == subresource).then(|| resource.to_owned())
}

#[cfg(test)]
mod tests;
