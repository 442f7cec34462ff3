//! Text out of manifests and logs that would be read as something else: by a terminal, by Markdown, by YAML.

use std::fs;

use super::render;
use crate::common;
use rolecall::analysis::Options;
use rolecall::rewrite::role_yaml;

/// Names with everything that a terminal, a table or a person's eye could be misled by.
const NAMES: [&str; 5] = ["esc\u{1b}]8;;evil\u{7}x", "bidi\u{202e}cba", "pipe|`code`<b>", "new\nline::error::x", "~"];

fn manifests(name: &str) -> String {
    let quoted = serde_json::to_string(name).unwrap();
    serde_json::json!({
        "apiVersion": "v1", "kind": "List", "items": [
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "op", "namespace": "ns"}},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "placeholder"},
             "rules": [
                {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list"]},
                {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["placeholder"], "verbs": ["get"]},
                {"apiGroups": ["placeholder"], "resources": ["placeholder"], "verbs": ["placeholder", "bind", "*"]}]},
            {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "placeholder"},
             "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "placeholder"},
             "subjects": [{"kind": "ServiceAccount", "name": "op", "namespace": "ns"}]}]
    })
    .to_string()
    .replace("\"placeholder\"", &quoted)
}

fn event(resource: &str, name: &str) -> String {
    let encoded: String = name.bytes().map(|byte| format!("%{byte:02X}")).collect();
    serde_json::json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("{resource}-{name}"),
        "stage": "ResponseComplete", "requestURI": format!("/api/v1/namespaces/ns/{resource}/{encoded}"), "verb": "get",
        "user": {"username": "system:serviceaccount:ns:op", "groups": ["system:authenticated"]},
        "objectRef": {"resource": resource, "namespace": "ns", "name": name, "apiVersion": "v1"},
        "responseStatus": {"code": 200}, "requestReceivedTimestamp": "2026-11-03T09:00:00.000000Z",
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": name}
    })
    .to_string()
}

#[test]
fn no_format_passes_on_control_characters() {
    for name in NAMES {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m.json");
        let log = folder.path().join("audit.log");
        fs::write(&file, manifests(name)).unwrap();
        fs::write(&log, format!("{}\n{}\n", event("configmaps", name), event("secrets", "a"))).unwrap();
        let rendered = render(&[&common::text(&file)], &[&common::text(&log)]);
        assert!(!rendered.report.findings.is_empty());
        // Our own colours are the only escape sequences of the table.
        let table = anstream::adapter::strip_str(&rendered.table).to_string();
        for (format, text) in
            [("table", &table), ("markdown", &rendered.markdown), ("json", &rendered.json), ("sarif", &rendered.sarif)]
        {
            let bad = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}' && format != "json");
            assert_eq!(bad, None, "{format} with {name:?}");
            assert!(!text.lines().any(|line| line.starts_with("::")), "{format} with {name:?}");
        }
        assert!(!rendered.markdown.contains("<b>"), "{}", rendered.markdown);
    }
}

#[test]
fn a_role_with_odd_names_reads_back_as_it_was_meant() {
    for name in
        NAMES.into_iter().chain(["yes", "null", "1e3", "a: b", "# x", "- x", "'", "é", " lead", "", "0x1F", "="])
    {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("audit.log");
        fs::write(&log, format!("{}\n", event("configmaps", name))).unwrap();
        let loaded = common::load(&[], &[common::text(&log)]);
        let assessment =
            common::assess(&loaded, "ns/op", Options { names: rolecall::analysis::Names::All, ..Options::default() });
        let yaml = role_yaml::render(&assessment, assessment.minimal.as_ref().unwrap());
        let documents: Vec<serde_json::Value> =
            serde_saphyr::from_multiple(&yaml).unwrap_or_else(|error| panic!("{name:?}: {error}\n{yaml}"));
        let names: Vec<&str> =
            documents.iter().filter_map(|document| document["rules"][0]["resourceNames"][0].as_str()).collect();
        // A request for an empty name is one for the collection.
        let expected: Vec<&str> = if name.is_empty() { vec![] } else { vec![name] };
        assert_eq!(names, expected, "{yaml}");
    }
}
