//! Built-in roles and bindings, and what aggregation selects, against the functions that create and fill them.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;
use rolecall::api::builtin;
use rolecall::graph::Graph;
use rolecall::manifest::{LabelSelector, RoleKind};
use rolecall::rbac::{PermissionSet, Rule};
use serde_json::{Value, json};

use super::authorize::package;
use super::oracle::Oracle;
use super::runner;
use crate::common::PINNED_MINOR;

fn with_kind(kind: &str, objects: &Value) -> Vec<Value> {
    let typed = |object: &Value| {
        let mut object = object.clone();
        object["kind"] = kind.into();
        object["apiVersion"] = "rbac.authorization.k8s.io/v1".into();
        object
    };
    objects.as_array().unwrap().iter().map(typed).collect()
}

#[test]
fn built_in_roles_and_bindings_are_those_of_the_release() {
    let Some(mut oracle) = Oracle::start() else { return };
    let version = oracle.ask(&json!({"ask": "version"}));
    assert!(version["kubernetes"].as_str().unwrap().starts_with(&format!("v{PINNED_MINOR}.")), "{version}");
    let theirs = oracle.ask(&json!({"ask": "builtin"}));
    let cluster_roles = with_kind("ClusterRole", &theirs["clusterRoles"]);
    let roles = with_kind("Role", &theirs["roles"]);
    // Aggregated roles are filled by rolecall's own aggregation out of theirs.
    let package = package(cluster_roles.iter().chain(&roles));
    let graph = Graph::build(&package, PINNED_MINOR);
    let mut compared = 0;
    for (kind, objects) in [(RoleKind::ClusterRole, &cluster_roles), (RoleKind::Role, &roles)] {
        for object in objects {
            let name = object["metadata"]["name"].as_str().unwrap();
            let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
            let entries = graph.held_by_role(kind, namespace, name);
            let theirs: Vec<&Rule> =
                entries.iter().flat_map(|held| held.entries.iter().map(|entry| &entry.rule)).collect();
            let ours = match kind {
                RoleKind::ClusterRole => builtin::cluster_role(PINNED_MINOR, name),
                RoleKind::Role => builtin::role(PINNED_MINOR, namespace, name),
            };
            let ours = ours.unwrap_or_else(|| panic!("{name} is not known"));
            assert!(PermissionSet::from_rules(theirs) == PermissionSet::from_rules(&ours.rules), "{namespace} {name}");
            assert!(builtin::is_builtin_name(name), "{name}");
            compared += 1;
        }
    }
    let ours = builtin::default_bindings(PINNED_MINOR);
    let bindings: Vec<&Value> =
        ["clusterRoleBindings", "roleBindings"].iter().flat_map(|kind| theirs[*kind].as_array().unwrap()).collect();
    for binding in &bindings {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let namespace = binding["metadata"]["namespace"].as_str();
        let own = ours
            .iter()
            .find(|own| own.namespace.as_deref() == namespace && own.name == text(&binding["metadata"]["name"]));
        let own = own.unwrap_or_else(|| panic!("{binding} is not known"));
        assert_eq!(
            (&own.role_kind, &own.role_name),
            (&text(&binding["roleRef"]["kind"]), &text(&binding["roleRef"]["name"]))
        );
        let subjects: Vec<(String, String)> = binding["subjects"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|subject| (text(&subject["kind"]), text(&subject["name"])))
            .collect();
        let known: Vec<(String, String)> =
            own.subjects.iter().map(|subject| (subject.kind.clone(), subject.name.clone())).collect();
        assert_eq!(known, subjects, "{}", own.name);
    }
    assert_eq!(ours.len(), bindings.len());
    println!("{compared} built-in roles and {} bindings of {version}: all equal", bindings.len());
    assert!(compared > 60);
}

fn labels() -> impl Strategy<Value = BTreeMap<String, String>> {
    let word = |words: &'static [&'static str]| select(words).prop_map(str::to_owned);
    btree_map(word(&["a", "b", "x/y"]), word(&["true", "false", ""]), 0..3)
}

#[test]
fn label_selectors_pick_what_kubernetes_picks() {
    let Some(oracle) = Oracle::start() else { return };
    let oracle = std::cell::RefCell::new(oracle);
    let compared = std::cell::Cell::new(0);
    let values = vec(select(&["true", "false", ""][..]).prop_map(str::to_owned), 1..3);
    let with_values = (select(&["a", "b"][..]), select(&["In", "NotIn"][..]), values);
    let without = (select(&["a", "b"][..]), select(&["Exists", "DoesNotExist"][..]), Just(vec![]));
    let expression = prop_oneof![with_values, without];
    let selectors = vec((labels(), vec(expression, 0..3)), 1..6);
    let result = runner(300).run(&(selectors, vec(labels(), 1..10)), |(selectors, sets)| {
        let ours: Vec<LabelSelector> = selectors
            .iter()
            .map(|(labels, expressions)| LabelSelector {
                match_labels: labels.clone(),
                match_expressions: expressions
                    .iter()
                    .map(|(key, operator, values)| ((*key).to_owned(), (*operator).to_owned(), values.clone()))
                    .collect(),
            })
            .collect();
        let asked: Vec<Value> = selectors
            .iter()
            .map(|(labels, expressions)| {
                let expressions: Vec<Value> = expressions
                    .iter()
                    .map(|(key, operator, values)| json!({"key": key, "operator": operator, "values": values}))
                    .collect();
                json!({"matchLabels": labels, "matchExpressions": expressions})
            })
            .collect();
        let theirs = oracle.borrow_mut().ask(&json!({"ask": "selects", "owner": asked, "servant": sets}));
        for (selector, theirs) in ours.iter().zip(theirs.as_array().unwrap()) {
            for (set, theirs) in sets.iter().zip(theirs.as_array().unwrap()) {
                prop_assert_eq!(selector.matches(set), theirs.as_bool().unwrap(), "{:?} on {:?}", selector, set);
                compared.set(compared.get() + 1);
            }
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    println!("{} selections compared, 0 different", compared.get());
}
