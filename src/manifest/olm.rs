//! ClusterServiceVersions: what the Operator Lifecycle Manager makes of one (roles, bindings, accounts, Deployments),
//! each with its position in the CSV.

use std::collections::BTreeSet;

use super::fields::{Fields, Metadata};
use super::{
    Binding, BindingKind, Facts, InstallMode, Known, OlmInstall, Role, RoleKind, ServiceAccount, Subject, SubjectKind,
    rbac, workload,
};
use crate::source::Spanned;
use crate::source::yaml::Node;

/// The namespace that the author has in mind (operator-framework/api, `pkg/operators`).
const SUGGESTED_NAMESPACE: &str = "operatorframework.io/suggested-namespace";

pub(super) fn read(fields: &mut Fields<'_>, metadata: Metadata, facts: &mut Facts) -> Known {
    let (Some(name), Some(spec)) = (metadata.name, fields.mapping("spec")) else { return Known::Patch };
    let suggested = fields.node().get("metadata").and_then(|metadata| metadata.get("annotations"));
    let suggested_namespace = suggested.and_then(|annotations| annotations.get(SUGGESTED_NAMESPACE)?.text());
    let mut install = OlmInstall {
        name: name.clone(),
        supported: BTreeSet::new(),
        suggested_namespace: suggested_namespace.filter(|namespace| !namespace.is_empty()).map(str::to_owned),
    };
    fields.within(spec, |spec| {
        for mode in spec.mappings("installModes") {
            let supported = mode.get("supported").and_then(Node::text) == Some("true");
            let mode = mode.get("type").and_then(Node::text).and_then(InstallMode::parse);
            install.supported.extend(mode.filter(|_| supported));
        }
        let Some(strategy) = spec.mapping("install") else { return };
        spec.within(strategy, |strategy| {
            let Some(node) = strategy.mapping("spec") else { return };
            strategy.within(node, |strategy| {
                for section in ["clusterPermissions", "permissions"] {
                    for (index, entry) in strategy.mappings(section).into_iter().enumerate() {
                        strategy.within(entry, |entry| permissions(entry, &name.value, section, index, facts));
                    }
                }
                for deployment in strategy.mappings("deployments") {
                    strategy.within(deployment, |deployment| {
                        let Some(name) = deployment.text("name") else { return };
                        let at = ["spec", "template", "spec"];
                        let pod = at.iter().try_fold(deployment.node(), |node, key| node.get(key));
                        if let Some(pod) = pod {
                            workload::add("Deployment", None, name, deployment, pod, facts);
                        }
                    });
                }
            });
        });
    });
    facts.olm_installs.push(install);
    Known::Read
}

/// An entry of `clusterPermissions` or `permissions` is a role and its binding to one account; OLM makes all three.
fn permissions(entry: &mut Fields<'_>, csv: &str, section: &str, index: usize, facts: &mut Facts) {
    let Some(account) = entry.text("serviceAccountName") else { return };
    let span = entry.span();
    // OLM's own names end in a hash; these say where it stands.
    let name = Spanned::new(format!("{csv}/{section}[{index}]"), account.span);
    let rules = entry.mappings("rules").into_iter().map(|rule| rbac::policy_rule(entry, rule)).collect();
    let (kind, binding) = match section {
        "permissions" => (RoleKind::Role, BindingKind::RoleBinding),
        _ => (RoleKind::ClusterRole, BindingKind::ClusterRoleBinding),
    };
    let olm_permissions = kind == RoleKind::Role;
    facts.roles.push(Role {
        kind,
        namespace: None,
        name: name.clone(),
        labels: Default::default(),
        aggregation: None,
        rules,
        olm_permissions,
        span,
    });
    let subject =
        Subject { kind: SubjectKind::ServiceAccount, name: account.clone(), namespace: None, span: account.span };
    facts.bindings.push(Binding {
        kind: binding,
        namespace: None,
        name: name.clone(),
        role_kind: kind,
        role_name: name,
        subjects: vec![subject],
        olm_permissions,
        span,
    });
    // One account may stand in several entries.
    if !facts.accounts.iter().any(|known| known.namespace.is_none() && known.name.value == account.value) {
        facts.accounts.push(ServiceAccount { namespace: None, name: account, span });
    }
}

impl InstallMode {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "OwnNamespace" => Self::OwnNamespace,
            "SingleNamespace" => Self::SingleNamespace,
            "MultiNamespace" => Self::MultiNamespace,
            "AllNamespaces" => Self::AllNamespaces,
            _ => return None,
        })
    }
}
