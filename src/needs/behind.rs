//! Needs that follow from what a body or a refusal shows.

use super::{Ask, Cluster, Need, NeedKind, Platform, Way};
use crate::audit::{Observed, What};
use crate::rbac::{Request, ResourceRequest, Rule, Scope};

const RBAC: &str = "rbac.authorization.k8s.io";
const CERTIFICATES: &str = "certificates.k8s.io";

/// What is needed for it; `None` where nothing follows. `refused`: the call failed for want of it.
pub(super) fn need(
    what: &What,
    call: &ResourceRequest,
    observed: &Observed,
    cluster: &Cluster<'_>,
    refused: bool,
) -> Option<Need> {
    // An update that changes nothing, or only what the garbage collector owns, is not checked.
    let made = call.verb == "create" || observed.codes.contains_key(&201);
    let kind = if made || refused { NeedKind::Checked } else { NeedKind::Likely };
    let need = |ways: Vec<Way>, reason, source| Some(Need { kind, ways, reason, source });
    match what {
        What::Rules { rules, .. } => {
            let scope = scope_of(call);
            let ways = vec![Need::hold(&scope, rules), vec![escalate(call)]];
            need(
                ways,
                "hands out these rules: a role's writer must hold each of them, or `escalate`",
                "pkg/registry/rbac/escalation_check.go",
            )
        }
        What::Aggregates => {
            let everything = [all_resources(), all_urls()];
            let ways = vec![vec![escalate(call)], Need::hold(&Scope::Cluster, &everything)];
            need(
                ways,
                "writes an aggregated ClusterRole: needs `escalate` or everything",
                "pkg/registry/rbac/clusterrole/policybased/storage.go",
            )
        }
        What::RoleRef { role_kind, name } => {
            let resource = if role_kind == "Role" { "roles" } else { "clusterroles" };
            let bind = rbac(resource, "bind", &call.namespace, name);
            let mut ways = vec![vec![Ask::Make(bind)]];
            let rules = cluster.roles.rules(role_kind, &call.namespace, name);
            // It may hold rules that nobody knows.
            let kind = if rules.is_some() || refused { kind } else { NeedKind::Likely };
            ways.extend(rules.map(|rules| Need::hold(&scope_of(call), &rules)));
            let reason = "binds a role: a binding's writer must hold each of its rules, or `bind` on it";
            Some(Need { kind, ways, reason, source: "pkg/registry/rbac/rolebinding/policybased/storage.go" })
        }
        What::BlocksOwner { api_version, owner_kind, name } => {
            let kind = match cluster.platform {
                _ if refused => NeedKind::Checked,
                Platform::Vanilla => return None,
                Platform::OpenShift if made => NeedKind::Checked,
                Platform::OpenShift | Platform::Auto => NeedKind::Likely,
            };
            let ways = finalizers(api_version, owner_kind, name, call, cluster, refused)?;
            Some(Need {
                // Of several one is a guess.
                kind: if ways.len() == 1 { kind } else { NeedKind::Likely },
                ways: ways.into_iter().map(|way| vec![Ask::Make(Request::Resource(way))]).collect(),
                reason: "sets an owner reference that blocks the owner's deletion: checked as an update of the owner's finalizers",
                source: "plugin/pkg/admission/gc/gc_admission.go (OwnerReferencesPermissionEnforcement)",
            })
        }
        What::HasOwners { made, .. } if refused || (cluster.platform == Platform::OpenShift && !made) => {
            if !refused && keeps_owners(observed) {
                return None;
            }
            let kind = if refused { NeedKind::Checked } else { NeedKind::Likely };
            let request = ResourceRequest { verb: "delete".to_owned(), ..call.clone() };
            Some(Need::of(
                kind,
                request,
                "changes owner references: checked as a delete of the object",
                "plugin/pkg/admission/gc/gc_admission.go (OwnerReferencesPermissionEnforcement)",
            ))
        }
        What::Signer { name } => {
            let (verb, always) = match (&*call.resource, &*call.subresource) {
                (_, "approval") => ("approve", true),
                ("clustertrustbundles", _) => ("attest", false),
                _ => ("sign", false),
            };
            let domain = name.split_once('/').map_or(&**name, |(domain, _)| domain);
            let signer = |name: String| {
                vec![Ask::Make(Request::Resource(ResourceRequest {
                    api_group: CERTIFICATES.to_owned(),
                    resource: "signers".to_owned(),
                    verb: verb.to_owned(),
                    name,
                    ..ResourceRequest::default()
                }))]
            };
            if name.is_empty() {
                return None;
            }
            Some(Need {
                kind: if always { NeedKind::Checked } else { kind },
                ways: vec![signer(name.clone()), signer(format!("{domain}/*"))],
                reason: "approves, signs or attests for a signer",
                source: "pkg/certauthorization/certauthorization.go",
            })
        }
        What::ParamKind { api_version, param_kind } => {
            let group = group_of(api_version);
            let served = cluster.table.by_kind(group, param_kind);
            let request = ResourceRequest {
                api_group: group.to_owned(),
                resource: served.map_or("*", |served| &served.resource).to_owned(),
                verb: "get".to_owned(),
                namespace: "*".to_owned(),
                name: "*".to_owned(),
                ..ResourceRequest::default()
            };
            Some(Need::of(
                kind,
                request,
                "writes an admission policy with parameters: checked as get on all objects of their kind",
                "pkg/registry/admissionregistration/validatingadmissionpolicy/authz.go",
            ))
        }
        What::Host => {
            let host = |verb: &str| {
                let subresource = "custom-host".to_owned();
                let request = ResourceRequest { verb: verb.to_owned(), subresource, ..call.clone() };
                vec![Ask::Make(Request::Resource(request))]
            };
            let ways = if made { vec![host("create")] } else { vec![host("update"), host("create")] };
            need(ways, "sets the host of a route", "openshift/library-go pkg/route/hostassignment/assignment.go")
        }
        What::Check { request } => need(
            vec![vec![Ask::Make(request.clone())]],
            "checked with this call, and refused",
            "the message of the refusal",
        ),
        What::Upgrade => Some(Need::of(
            kind,
            ResourceRequest { verb: "create".to_owned(), ..call.clone() },
            "a WebSocket upgrade is checked as create too",
            "pkg/registry/core/pod/rest/subresources.go",
        )),
        What::HasOwners { .. } | What::NotPermission { .. } | What::More => None,
    }
}

/// Whether the object had, since the same call made it, ever the same owners: none of the later calls changed them.
fn keeps_owners(observed: &Observed) -> bool {
    let owners = observed.behind.iter().filter_map(|behind| match &behind.what {
        What::HasOwners { uids, made } if !behind.refused => Some((uids, *made)),
        _ => None,
    });
    let owners: Vec<_> = owners.collect();
    let same = owners.iter().all(|(uids, _)| owners.first().is_some_and(|(first, _)| uids == first));
    // A call that stands for many objects says nothing of one.
    same && observed.more_than.is_none() && owners.iter().any(|(_, made)| *made)
}

/// `update` on the finalizers of an owner. Of a kind that is not known the resource is the guess that Kubernetes itself
/// makes, in the whole cluster or in a namespace; where the check failed for that very reason, it is any.
fn finalizers(
    api_version: &str,
    kind: &str,
    name: &str,
    call: &ResourceRequest,
    cluster: &Cluster<'_>,
    refused: bool,
) -> Option<Vec<ResourceRequest>> {
    let group = group_of(api_version);
    let in_cluster = String::new;
    let in_namespace = || call.namespace.clone();
    let (group, resource, namespaces) = match cluster.table.by_kind(group, kind) {
        Some(served) if served.namespaced => (group, served.resource.clone(), vec![in_namespace()]),
        Some(served) => (group, served.resource.clone(), vec![in_cluster()]),
        None if refused => ("*", "*".to_owned(), vec![in_cluster()]),
        None => (group, guess(kind)?, vec![in_cluster(), in_namespace()]),
    };
    let request = |namespace| ResourceRequest {
        api_group: group.to_owned(),
        resource: resource.clone(),
        subresource: "finalizers".to_owned(),
        verb: "update".to_owned(),
        namespace,
        name: name.to_owned(),
    };
    Some(namespaces.into_iter().map(request).collect())
}

/// `staging/src/k8s.io/apimachinery/pkg/api/meta/restmapper.go`, `UnsafeGuessKindToResource`.
fn guess(kind: &str) -> Option<String> {
    let singular = kind.to_ascii_lowercase();
    Some(match singular.chars().last()? {
        _ if singular.ends_with("endpoints") => singular,
        's' => singular + "es",
        'y' => format!("{}ies", singular.strip_suffix('y')?),
        _ => singular + "s",
    })
}

fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// Where the rules of a written role or binding would hold.
fn scope_of(call: &ResourceRequest) -> Scope {
    if call.resource.starts_with("cluster") { Scope::Cluster } else { Scope::Namespace(call.namespace.clone()) }
}

/// `escalate` on the role that is written, whose name a create does not have.
fn escalate(call: &ResourceRequest) -> Ask {
    let name = if call.verb == "create" { "" } else { &call.name };
    Ask::Make(rbac(&call.resource, "escalate", &call.namespace, name))
}

fn rbac(resource: &str, verb: &str, namespace: &str, name: &str) -> Request {
    Request::Resource(ResourceRequest {
        api_group: RBAC.to_owned(),
        resource: resource.to_owned(),
        verb: verb.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..ResourceRequest::default()
    })
}

fn all_resources() -> Rule {
    let all = || vec!["*".to_owned()];
    Rule { verbs: all(), api_groups: all(), resources: all(), ..Rule::default() }
}

fn all_urls() -> Rule {
    let all = || vec!["*".to_owned()];
    Rule { verbs: all(), non_resource_urls: all(), ..Rule::default() }
}
