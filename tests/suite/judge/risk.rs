//! Small dangerous roles (`../shared/cases/risk-fixtures`): each is read, what each subject holds is what Kubernetes
//! allows it at every point, and the rules speak of what the answers call dangerous.

use std::collections::BTreeSet;
use std::fs;

use rolecall::analysis::Options;
use rolecall::api::Table;
use rolecall::finding::Severity;
use rolecall::rbac::{Request, Rule, Scope};
use serde_json::{Value, json};

use super::authorize::allows;
use super::narrowing::requests;
use super::oracle::Oracle;
use crate::common::{PINNED_MINOR, load, shared, text};

/// The objects of a file in the lists of a question; those of every cluster beside them.
fn question(yaml: &str, builtin: &Value) -> Value {
    // A document with a lone `=` is YAML that few readers take; it grants nothing.
    let documents = yaml.split("\n---\n").map(|document| serde_saphyr::from_str::<Value>(document).unwrap());
    let mut lists = json!({
        "clusterRoles": builtin["clusterRoles"], "clusterRoleBindings": builtin["clusterRoleBindings"],
        "roles": [], "roleBindings": [],
    });
    for document in documents {
        let items = document["items"].as_array().cloned().unwrap_or_else(|| vec![document]);
        for item in items {
            let list = match item["kind"].as_str() {
                Some("ClusterRole") => "clusterRoles",
                Some("ClusterRoleBinding") => "clusterRoleBindings",
                Some("Role") => "roles",
                Some("RoleBinding") => "roleBindings",
                // What the Operator Lifecycle Manager makes of it.
                Some("ClusterServiceVersion") => {
                    let granted = &item["spec"]["install"]["spec"]["clusterPermissions"][0];
                    let account = json!({
                        "kind": "ServiceAccount", "name": granted["serviceAccountName"], "namespace": "default-of-package",
                    });
                    push(&mut lists, "clusterRoles", json!({"metadata": {"name": "olm"}, "rules": granted["rules"]}));
                    let binding = json!({
                        "metadata": {"name": "olm"}, "roleRef": {"kind": "ClusterRole", "name": "olm"},
                        "subjects": [account],
                    });
                    push(&mut lists, "clusterRoleBindings", binding);
                    continue;
                }
                _ => continue,
            };
            push(&mut lists, list, item);
        }
    }
    lists
}

fn push(lists: &mut Value, list: &str, object: Value) {
    lists[list].as_array_mut().unwrap().push(object);
}

/// Severities that an answer allows.
fn expected(danger: &str) -> &'static [Severity] {
    use Severity::{Critical, High, Info, Medium};
    match danger {
        "critical" => &[Critical],
        "high" => &[High],
        "high/med ns" => &[High, Medium],
        "medium" => &[Medium],
        "info at most" => &[Info],
        "no danger finding, no crash" => &[],
        other => panic!("an answer of a new kind: {other}"),
    }
}

#[test]
fn small_dangerous_roles_hold_what_kubernetes_allows_and_are_spoken_of() {
    let Some(folder) = shared("cases/risk-fixtures") else { return };
    let mut oracle = Oracle::start();
    let builtin = oracle.as_mut().map(|oracle| oracle.ask(&json!({"ask": "builtin"})));
    let table = Table::for_minor(PINNED_MINOR).unwrap();
    let answers = fs::read_to_string(folder.join("answers.tsv")).unwrap();
    let (mut fixtures, mut subjects, mut points, mut allowed) = (0, 0, 0, 0);
    let mut silent = Vec::new();
    for line in answers.lines().skip(1) {
        let mut fields = line.split('\t');
        let (file, danger) = (fields.next().unwrap(), fields.nth(1).unwrap());
        let path = folder.join(file);
        let loaded = load(&[text(&path)], &[]);
        assert_eq!(loaded.inputs.documents_unreadable, 0, "{file}: {:?}", loaded.inputs.diagnostics);
        assert!(loaded.inputs.documents_read > 0, "{file}");
        fixtures += 1;

        let assessments = loaded.assess(&Options::default());
        let findings = rolecall::rules::run(&assessments);
        let most = findings.iter().map(|finding| finding.severity).max();
        let answer = expected(danger);
        match (most, answer) {
            (None, []) => {}
            (None, _) => silent.push(file.to_owned()),
            (Some(most), answer) => assert!(answer.contains(&most), "{file}: {most} where {danger} is expected"),
        }

        let (Some(oracle), Some(builtin)) = (oracle.as_mut(), &builtin) else { continue };
        let mut question = question(&fs::read_to_string(&path).unwrap(), builtin);
        question["ask"] = "authorize".into();
        for assessment in assessments.iter().filter(|assessment| !assessment.subject.unbound) {
            let held: Vec<(Scope, Rule)> =
                assessment.grants.iter().map(|grant| (grant.scope.clone(), grant.rule.clone())).collect();
            let requests = requests(&table, &held.iter().map(|(scope, rule)| (scope, rule)).collect::<Vec<_>>());
            // A group is asked as somebody who is in it and nothing else.
            let subject = &assessment.subject;
            // A group belongs to no group.
            question["user"] = match subject.groups.as_slice() {
                [] => json!({"name": "member", "groups": [subject.name]}),
                groups => json!({"name": subject.user, "groups": groups}),
            };
            question["requests"] = serde_json::to_value(&requests).unwrap();
            let answers = oracle.ask(&question);
            let defaults = rolecall::api::builtin::authenticated_rules(PINNED_MINOR);
            let default = |request: &Request| defaults.iter().any(|rule| rule.allows(request));
            for (request, answer) in requests.iter().zip(answers.as_array().unwrap()) {
                // What every authenticated user holds is no part of the subject's own.
                let theirs = answer["allowed"].as_bool().unwrap() && (!default(request) || allows(&held, request));
                assert_eq!(allows(&held, request), theirs, "{file}: {} asks {request:?}", assessment.subject.name);
                points += 1;
                allowed += usize::from(theirs);
            }
            subjects += 1;
        }
    }
    println!(
        "{fixtures} fixtures, {subjects} subjects, {points} points, {allowed} of them allowed, 0 different; no rule speaks of {silent:?}"
    );
    // A role for `edit` is held by people, who are no subjects of a package.
    assert_eq!(
        silent.iter().map(String::as_str).collect::<BTreeSet<_>>(),
        ["25-aggregate-to-edit-secrets-exec.yaml"].into()
    );
}
