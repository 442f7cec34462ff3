//! On every recorded log and account: the role that is written allows every authorised call and every check that was
//! passed, each of its entries has a use, a need or a stated reason, and the role made from it is itself. What it hands
//! out in roles of its own passes Kubernetes' escalation check.

use std::collections::BTreeSet;
use std::fs;

use rolecall::analysis::{Assessment, Known, MinimalRole, Options, verify};
use rolecall::audit::{Decision, What};
use rolecall::graph::SubjectKey;
use rolecall::rbac::{Authority, Request, Rule, Scope};
use rolecall::rewrite::role_yaml;
use serde_json::{Value, json};

use crate::common::{assess, load, rules_of, runs, shared, text};
use crate::judge::oracle::Oracle;
use crate::recorded::known;

fn authority(rules: &[(Scope, Rule)]) -> Authority {
    Authority::new(rules.iter().map(|(scope, rule)| (scope, rule)))
}

/// Entries that no call shows and that stand in a rule without a reason.
fn unreasoned(minimal: &MinimalRole, left: &BTreeSet<(Scope, Rule)>) -> Vec<Rule> {
    let mut unreasoned = Vec::new();
    for scoped in &minimal.scopes {
        for rule in &scoped.rules {
            for entry in rule.rule.singles() {
                let leftover = left.contains(&(scoped.scope.clone(), entry.clone()));
                if leftover && (rule.reason.is_empty() || !rule.unseen.contains(&entry)) {
                    unreasoned.push(entry);
                }
            }
        }
    }
    unreasoned
}

#[test]
fn a_written_role_loses_nothing_says_why_and_is_itself_when_written_again() {
    let Some(recorded) = shared("cases/recorded") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mut roles, mut entries, mut left_over) = (0, 0, 0);
    for run in runs(&recorded) {
        let manifests = text(&run.manifests);
        let loaded = load(std::slice::from_ref(&manifests), &[text(&run.log)]);
        let usage = loaded.usage.as_ref().unwrap();
        for subject in run.subjects() {
            for drop_unexercised in [false, true] {
                let options = || Options { drop_unexercised, ..Options::default() };
                let title = format!("{}/{} {subject} drop={drop_unexercised}", run.operator, run.name);
                let assessment = assess(&loaded, &subject, options());
                let minimal = assessment.minimal.as_ref().unwrap();
                let written = rules_of(minimal);
                let answer = verify(&written, None, &SubjectKey::parse(&subject), usage, &known(&loaded));
                assert!(answer.missing.is_empty(), "{title}: {:?}", answer.missing);
                assert!(answer.doubtful.is_empty(), "{title}: {:?}", answer.doubtful);
                let alone = Known { package: None, ..known(&loaded) };
                let answer_alone = verify(&written, None, &SubjectKey::parse(&subject), usage, &alone);
                assert!(answer_alone.missing.is_empty(), "{title}: {:?}", answer_alone.missing);
                assert!(answer_alone.doubtful.is_empty(), "{title}: {:?}", answer_alone.doubtful);
                let left = answer.leftover.iter().map(|l| (l.scope.clone(), l.rule.clone()));
                let may_be_needed = answer.may_be_needed.iter().map(|l| (l.scope.clone(), l.rule.clone()));
                let left: BTreeSet<_> = left.chain(may_be_needed).collect();
                let unreasoned = unreasoned(minimal, &left);
                assert!(unreasoned.is_empty(), "{title}: {unreasoned:?}");
                let again = again(folder.path(), &assessment, minimal, &text(&run.log), options());
                let (first, second) = (authority(&written), authority(&rules_of(&again)));
                let lost = first.subtract(&second);
                assert!(lost.is_empty() && second.subtract(&first).is_empty(), "{title}: {lost:?}");
                roles += 1;
                entries += written.iter().map(|(_, rule)| rule.singles().len()).sum::<usize>();
                left_over += left.len();
            }
        }
    }
    println!(
        "{roles} roles with {entries} entries: 0 calls lost, {left_over} entries kept for a reason, each again itself"
    );
}

/// The role made from the written one and the same log.
fn again(
    folder: &std::path::Path,
    assessment: &Assessment,
    minimal: &MinimalRole,
    log: &str,
    options: Options,
) -> MinimalRole {
    let file = folder.join("role.yaml");
    fs::write(&file, role_yaml::render(assessment, minimal)).unwrap();
    let loaded = load(&[text(&file)], &[log.to_owned()]);
    assess(&loaded, &assessment.subject.name, options).minimal.unwrap()
}

#[test]
fn what_is_handed_out_passes_kubernetes_escalation_check_under_the_written_role() {
    let (Some(recorded), Some(mut oracle)) = (shared("cases/recorded"), Oracle::start()) else { return };
    let (mut asked, mut freed) = (0, 0);
    for run in runs(&recorded) {
        let loaded = load(&[text(&run.manifests)], &[text(&run.log)]);
        let usage = loaded.usage.as_ref().unwrap();
        for subject in run.subjects() {
            let assessment = assess(&loaded, &subject, Options { drop_unexercised: true, ..Options::default() });
            let minimal = assessment.minimal.as_ref().unwrap();
            let authority = authority(&rules_of(minimal));
            let yaml = role_yaml::render(&assessment, minimal);
            let written: Vec<Value> = serde_saphyr::from_multiple(&yaml).unwrap();
            let of = |kind: &str| written.iter().filter(|object| object["kind"] == kind).collect::<Vec<_>>();
            let user = SubjectKey::parse(&subject).user();
            for call in usage.calls.iter().filter(|call| call.user == user && call.decision == Decision::Allowed) {
                let Request::Resource(request) = &call.request else { continue };
                for behind in call.behind.iter().filter(|behind| !behind.refused) {
                    let What::Rules { rules, .. } = &behind.what else { continue };
                    let name = if request.verb == "create" { String::new() } else { request.name.clone() };
                    let mut escalate = request.clone();
                    (escalate.verb, escalate.name) = ("escalate".to_owned(), name);
                    if authority.allows(&Request::Resource(escalate)) {
                        freed += 1;
                        continue;
                    }
                    let answer = oracle.ask(&json!({
                        "ask": "escalation", "roles": of("Role"), "clusterRoles": of("ClusterRole"),
                        "roleBindings": of("RoleBinding"), "clusterRoleBindings": of("ClusterRoleBinding"),
                        "user": {"name": user}, "servant": rules, "requests": [{"namespace": request.namespace}],
                    }));
                    // An update that is a no-op is not checked: nothing follows from what it did not need.
                    assert!(
                        answer["allowed"] == true,
                        "{}/{} {subject} {} {}: {answer}",
                        run.operator,
                        run.name,
                        request.verb,
                        request.name
                    );
                    asked += 1;
                }
            }
        }
    }
    println!("{asked} times rules that are handed out passed, {freed} times `escalate` freed of it");
    assert!(asked > 50);
}
