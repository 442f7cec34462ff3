//! A finding: one thing to look at, with its place, its chain, its evidence and its stable fingerprint.

pub mod filter;
pub mod fingerprint;
mod severity;

use schemars::JsonSchema;
use serde::Serialize;

pub use severity::{Confidence, Severity};

use crate::source::Location;

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Rule id, such as `RC181`.
    pub rule: String,
    /// How bad, by the scope that the permission is held in.
    pub severity: Severity,
    /// The scope class that chose the severity.
    pub scope: ScopeClass,
    /// How sure.
    pub confidence: Confidence,
    /// Package of the subject.
    pub package: String,
    /// Subject (`NAMESPACE/NAME`), empty when the finding is about an object alone.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// One sentence: what is wrong here.
    pub message: String,
    /// Counts, window: what the verdict rests on; empty without a log.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub evidence: String,
    /// What to do.
    pub remedy: String,
    /// The permission it speaks of, as text (`list,watch secrets`), for people and for the fingerprint.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub permission: String,
    /// Where: the smallest token whose whole slice it speaks of.
    pub location: Location,
    /// What the location's text is.
    pub location_of: LocationOf,
    /// The way from the workload or subject to the rule, in order.
    pub chain: Vec<Related>,
    /// Further places (same finding elsewhere, the binding …).
    pub related: Vec<Related>,
    /// Control ids, as shown (`AC-6(7)`, `PR.AA-05`, `CIS 6.8`).
    pub controls: Vec<String>,
    /// SHA-256 (first 32 hex digits) over rule, package, subject, role and permission: no lines, no paths.
    pub fingerprint: String,
}

/// Class of the scope of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScopeClass {
    /// Held in the whole cluster.
    Cluster,
    /// Held in a namespace.
    Namespace,
    /// Held on named objects only.
    Named,
    /// Held on API groups that the package's own CRDs define, whatever the binding.
    OwnGroup,
}

impl ScopeClass {
    /// All, widest first.
    pub const ALL: [Self; 4] = [Self::Cluster, Self::Namespace, Self::Named, Self::OwnGroup];

    /// Kebab-case name, as in a SARIF rule id (`RC039/cluster`).
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cluster => "cluster",
            Self::Namespace => "namespace",
            Self::Named => "named",
            Self::OwnGroup => "own-group",
        }
    }
}

impl std::fmt::Display for ScopeClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// What the primary location of a finding covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LocationOf {
    /// A verb token.
    Verb,
    /// A resource or URL token.
    Resource,
    /// An API group token.
    Group,
    /// A rule entry.
    Entry,
    /// A name of an object or a reference to one.
    Name,
    /// A line of a log.
    LogLine,
}

/// A further place with what it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Related {
    /// What is there, such as `ClusterRoleBinding op-binding`.
    pub label: String,
    /// Where; absent for built-in objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}
