//! The served API as a table: built-in resources of one minor plus custom resources of the input.

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
pub struct Table {}

impl Table {
    /// The table of a minor such as `1.36`; `None` when this build has no data for it.
    pub fn for_minor(minor: &str) -> Option<Self> {
        let _ = minor;
        unimplemented!()
    }
    /// Adds custom resources (get, list, watch, create, update, patch, delete, deletecollection, and
    /// get/update/patch on status and scale where declared).
    pub fn add_custom(&mut self, resource: &CustomResource) {
        let _ = resource;
        unimplemented!()
    }
    /// The entry of a resource (`subresource` empty for the main one).
    pub fn get(&self, api_group: &str, resource: &str, subresource: &str) -> Option<&Served> {
        let _ = (api_group, resource, subresource);
        unimplemented!()
    }
    /// The resource that serves a kind in a group.
    pub fn by_kind(&self, api_group: &str, kind: &str) -> Option<&Served> {
        let _ = (api_group, kind);
        unimplemented!()
    }
    /// Whether the table knows this group at all.
    pub fn knows_group(&self, api_group: &str) -> bool {
        let _ = api_group;
        unimplemented!()
    }
    /// All entries in (group, resource, subresource) order.
    pub fn iter(&self) -> impl Iterator<Item = &Served> {
        std::iter::empty()
    }
}
