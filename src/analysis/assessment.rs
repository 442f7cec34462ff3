//! The result of the analysis of one subject: plain data, serialised into the JSON report as it is.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Confidence, Coverage, Deficit};
use crate::audit::{LogQuality, Observed};
use crate::needs::Platform;
use crate::rbac::{Rule, Scope};
use crate::source::Location;

/// Everything known of one subject.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Assessment {
    /// The package it was found in.
    pub package: String,
    /// The subject.
    pub subject: SubjectId,
    /// Workloads that run as it.
    pub workloads: Vec<Place>,
    /// The account object itself, where shipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<Place>,
    /// Bindings that reach it, with the role each names.
    pub bindings: Vec<BindingPlace>,
    /// CRDs of the package (`plural.group`).
    pub crds: Vec<String>,
    /// Of an account that the package does not ship: the first of those that it ships in the same namespace. None where
    /// it may ship more than was read: some of it was not readable, or a kustomization was not built.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accounts_beside: Vec<String>,
    /// What the cluster runs.
    pub platform: Platform,
    /// "holds N, used M".
    pub points: Points,
    /// The evidence; absent without a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// How much of the operator's life the evidence shows; absent without a call of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// Every grant: one verb × group × resource (or URL) of a rule entry through one binding.
    pub grants: Vec<Grant>,
    /// Every observed call of the subject.
    pub calls: Vec<JudgedCall>,
    /// What it was refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deficits: Vec<Deficit>,
    /// Rule entries that are held and not among the grants, because one run judges only so many.
    #[serde(skip_serializing_if = "is_zero")]
    pub entries_left_out: u64,
    /// The smallest role; absent without a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimal: Option<MinimalRole>,
    /// Hidden checks that this log hints at without showing them, and other limits, in plain words.
    pub notes: Vec<String>,
}

/// Which subject.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubjectId {
    /// `NAMESPACE/NAME` of a service account, or `unbound:ROLE` for a role bound to nobody.
    pub name: String,
    /// User name of its requests (`system:serviceaccount:NAMESPACE:NAME`); empty for an unbound role.
    pub user: String,
    /// Groups it belongs to.
    pub groups: Vec<String>,
    /// Whether this stands for a role bound to nobody.
    pub unbound: bool,
}

/// An object and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Kind.
    pub kind: String,
    /// Namespace, empty when cluster-scoped.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Where its name is written; absent for built-in objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
}

/// A binding of the subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BindingPlace {
    /// The binding.
    pub binding: Place,
    /// The role it names; its location is that of the role object, absent for built-in and missing roles.
    pub role: Place,
    /// Where the binding names the subject.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject_location: Option<Location>,
    /// Where the binding names the role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role_ref_location: Option<Location>,
    /// Where it grants.
    pub scope: Scope,
    /// Whether the role's rules are known.
    pub role_state: RoleState,
    /// The group through which it reaches the subject, when not by name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub via_group: Option<String>,
    /// How the role differs from the markers that it is generated from; absent where it does not, or is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
}

/// What a generated role and its markers do not have in common.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// Permissions of markers that the role lacks, each at its marker.
    pub only_in_markers: Vec<Drifted>,
    /// Permissions of the role that no marker names, each at its verb.
    pub only_in_role: Vec<Drifted>,
}

/// One permission that stands on one side alone.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Drifted {
    /// As `verb resource.group (names)`.
    pub permission: String,
    /// Where it is written.
    pub location: Location,
}

/// What is known of the role of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoleState {
    /// Its rules are in the input.
    Shipped,
    /// Kubernetes ships it and its rules are known.
    BuiltIn,
    /// Kubernetes ships it (by its name), its rules are not known to this build.
    BuiltInUnknown,
    /// In neither.
    Missing,
    /// In neither, but it may be in what was not read: a kustomization of the package was not built, or a part of the
    /// input, such as a template, is unreadable.
    Unrendered,
}

/// The headline figures. What every authenticated user holds and dead points are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Points {
    /// Points held: (scope, apiGroup, resource, verb), wildcards expanded over the table and the CRDs.
    pub held: u64,
    /// Points used or needed; absent without a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used: Option<u64>,
    /// A wildcard also reaches groups that the table does not know.
    pub unbounded: bool,
    /// Non-resource URL patterns held (pattern × verb).
    pub non_resource_urls: u64,
}

/// The evidence behind the verdicts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Calls of the subject.
    pub calls: u64,
    /// Distinct permissions among them.
    pub distinct: u64,
    /// Earliest call of the subject, as logged; empty when there is none.
    pub first: String,
    /// Latest call of the subject.
    pub last: String,
    /// How good the whole log was.
    pub log: LogQuality,
}

impl Assessment {
    /// Whether neither manifests nor logs tell anything of the subject, as with a name mistyped.
    pub fn is_unknown(&self) -> bool {
        self.bindings.is_empty() && self.workloads.is_empty() && self.account.is_none() && self.calls.is_empty()
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Evidence {
    /// The time of the calls for people: `FIRST to LAST` to the second, or the one moment.
    pub fn window(&self) -> String {
        let second = |time: &str| match time.split_once('.') {
            Some((second, fraction)) if fraction.ends_with('Z') => format!("{second}Z"),
            _ => time.to_owned(),
        };
        let (first, last) = (second(&self.first), second(&self.last));
        if first == last { first } else { format!("{first} to {last}") }
    }
}

/// One grant of the subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Grant {
    /// Stable identity in this assessment: index into `grants`.
    #[serde(skip)]
    pub index: usize,
    /// Index into `Assessment::bindings`.
    pub binding: usize,
    /// Rule entry of the role, from 0.
    pub entry: usize,
    /// Where the role's own rule came from when the role aggregates others (the contributing ClusterRole).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregated_from: Option<String>,
    /// Where it holds.
    pub scope: Scope,
    /// What is granted: exactly one verb, and one (group, resource) or one URL, as written. Of an entry that grants
    /// nothing, the entry.
    pub rule: Rule,
    /// Whether Kubernetes or a CRD of the input serves exactly this resource with this verb.
    #[serde(skip)]
    pub served: bool,
    /// Of a dead grant: what was probably meant, one guess each.
    #[serde(skip)]
    pub meant: Vec<Meant>,
    /// The verdict.
    pub verdict: Verdict,
    /// Of an unused grant: how sure that is; of one in use: how sure it is that it is used for no more than was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// Of one in use: why it may be held for more than the log can show.
    #[serde(skip)]
    pub hidden: Option<String>,
    /// Why, in plain words, where the verdict alone does not say it; of an unused grant, what keeps it from being surer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Authorized calls that this grant covers.
    pub calls: u64,
    /// For a wildcard in use: the exact permissions used, as `verb resource.group` texts, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub used_as: Vec<String>,
    /// Places; absent for built-in roles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub places: Option<GrantPlaces>,
}

impl Grant {
    /// One that nothing is known of yet: of the first entry of the first binding.
    pub(crate) fn new(scope: Scope, rule: Rule) -> Self {
        Self {
            index: 0,
            binding: 0,
            entry: 0,
            aggregated_from: None,
            scope,
            rule,
            served: false,
            meant: Vec::new(),
            verdict: Verdict::Unjudged,
            confidence: None,
            hidden: None,
            reason: String::new(),
            calls: 0,
            used_as: Vec::new(),
            places: None,
        }
    }

    /// Whether a call of the log used it, or needed it to be held.
    pub fn is_used(&self) -> bool {
        matches!(self.verdict, Verdict::Used | Verdict::Needed)
    }
}

/// A guess at what was meant by a dead grant: these permissions together, where they would work. Without any: nothing
/// like it exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meant {
    /// Where.
    pub scope: Scope,
    /// What, each with one verb and one (group, resource) or one URL.
    pub rules: Vec<Rule>,
}

/// The tokens of a grant: those to change. Of a role that is generated from `+kubebuilder:rbac` markers, they are a
/// marker's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GrantPlaces {
    /// The verb.
    pub verb: Location,
    /// The resource or the URL.
    pub resource: Location,
    /// The API group; absent for URLs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<Location>,
    /// The rule entry, or the marker.
    pub entry: Location,
    /// The rule entry that was generated from the marker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated: Option<Location>,
    /// Other markers that name the same permission: all of them are to change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Location>,
}

/// Verdict of a grant, the first that fits in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A hidden or delegated need, or the pair of a used one (list beside watch).
    Needed,
    /// Seen in use.
    Used,
    /// Matches nothing that any API serves or checks.
    Dead,
    /// This log could not have shown it.
    Unobservable,
    /// Observable, not seen.
    Unused,
    /// No log was given.
    Unjudged,
}

/// An observed call with its verdict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JudgedCall {
    /// The call.
    #[serde(flatten)]
    pub observed: Arc<Observed>,
    /// The verdict.
    pub verdict: CallVerdict,
    /// Indices into `grants` of the grants that cover it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<usize>,
}

/// Verdict of an observed call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CallVerdict {
    /// A known grant allows it.
    Covered,
    /// Every authenticated user may do it.
    Default,
    /// The authorizer said no.
    Denied,
    /// Allowed, but no grant of the input covers it.
    Unexplained,
    /// The authorizer never answered (401, 429, denied impersonation, no final stage).
    Undecided,
}

/// The smallest role of a subject, per scope.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MinimalRole {
    /// Rules by scope, each with the reasons that put it there.
    pub scopes: Vec<ScopedRules>,
    /// Denied calls, not granted: texts such as `delete secrets in op-ns (3 times)`.
    pub denied: Vec<String>,
    /// Limits and hidden checks that the reader must know of.
    pub notes: Vec<String>,
}

/// The rules of one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ScopedRules {
    /// Where they hold.
    pub scope: Scope,
    /// The rules.
    pub rules: Vec<MinimalRule>,
}

/// One rule and why it is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MinimalRule {
    /// The rule.
    pub rule: Rule,
    /// Why its entries are there.
    pub basis: Basis,
    /// In plain words, for the comment above the rule; empty for plain uses.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Its entries that no call of the log shows in use: each one verb on one (group, resource) or one URL.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unseen: Vec<Rule>,
}

/// Why an entry of the minimal role is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// Seen in use and granted by the input, or seen in use and no manifests were given.
    Used,
    /// Needed without an event of its own.
    Needed,
    /// Used, but nothing in the input grants it: an addition.
    Unexplained,
    /// Kept although unseen: the log could not have shown it, or its path was not exercised.
    Kept,
}

/// Counts of verdicts, for summaries.
pub type VerdictCounts = BTreeMap<Verdict, u64>;

impl Assessment {
    /// Grants by verdict.
    pub fn verdicts(&self) -> VerdictCounts {
        let mut counts = VerdictCounts::new();
        for grant in &self.grants {
            *counts.entry(grant.verdict).or_default() += 1;
        }
        counts
    }
}
