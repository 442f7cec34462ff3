//! What the aggregation controller writes into ClusterRoles, against what rolecall says that they hold.

use std::time::Duration;

use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::api::{Api, ListParams};
use rolecall::api::builtin;
use rolecall::graph::{Graph, RoleNode};
use rolecall::manifest::RoleKind;
use rolecall::rbac::{PermissionSet, Rule};
use serde_json::{Value, json};

use super::on_a_cluster;
use super::review::create;
use crate::common::PINNED_MINOR;
use crate::judge::authorize::package;
use crate::judge::generate::Dice;

const CONTROLLER: &str = "clusterrole-aggregation-controller";

/// ClusterRoles that select each other, and built-in ones, by labels in every way.
fn cluster_roles() -> Vec<Value> {
    let mut dice = Dice(11);
    let mut roles = Vec::new();
    for at in 0..60_usize {
        let mut labels = json!({});
        for key in ["a", "b"] {
            if dice.below(2) == 0 {
                labels[key] = dice.of(&["x", "y", ""]).into();
            }
        }
        let role = dice.of(&["view", "edit", "admin"]);
        if dice.below(6) == 0 {
            labels[format!("rbac.authorization.k8s.io/aggregate-to-{role}")] = "true".into();
        }
        let rules = json!([{"apiGroups": ["x.io"], "resources": [format!("kind{at}")], "verbs": ["get"]}]);
        let mut object = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
            "metadata": {"name": format!("r{at}"), "labels": labels}, "rules": rules,
        });
        if at % 3 == 0 {
            let selectors: Vec<Value> = (0..=dice.below(2)).map(|_| selector(&mut dice)).collect();
            object["aggregationRule"] = json!({"clusterRoleSelectors": selectors});
        }
        roles.push(object);
    }
    roles
}

fn selector(dice: &mut Dice) -> Value {
    let key = dice.of(&["a", "b", "kubernetes.io/bootstrapping"]);
    let values = [dice.of(&["x", "y", ""])];
    match dice.below(7) {
        0 => json!({"matchLabels": {key: values[0]}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}),
        1 => json!({"matchExpressions": [{"key": key, "operator": "In", "values": values}]}),
        2 => json!({"matchExpressions": [{"key": key, "operator": "NotIn", "values": values}]}),
        3 => {
            json!({"matchExpressions": [{"key": "rbac.authorization.k8s.io/aggregate-to-view", "operator": "Exists"}]})
        }
        4 => json!({"matchExpressions": [{"key": key, "operator": "DoesNotExist"}], "matchLabels": {"a": "x"}}),
        5 => json!({"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-edit": "true"}}),
        _ => json!({"matchLabels": {"a": values[0]}}),
    }
}

fn rules_of(role: &ClusterRole) -> Vec<Rule> {
    let rules = role.rules.clone().unwrap_or_default();
    rules.iter().map(|rule| serde_json::from_value(serde_json::to_value(rule).unwrap()).unwrap()).collect()
}

#[test]
fn aggregated_roles_hold_what_the_controller_writes_into_them() {
    let objects = cluster_roles();
    let Some(theirs) = on_a_cluster(async |cluster, client| {
        for object in &objects {
            assert!(create(&client, object, false).await, "{object}");
        }
        cluster.add_controllers(CONTROLLER);
        let roles: Api<ClusterRole> = Api::all(client.clone());
        // Roles that take in each other need several rounds: settled when nothing changes for a while.
        let (mut settled, mut before) = (0, Vec::new());
        for _ in 0..1_200 {
            tokio::time::sleep(Duration::from_millis(250)).await;
            assert_eq!(cluster.obituary(), None);
            let now = roles.list(&ListParams::default()).await.unwrap().items;
            let filled = now.iter().any(|role| role.metadata.name.as_deref() == Some("admin") && role.rules.is_some());
            settled = if filled && now == before { settled + 1 } else { 0 };
            if settled == 8 {
                return now;
            }
            before = now;
        }
        panic!("the controller does not come to rest");
    }) else {
        return;
    };
    // Bound, so that the graph knows the built-in ones.
    let bindings = theirs.iter().map(|role| {
        let name = role.metadata.name.as_deref().unwrap();
        json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": "alice"}],
        })
    });
    let bindings: Vec<Value> = bindings.collect();
    let graph = Graph::build(&package(objects.iter().chain(&bindings)), PINNED_MINOR);
    let (mut compared, mut from_builtin) = (0, 0);
    for theirs in theirs.iter().filter(|role| role.aggregation_rule.is_some()) {
        let name = theirs.metadata.name.as_deref().unwrap();
        let held = graph.held_by_role(RoleKind::ClusterRole, "", name);
        let rules: Vec<Rule> =
            held.iter().flat_map(|held| held.entries.iter().map(|entry| entry.rule.clone())).collect();
        let (ours, written) = (PermissionSet::from_rules(&rules), PermissionSet::from_rules(&rules_of(theirs)));
        assert!(
            ours == written,
            "{name} {:?}: only ours {:?}, only theirs {:?}",
            theirs.aggregation_rule,
            rules.iter().filter(|rule| !rules_of(theirs).contains(rule)).collect::<Vec<_>>(),
            rules_of(theirs).iter().filter(|rule| !rules.contains(rule)).collect::<Vec<_>>(),
        );
        let built_in = |role: &RoleNode| builtin::cluster_role(PINNED_MINOR, &role.name).is_some();
        from_builtin += usize::from(held.iter().any(|held| held.contributor.is_some_and(built_in)));
        compared += 1;
    }
    println!("{compared} aggregated roles compared, {from_builtin} of them take in built-in ones, 0 different");
    assert!(compared >= 20 && from_builtin >= 3);
}
