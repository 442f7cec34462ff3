//! Every Role that rolecall writes for a recorded operator: valid to the API server's validation, sufficient and
//! minimal to its authorizer.

use rolecall::analysis::{Names, Options};
use rolecall::api::builtin;
use rolecall::audit::{Decision, Usage};
use rolecall::graph::SubjectKey;
use rolecall::rbac::{Request, Rule, Scope};
use rolecall::rewrite::role_yaml;
use serde_json::{Value, json};

use super::oracle::Oracle;
use crate::common::{PINNED_MINOR, assess, load, runs, shared, text};
use crate::recorded::without_each_entry;

/// The authorized calls of a user that are not everybody's anyway.
fn calls(usage: &Usage, user: &str) -> Vec<Request> {
    let defaults = builtin::authenticated_rules(PINNED_MINOR);
    let own = usage.calls.iter().filter(|call| call.user == user && call.decision == Decision::Allowed);
    own.map(|call| call.request.clone()).filter(|request| !defaults.iter().any(|rule| rule.allows(request))).collect()
}

/// How many of the requests Kubernetes refuses the user under these objects.
fn refused(oracle: &mut Oracle, objects: &[Value], key: &SubjectKey, requests: &[Request]) -> usize {
    let of = |kind: &str| objects.iter().filter(|object| object["kind"] == kind).collect::<Vec<_>>();
    let question = json!({
        "ask": "authorize", "roles": of("Role"), "clusterRoles": of("ClusterRole"), "roleBindings": of("RoleBinding"),
        "clusterRoleBindings": of("ClusterRoleBinding"), "user": {"name": key.user()},
        "requests": requests,
    });
    oracle.ask(&question).as_array().unwrap().iter().filter(|answer| answer["allowed"] == false).count()
}

/// One role and binding for each rule.
fn objects(rules: &[(Scope, Rule)], user: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    for (at, (scope, rule)) in rules.iter().enumerate() {
        let (kind, metadata) = match scope {
            Scope::Cluster => ("ClusterRole", json!({"name": at.to_string()})),
            Scope::Namespace(namespace) => ("Role", json!({"name": at.to_string(), "namespace": namespace})),
        };
        objects.push(json!({"kind": kind, "metadata": metadata, "rules": [rule]}));
        objects.push(json!({
            "kind": format!("{kind}Binding"), "metadata": metadata, "roleRef": {"kind": kind, "name": at.to_string()},
            "subjects": [{"kind": "User", "name": user}],
        }));
    }
    objects
}

#[test]
fn written_roles_are_valid_sufficient_and_minimal_to_kubernetes() {
    let Some(mut oracle) = Oracle::start() else { return };
    let Some(recorded) = shared("cases/recorded") else { return };
    let (mut roles, mut documents, mut replayed, mut entries) = (0, 0, 0, 0);
    for run in runs(&recorded) {
        for manifests in [vec![text(&run.manifests)], vec![]] {
            let loaded = load(&manifests, &[text(&run.log)]);
            let usage = loaded.usage.as_ref().unwrap();
            for subject in run.subjects() {
                let key = SubjectKey::parse(&subject);
                let requests = calls(usage, &key.user());
                for names in [Names::Shipped, Names::All] {
                    let what = format!("{}/{} {subject} manifests={}", run.operator, run.name, !manifests.is_empty());
                    let assessment =
                        assess(&loaded, &subject, Options { names, drop_unexercised: true, ..Options::default() });
                    let minimal = assessment.minimal.as_ref().unwrap();
                    let yaml = role_yaml::render(&assessment, minimal);
                    let written: Vec<Value> = serde_saphyr::from_multiple(&yaml).unwrap();
                    let problems = oracle.ask(&json!({"ask": "validate", "objects": written}));
                    for problem in problems.as_array().unwrap() {
                        assert_eq!(problem, &json!([]), "{what}: {yaml}");
                    }
                    assert_eq!(refused(&mut oracle, &written, &key, &requests), 0, "{what}: {yaml}");
                    for (entry, rest) in without_each_entry(minimal) {
                        let rest = objects(&rest, &key.user());
                        let refused = refused(&mut oracle, &rest, &key, &requests);
                        assert!(refused > 0, "{what}: without {entry} all is allowed");
                        entries += 1;
                    }
                    roles += 1;
                    documents += written.len();
                    replayed += requests.len();
                }
            }
        }
    }
    println!(
        "{roles} roles ({documents} objects) valid, {replayed} calls allowed, {entries} entries needed, by Kubernetes' code"
    );
    assert!(roles > 100 && entries > 5_000);
}
