//! Whether a granted (group, resource, verb) can match any request or check at all.

use std::collections::BTreeMap;

use super::table::{Group, Origin, REQUEST_VERBS, Served, Subresources, Table, is_of_extension};
use super::virtual_checks::is_checked;
use super::{dead, meant};

/// Whether a grant can ever matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Liveness {
    /// Some served (resource, verb) matches.
    Live,
    /// Matches no served request, but the API server or an admission plugin checks it
    /// (`bind`, `signers`, `*/finalizers`, `nodes/metrics`, `use` …), or a component of a custom group may.
    CheckOnly,
    /// The group is in neither the table nor the CRDs of the input: never called dead. So is a resource that the
    /// CRDs of a custom group do not declare: their operator may create it, or serve it by aggregation. So is what
    /// the table does not have of a well-known extension: another release may.
    UnknownGroup,
    /// Matches nothing that any API serves or checks.
    Dead(DeadReason),
}

/// Why a grant is dead, with a suggestion where one is evident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadReason {
    /// What is wrong: lower case, one clause.
    pub message: String,
    /// "did you mean" text.
    pub suggestion: Option<String>,
}

impl Liveness {
    /// Whether this is `Dead`.
    pub fn is_dead(&self) -> bool {
        matches!(self, Self::Dead(_))
    }
}

impl Table {
    /// Judges one written (apiGroup, resource[/subresource], verb) of a rule; each may be a wildcard.
    pub fn liveness(&self, api_group: &str, resource: &str, verb: &str) -> Liveness {
        self.alive(api_group, resource, verb)
            .unwrap_or_else(|| Liveness::Dead(dead::explain(self, api_group, resource, verb)))
    }

    /// As `liveness`, but `None` for dead.
    fn alive(&self, api_group: &str, resource: &str, verb: &str) -> Option<Liveness> {
        if self.serves(api_group, resource, verb) {
            return Some(Liveness::Live);
        }
        if dead::impossible_group(self, api_group, resource).is_some() {
            return None;
        }
        if is_checked(api_group, resource, verb) && self.has_checked(api_group, resource) {
            return Some(Liveness::CheckOnly);
        }
        if dead::impossible_resource_or_verb(resource, verb).is_some() {
            return None;
        }
        match self.groups().get(api_group) {
            None => Some(Liveness::UnknownGroup),
            Some(group) if group.origin == Origin::Kubernetes => None,
            Some(group) => group.custom_alive(resource, verb),
        }
    }

    /// A rule entry with these groups and resources, to judge its parts.
    pub fn entry<'a>(&'a self, groups: &[&'a str], resources: &[&'a str]) -> EntryLiveness<'a> {
        EntryLiveness {
            table: self,
            groups: groups.to_vec(),
            resources: resources.to_vec(),
            in_group: BTreeMap::new(),
            elsewhere: BTreeMap::new(),
        }
    }

    /// Whether a request can match, wildcards in any place.
    fn serves(&self, api_group: &str, resource: &str, verb: &str) -> bool {
        let takes = |served: &Served| verb == "*" || served.verbs.iter().any(|known| known == verb);
        match api_group {
            "*" => self.groups().values().any(|group| group.any(resource, takes)),
            _ => self.groups().get(api_group).is_some_and(|group| group.any(resource, takes)),
        }
    }

    /// Whether that on which a check is made exists, as far as the table knows: the owner of `pods/finalizers`.
    /// Virtual resources are not in the table, so only finalizers are looked up.
    fn has_checked(&self, api_group: &str, resource: &str) -> bool {
        let Some(owner) = resource.strip_suffix("/finalizers") else {
            return true;
        };
        let builtin = self.groups().get(api_group).filter(|group| group.origin == Origin::Kubernetes);
        builtin.is_none_or(|group| group.any(owner, |_| true))
    }
}

impl Group {
    /// Whether some entry that the written resource matches has the property.
    pub(super) fn any(&self, written: &str, holds: impl Fn(&Served) -> bool) -> bool {
        match written.split_once('/') {
            None if written == "*" => self.resources.values().flat_map(Subresources::values).any(holds),
            // `pods/` is not `pods`: a request without subresource has no slash to match.
            Some((_, "")) => false,
            Some(("*", subresource)) => self.resources.values().filter_map(|subs| subs.get(subresource)).any(holds),
            None => self.resources.get(written).and_then(|subs| subs.get("")).is_some_and(holds),
            Some((resource, subresource)) => {
                self.resources.get(resource).and_then(|subs| subs.get(subresource)).is_some_and(holds)
            }
        }
    }

    /// Judges what is not served in a group that only CRDs and extensions define; `None` for dead. Its components may check more
    /// than requests: own verbs (Knative `knsubscribe`), virtual resources (cert-manager `signers`) and
    /// subresources (`prometheuses/api`).
    fn custom_alive(&self, resource: &str, verb: &str) -> Option<Liveness> {
        if verb != "*" && !REQUEST_VERBS.contains(&verb) {
            return Some(Liveness::CheckOnly);
        }
        let (owner, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        match self.resources.get(owner) {
            // What is served is served with these verbs only; `finalizers` has been judged as a check.
            Some(known) if subresource == "finalizers" || known.contains_key(subresource) => None,
            Some(known) if is_of_extension(known) => Some(Liveness::UnknownGroup),
            // The CRD says whether it has these.
            Some(_) if matches!(subresource, "status" | "scale") => None,
            Some(_) => Some(Liveness::CheckOnly),
            None if meant::plural(self, owner).is_some() => None,
            None => Some(Liveness::UnknownGroup),
        }
    }
}

/// Judges the parts of one rule entry with several groups and resources, looking up each excuse once.
#[derive(Debug)]
pub struct EntryLiveness<'a> {
    table: &'a Table,
    groups: Vec<&'a str>,
    resources: Vec<&'a str>,
    /// By group and verb: what some resource of the entry is there.
    in_group: BTreeMap<(&'a str, &'a str), Option<Liveness>>,
    /// By resource and verb: what it is in some group of the entry.
    elsewhere: BTreeMap<(&'a str, &'a str), Option<Liveness>>,
}

impl<'a> EntryLiveness<'a> {
    /// Judges one (group, resource, verb) of the entry. Such an entry grants per existing pair, so it is usual that
    /// not every pair exists. What is dead on its own is called dead here only where the fault is in what is
    /// written, not in the pairing:
    /// - a pair that does not exist: its group has none of the entry's resources, or none of the entry's groups
    ///   has its resource;
    /// - a verb that an existing pair does not take: neither does this resource in another of the groups, nor
    ///   another of the resources in this group.
    ///
    /// What is not called dead then has the verdict of the pair that excuses it.
    pub fn of(&mut self, api_group: &'a str, resource: &'a str, verb: &'a str) -> Liveness {
        if let Some(liveness) = self.table.alive(api_group, resource, verb) {
            return liveness;
        }
        let excused = if self.table.alive(api_group, resource, "*").is_some() {
            self.elsewhere(resource, verb).or_else(|| self.in_group(api_group, verb))
        } else {
            self.in_group(api_group, "*").and_then(|_| self.elsewhere(resource, "*"))
        };
        excused.unwrap_or_else(|| Liveness::Dead(dead::explain(self.table, api_group, resource, verb)))
    }

    fn in_group(&mut self, api_group: &'a str, verb: &'a str) -> Option<Liveness> {
        let (table, resources) = (self.table, &self.resources);
        let find = || resources.iter().find_map(|other| table.alive(api_group, other, verb));
        self.in_group.entry((api_group, verb)).or_insert_with(find).clone()
    }

    fn elsewhere(&mut self, resource: &'a str, verb: &'a str) -> Option<Liveness> {
        let (table, groups) = (self.table, &self.groups);
        let find = || groups.iter().find_map(|other| table.alive(other, resource, verb));
        self.elsewhere.entry((resource, verb)).or_insert_with(find).clone()
    }
}
