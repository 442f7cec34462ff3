//! The facts that manifests yield.

use std::collections::{BTreeMap, BTreeSet};

use crate::rbac::Rule;
use crate::source::{Span, Spanned};

/// All facts of one or more sources.
#[derive(Debug, Clone, Default)]
pub struct Facts {
    /// Roles and ClusterRoles.
    pub roles: Vec<Role>,
    /// RoleBindings and ClusterRoleBindings.
    pub bindings: Vec<Binding>,
    /// ServiceAccounts.
    pub accounts: Vec<ServiceAccount>,
    /// Namespace objects.
    pub namespaces: Vec<Object>,
    /// CustomResourceDefinitions.
    pub crds: Vec<Crd>,
    /// Everything that runs pods.
    pub workloads: Vec<Workload>,
    /// How the Operator Lifecycle Manager may install what ClusterServiceVersions hold.
    pub olm_installs: Vec<OlmInstall>,
    /// Every object of any kind, these included, for names that the package itself ships.
    pub objects: Vec<Object>,
    /// `+kubebuilder:rbac` markers of Go files.
    pub markers: Vec<Marker>,
    /// Markers that could not be read, each with a diagnostic.
    pub markers_lost: usize,
    /// Some document was lost, so that what is not here may still be in the package.
    pub incomplete: bool,
}

impl Facts {
    /// Whether anything that a report points to is among them. Names of objects and CRDs are known without their text.
    pub fn have_places(&self) -> bool {
        let olm = self.olm_installs.is_empty() && self.accounts.is_empty() && self.workloads.is_empty();
        !(olm && self.roles.is_empty() && self.bindings.is_empty() && self.markers.is_empty())
    }
}

/// How the documents of a source were accounted for: `read + ignored + empty + unreadable` is their number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentCounts {
    /// Objects that became facts.
    pub read: u64,
    /// Objects of kinds that grant nothing, by `kind` (`apiVersion` left out); `(not an object)` for
    /// documents without a kind.
    pub ignored: BTreeMap<String, u64>,
    /// Documents with nothing but comments or blanks.
    pub empty: u64,
    /// Documents that were lost, each with a diagnostic.
    pub unreadable: u64,
}

/// Identity of any object.
#[derive(Debug, Clone)]
pub struct Object {
    /// Group of its apiVersion.
    pub api_group: String,
    /// Kind.
    pub kind: String,
    /// `metadata.namespace`.
    pub namespace: Option<Spanned<String>>,
    /// `metadata.name`.
    pub name: Spanned<String>,
}

/// Role or ClusterRole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoleKind {
    /// Namespaced.
    Role,
    /// Cluster-scoped.
    ClusterRole,
}

/// A Role or ClusterRole.
#[derive(Debug, Clone)]
pub struct Role {
    /// Which of the two.
    pub kind: RoleKind,
    /// `metadata.namespace`.
    pub namespace: Option<Spanned<String>>,
    /// `metadata.name`.
    pub name: Spanned<String>,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `aggregationRule`, when present (its rules are then those of the selected ClusterRoles).
    pub aggregation: Option<Vec<LabelSelector>>,
    /// `rules`.
    pub rules: Vec<PolicyRule>,
    /// It stands in `permissions` of a ClusterServiceVersion: a Role in the namespaces that the operator watches, or
    /// a ClusterRole when those are all (see [`InstallMode`]).
    pub olm_permissions: bool,
    /// The whole object.
    pub span: Span,
}

/// A `metav1.LabelSelector`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LabelSelector {
    /// `matchLabels`.
    pub match_labels: BTreeMap<String, String>,
    /// `matchExpressions`: key, operator (`In`, `NotIn`, `Exists`, `DoesNotExist`), values.
    pub match_expressions: Vec<(String, String, Vec<String>)>,
}

/// One rule entry of a role as written.
#[derive(Debug, Clone)]
pub struct PolicyRule {
    /// The whole entry.
    pub span: Span,
    /// `verbs`.
    pub verbs: Vec<Spanned<String>>,
    /// `apiGroups`.
    pub api_groups: Vec<Spanned<String>>,
    /// `resources`.
    pub resources: Vec<Spanned<String>>,
    /// `resourceNames`; empty is no restriction.
    pub resource_names: Vec<Spanned<String>>,
    /// `nonResourceURLs`.
    pub non_resource_urls: Vec<Spanned<String>>,
}

impl PolicyRule {
    /// The rule without positions.
    pub fn to_rule(&self) -> Rule {
        let values = |list: &[Spanned<String>]| list.iter().map(|item| item.value.clone()).collect();
        Rule {
            api_groups: values(&self.api_groups),
            resources: values(&self.resources),
            resource_names: values(&self.resource_names),
            non_resource_urls: values(&self.non_resource_urls),
            verbs: values(&self.verbs),
        }
    }
}

/// A `+kubebuilder:rbac` marker of a Go file (controller-tools `pkg/rbac/parser.go`, `Rule`).
#[derive(Debug, Clone)]
pub struct Marker {
    /// What it grants, the group `core` as the empty name; its span is the marker from the `+` on.
    pub rule: PolicyRule,
    /// `namespace`: the rule belongs to a Role there, else to a ClusterRole.
    pub namespace: Option<Spanned<String>>,
    /// `roleName`, where it is not that of the command line.
    pub role_name: Option<Spanned<String>>,
}

/// A RoleBinding or ClusterRoleBinding.
#[derive(Debug, Clone)]
pub struct Binding {
    /// `RoleKind::ClusterRole` for a ClusterRoleBinding, `RoleKind::Role` for a RoleBinding.
    pub kind: BindingKind,
    /// `metadata.namespace`.
    pub namespace: Option<Spanned<String>>,
    /// `metadata.name`.
    pub name: Spanned<String>,
    /// Kind named by `roleRef.kind`.
    pub role_kind: RoleKind,
    /// `roleRef.name`.
    pub role_name: Spanned<String>,
    /// `subjects`.
    pub subjects: Vec<Subject>,
    /// It binds a role of `permissions` in a ClusterServiceVersion.
    pub olm_permissions: bool,
    /// The whole object.
    pub span: Span,
}

/// RoleBinding or ClusterRoleBinding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BindingKind {
    /// Grants in its namespace.
    RoleBinding,
    /// Grants in the whole cluster.
    ClusterRoleBinding,
}

impl BindingKind {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::RoleBinding => "RoleBinding",
            Self::ClusterRoleBinding => "ClusterRoleBinding",
        }
    }
}

/// One subject of a binding.
#[derive(Debug, Clone)]
pub struct Subject {
    /// `ServiceAccount`, `User` or `Group`.
    pub kind: SubjectKind,
    /// `name`.
    pub name: Spanned<String>,
    /// `namespace`; meaningful for service accounts only. Missing in a RoleBinding: the binding's namespace.
    pub namespace: Option<Spanned<String>>,
    /// The whole subject.
    pub span: Span,
}

/// Kind of a binding's subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SubjectKind {
    /// `ServiceAccount`.
    ServiceAccount,
    /// `User`.
    User,
    /// `Group`.
    Group,
}

/// A ServiceAccount.
#[derive(Debug, Clone)]
pub struct ServiceAccount {
    /// `metadata.namespace`.
    pub namespace: Option<Spanned<String>>,
    /// `metadata.name`.
    pub name: Spanned<String>,
    /// The whole object.
    pub span: Span,
}

/// A CustomResourceDefinition (v1 or v1beta1).
#[derive(Debug, Clone)]
pub struct Crd {
    /// What it serves.
    pub resource: crate::api::CustomResource,
    /// `metadata.name`.
    pub name: Spanned<String>,
    /// The whole object.
    pub span: Span,
}

/// Something that runs pods under a service account (Pod, ReplicationController, ReplicaSet, Deployment,
/// StatefulSet, DaemonSet, Job, CronJob, and any object that holds a pod template).
#[derive(Debug, Clone)]
pub struct Workload {
    /// Kind of the object.
    pub kind: String,
    /// `metadata.namespace`.
    pub namespace: Option<Spanned<String>>,
    /// `metadata.name`.
    pub name: Spanned<String>,
    /// `serviceAccountName` (or the old `serviceAccount`); `None` runs as `default`.
    pub service_account: Option<Spanned<String>>,
    /// Words of its containers' command, args and literal env values (split at `=`, `,` and blanks): object
    /// names that the workload is told about, such as a leader-election lease.
    pub mentions: BTreeSet<String>,
    /// The whole object.
    pub span: Span,
}

/// Which namespaces an operator watches (operator-framework/api, `pkg/operators/v1alpha1`, `InstallModeType`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstallMode {
    /// Its own.
    OwnNamespace,
    /// One other.
    SingleNamespace,
    /// Several.
    MultiNamespace,
    /// All: OLM then copies the Roles of `permissions` to ClusterRoles, and their bindings
    /// (operator-lifecycle-manager, `pkg/controller/operators/olm/operatorgroup.go`, `ensureSingletonRBAC`).
    AllNamespaces,
}

/// What a ClusterServiceVersion says of its installation.
#[derive(Debug, Clone)]
pub struct OlmInstall {
    /// `metadata.name` of the ClusterServiceVersion.
    pub name: Spanned<String>,
    /// The modes of `spec.installModes` that it supports.
    pub supported: BTreeSet<InstallMode>,
    /// The annotation `operatorframework.io/suggested-namespace`.
    pub suggested_namespace: Option<String>,
}
