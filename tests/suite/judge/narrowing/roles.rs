//! The roles of the cases, read twice, and the pairs that they make.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rolecall::manifest::{self, PolicyRule, RoleKind};
use rolecall::rbac::{Request, Rule, Scope};
use rolecall::source::SourceMap;
use serde_json::{Value, json};

use crate::common::{entries, shared};
use crate::judge::oracle::Oracle;

/// Kind and name of a role.
pub(crate) type Key = (String, String);

/// The roles of one file, as rolecall reads them and as another YAML reader does.
pub(crate) struct Side {
    pub(crate) held: Vec<(Key, Scope, Rule)>,
    pub(crate) objects: Vec<(Key, Value)>,
}

impl Side {
    pub(crate) fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let objects: Vec<Value> = if text.lines().all(|line| line.is_empty() || line.starts_with('#')) {
            Vec::new()
        } else {
            serde_saphyr::from_multiple(&text).unwrap()
        };
        let key = |object: &Value| {
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            (text(&object["kind"]), text(&object["metadata"]["name"]))
        };
        let mut objects: Vec<(Key, Value)> = objects.into_iter().map(|object| (key(&object), object)).collect();
        let mut templates = 0;
        for (_, object) in &mut objects {
            // Names that are a template of a whole list (R19): nobody can say which, so neither side holds the entry.
            object["rules"].as_array_mut().unwrap().retain(|rule| {
                templates += usize::from(rule["resourceNames"].is_string());
                !rule["resourceNames"].is_string()
            });
        }
        let mut sources = SourceMap::default();
        let id = sources.add("roles.yaml", text);
        let reading = manifest::read(&sources, id);
        assert_eq!(reading.diagnostics.len(), templates, "{}: {:?}", path.display(), reading.diagnostics);
        assert_eq!(reading.facts.roles.len(), objects.len(), "{}", path.display());
        let held = reading.facts.roles.iter().flat_map(|role| {
            let (kind, scope) = match role.kind {
                RoleKind::ClusterRole => ("ClusterRole", Scope::Cluster),
                RoleKind::Role => ("Role", Scope::Namespace(namespace(role.namespace.as_ref().map(|n| n.as_str())))),
            };
            let key = (kind.to_owned(), role.name.value.clone());
            role.rules.iter().map(PolicyRule::to_rule).map(move |rule| (key.clone(), scope.clone(), rule))
        });
        Self { held: held.collect(), objects }
    }

    /// The part of one role.
    pub(super) fn only(&self, key: &Key) -> Self {
        Self {
            held: self.held.iter().filter(|(own, _, _)| own == key).cloned().collect(),
            objects: self.objects.iter().filter(|(own, _)| own == key).cloned().collect(),
        }
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = (&Scope, &Rule)> {
        self.held.iter().map(|(_, scope, rule)| (scope, rule))
    }

    /// What Kubernetes allows a user to whom every role is bound, each where it holds.
    pub(super) fn allowed(&self, oracle: &mut Oracle, requests: &[Request]) -> Vec<bool> {
        let mut question = json!({"ask": "authorize", "user": {"name": "u"}, "requests": requests});
        let mut lists: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for (index, (key, object)) in self.objects.iter().enumerate() {
            // Two with one name are two variants of a chart: both count.
            let name = format!("r{index}");
            let mut role = object.clone();
            role["metadata"]["name"] = name.as_str().into();
            let mut binding = json!({
                "metadata": {"name": name}, "roleRef": {"kind": key.0, "name": name},
                "subjects": [{"kind": "User", "name": "u"}],
            });
            if key.0 == "Role" {
                let namespace = namespace(object["metadata"]["namespace"].as_str());
                role["metadata"]["namespace"] = namespace.as_str().into();
                binding["metadata"]["namespace"] = namespace.into();
                lists.entry("roles").or_default().push(role);
                lists.entry("roleBindings").or_default().push(binding);
            } else {
                lists.entry("clusterRoles").or_default().push(role);
                lists.entry("clusterRoleBindings").or_default().push(binding);
            }
        }
        for (list, objects) in lists {
            question[list] = objects.into();
        }
        let answers = oracle.ask(&question);
        answers.as_array().unwrap().iter().map(|answer| answer["allowed"].as_bool().unwrap()).collect()
    }
}

pub(crate) fn namespace(named: Option<&str>) -> String {
    named.unwrap_or("own").to_owned()
}

/// Roles before and after a change.
pub(super) struct Pair {
    pub(super) title: String,
    pub(super) before: Side,
    pub(super) after: Side,
    /// The literal lists that come with it, of what was lost and of what was given back.
    pub(super) removed: Option<String>,
    pub(super) given_back: Option<String>,
}

/// The pairs of both collections; `None` where they are absent.
pub(super) fn pairs() -> Option<Vec<Pair>> {
    let (narrowing, regressions) = (shared("cases/narrowing")?, shared("cases/regressions")?);
    let mut pairs = Vec::new();
    let pair = |case: &Path, what: &str, before: &str, after: &str| Pair {
        title: format!("{}{what}", case.file_name().unwrap().display()),
        before: Side::read(&case.join(format!("{before}.roles.yaml"))),
        after: Side::read(&case.join(format!("{after}.roles.yaml"))),
        removed: None,
        given_back: None,
    };
    let list = |case: &Path, name: &str| Some(fs::read_to_string(case.join(name)).unwrap());
    for case in entries(&narrowing).into_iter().filter(|path| path.is_dir()) {
        // Some cases tell of roles that were written anew elsewhere, or that no file holds.
        if !case.join("after.roles.yaml").exists() {
            println!("not a pair: {}", case.file_name().unwrap().display());
            continue;
        }
        let removed = list(&case, "expected_excess.jsonl");
        pairs.push(Pair { removed, ..pair(&case, "", "before", "after") });
    }
    for case in entries(&regressions).into_iter().filter(|path| path.is_dir()) {
        let removed = list(&case, "expected_excess.jsonl");
        pairs.push(Pair { removed, ..pair(&case, "", "before", "reduced") });
        let given_back = list(&case, "must_keep.jsonl");
        pairs.push(Pair { given_back, ..pair(&case, " given back", "reduced", "restored") });
    }
    Some(pairs)
}
