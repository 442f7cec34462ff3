//! Audit policies: read and evaluated by rolecall, against Kubernetes' own reader and evaluator.

use std::collections::{BTreeMap, BTreeSet};

use rolecall::analysis::Platform;
use rolecall::api::builtin;
use rolecall::audit::policy::{Policy, Requester, Stage};
use rolecall::graph::SubjectKey;
use rolecall::rbac::{NonResourceRequest, Request, ResourceRequest};
use rolecall::rewrite::audit_policy;
use serde_json::{Value, json};

use super::generate::Dice;
use super::oracle::Oracle;

const POLICIES: usize = 2_500;
const REQUESTS: usize = 60;

const USERS: [&str; 4] = ["alice", "system:serviceaccount:ns:op", "bob", ""];
const USER_GROUPS: [&str; 4] = ["system:authenticated", "system:serviceaccounts:ns", "dev", "*"];
const VERBS: [&str; 6] = ["get", "create", "watch", "*", "GET", ""];
const GROUPS: [&str; 5] = ["", "apps", "*", "x.io", "core"];
const PATTERNS: [&str; 16] = [
    "pods",
    "pods/log",
    "pods/*",
    "*/log",
    "*",
    "*/*",
    "events",
    "deployments/scale",
    "pods/",
    "/log",
    "",
    "*/",
    "/*",
    "Pods",
    "*/scale",
    "pods*",
];
const RESOURCES: [&str; 6] = ["pods", "events", "deployments", "", "*", "Pods"];
const SUBRESOURCES: [&str; 6] = ["", "", "log", "scale", "*", "status"];
const NAMES: [&str; 4] = ["a", "b", "", "*"];
const NAMESPACES: [&str; 4] = ["", "ns", "kube-system", "*"];
const URLS: [&str; 9] = ["*", "/", "/healthz", "/healthz*", "/healthz/*", "/metrics", "/*", "/a", "/healthz**"];
const PATHS: [&str; 8] = ["/", "/healthz", "/healthz/etcd", "/healthzx", "/metrics", "/a", "/b", "*"];
const STAGES: [&str; 5] = ["RequestReceived", "ResponseStarted", "ResponseComplete", "Panic", "Received"];

/// Texts of a rule: mostly none or few, so that rules match.
fn some(dice: &mut Dice, words: &[&str]) -> Vec<String> {
    let many = [0, 0, 1, 1, 2, 3][dice.below(6)];
    (0..many).map(|_| dice.of(words).to_owned()).collect()
}

fn rule(dice: &mut Dice) -> Value {
    let mut rule = json!({"level": dice.of(&["None", "Metadata", "Request", "RequestResponse"])});
    let mut put = |key: &str, list: Value| {
        if list.as_array().is_some_and(|list| !list.is_empty()) {
            rule[key] = list;
        }
    };
    if dice.below(3) == 0 {
        put("users", json!(some(dice, &USERS)));
    }
    if dice.below(3) == 0 {
        put("userGroups", json!(some(dice, &USER_GROUPS)));
    }
    if dice.below(2) == 0 {
        put("verbs", json!(some(dice, &VERBS)));
    }
    // The last of the stages is none, and the last URL has a star too many: such a policy is refused.
    let odd = dice.below(100) == 0;
    if dice.below(4) == 0 {
        put("omitStages", json!(some(dice, if odd { &STAGES } else { &STAGES[..4] })));
    }
    if dice.below(4) == 0 {
        put("nonResourceURLs", json!(some(dice, if odd { &URLS } else { &URLS[..8] })));
    } else {
        let resources = (0..dice.below(3)).map(|_| {
            let resources = some(dice, &PATTERNS);
            let names = if resources.is_empty() && !odd { Vec::new() } else { some(dice, &NAMES) };
            json!({"group": dice.of(&GROUPS), "resources": resources, "resourceNames": names})
        });
        put("resources", resources.collect());
        if dice.below(4) == 0 {
            put("namespaces", json!(some(dice, &NAMESPACES)));
        }
    }
    match dice.below(6) {
        0 => rule["omitManagedFields"] = true.into(),
        1 => rule["omitManagedFields"] = false.into(),
        _ => {}
    }
    rule
}

fn policy(dice: &mut Dice) -> Value {
    let rules: Vec<Value> = (0..1 + dice.below(5)).map(|_| rule(dice)).collect();
    let omit_stages = if dice.below(3) == 0 { some(dice, &STAGES[..4]) } else { Vec::new() };
    json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": omit_stages,
        "omitManagedFields": dice.below(2) == 0, "rules": rules,
    })
}

fn request(dice: &mut Dice) -> Request {
    let verb = dice.of(&VERBS).to_owned();
    if dice.below(4) == 0 {
        return Request::NonResource(NonResourceRequest { path: dice.of(&PATHS).to_owned(), verb });
    }
    let mut word = |words: &[&str]| dice.of(words).to_owned();
    Request::Resource(ResourceRequest {
        api_group: word(&GROUPS),
        resource: word(&RESOURCES),
        subresource: word(&SUBRESOURCES),
        verb,
        namespace: word(&NAMESPACES),
        name: word(&NAMES),
    })
}

/// What Kubernetes makes of the requests, or why it refuses the policy.
fn theirs(oracle: &mut Oracle, text: &str, user: &str, groups: &[String], requests: &[Request]) -> Value {
    oracle.ask(&json!({
        "ask": "audit-records", "owner": text, "user": {"name": user, "groups": groups}, "requests": requests,
    }))
}

#[test]
fn a_hundred_thousand_requests_are_recorded_as_kubernetes_records_them() {
    let Some(mut oracle) = Oracle::start() else { return };
    let mut dice = Dice(0xa0d17);
    let (mut compared, mut refused, mut levels) = (0, 0, BTreeMap::new());
    let mut first = BTreeMap::new();
    for at in 0..POLICIES {
        let written = policy(&mut dice);
        // As JSON and as YAML.
        let text = if at % 2 == 0 { written.to_string() } else { serde_saphyr::to_string(&written).unwrap() };
        let user = dice.of(&USERS);
        let groups: Vec<String> = (0..dice.below(3)).map(|_| dice.of(&USER_GROUPS).to_owned()).collect();
        let requests: Vec<Request> = (0..REQUESTS).map(|_| request(&mut dice)).collect();
        let theirs = theirs(&mut oracle, &text, user, &groups, &requests);
        let ours = Policy::read("policy", &text);
        let Some(theirs) = theirs.as_array() else {
            assert!(ours.is_err(), "refused by Kubernetes, for {theirs}, not by rolecall: {text}");
            refused += 1;
            continue;
        };
        let ours = ours.unwrap_or_else(|error| panic!("{error}, Kubernetes takes it: {text}"));
        for (request, theirs) in requests.iter().zip(theirs) {
            let own = ours.evaluate(Requester { user, groups: &groups }, request);
            let names: BTreeSet<&str> = own.omit_stages.iter().map(|stage: &Stage| stage.name()).collect();
            let stages = theirs["omitStages"].as_array().into_iter().flatten();
            let expected: BTreeSet<&str> = stages.map(|stage| stage.as_str().unwrap()).collect();
            let same = own.level.name() == theirs["level"]
                && names == expected
                && own.omit_managed_fields == theirs["omitManagedFields"].as_bool().unwrap();
            assert!(same, "{user} {groups:?} asks {request:?}: {own:?}, to Kubernetes {theirs}, under {text}");
            compared += 1;
            *levels.entry(own.level.name()).or_insert(0) += 1;
            *first.entry(own.rule.map_or(0, |rule| rule.number)).or_insert(0) += 1;
        }
    }
    println!("{compared} requests under {POLICIES} audit policies compared, {refused} of these refused: 0 different");
    println!("by level {levels:?}, by the first rule that matches {first:?}");
    assert!(compared >= 100_000 && refused > 10 && levels.len() == 4 && levels.values().all(|&count| count > 5_000));
}

#[test]
fn what_kubernetes_refuses_of_a_policy_is_refused() {
    let Some(mut oracle) = Oracle::start() else { return };
    let head = "apiVersion: audit.k8s.io/v1\nkind: Policy\n";
    let (mut taken, mut refused) = (0, 0);
    for rest in [
        "rules: []",
        "rules: null",
        "rules: [{}]",
        "rules: [null]",
        "rules: [{level: none}]",
        "rules: [{level: None}]",
        "rules: {level: None}",
        "rules: [{level: None, users: null}]",
        "rules: [{level: None, users: [null]}]",
        "rules: [{level: None, users: alice}]",
        "rules: [{level: None, users: [true]}]",
        "rules: [{level: None, users: [y]}]",
        "rules: [{level: None, users: [1]}]",
        "rules: [{level: None, users: ['1', 1a, 1.2.3]}]",
        "rules: [{level: None, Users: [a]}]",
        "rules: [{level: None, unknown: {a: [1]}}]",
        "rules: [{level: None, level: Metadata}]",
        "rules: [{level: None, omitStages: [Panic, Panic]}]",
        "rules: [{level: None, omitStages: ['']}]",
        "rules: [{level: None, nonResourceURLs: ['']}]",
        "rules: [{level: None, nonResourceURLs: ['*']}]",
        "rules: [{level: None, nonResourceURLs: ['**']}]",
        "rules: [{level: None, nonResourceURLs: ['/a*']}]",
        "rules: [{level: None, nonResourceURLs: ['/a**']}]",
        "rules: [{level: None, nonResourceURLs: ['/é*']}]",
        "rules: [{level: None, nonResourceURLs: [/a], namespaces: [b]}]",
        "rules: [{level: None, nonResourceURLs: [/a], resources: [{}]}]",
        "rules: [{level: None, resources: [{group: apps/v1}]}]",
        "rules: [{level: None, resources: [{group: Apps}]}]",
        "rules: [{level: None, resources: [{group: a..b}]}]",
        "rules: [{level: None, resources: [{group: -a}]}]",
        "rules: [{level: None, resources: [{group: a.b-c.d}]}]",
        "rules: [{level: None, resources: [{group: '*'}]}]",
        "rules: [{level: None, resources: [{group: null, resources: null}]}]",
        "rules: [{level: None, resources: [{resourceNames: [a]}]}]",
        "rules: [{level: None, resources: [pods]}]",
        "rules: [{level: None, resources: pods}]",
        "rules: [{level: None, omitManagedFields: null}]",
        "omitManagedFields: null\nrules: [{level: None}]",
        "omitManagedFields: yes\nrules: [{level: None}]",
        "omitStages: [X]\nrules: [{level: None}]",
        "omitStages: null\nrules: [{level: None}]",
        "rules: [{level: None}]\n---\nkind: X",
        "rules: &r [{level: None}]\nmore: *r",
        "rules: [{level: None}]\nmetadata: {name: x, labels: {a: b}}",
        "rules: [{<<: {level: None}, users: [a]}]",
        "rules: [{level: None}",
        "rules:\n\t- {level: None}",
    ] {
        let text = format!("{head}{rest}\n");
        let theirs = theirs(&mut oracle, &text, "a", &[], &[]);
        let ours = Policy::read("policy", &text);
        assert_eq!(theirs.is_array(), ours.is_ok(), "{rest}\nKubernetes: {theirs}\nrolecall: {ours:?}");
        if ours.is_ok() { taken += 1 } else { refused += 1 }
    }
    for head in [
        "",
        "kind: Policy\n",
        "apiVersion: audit.k8s.io/v1\n",
        "apiVersion: audit.k8s.io/v2\nkind: Policy\n",
        "apiVersion: audit.k8s.io/v1\nkind: Event\n",
        "apiVersion: v1\nkind: Policy\n",
    ] {
        let text = format!("{head}rules: [{{level: None}}]\n");
        let theirs = theirs(&mut oracle, &text, "a", &[], &[]);
        let ours = Policy::read("policy", &text);
        assert_eq!(theirs.is_array(), ours.is_ok(), "{head}\nKubernetes: {theirs}\nrolecall: {ours:?}");
        if ours.is_ok() { taken += 1 } else { refused += 1 }
    }
    println!("{taken} odd policies taken by both, {refused} refused by both");
}

#[test]
fn kubernetes_takes_the_policies_that_are_written() {
    let Some(mut oracle) = Oracle::start() else { return };
    let defaults = builtin::authenticated_rules("1.36");
    for platform in [Platform::Vanilla, Platform::OpenShift] {
        for subjects in [&[][..], &["ns/op"], &["alice", "yes", "a: b # c"]] {
            let subjects: Vec<SubjectKey> = subjects.iter().map(|subject| SubjectKey::parse(subject)).collect();
            let text = audit_policy::policy(&subjects, platform, &defaults);
            let theirs = theirs(&mut oracle, &text, "a", &[], &[]);
            assert!(theirs.is_array(), "{theirs}: {text}");
        }
    }
}
