//! Charts and kustomizations: said when they are not rendered, rendered on request, findings led back to the template.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

use super::{Answer, answer, text};

/// A template, and what `helm template` makes of it.
const TEMPLATE: &str = "{{- if .Values.rbac }}\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n\
                        metadata: {name: {{ .Release.Name }}}\nrules:\n\
                        - apiGroups: [\"\"]\n  resources: [\"secrets\"]\n  verbs: [\"list\"]\n{{- end }}\n";
const RENDERED: &str = "---\n# Source: op/templates/role.yaml\napiVersion: rbac.authorization.k8s.io/v1\n\
                        kind: ClusterRole\nmetadata: {name: release}\nrules:\n\
                        - apiGroups: [\"\"]\n  resources: [\"secrets\"]\n  verbs: [\"list\"]\n\
                        ---\n# Source: op/templates/binding.yaml\napiVersion: rbac.authorization.k8s.io/v1\n\
                        kind: ClusterRoleBinding\nmetadata: {name: release}\n\
                        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: release}\n\
                        subjects: [{kind: ServiceAccount, name: op, namespace: ns}]\n";

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn chart() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "my chart/Chart.yaml", "name: op\n");
    write(folder.path(), "my chart/templates/role.yaml", TEMPLATE);
    folder
}

/// A program in the place of `helm` or `kubectl`.
fn program(folder: &Path, name: &str, script: &str) {
    write(folder, &format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(folder.join("bin").join(name), fs::Permissions::from_mode(0o755)).unwrap();
}

fn scan(folder: &Path, path: &str, args: &[&str]) -> Answer {
    let bin = folder.join("bin");
    answer(
        Command::cargo_bin("rolecall")
            .unwrap()
            .current_dir(folder)
            .env("PATH", format!("{}:/usr/bin:/bin", text(&bin)))
            .args(["scan", path, "--fail-on", "never"])
            .args(args),
    )
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.stdout).unwrap()
}

#[test]
fn a_chart_that_was_not_rendered_is_said_with_the_command() {
    let folder = chart();
    let said = scan(folder.path(), "my chart", &[]);
    assert_eq!(said.code, 3, "{}", said.stderr);
    let expected = "my chart: a Helm chart that was not rendered, 1 of its parts cannot be read: \
                    `helm template --include-crds release 'my chart' | rolecall scan -`, or --render";
    assert!(said.stderr.contains(expected), "{}", said.stderr);
    // Once, not again for each of its templates.
    assert!(!said.stderr.contains("role.yaml"), "{}", said.stderr);
}

#[test]
fn a_chart_is_rendered_on_request_and_findings_point_to_the_template() {
    let folder = chart();
    // Arguments arrive as they are: no shell splits the folder's name.
    program(folder.path(), "helm", "[ $# = 4 ] && [ \"$4\" = 'my chart' ] || exit 9\ncat rendered");
    write(folder.path(), "rendered", RENDERED);
    let report = json(&scan(folder.path(), "my chart", &["--render", "-o", "json"]));
    let finding = &report["findings"].as_array().unwrap()[0];
    assert_eq!(finding["rule"], "RC031");
    let place = &finding["location"];
    assert_eq!((place["path"].as_str(), place["line"].as_u64()), (Some("my chart/templates/role.yaml"), Some(8)));
    let related = finding["related"].as_array().unwrap().iter().find(|place| place["label"] == "rendered").unwrap();
    assert_eq!(related["location"]["path"], "my chart/(helm template)");
    let states: Vec<(&str, &str)> = report["inputs"]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (file["path"].as_str().unwrap(), file["state"].as_str().unwrap()))
        .collect();
    let expected = [
        ("my chart/(helm template)", "read"),
        ("my chart/Chart.yaml", "rendered"),
        ("my chart/templates/role.yaml", "rendered"),
    ];
    assert_eq!(states, expected);
}

#[test]
fn rendered_text_names_its_templates() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "rendered.yaml", RENDERED);
    let report = json(&scan(folder.path(), "rendered.yaml", &["-o", "json"]));
    let finding = &report["findings"][0];
    assert_eq!(
        (finding["location"]["path"].as_str(), finding["location"]["line"].as_u64()),
        (Some("rendered.yaml"), Some(9))
    );
    let related = finding["related"].as_array().unwrap();
    assert!(
        related
            .iter()
            .any(|place| place["label"] == "template" && place["location"]["path"] == "op/templates/role.yaml")
    );
}

#[test]
fn a_program_that_is_missing_or_fails_is_said_and_the_rest_is_read() {
    let folder = chart();
    write(folder.path(), "my chart/crds/role.yaml", RENDERED);
    program(folder.path(), "helm", "echo 'no values' >&2; exit 1");
    let failed = scan(folder.path(), "my chart", &["--render"]);
    assert!(
        failed.stderr.contains("not rendered (`helm` failed (exit status: 1): no values), 1 of its"),
        "{}",
        failed.stderr
    );
    assert!(failed.stdout.contains("RC031"), "{}", failed.stdout);
    fs::remove_dir_all(folder.path().join("bin")).unwrap();
    let missing = scan(folder.path(), "my chart", &["--render", "--strict"]);
    assert!(missing.stderr.contains("not rendered (`helm` is not installed), 1 of its"), "{}", missing.stderr);
    assert_eq!(missing.code, 3);
}

#[test]
fn a_kustomization_is_built_by_kubectl() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "config/default/kustomization.yaml", "namePrefix: my-\nresources: [../rbac]\n");
    write(folder.path(), "config/rbac/kustomization.yaml", "resources: [role.yaml]\n");
    write(folder.path(), "config/rbac/role.yaml", RENDERED);
    write(folder.path(), "config/samples/kustomization.yaml", "resources: [sample.yaml]\n");
    let raw = scan(folder.path(), "config", &[]);
    let expected = "config/default: a kustomization that was not built, names may change: \
                    `kubectl kustomize config/default | rolecall scan -`, or --render";
    assert!(raw.stderr.contains(expected) && !raw.stderr.contains("config/samples"), "{}", raw.stderr);
    // What is meant is outside of the input.
    let alone = scan(folder.path(), "config/default", &[]);
    assert!(alone.stderr.contains(expected) && alone.code == 3, "{}", alone.stderr);
    let there = std::process::Command::new("kubectl").args(["kustomize", "--help"]).output();
    if there.is_err() {
        println!("skipped: kubectl is not installed, the build itself was not run");
        return;
    }
    let built = json(&scan(folder.path(), "config/default", &["--render", "-o", "json"]));
    let messages = built["findings"].to_string();
    assert!(messages.contains("my-release"), "{messages}");
}

#[test]
fn a_kustomization_that_fails_is_said_once_with_the_reason() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "config/kustomization.yaml", "resources: [../crd]\n");
    write(folder.path(), "role.yaml", RENDERED);
    program(folder.path(), "kubectl", &format!("echo 'no such folder {}' >&2; exit 1", "x".repeat(400)));
    let failed = scan(folder.path(), ".", &["--render"]);
    assert!(failed.stdout.contains("RC031"), "{}", failed.stdout);
    assert_eq!(failed.stderr.matches("no such folder").count(), 1, "{}", failed.stderr);
    assert!(failed.stderr.contains("xxx...), names may change: `kubectl kustomize"), "{}", failed.stderr);
    assert!(!failed.stderr.contains("--render"), "{}", failed.stderr);
    assert_eq!(scan(folder.path(), ".", &["--render", "--strict"]).code, 3);
}

#[test]
fn a_role_in_a_template_that_cannot_be_read_is_not_missing() {
    let folder = chart();
    let (_, binding) = RENDERED.rsplit_once("---\n").unwrap();
    write(folder.path(), "my chart/templates/binding.yaml", binding);
    let raw = scan(folder.path(), "my chart", &[]);
    assert!(raw.stderr.contains("1 of its parts cannot be read") && !raw.stdout.contains("RC168"), "{}", raw.stdout);
    let missing = scan(folder.path(), "my chart/templates/binding.yaml", &[]);
    assert!(missing.stdout.contains("RC168"), "{}", missing.stdout);
    // Without a log there are no denied calls to count.
    assert!(!missing.stdout.contains("Denied calls"), "{}", missing.stdout);
}
