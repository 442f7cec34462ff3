//! The served API as a table: built-in resources of one minor plus custom resources of the input.

use std::collections::{BTreeMap, BTreeSet};

/// Data files by minor; `tests/generated.rs` makes them out of Kubernetes' own discovery files.
const DATA: [(&str, &str); 1] = [("1.36", include_str!("data/served-1.36.tsv"))];

/// One served resource or subresource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Served {
    /// API group, empty for core.
    pub api_group: String,
    /// Plural name.
    pub resource: String,
    /// Subresource or empty.
    pub subresource: String,
    /// Kind of the objects of the main resource (`Deployment`), for matching manifests to resources.
    pub kind: String,
    /// Singular name, for did-you-mean.
    pub singular: String,
    /// Verbs served, sorted.
    pub verbs: Vec<String>,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether a default API server of this minor serves it (alpha and newer beta versions are not).
    pub by_default: bool,
    /// Whether it comes from a CRD of the input.
    pub custom: bool,
}

/// A custom resource, as a CRD of the input declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CustomResource {
    /// `spec.group`.
    pub api_group: String,
    /// `spec.names.plural`.
    pub plural: String,
    /// `spec.names.singular` (lower-cased kind when not given).
    pub singular: String,
    /// `spec.names.kind`.
    pub kind: String,
    /// `spec.scope: Namespaced`.
    pub namespaced: bool,
    /// A served version has the status subresource.
    pub status: bool,
    /// A served version has the scale subresource.
    pub scale: bool,
}

/// Served resources of one Kubernetes minor plus those added from CRDs.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// group → (resource, subresource) → entry.
    groups: BTreeMap<String, BTreeMap<(String, String), Served>>,
    /// (group, kind) → resource.
    kinds: BTreeMap<(String, String), String>,
    /// resource → groups that have it.
    resources: BTreeMap<String, BTreeSet<String>>,
}

impl Table {
    /// Minors that this build has data for.
    pub fn minors() -> Vec<&'static str> {
        DATA.iter().map(|(minor, _)| *minor).collect()
    }

    /// The table of a minor such as `1.36`; `None` when this build has no data for it.
    pub fn for_minor(minor: &str) -> Option<Self> {
        let (_, data) = DATA.iter().find(|(known, _)| *known == minor)?;
        let mut table = Self::default();
        for line in data.lines().filter(|line| !line.starts_with('#')) {
            let mut columns = line.split('\t');
            let mut next = || columns.next().unwrap_or_default();
            let (api_group, combined, kind, singular) = (next(), next(), next(), next());
            let (scope, stability, verbs) = (next(), next(), next());
            let (resource, subresource) = combined.split_once('/').unwrap_or((combined, ""));
            table.add(Served {
                api_group: api_group.to_owned(),
                resource: resource.to_owned(),
                subresource: subresource.to_owned(),
                kind: kind.to_owned(),
                singular: singular.to_owned(),
                verbs: verbs.split(' ').map(str::to_owned).collect(),
                namespaced: scope == "Namespaced",
                by_default: stability == "default",
                custom: false,
            });
        }
        Some(table)
    }

    fn add(&mut self, served: Served) {
        if served.subresource.is_empty() {
            self.kinds.insert((served.api_group.clone(), served.kind.clone()), served.resource.clone());
            self.resources.entry(served.resource.clone()).or_default().insert(served.api_group.clone());
        }
        let group = self.groups.entry(served.api_group.clone()).or_default();
        group.insert((served.resource.clone(), served.subresource.clone()), served);
    }

    /// Adds custom resources (get, list, watch, create, update, patch, delete, deletecollection, and
    /// get/update/patch on status and scale where declared). A built-in entry stays as it is.
    pub fn add_custom(&mut self, resource: &CustomResource) {
        if self.get(&resource.api_group, &resource.plural, "").is_some_and(|served| !served.custom) {
            return;
        }
        let served = |subresource: &str, verbs: &[&str]| Served {
            api_group: resource.api_group.clone(),
            resource: resource.plural.clone(),
            subresource: subresource.to_owned(),
            kind: resource.kind.clone(),
            singular: resource.singular.clone(),
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            namespaced: resource.namespaced,
            by_default: true,
            custom: true,
        };
        self.add(served("", &["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]));
        for (declared, subresource) in [(resource.status, "status"), (resource.scale, "scale")] {
            if declared {
                self.add(served(subresource, &["get", "patch", "update"]));
            }
        }
    }

    /// The entry of a resource (`subresource` empty for the main one).
    pub fn get(&self, api_group: &str, resource: &str, subresource: &str) -> Option<&Served> {
        self.groups.get(api_group)?.get(&(resource.to_owned(), subresource.to_owned()))
    }

    /// The resource that serves a kind in a group.
    pub fn by_kind(&self, api_group: &str, kind: &str) -> Option<&Served> {
        let resource = self.kinds.get(&(api_group.to_owned(), kind.to_owned()))?;
        self.get(api_group, resource, "")
    }

    /// Whether the table knows this group at all.
    pub fn knows_group(&self, api_group: &str) -> bool {
        self.groups.contains_key(api_group)
    }

    /// Groups that have a resource of this name, custom or not.
    pub(super) fn groups_with(&self, resource: &str) -> impl Iterator<Item = &str> {
        self.resources.get(resource).into_iter().flatten().map(String::as_str)
    }

    /// All entries of a group.
    pub(super) fn of_group(&self, api_group: &str) -> impl Iterator<Item = &Served> {
        self.groups.get(api_group).into_iter().flat_map(BTreeMap::values)
    }

    /// All entries in (group, resource, subresource) order.
    pub fn iter(&self) -> impl Iterator<Item = &Served> {
        self.groups.values().flat_map(BTreeMap::values)
    }
}
