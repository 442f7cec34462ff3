//! Parse traps met in real operators (`reference/manifests.md`, P1 to P33), each with the right reading.

use rolecall::cli::pipeline::Loaded;
use rolecall::manifest::Facts;
use rolecall::source::DiagnosticKind;

use super::CORPUS;
use crate::common::{load, shared};

/// A file of the corpus; `None` when the corpus is not there.
fn read(path: &str) -> Option<Loaded> {
    shared("corpus")?;
    Some(load(&[format!("{CORPUS}/{path}")], &[]))
}

fn facts(loaded: &Loaded) -> &Facts {
    &loaded.packages[0].facts
}

fn lost(loaded: &Loaded) -> Vec<String> {
    let lost = loaded.inputs.diagnostics.iter().filter(|diagnostic| diagnostic.kind == DiagnosticKind::Unreadable);
    lost.map(|diagnostic| format!("{}: {}", diagnostic.location.line, diagnostic.message)).collect()
}

#[test]
fn p1_an_aliased_list_of_verbs_is_read() {
    let Some(loaded) = read("knative-operator/config/rbac/webhook_role.yaml") else { return };
    let rules: Vec<_> = facts(&loaded).roles.iter().flat_map(|role| &role.rules).collect();
    assert!(rules.len() > 5 && rules.iter().all(|rule| !rule.verbs.is_empty()));
    assert_eq!(lost(&loaded), Vec::<String>::new());
}

#[test]
fn p2_merge_keys_with_an_override_are_no_duplicates() {
    let path = "olm-clickhouse/manifests/clickhouseinstallations.clickhouse.altinity.com.crd.yaml";
    let Some(loaded) = read(path) else { return };
    assert_eq!(facts(&loaded).crds.len(), 1);
    assert!(loaded.inputs.diagnostics.is_empty(), "{:?}", loaded.inputs.diagnostics);
}

#[test]
fn p3_p4_odd_scalars_and_tags_are_text() {
    for path in ["grafana-operator-src/examples/notification_policy/routes.yaml", "cubefs-chart/cubefs/values.yaml"] {
        let Some(loaded) = read(path) else { return };
        assert_eq!(lost(&loaded), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn p5_p6_the_last_of_duplicate_keys_wins_and_is_noted() {
    let Some(loaded) = read("jenkins-operator/config/manager/manager.yaml") else { return };
    let account = facts(&loaded).workloads[0].service_account.as_ref().unwrap();
    assert_eq!(account.value, "controller-manager");
    assert_eq!(loaded.inputs.diagnostics.len(), 1);
    let loaded = read("olm-annotationlab/manifests/annotationlab-ServiceAccount.yml").unwrap();
    assert_eq!(facts(&loaded).accounts.len(), 1);
}

#[test]
fn p8_p9_broken_yaml_costs_its_document() {
    let Some(loaded) = read("olm-eventing-kogito/metadata/dependencies.yaml") else { return };
    assert_eq!(lost(&loaded), ["22: mapping values are not allowed in this context"]);
    let loaded = read("fabedge/deploy/operator.yaml").unwrap();
    assert_eq!(lost(&loaded).len(), 1, "{:?}", lost(&loaded));
    assert_eq!((loaded.inputs.documents_read, loaded.inputs.documents_unreadable), (0, 1));
}

#[test]
fn p10_line_ends_are_no_part_of_a_value() {
    let Some(loaded) = read("dapr-chart/charts/dapr/charts/dapr_rbac/values.yaml") else { return };
    assert_eq!(lost(&loaded), Vec::<String>::new());
}

#[test]
fn p16_p17_p33_lists_of_every_kind_are_opened() {
    let folder = "openshift-cluster-monitoring-operator/assets/prometheus-k8s";
    let Some(loaded) = read(&format!("{folder}/role-specific-namespaces.yaml")) else { return };
    assert_eq!(facts(&loaded).roles.len(), 4);
    let loaded = read(&format!("{folder}/role-binding-specific-namespaces.yaml")).unwrap();
    assert_eq!(facts(&loaded).bindings.len(), 4);
    let loaded = read("aws-load-balancer-controller--helm-rendered/rendered.yaml").unwrap();
    assert!(facts(&loaded).objects.len() > 5);
    let loaded = read("oddities-argocd-gitops-engine-role-json").unwrap();
    assert!(!facts(&loaded).roles.is_empty());
}

#[test]
fn p20_p21_blank_documents_and_null_rules() {
    let Some(loaded) = read("contour/examples/root-rbac/rbac.yaml") else { return };
    assert_eq!(lost(&loaded), Vec::<String>::new());
    assert!(facts(&loaded).roles.len() + facts(&loaded).bindings.len() > 0);
    let loaded = read("dynatrace-operator--helm-rendered/rendered.yaml").unwrap();
    let role = facts(&loaded).roles.iter().find(|role| role.name.value == "dynatrace-oneagent-csi-driver").unwrap();
    assert!(role.rules.is_empty());
}

#[test]
fn p27_p30_unknown_keys_and_defaults() {
    let path = "tekton-operator/cmd/openshift/operator/kodata/static/tekton-results/logs-rbac/rbac.yaml";
    let Some(loaded) = read(path) else { return };
    assert_eq!(lost(&loaded), Vec::<String>::new());
    assert!(!facts(&loaded).roles.is_empty());
    let loaded = read("open-feature-operator/config/rbac/flagd_kubernetes_sync_clusterrolebinding.yaml").unwrap();
    assert!(!facts(&loaded).bindings.is_empty());
    assert!(facts(&loaded).bindings.iter().all(|binding| !binding.role_name.value.is_empty()));
}

#[test]
fn p33_every_optional_field_of_every_version_is_known() {
    let Some(loaded) = read("oddities-kubernetes-api-rbac-json-yaml") else { return };
    assert!(
        lost(&loaded).iter().all(|lost| lost.ends_with("`kindValue` is no kind of subject")),
        "{:?}",
        lost(&loaded)
    );
    assert!(facts(&loaded).roles.iter().any(|role| role.aggregation.is_some()));
}
