//! What real operators ship that trips readers, in texts of our own: each with the right reading.

use super::*;

/// Messages of everything that was lost.
fn lost(reading: &Reading) -> Vec<&str> {
    let lost = reading.diagnostics.iter().filter(|diagnostic| diagnostic.kind == DiagnosticKind::Unreadable);
    lost.map(|diagnostic| diagnostic.message.as_str()).collect()
}

#[test]
fn a_second_api_version_is_noted_and_the_last_one_counts() {
    let (_, reading) = read_text(
        "apiVersion: v1\nkind: RoleBinding\nmetadata: {name: a}\nroleRef: {kind: Role, name: a}\n\
         subjects: [{kind: ServiceAccount, name: a}]\napiVersion: rbac.authorization.k8s.io/v1\n",
    );
    assert_eq!((reading.facts.bindings.len(), reading.diagnostics.len()), (1, 1));
    assert!(lost(&reading).is_empty(), "{:?}", reading.diagnostics);
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_first_key() {
    let (sources, reading) = read_text(&format!("\u{feff}{ROLE}- apiGroups: [x]\n  resources: [y]\n  verbs: [get]\n"));
    let role = &reading.facts.roles[0];
    assert_eq!((role.name.value.as_str(), sources.locate(role.name.span).line), ("op", 3));
}

#[test]
fn a_template_that_parses_is_no_name() {
    let (_, reading) =
        read_text(&format!("{ROLE}- apiGroups: ['']\n  resources: [{{{{ .Values.what }}}}, pods]\n  verbs: [get]\n"));
    let resources = reading.facts.roles[0].rules[0].to_rule().resources;
    assert_eq!(resources, ["pods"]);
    assert_eq!(lost(&reading), ["an entry of `resources` is a template that was not rendered, not a string"]);
}

#[test]
fn placeholders_are_names_as_they_stand() {
    let text = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: '<NAME>', namespace: '${OPERATOR_NAMESPACE}'}\n";
    let (_, reading) = read_text(text);
    let account = &reading.facts.accounts[0];
    assert_eq!(account.name.value, "<NAME>");
    assert_eq!(account.namespace.as_ref().unwrap().value, "${OPERATOR_NAMESPACE}");
}

#[test]
fn objects_of_an_openshift_template_are_read() {
    let (_, reading) = read_text(
        "apiVersion: template.openshift.io/v1\nkind: Template\nparameters: [{name: X}]\nobjects:\n\
         - {apiVersion: v1, kind: ServiceAccount, metadata: {name: a}}\n- {apiVersion: v1, kind: Secret, metadata: {name: b}}\n",
    );
    assert_eq!((reading.facts.accounts.len(), reading.documents.read), (1, 1));
    assert_eq!(reading.documents.ignored.get("Secret"), Some(&1));
}

#[test]
fn an_object_within_the_text_of_a_configmap_is_text() {
    let (_, reading) = read_text(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a}}\ndata:\n  role.yaml: |\n    {}",
        ROLE.replace('\n', "\n    ")
    ));
    assert!(reading.facts.roles.is_empty());
    assert_eq!(reading.documents.ignored.get("ConfigMap"), Some(&1));
}

#[test]
fn an_end_marker_ends_a_document() {
    let (_, reading) = read_text(&format!("{ROLE}  []\n...\n---\n{ROLE}  []\n...\n"));
    assert_eq!((reading.facts.roles.len(), reading.documents.read), (2, 2));
}

#[test]
fn numbers_of_any_base_do_no_harm() {
    let (_, reading) = read_text(
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n    spec:\n      containers: []\n      \
         serviceAccountName: op\n      volumes: [{secret: {defaultMode: 0400}}]\n",
    );
    assert_eq!(reading.facts.workloads[0].service_account.as_ref().unwrap().value, "op");
    assert!(reading.diagnostics.is_empty());
}

#[test]
fn a_very_long_line_costs_nothing() {
    let icon = "x".repeat(300_000);
    let (sources, reading) = read_text(&format!(
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {{annotations: {{icon: {icon}}}, name: a}}\n"
    ));
    let place = sources.locate(reading.facts.accounts[0].name.span);
    assert_eq!((place.line, place.column), (3, 300_041));
}

#[test]
fn empty_strings_are_entries() {
    let (_, reading) = read_text(&format!("{ROLE}- apiGroups: ['']\n  resources: ['']\n  verbs: ['']\n"));
    let rule = reading.facts.roles[0].rules[0].to_rule();
    assert_eq!(
        (rule.api_groups, rule.resources, rule.verbs),
        (vec![String::new()], vec![String::new()], vec![String::new()])
    );
}

#[test]
fn roles_of_every_version_and_of_openshift_are_roles() {
    for version in
        ["rbac.authorization.k8s.io/v1beta1", "rbac.authorization.k8s.io/v1alpha1", "authorization.openshift.io/v1"]
    {
        let (_, reading) =
            read_text(&format!("apiVersion: {version}\nkind: ClusterRole\nmetadata: {{name: a}}\nrules: []\n"));
        assert_eq!(reading.facts.roles.len(), 1, "{version}");
    }
    // Of no group that has roles.
    let (_, reading) = read_text("apiVersion: example.org/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules: []\n");
    assert_eq!((reading.facts.roles.len(), reading.documents.ignored.get("ClusterRole")), (0, Some(&1)));
}

#[test]
fn a_role_of_a_helm_hook_is_a_role() {
    let (_, reading) = read_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: a\n  annotations: {helm.sh/hook: pre-install}\n\
         rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]\n",
    );
    assert_eq!(reading.facts.roles[0].rules.len(), 1);
}
