//! What a dead grant was meant to be.

use crate::api::Table;

fn meant(table: &Table, group: &str, resource: &str, verb: &str) -> Vec<String> {
    let guesses = table.meant(group, resource, verb).into_iter().map(|guess| {
        let texts = guess.into_iter().map(|(group, resource, verb)| format!("{verb} {resource}.{group}"));
        texts.collect::<Vec<_>>().join("+")
    });
    guesses.collect()
}

#[test]
fn the_nearest_served_permissions_are_guessed() {
    let table = Table::for_minor("1.36").unwrap();
    for (group, resource, verb, expected) in [
        ("", "deployments", "get", vec!["get deployments.apps"]),
        ("core", "secrets", "get", vec!["get secrets."]),
        ("extensions", "ingresses", "put", vec!["update ingresses.networking.k8s.io"]),
        ("apps", "Deployment", "get", vec!["get deployments.apps"]),
        ("apps", "deployment", "get", vec!["get deployments.apps"]),
        ("", "services", "put", vec!["update services."]),
        ("", "pods/logs", "get", vec!["get pods/log."]),
        ("", "*/*", "get", vec!["get *."]),
        ("*", "pods", "describe", vec!["get pods.*"]),
        ("", "*", "describe", vec!["get *."]),
        ("core", "events", "create", vec!["create events.", "create events.events.k8s.io"]),
        ("", "deployments/finalizers", "update", vec!["update deployments/finalizers.apps"]),
        ("example.org/v1", "things", "get", vec!["get things.example.org"]),
        ("certificates.k8s.io", "certificatesigningrequests", "approve", vec!["approve signers.certificates.k8s.io"]),
        ("", "pods/exec", "list", vec![]),
        ("", "configmaps/status", "get", vec![]),
        ("policy", "podsecuritypolicies", "use", vec![]),
    ] {
        assert_eq!(meant(&table, group, resource, verb), expected, "{group} {resource} {verb}");
    }
    let of_pods = meant(&table, "", "pods/*", "create");
    assert!(
        matches!(of_pods.as_slice(), [all] if all.contains("create pods/exec.+create pods/portforward.")),
        "{of_pods:?}"
    );
}

#[test]
fn custom_resources_are_guessed_too() {
    let table = super::table();
    assert_eq!(meant(&table, "example.com", "widget", "get"), ["get widgets.example.com"]);
    assert_eq!(meant(&table, "example.com", "widgetshort/status", "patch"), ["patch widgets/status.example.com"]);
}
