//! The served API as a table: built-in resources of one minor, those of well-known extensions, and custom resources
//! of the input.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::{data, extensions};

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
    /// API versions that serve it, the preferred first.
    pub versions: Vec<String>,
    /// Names such as `deploy` that kubectl takes and RBAC does not, sorted.
    pub short_names: Vec<String>,
    /// Who says so.
    pub origin: Origin,
}

/// From where a resource or group is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Kubernetes itself: all that there is.
    Kubernetes,
    /// A release of a well-known extension: another release, or a cluster without it, has other resources. So it tells
    /// what exists and never what does not.
    Extension,
    /// CRDs of the input: they say all of their resources, and nothing of others in their groups.
    Crd,
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
    /// `spec.names.shortNames`.
    pub short_names: Vec<String>,
    /// `spec.names.kind`.
    pub kind: String,
    /// The served versions.
    pub versions: Vec<String>,
    /// `spec.scope: Namespaced`.
    pub namespaced: bool,
    /// A served version has the status subresource.
    pub status: bool,
    /// A served version has the scale subresource.
    pub scale: bool,
}

/// The verbs that requests to resources carry (Kubernetes `RequestInfoFactory`), sorted.
pub(super) const REQUEST_VERBS: [&str; 8] =
    ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// The verbs on the status and scale of a custom resource.
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "patch", "update"];

/// Subresource → entry; the main resource has the empty subresource.
pub(super) type Subresources = BTreeMap<String, Served>;

/// The resources of one API group by plural name.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// The most certain of the origins of its resources.
    pub(super) origin: Origin,
    pub(super) resources: BTreeMap<String, Subresources>,
}

/// Served resources of one Kubernetes minor and of extensions, plus those added from CRDs.
#[derive(Debug, Clone, Default)]
pub struct Table {
    minor: String,
    groups: BTreeMap<String, Group>,
}

impl Table {
    /// The table of a minor such as `1.36`; `None` when this build has no data for it.
    pub fn for_minor(minor: &str) -> Option<Self> {
        let mut table = Self::shared(minor)?.clone();
        extensions::all().for_each(|served| table.add(served));
        Some(table)
    }

    /// The built-in part of a minor, read once.
    pub(super) fn shared(minor: &str) -> Option<&'static Self> {
        static TABLES: [OnceLock<Table>; data::MINORS.len()] = [const { OnceLock::new() }; data::MINORS.len()];
        let position = data::MINORS.iter().position(|known| *known == minor)?;
        let text = data::of(minor)?.served;
        Some(TABLES.get(position)?.get_or_init(|| Self::read(minor, text)))
    }

    fn read(minor: &str, text: &str) -> Self {
        let mut table = Self { minor: minor.to_owned(), groups: BTreeMap::new() };
        text.lines().filter(|line| !line.starts_with('#')).filter_map(parse).for_each(|served| table.add(served));
        table
    }

    /// The Kubernetes minor of the built-in part; empty for a table without one.
    pub fn minor(&self) -> &str {
        &self.minor
    }

    /// Adds a custom resource in place of what extensions say of it. Two versions of one CRD in the input unite.
    pub fn add_custom(&mut self, resource: &CustomResource) {
        if let Some(group) = self.groups.get_mut(&resource.api_group)
            && group.resources.get(&resource.plural).is_some_and(is_of_extension)
        {
            group.resources.remove(&resource.plural);
        }
        resource.serves(Origin::Crd).for_each(|served| self.add(served));
    }

    /// Adds an entry; what is already there stays.
    fn add(&mut self, served: Served) {
        let group = self.groups.entry(served.api_group.clone());
        let group = group.or_insert_with(|| Group { origin: served.origin, resources: BTreeMap::new() });
        if group.origin == Origin::Extension {
            group.origin = served.origin;
        }
        let subresources = group.resources.entry(served.resource.clone()).or_default();
        subresources.entry(served.subresource.clone()).or_insert(served);
    }

    /// The entry of a resource (`subresource` empty for the main one).
    pub fn get(&self, api_group: &str, resource: &str, subresource: &str) -> Option<&Served> {
        self.groups.get(api_group)?.resources.get(resource)?.get(subresource)
    }

    /// The resource that serves a kind in a group.
    pub fn by_kind(&self, api_group: &str, kind: &str) -> Option<&Served> {
        let mut main = self.groups.get(api_group)?.resources.values().filter_map(|subs| subs.get(""));
        main.find(|served| served.kind == kind)
    }

    /// Whether the table knows this group at all.
    pub fn knows_group(&self, api_group: &str) -> bool {
        self.groups.contains_key(api_group)
    }

    /// Who says most surely that there is this group; `None` for an unknown one.
    pub fn origin(&self, api_group: &str) -> Option<Origin> {
        self.groups.get(api_group).map(|group| group.origin)
    }

    /// All entries in (group, resource, subresource) order.
    pub fn iter(&self) -> impl Iterator<Item = &Served> {
        self.groups.values().flat_map(|group| group.resources.values()).flat_map(Subresources::values)
    }

    pub(super) fn groups(&self) -> &BTreeMap<String, Group> {
        &self.groups
    }
}

impl CustomResource {
    /// What the API server serves for it: all verbs of requests, and get, patch, update on status and scale where
    /// declared.
    pub(super) fn serves(&self, origin: Origin) -> impl Iterator<Item = Served> {
        let subresources = [("", true), ("status", self.status), ("scale", self.scale)];
        subresources.into_iter().filter(|(_, declared)| *declared).map(move |(subresource, _)| {
            let verbs: &[&str] = if subresource.is_empty() { &REQUEST_VERBS } else { &SUBRESOURCE_VERBS };
            Served {
                api_group: self.api_group.clone(),
                resource: self.plural.clone(),
                subresource: subresource.to_owned(),
                kind: self.kind.clone(),
                singular: self.singular.clone(),
                verbs: verbs.iter().map(|&verb| verb.to_owned()).collect(),
                namespaced: self.namespaced,
                by_default: true,
                versions: self.versions.clone(),
                short_names: if subresource.is_empty() { self.short_names.clone() } else { Vec::new() },
                origin,
            }
        })
    }
}

impl Served {
    /// `resource` or `resource/subresource`, as a rule writes it.
    pub fn combined(&self) -> String {
        match self.subresource.as_str() {
            "" => self.resource.clone(),
            subresource => format!("{}/{subresource}", self.resource),
        }
    }

    /// Whether a request with this verb to this cluster-scoped object carries the object's name as its namespace, so
    /// that a RoleBinding there grants it (Kubernetes `RequestInfoFactory`; for projects OpenShift's
    /// `projectRequestInfoResolver`).
    pub fn is_its_own_namespace(&self, verb: &str) -> bool {
        let namespace = matches!(
            (self.api_group.as_str(), self.resource.as_str()),
            ("", "namespaces") | ("project.openshift.io", "projects")
        );
        namespace && matches!(verb, "*" | "get" | "update" | "patch" | "delete")
    }
}

/// Whether only an extension tells of this resource.
pub(super) fn is_of_extension(subresources: &Subresources) -> bool {
    subresources.values().all(|served| served.origin == Origin::Extension)
}

/// One data line, tab-separated: group, resource, subresource, kind, singular, scope, verbs, availability, versions,
/// short names; `-` for empty. Anything else gives nothing.
fn parse(line: &str) -> Option<Served> {
    let mut fields = line.split('\t').map(|field| if field == "-" { "" } else { field });
    let mut next = || fields.next();
    let (api_group, resource, subresource) = (next()?, next()?, next()?);
    let (kind, singular, scope, verbs, availability) = (next()?, next()?, next()?, next()?, next()?);
    let words = |field: &str| field.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let (versions, short_names) = (words(next()?), words(next()?));
    Some(Served {
        api_group: api_group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        kind: kind.to_owned(),
        singular: singular.to_owned(),
        verbs: words(verbs),
        namespaced: scope == "namespaced",
        by_default: availability == "default",
        versions,
        short_names,
        origin: Origin::Kubernetes,
    })
}
