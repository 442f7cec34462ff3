//! Which subjects of a package are assessed, and the objects around them.

use super::{Context, Place, SubjectId};
use crate::graph::{RoleKnown, RoleNode, SubjectKey};
use crate::manifest::InstallMode;
use crate::manifest::package::{NamespaceFrom, PLACEHOLDER_NAMESPACE};
use crate::source::{Span, Spanned};

/// A subject to assess.
#[derive(Debug, Clone)]
pub struct Selection {
    /// Its identity in the graph and in the log; `None` for a role bound to nobody.
    pub key: Option<SubjectKey>,
    /// Roles bound to nobody that are judged as its own.
    pub unbound: Vec<RoleNode>,
    /// How it is shown.
    pub id: SubjectId,
    /// What is worth knowing of the choice.
    pub notes: Vec<String>,
}

/// The subjects asked for; else every account that a workload runs as, and every subject that a binding names. Each
/// role bound to nobody is a subject of its own, unless exactly one subject was asked for and one role is unbound.
pub(super) fn select(cx: &Context<'_>) -> Vec<Selection> {
    let mut unbound: Vec<&RoleNode> =
        cx.graph.unbound_roles().into_iter().filter(|role| !feeds_builtin(cx, role)).collect();
    if !cx.options.subjects.is_empty() {
        let keys = cx.options.subjects.iter().map(|text| SubjectKey::parse(text));
        let mut chosen: Vec<Selection> = keys.map(|key| Selection::of(cx, key)).collect();
        if let ([only], [role]) = (chosen.as_mut_slice(), unbound.as_slice())
            && !only.key.as_ref().is_some_and(|key| cx.graph.is_bound(key))
        {
            only.notes.push(format!("`{}` is bound to nobody and judged as this subject's", role.name));
            only.unbound = vec![(*role).clone()];
        }
        return chosen;
    }
    let mut keys = cx.graph.workload_subjects();
    keys.extend(cx.graph.bound_subjects());
    let mut selections: Vec<Selection> = keys.into_iter().map(|key| Selection::of(cx, key.clone())).collect();
    unbound.sort_by_key(|role| (role.kind, role.namespace.clone(), role.name.clone()));
    selections.extend(unbound.into_iter().map(|role| Selection {
        key: None,
        id: SubjectId {
            name: format!("unbound:{}", role.name),
            user: String::new(),
            groups: Vec::new(),
            unbound: true,
        },
        unbound: vec![role.clone()],
        notes: Vec::new(),
    }));
    selections
}

impl Selection {
    fn of(cx: &Context<'_>, key: SubjectKey) -> Self {
        let mut notes = Vec::new();
        match cx.package.install_mode {
            Some(InstallMode::AllNamespaces) => notes.push(
                "judged as the Operator Lifecycle Manager installs it for all namespaces: its `permissions` hold in the \
                 whole cluster (--install-mode)"
                    .to_owned(),
            ),
            Some(_) => notes.push(
                "judged as the Operator Lifecycle Manager installs it for its own namespace: its `permissions` hold \
                 there (--install-mode)"
                    .to_owned(),
            ),
            None => {}
        }
        if key.namespace() == Some(cx.package.namespace.as_str()) {
            match cx.package.namespace_from {
                NamespaceFrom::Log => notes.push(format!(
                    "the manifests name no namespace; `{}` is the only one in which the log shows this account",
                    cx.package.namespace
                )),
                NamespaceFrom::Placeholder => notes.push(format!(
                    "the manifests name no namespace and nothing else tells: `{PLACEHOLDER_NAMESPACE}` stands for it (--namespace sets it)"
                )),
                NamespaceFrom::Flag | NamespaceFrom::Manifests => {}
            }
        }
        Self {
            id: SubjectId { name: key.to_string(), user: key.user(), groups: key.groups(), unbound: false },
            key: Some(key),
            unbound: Vec::new(),
            notes,
        }
    }
}

/// Whether the role is meant for the aggregated built-in roles (`admin`, `edit`, `view`), so for people.
fn feeds_builtin(cx: &Context<'_>, role: &RoleNode) -> bool {
    let RoleKnown::Shipped(index) = role.known else { return false };
    let labels = cx.package.facts.roles.get(index).map(|role| &role.labels);
    labels.is_some_and(|labels| labels.keys().any(|key| key.starts_with("rbac.authorization.k8s.io/aggregate-to-")))
}

pub(super) fn place(cx: &Context<'_>, kind: &str, namespace: &str, name: &Spanned<String>) -> Place {
    Place {
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.value.clone(),
        location: Some(located(cx, name.span)),
    }
}

pub(super) fn located(cx: &Context<'_>, span: Span) -> crate::source::Location {
    cx.sources.locate(span)
}

/// Workloads that run as the subject.
pub(super) fn workloads(cx: &Context<'_>, selection: &Selection) -> Vec<Place> {
    let Some(key) = &selection.key else { return Vec::new() };
    let indices = cx.graph.workloads_of(key);
    let workloads = indices.into_iter().filter_map(|index| cx.package.facts.workloads.get(index));
    workloads
        .map(|workload| place(cx, &workload.kind, cx.package.resolve(workload.namespace.as_ref()), &workload.name))
        .collect()
}

/// The account object of the subject.
pub(super) fn account(cx: &Context<'_>, selection: &Selection) -> Option<Place> {
    let key = selection.key.as_ref()?;
    let accounts = cx.package.facts.accounts.iter();
    let mut own = accounts.rev().filter(|account| {
        key.namespace() == Some(cx.package.resolve(account.namespace.as_ref())) && key.name() == account.name.value
    });
    let account = own.next()?;
    Some(place(cx, "ServiceAccount", cx.package.resolve(account.namespace.as_ref()), &account.name))
}

/// Most accounts that are named beside a missing one.
const MOST_BESIDE: usize = 5;

/// Accounts that the package ships in the namespace of a subject that it does not ship, where those are all that it may
/// ship, and where their namespace is written or does not rest on what bindings name. Of a bundle, others make accounts
/// too.
pub(super) fn accounts_beside(cx: &Context<'_>, selection: &Selection) -> Vec<String> {
    let facts = &cx.package.facts;
    let namespace = selection.key.as_ref().and_then(SubjectKey::namespace);
    let (Some(namespace), None) = (namespace, account(cx, selection)) else { return Vec::new() };
    if cx.package.kustomized || facts.incomplete || !facts.olm_installs.is_empty() {
        return Vec::new();
    }
    let guessed = cx.package.namespace_from == NamespaceFrom::Manifests;
    let accounts = facts.accounts.iter().filter(|account| account.namespace.is_some() || !guessed);
    let beside = accounts.filter(|account| cx.package.resolve(account.namespace.as_ref()) == namespace);
    beside.take(MOST_BESIDE).map(|account| account.name.value.clone()).collect()
}

/// CRDs of the package, as `plural.group`.
pub(super) fn crds(cx: &Context<'_>) -> Vec<String> {
    let crds = cx.package.facts.crds.iter();
    let mut names: Vec<String> =
        crds.map(|crd| format!("{}.{}", crd.resource.plural, crd.resource.api_group)).collect();
    names.sort();
    names.dedup();
    names
}
