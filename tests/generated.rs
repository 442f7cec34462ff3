//! Data that is made out of other files: the API tables out of Kubernetes' discovery and bootstrap policy. The test
//! compares; `UPDATE=1 cargo test --test generated` rewrites.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const MINOR: &str = "1.36";

fn up_to_date(path: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, made).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == made, "{} is not what it is made of: run UPDATE=1 cargo test --test generated", path.display());
}

/// One resource over all its versions.
#[derive(Default)]
struct Row {
    kind: String,
    singular: String,
    namespaced: bool,
    verbs: BTreeSet<String>,
    versions: BTreeSet<String>,
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

#[test]
fn the_served_api_is_that_of_the_discovery_files() {
    let Some(folder) = common::shared("reference/discovery") else { return };
    let read = |file: &str| -> Value { serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap() };
    let mut rows: BTreeMap<(String, String), Row> = BTreeMap::new();
    for group in read("aggregated_v2.json")["items"].as_array().unwrap() {
        for version in group["versions"].as_array().unwrap() {
            for resource in version["resources"].as_array().into_iter().flatten() {
                let subresources = resource["subresources"].as_array().into_iter().flatten();
                let parts = [("".to_owned(), resource)].into_iter();
                for (subresource, part) in parts.chain(subresources.map(|part| (text(&part["subresource"]), part))) {
                    let name = match subresource.as_str() {
                        "" => text(&resource["resource"]),
                        sub => format!("{}/{sub}", text(&resource["resource"])),
                    };
                    let row = rows.entry((text(&group["metadata"]["name"]), name)).or_default();
                    row.kind = text(&resource["responseKind"]["kind"]);
                    row.singular = text(&resource["singularResource"]);
                    row.namespaced = resource["scope"] == "Namespaced";
                    row.verbs.extend(strings(&part["verbs"]));
                    row.versions.insert(text(&version["version"]));
                }
            }
        }
    }
    let core = read("api__v1.json");
    let resources = core["resources"].as_array().unwrap();
    for resource in resources {
        let name = text(&resource["name"]);
        let main = resources.iter().find(|main| Some(main["name"].as_str().unwrap()) == name.split('/').next()).unwrap_or(resource);
        let row = rows.entry((String::new(), name)).or_default();
        row.kind = text(&main["kind"]);
        row.singular = text(&main["singularName"]);
        row.namespaced = resource["namespaced"] == true;
        row.verbs.extend(strings(&resource["verbs"]));
        row.versions.insert("v1".to_owned());
    }
    let mut made = format!("# Served by Kubernetes {MINOR}, every API switched on: group, resource, kind, singular, scope, default or not, verbs\n");
    for ((group, name), row) in rows {
        // Alpha is off, and so is every beta since 1.24 (KEP-3136); none older is left.
        let stable = row.versions.iter().any(|version| !version.contains("alpha") && !version.contains("beta"));
        let scope = if row.namespaced { "Namespaced" } else { "Cluster" };
        let stability = if stable { "default" } else { "off" };
        let verbs = row.verbs.into_iter().collect::<Vec<_>>().join(" ");
        writeln!(made, "{group}\t{name}\t{}\t{}\t{scope}\t{stability}\t{verbs}", row.kind, row.singular).unwrap();
    }
    up_to_date(&format!("src/api/data/served-{MINOR}.tsv"), &made);
}

/// `testdata` of the bootstrap policy in the Go module cache.
fn bootstrap_policy() -> Option<PathBuf> {
    let output = std::process::Command::new("go").args(["env", "GOMODCACHE"]).output().ok()?;
    let cache = String::from_utf8(output.stdout).ok()?;
    let module = Path::new(cache.trim()).join(format!("k8s.io/kubernetes@v{MINOR}.3"));
    let folder = module.join("plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata");
    folder.is_dir().then_some(folder)
}

#[test]
fn the_built_in_roles_are_those_of_the_bootstrap_policy() {
    let Some(folder) = bootstrap_policy() else {
        println!("skipped: k8s.io/kubernetes@v{MINOR}.3 is not in the Go module cache (go mod download fetches it)");
        return;
    };
    let read = |file: &str| -> Vec<Value> {
        let list: Value = serde_saphyr::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap();
        list["items"].as_array().unwrap().clone()
    };
    let mut cluster_roles = read("cluster-roles.yaml");
    cluster_roles.extend(read("controller-roles.yaml"));
    let mut lines = BTreeSet::new();
    for role in &cluster_roles {
        let mut rules: Vec<Value> = Vec::new();
        collect(role, &cluster_roles, &mut rules, 0);
        lines.insert(serde_json::json!({"kind": "ClusterRole", "name": role["metadata"]["name"], "rules": rules}).to_string());
    }
    for role in read("namespace-roles.yaml") {
        let meta = &role["metadata"];
        lines.insert(serde_json::json!({"kind": "Role", "namespace": meta["namespace"], "name": meta["name"], "rules": role["rules"]}).to_string());
    }
    for binding in read("cluster-role-bindings.yaml") {
        let groups: Vec<&Value> =
            binding["subjects"].as_array().unwrap().iter().filter(|s| s["kind"] == "Group").map(|s| &s["name"]).collect();
        lines.insert(serde_json::json!({"kind": "ClusterRoleBinding", "name": binding["metadata"]["name"], "role": binding["roleRef"]["name"], "groups": groups}).to_string());
    }
    let made = lines.into_iter().map(|line| line + "\n").collect::<String>();
    up_to_date(&format!("src/api/data/builtin-{MINOR}.jsonl"), &made);
}

/// The rules of a role, those of the roles that it aggregates included.
fn collect(role: &Value, all: &[Value], rules: &mut Vec<Value>, depth: usize) {
    for rule in role["rules"].as_array().into_iter().flatten() {
        if !rules.contains(rule) {
            rules.push(rule.clone());
        }
    }
    let selectors = role["aggregationRule"]["clusterRoleSelectors"].as_array().into_iter().flatten();
    for labels in selectors.filter_map(|selector| selector["matchLabels"].as_object()) {
        for other in all.iter().filter(|other| depth < 8 && other["metadata"]["name"] != role["metadata"]["name"]) {
            if labels.iter().all(|(key, value)| &other["metadata"]["labels"][key] == value) {
                collect(other, all, rules, depth + 1);
            }
        }
    }
}
