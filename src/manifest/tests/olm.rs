//! ClusterServiceVersions.

use super::*;

const CSV: &str = "
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: widgets.v1
  namespace: placeholder
  annotations: {operatorframework.io/suggested-namespace: widgets-system}
spec:
  installModes:
  - {type: OwnNamespace, supported: true}
  - {type: AllNamespaces, supported: ALL}
  install:
    strategy: deployment
    spec:
      clusterPermissions:
      - serviceAccountName: widgets
        rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]
      permissions:
      - serviceAccountName: widgets
        rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
      - serviceAccountName: widgets
        rules: [{apiGroups: [''], resources: [secrets], verbs: [list]}]
      - serviceAccountName: operand
        rules: []
      deployments:
      - name: widgets-manager
        spec: {template: {spec: {serviceAccountName: widgets, containers: [{name: manager}]}}}
      - name: runs-as-default
        spec: {template: {spec: {containers: [{name: manager}]}}}
";

fn package(all: bool, flag: Option<InstallMode>) -> (SourceMap, Package) {
    let (sources, reading) = read_text(&CSV.replace("ALL", &all.to_string()));
    assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
    assert_eq!(reading.documents, DocumentCounts { read: 1, ..DocumentCounts::default() });
    let mut packages = package::split(&["a.yaml".to_owned()], vec![("a.yaml".to_owned(), reading.facts)]);
    let mut package = packages.remove(0);
    package.choose_install_mode(flag);
    package.choose_namespace(None, &Default::default());
    (sources, package)
}

/// `KIND[s with clusters: resources]` of the roles, in order.
fn roles(package: &Package) -> Vec<String> {
    let shown = |role: &Role| {
        let resources: Vec<String> = role.rules.iter().flat_map(|rule| rule.to_rule().resources).collect();
        format!("{:?} {} {}", role.kind, role.name.value, resources.join(","))
    };
    package.facts.roles.iter().map(shown).collect()
}

#[test]
fn permissions_become_roles_and_bindings_in_the_suggested_namespace() {
    let (sources, package) = package(false, None);
    assert_eq!(package.install_mode, Some(InstallMode::OwnNamespace));
    assert_eq!(package.namespace, "widgets-system");
    assert_eq!(
        roles(&package),
        [
            "ClusterRole widgets.v1/clusterPermissions[0] nodes",
            "Role widgets.v1/permissions[0] pods",
            "Role widgets.v1/permissions[1] secrets",
            "Role widgets.v1/permissions[2] ",
        ]
    );
    let bound: Vec<(BindingKind, &str, &str)> = package
        .facts
        .bindings
        .iter()
        .map(|binding| (binding.kind, binding.role_name.as_str(), binding.subjects[0].name.as_str()))
        .collect();
    assert_eq!(bound[1], (BindingKind::RoleBinding, "widgets.v1/permissions[0]", "widgets"));
    assert_eq!(bound[3], (BindingKind::RoleBinding, "widgets.v1/permissions[2]", "operand"));
    let place = sources.locate(package.facts.roles[2].rules[0].verbs[0].span);
    assert_eq!((place.line, place.column), (22, 65));
    let accounts: Vec<&str> = package.facts.accounts.iter().map(|account| account.name.as_str()).collect();
    assert_eq!(accounts, ["widgets", "operand"]);
    let workloads: Vec<(&str, Option<&str>)> = package
        .facts
        .workloads
        .iter()
        .map(|workload| (workload.name.as_str(), workload.service_account.as_ref().map(|name| name.as_str())))
        .collect();
    assert_eq!(workloads, [("widgets-manager", Some("widgets")), ("runs-as-default", None)]);
}

#[test]
fn installed_for_all_namespaces_permissions_hold_in_the_whole_cluster() {
    for (supported, flag, cluster_wide) in [
        (true, None, true),
        (false, None, false),
        (true, Some(InstallMode::OwnNamespace), false),
        (false, Some(InstallMode::AllNamespaces), true),
    ] {
        let (_, package) = package(supported, flag);
        let kinds: Vec<RoleKind> = package.facts.roles.iter().map(|role| role.kind).collect();
        let wanted = if cluster_wide { RoleKind::ClusterRole } else { RoleKind::Role };
        assert_eq!(kinds, [RoleKind::ClusterRole, wanted, wanted, wanted], "{supported} {flag:?}");
        assert!(package.facts.bindings.iter().all(|binding| {
            (binding.kind == BindingKind::ClusterRoleBinding) == (binding.role_kind == RoleKind::ClusterRole)
        }));
    }
}

#[test]
fn what_is_wrong_in_a_csv_costs_that_part() {
    let text = CSV
        .replace("ALL", "false")
        .replace("rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]", "rules: none");
    let (_, reading) = read_text(&text.replace("name: runs-as-default", "name: [a]"));
    assert_eq!(reading.facts.roles.len(), 4);
    assert_eq!(reading.facts.workloads.len(), 1);
    let said: Vec<&str> = reading.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    assert_eq!(said, ["`rules` is a scalar, not a list", "`name` is a list, not a string"]);
}

#[test]
fn another_group_with_this_kind_is_no_bundle() {
    let (_, reading) = read_text(&CSV.replace("operators.coreos.com", "example.com"));
    assert_eq!((reading.facts.roles.len(), reading.documents.read), (0, 0));
}
