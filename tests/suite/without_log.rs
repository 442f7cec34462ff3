//! What is said of manifests without a log: every kind of dead grant, whether it is noise or broken, and silence on
//! what looks wrong and is right (`fixtures/traps`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rolecall::analysis::{Options, Platform};
use rolecall::finding::Finding;
use rolecall::rules;

use crate::common;

/// The rules that find faults in what is written.
const OF_MANIFESTS: [&str; 8] = ["RC167", "RC168", "RC169", "RC170", "RC172", "RC173", "RC191", "RC192"];

fn fixtures(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(path)
}

fn findings(folder: &Path) -> Vec<Finding> {
    rules::run(&common::load(&[common::text(folder)], &[]).assess(&Options::default()))
}

/// Messages of a rule, in order of place.
fn messages(folder: &str, rule: &str) -> Vec<String> {
    let mut found = findings(&fixtures(folder));
    found.retain(|finding| finding.rule == rule);
    found.sort_by_key(|finding| (finding.location.line, finding.location.column));
    found.into_iter().map(|finding| finding.message).collect()
}

#[test]
fn what_looks_wrong_and_is_right_is_not_told() {
    let traps = common::entries(&fixtures("traps"));
    assert!(traps.len() > 10);
    for trap in traps {
        let told: Vec<String> = findings(&trap)
            .into_iter()
            .filter(|finding| OF_MANIFESTS.contains(&finding.rule.as_str()))
            .map(|finding| format!("{} {}", finding.rule, finding.message))
            .collect();
        assert!(told.is_empty(), "{}:\n{}", trap.display(), told.join("\n"));
    }
}

#[test]
fn every_kind_of_dead_grant_is_told_with_what_was_meant() {
    // What is named, why it is dead, and whether what was meant is missing.
    let expected = [
        ("`deployments`", "apiGroup \"\" has no resource deployments; use deployments in apiGroup \"apps\"", "broken"),
        ("`statefulset`", "use statefulsets", "broken"),
        ("`ConfigMap`", "use configmaps", "broken"),
        ("verb `put` on `services`", "put is no verb of services; use update", "broken"),
        ("verb `describe` on `endpoints`", "describe is no verb of endpoints; use get", "noise"),
        ("verb `list` on `pods/exec`", "serves create, get and not list", "noise"),
        ("`configmaps/status`", "configmaps/status does not exist", "noise"),
        ("`ingresses`", "removed in Kubernetes 1.22; use apiGroup \"networking.k8s.io\"", "broken"),
        ("`pods/*`", "matches only a subresource that is called \"*\"", "broken"),
        ("`*/*`", "matches only a subresource that is called \"*\"", "broken"),
        ("`secrets`", "no API group is called \"core\"; use apiGroup \"\"", "broken"),
        ("`widget`", "use widgets", "broken"),
        ("the whole entry", "it has no verbs", "such an entry"),
        ("`/metrics`", "a RoleBinding grants nothing on non-resource URLs", "broken"),
        ("`nodes`", "cluster-scoped: a RoleBinding grants nothing on it", "broken"),
    ];
    let told = messages("rules/RC173/fires-each-kind", "RC173");
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    for (message, (what, why, standing)) in told.iter().zip(expected) {
        assert!(message.contains(what) && message.contains(why) && message.ends_with(standing), "{message}\n{why}");
    }
}

#[test]
fn what_another_grant_holds_is_noise() {
    let told = messages("rules/RC173/fires-noise", "RC173");
    let standings: BTreeSet<&str> = told.iter().filter_map(|message| message.rsplit(": ").next()).collect();
    assert_eq!((told.len(), standings), (3, BTreeSet::from(["noise"])), "{told:#?}");
}

#[test]
fn an_account_that_is_missing_is_broken_unless_another_holds_the_same() {
    let renamed = messages("rules/RC169/fires-renamed", "RC169");
    assert!(matches!(renamed.as_slice(), [one] if one.contains("`op`") && one.ends_with("broken")), "{renamed:?}");
    let leftover = messages("rules/RC169/fires-leftover", "RC169");
    assert!(matches!(leftover.as_slice(), [one] if one.ends_with("noise")), "{leftover:?}");
}

#[test]
fn a_duplicate_points_at_the_smaller_entry_and_names_the_wider() {
    let mut covered = findings(&fixtures("rules/RC170/fires-covered"));
    covered.retain(|finding| finding.rule == "RC170");
    let [finding] = covered.as_slice() else { panic!("{covered:#?}") };
    assert!(finding.message.contains("is covered by entry 2"), "{}", finding.message);
    let wider = finding.related.iter().find(|place| place.label == "rule entry 2");
    let line = wider.and_then(|place| place.location.as_ref()).map(|location| location.line);
    assert_eq!(line, Some(finding.location.line + 1));
    assert_eq!(messages("rules/RC170/fires-twice", "RC170").len(), 1);
    let token = messages("rules/RC170/fires-token-twice", "RC170");
    assert!(token.iter().all(|message| message.contains("`get` stands twice")), "{token:?}");
}

#[test]
fn openshift_checks_the_finalizers_of_owners() {
    let folder = common::text(&fixtures("rules/RC192/quiet-owner-finalizers"));
    let told = |platform| {
        let assessments =
            common::load(std::slice::from_ref(&folder), &[]).assess(&Options { platform, ..Options::default() });
        let findings = rules::run(&assessments).into_iter().filter(|finding| finding.rule == "RC192");
        findings.map(|finding| finding.permission).collect::<Vec<_>>()
    };
    assert!(told(Platform::Vanilla).is_empty());
    assert_eq!(told(Platform::OpenShift), ["update widgets/finalizers"]);
}
