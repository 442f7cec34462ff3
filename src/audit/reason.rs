//! The authorizer's reason of an allowed call, read: through which binding and role it was allowed.

use crate::manifest::{BindingKind, RoleKind};

/// The binding and the role that allowed a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Through<'a> {
    /// Kind of the binding.
    pub kind: BindingKind,
    /// Its namespace; empty for a ClusterRoleBinding.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Kind of the role that it names.
    pub role_kind: RoleKind,
    /// Name of the role. Of an aggregated ClusterRole, not of those that it takes in.
    pub role: &'a str,
}

impl<'a> Through<'a> {
    /// Reads a reason as Kubernetes writes it (`plugin/pkg/auth/authorizer/rbac/rbac.go` and
    /// `pkg/registry/rbac/validation/rule.go`, `clusterRoleBindingDescriber` and `roleBindingDescriber`): the name of a
    /// RoleBinding comes before its namespace; of several authorizers each has a line. `None` for the words of another
    /// authorizer, such as EKS' access policies, which grant outside of RBAC, and for no reason, as `system:masters` and
    /// the Node authorizer give.
    pub fn of(reason: &'a str) -> Option<Self> {
        reason.lines().find_map(Self::of_line)
    }

    fn of_line(line: &'a str) -> Option<Self> {
        let (before, rest) = line.split_once("RBAC: allowed by ")?;
        if !(before.is_empty() || before.ends_with(": ")) {
            return None;
        }
        let (kind, rest) = rest.split_once(" \"")?;
        let (binding, rest) = rest.split_once("\" of ")?;
        let (role_kind, rest) = rest.split_once(" \"")?;
        let (role, _) = rest.split_once("\" to ")?;
        let role_kind = match role_kind {
            "Role" => RoleKind::Role,
            "ClusterRole" => RoleKind::ClusterRole,
            _ => return None,
        };
        let (kind, name, namespace) = match kind {
            "ClusterRoleBinding" => (BindingKind::ClusterRoleBinding, binding, ""),
            "RoleBinding" => {
                let (name, namespace) = binding.rsplit_once('/')?;
                (BindingKind::RoleBinding, name, namespace)
            }
            _ => return None,
        };
        Some(Self { kind, namespace, name, role_kind, role })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_role_and_binding() {
        let cluster = |name, role| {
            let (kind, role_kind) = (BindingKind::ClusterRoleBinding, RoleKind::ClusterRole);
            Some(Through { kind, namespace: "", name, role_kind, role })
        };
        let local = |name, namespace, role_kind, role| {
            Some(Through { kind: BindingKind::RoleBinding, namespace, name, role_kind, role })
        };
        for (reason, expected) in [
            (r#"ClusterRoleBinding "b9" of ClusterRole "r" to ServiceAccount "other/ns""#, cluster("b9", "r")),
            (r#"RoleBinding "b/ns" of Role "r" to Group "a b""#, local("b", "ns", RoleKind::Role, "r")),
            (
                r#"RoleBinding "system:b/kube-system" of ClusterRole "system:r" to User "u""#,
                local("system:b", "kube-system", RoleKind::ClusterRole, "system:r"),
            ),
            (r#"RoleBinding "b" of Role "r" to User "u""#, None),
            (r#"Webhook "b" of Role "r" to User "u""#, None),
            (r#"ClusterRoleBinding "b" of Cluster"#, None),
        ] {
            let written = format!("RBAC: allowed by {reason}");
            assert_eq!(Through::of(&written), expected, "{reason}");
            assert_eq!(Through::of(&format!("no opinion\nrbac: {written}")), expected, "{reason}");
            assert_eq!(Through::of(&format!("EKS Access Policy: allowed by {reason}")), None);
            assert_eq!(Through::of(&format!("it is no{written}")), None);
            assert_eq!(Through::of(reason), None);
        }
        assert_eq!(Through::of(""), None);
    }
}
