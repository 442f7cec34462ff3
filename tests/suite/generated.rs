//! The data files in `src/api/data` are what Kubernetes' own files say. `UPDATE=1 cargo test generated`
//! writes them again; a minor whose Kubernetes module is not in the Go module cache is skipped with the reason
//! (`go mod download k8s.io/kubernetes@VERSION` fetches it).
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rolecall::rbac::Rule;
use serde::Deserialize;
use serde_json::Value;

/// The patch release that each minor's data are taken from.
const VERSIONS: [(&str, &str); 7] = [
    ("1.31", "v1.31.14"),
    ("1.32", "v1.32.13"),
    ("1.33", "v1.33.13"),
    ("1.34", "v1.34.4"),
    ("1.35", "v1.35.4"),
    ("1.36", "v1.36.3"),
    ("1.37", "v1.37.2"),
];

#[test]
fn every_minor_has_a_version() {
    assert_eq!(VERSIONS.map(|(minor, _)| minor), rolecall::api::MINORS);
    assert_eq!(rolecall::api::MINORS.last(), Some(&rolecall::api::DEFAULT_MINOR));
}

#[test]
fn served_resources_are_those_of_kubernetes_discovery() {
    for (minor, version) in VERSIONS {
        match module("k8s.io/kubernetes", version) {
            Some(module) => {
                let text = served(&module.join("api/discovery"), version);
                compare(&format!("served-{minor}.tsv"), &text);
            }
            None => eprintln!("skipped served-{minor}.tsv: k8s.io/kubernetes@{version} is not in the module cache"),
        }
    }
}

#[test]
fn served_resources_are_those_of_the_reference_copy() {
    let reference = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/reference/discovery");
    if reference.is_dir() {
        assert_eq!(served(&reference, "v1.36.3"), read(&data("served-1.36.tsv")));
    } else {
        eprintln!("skipped: ../shared/reference/discovery is not there");
    }
}

#[test]
fn builtin_policy_is_that_of_kubernetes_bootstrap() {
    for (minor, version) in VERSIONS {
        match module("k8s.io/kubernetes", version) {
            Some(module) => {
                let folder = module.join("plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata");
                compare(&format!("builtin-{minor}.txt"), &builtin(&folder, version));
            }
            None => eprintln!("skipped builtin-{minor}.txt: k8s.io/kubernetes@{version} is not in the module cache"),
        }
    }
}

/// The folder of a module's version in the Go module cache.
pub fn module(name: &str, version: &str) -> Option<PathBuf> {
    let cache = match (std::env::var_os("GOMODCACHE"), std::env::var_os("GOPATH")) {
        (Some(cache), _) => PathBuf::from(cache),
        (None, Some(path)) => PathBuf::from(path).join("pkg/mod"),
        (None, None) => PathBuf::from(std::env::var_os("HOME")?).join("go/pkg/mod"),
    };
    Some(cache.join(format!("{name}@{version}"))).filter(|folder| folder.is_dir())
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api/data").join(name)
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn compare(name: &str, generated: &str) {
    let path = data(name);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, generated).unwrap();
    }
    assert!(read(&path) == generated, "{name} is stale: run UPDATE=1 cargo test");
}

fn header(version: &str, source: &str) -> String {
    format!("# Kubernetes {version}, {source}; written by tests/suite/generated.rs\n")
}

#[derive(Default)]
struct Resource {
    kind: String,
    singular: String,
    namespaced: bool,
    verbs: BTreeSet<String>,
    by_default: bool,
    /// In the server's order of preference.
    versions: Vec<String>,
    short_names: BTreeSet<String>,
}

/// Discovery as the table's lines, all versions of a group united. "By default" is what has a stable version: the
/// API servers of these minors serve no alpha version, and no beta version of a resource without a stable one
/// (`pkg/controlplane/instance.go`, `betaAPIGroupVersionsDisabledByDefault`).
fn served(folder: &Path, version: &str) -> String {
    let mut resources: BTreeMap<(String, String, String), Resource> = BTreeMap::new();
    let core: Value = serde_json::from_str(&read(&folder.join("api__v1.json"))).unwrap();
    let kinds: BTreeMap<&str, (&str, &str)> = items(&core, "resources")
        .iter()
        .map(|entry| (text(entry, "name"), (text(entry, "kind"), text(entry, "singularName"))))
        .collect();
    for entry in items(&core, "resources") {
        let (resource, subresource) = text(entry, "name").split_once('/').unwrap_or((text(entry, "name"), ""));
        let (kind, singular) = kinds.get(resource).copied().unwrap();
        let known = resources.entry((String::new(), resource.into(), subresource.into())).or_default();
        (known.kind, known.singular) = (kind.into(), singular.into());
        known.namespaced = entry["namespaced"].as_bool().unwrap();
        known.by_default = true;
        known.verbs.extend(words(entry, "verbs"));
        known.versions = vec!["v1".to_owned()];
        if entry.get("shortNames").is_some() {
            known.short_names.extend(words(entry, "shortNames"));
        }
    }
    let groups: Value = serde_json::from_str(&read(&folder.join("aggregated_v2.json"))).unwrap();
    for group in items(&groups, "items") {
        for version in items(group, "versions") {
            let name = text(version, "version");
            let stable = !name.contains("alpha") && !name.contains("beta");
            for main in items(version, "resources") {
                let subresources = main.get("subresources").and_then(Value::as_array).into_iter().flatten();
                for (entry, subresource) in
                    std::iter::once((main, "")).chain(subresources.map(|sub| (sub, text(sub, "subresource"))))
                {
                    let key =
                        (text(&group["metadata"], "name").into(), text(main, "resource").into(), subresource.into());
                    let known = resources.entry(key).or_default();
                    known.kind = text(&main["responseKind"], "kind").into();
                    known.singular = text(main, "singularResource").into();
                    known.namespaced = text(main, "scope") == "Namespaced";
                    known.by_default |= stable;
                    known.verbs.extend(words(entry, "verbs"));
                    known.versions.push(name.to_owned());
                    if entry.get("shortNames").is_some() {
                        known.short_names.extend(words(entry, "shortNames"));
                    }
                }
            }
        }
    }
    let dash = |text: &str| {
        if text.is_empty() { "-".to_owned() } else { text.to_owned() }
    };
    let mut lines = header(version, "api/discovery");
    lines.push_str(
        "# group\tresource\tsubresource\tkind\tsingular\tscope\tverbs\tavailability\tversions\tshort names\n",
    );
    for ((group, resource, subresource), entry) in resources {
        let fields = [
            dash(&group),
            resource,
            dash(&subresource),
            entry.kind,
            dash(&entry.singular),
            if entry.namespaced { "namespaced" } else { "cluster" }.into(),
            entry.verbs.into_iter().collect::<Vec<_>>().join(","),
            if entry.by_default { "default" } else { "optional" }.into(),
            entry.versions.join(","),
            dash(&entry.short_names.into_iter().collect::<Vec<_>>().join(",")),
        ];
        lines.push_str(&fields.join("\t"));
        lines.push('\n');
    }
    lines
}

fn items<'a>(value: &'a Value, key: &str) -> &'a Vec<Value> {
    value[key].as_array().unwrap()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn words(value: &Value, key: &str) -> Vec<String> {
    items(value, key).iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[derive(Deserialize)]
struct List {
    items: Vec<Object>,
}

/// A role or a binding.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Object {
    metadata: Metadata,
    rules: Option<Vec<Rule>>,
    aggregation_rule: Option<AggregationRule>,
    role_ref: Option<RoleRef>,
    subjects: Option<Vec<Subject>>,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    namespace: Option<String>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AggregationRule {
    cluster_role_selectors: Vec<Selector>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Selector {
    match_labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct RoleRef {
    kind: String,
    name: String,
}

#[derive(Deserialize)]
struct Subject {
    kind: String,
    name: String,
    namespace: Option<String>,
}

fn builtin(folder: &Path, version: &str) -> String {
    let objects = |name: &str| -> Vec<Object> {
        let text = read(&folder.join(name));
        serde_saphyr::from_str::<List>(&text).unwrap_or_else(|error| panic!("{name}: {error}")).items
    };
    let mut roles: Vec<Object> =
        ["cluster-roles.yaml", "controller-roles.yaml"].into_iter().flat_map(objects).collect();
    let cluster_roles = roles.len();
    roles.extend(objects("namespace-roles.yaml"));
    let mut bindings: Vec<Object> =
        ["cluster-role-bindings.yaml", "controller-role-bindings.yaml"].into_iter().flat_map(objects).collect();
    bindings.extend(objects("namespace-role-bindings.yaml"));

    let mut text = header(version, "bootstrappolicy/testdata");
    for role in &roles {
        let (namespace, name) = place(&role.metadata);
        text.push_str(&format!("role {namespace} {name} {}\n", labels(&role.metadata.labels)));
        for selector in role.aggregation_rule.iter().flat_map(|rule| &rule.cluster_role_selectors) {
            text.push_str(&format!("  aggregates {}\n", labels(&selector.match_labels)));
        }
        let mut written = BTreeSet::new();
        for rule in effective_rules(role, roles.get(..cluster_roles).unwrap(), 0) {
            let json = serde_json::to_string(rule).unwrap();
            assert!(!json.contains(' '), "the format has one word a rule: {json}");
            // Aggregation through several ways gives the same rule several times.
            if written.insert(json.clone()) {
                text.push_str(&format!("  {json}\n"));
            }
        }
    }
    for binding in &bindings {
        let (namespace, name) = place(&binding.metadata);
        let role = binding.role_ref.as_ref().unwrap();
        text.push_str(&format!("binding {namespace} {name} {} {}\n", role.kind, role.name));
        for subject in binding.subjects.iter().flatten() {
            let namespace = subject.namespace.as_deref().unwrap_or("-");
            text.push_str(&format!("  {} {namespace} {}\n", subject.kind, subject.name));
        }
    }
    text
}

fn labels(labels: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if pairs.is_empty() { "-".to_owned() } else { pairs.join(",") }
}

fn place(metadata: &Metadata) -> (&str, &str) {
    (metadata.namespace.as_deref().unwrap_or("-"), &metadata.name)
}

/// The role's own rules, or those of the roles that its aggregation selects.
fn effective_rules<'a>(role: &'a Object, all: &'a [Object], depth: usize) -> Vec<&'a Rule> {
    assert!(depth < 8, "aggregation does not end");
    let Some(aggregation) = &role.aggregation_rule else {
        return role.rules.iter().flatten().collect();
    };
    let selected = |other: &&Object| {
        let has = |(key, value): (&String, &String)| other.metadata.labels.get(key) == Some(value);
        aggregation.cluster_role_selectors.iter().any(|selector| selector.match_labels.iter().all(has))
    };
    all.iter().filter(selected).flat_map(|other| effective_rules(other, all, depth + 1)).collect()
}
