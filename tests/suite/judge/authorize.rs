//! Authorize: manifests read, graph built, rules matched, against `RBACAuthorizer` over the same objects.

use proptest::prelude::*;
use rolecall::graph::{Graph, SubjectKey, binding_scope};
use rolecall::manifest::{self, Package, PolicyRule};
use rolecall::rbac::{PermissionSet, Request, Rule, Scope};
use rolecall::source::SourceMap;
use serde_json::{Value, json};

use super::generate::{Dice, Policy, policy};
use super::oracle::Oracle;
use super::runner;

const CASES: u32 = 2_100;
const REQUESTS: usize = 500;
const SUBJECTS: [&str; 4] = ["n/op", "m/op", "alice", "n/nobody"];

/// The objects as rolecall reads them.
pub(crate) fn package<'a>(objects: impl Iterator<Item = &'a Value>) -> Package {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects.collect::<Vec<_>>()}).to_string();
    let mut sources = SourceMap::default();
    let id = sources.add("policy.json", list);
    let reading = manifest::read(&sources, id);
    assert!(reading.diagnostics.is_empty(), "{:?}", reading.diagnostics);
    let mut packages = manifest::package::split(&[".".to_owned()], vec![("policy.json".to_owned(), reading.facts)]);
    packages.pop().unwrap_or_default()
}

/// What rolecall says that the subject holds.
pub(crate) fn held(package: &Package, subject: &SubjectKey) -> Vec<(Scope, Rule)> {
    let graph = Graph::build(package, "1.36");
    let scope_of = |index: usize| {
        let binding = &package.facts.bindings[index];
        binding_scope(binding.kind, package.resolve(binding.namespace.as_ref()))
    };
    let held = graph.held_by(subject, scope_of);
    held.iter().flat_map(|held| held.entries.iter().map(|entry| (held.scope.clone(), entry.rule.clone()))).collect()
}

pub(crate) fn allows(held: &[(Scope, Rule)], request: &Request) -> bool {
    held.iter().any(|(scope, rule)| scope.reaches(request.namespace()) && rule.allows(request))
}

/// What Kubernetes says of each request.
pub(crate) fn asked(oracle: &mut Oracle, policy: &Policy, subject: &SubjectKey, requests: &[Request]) -> Vec<bool> {
    let mut question = policy.question("authorize");
    question["user"] = json!({"name": subject.user()});
    question["requests"] = serde_json::to_value(requests).unwrap();
    let answers = oracle.ask(&question);
    answers.as_array().unwrap().iter().map(|answer| answer["allowed"].as_bool().unwrap()).collect()
}

#[test]
fn a_million_verdicts_are_those_of_kubernetes() {
    let Some(oracle) = Oracle::start() else { return };
    let oracle = std::cell::RefCell::new(oracle);
    let (verdicts, allowed) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let cases = (policy(), any::<u64>(), 0..SUBJECTS.len());
    let result = runner(CASES).run(&cases, |(policy, seed, subject)| {
        let subject = SubjectKey::parse(SUBJECTS[subject]);
        let package = package(policy.objects());
        let held = held(&package, &subject);
        let mut dice = Dice(seed);
        // Near rules of the whole policy, held or not.
        let facts = &package.facts;
        let rules: Vec<Rule> = facts.roles.iter().flat_map(|role| &role.rules).map(PolicyRule::to_rule).collect();
        let own: Vec<Rule> = held.iter().map(|(_, rule)| rule.clone()).collect();
        let near =
            |dice: &mut Dice| if dice.below(2) == 0 { dice.request_near(&own) } else { dice.request_near(&rules) };
        let requests: Vec<Request> = (0..REQUESTS).map(|_| near(&mut dice)).collect();
        let theirs = asked(&mut oracle.borrow_mut(), &policy, &subject, &requests);
        for (request, theirs) in requests.iter().zip(theirs) {
            prop_assert_eq!(allows(&held, request), theirs, "{} asks {:?}", subject, request);
            verdicts.set(verdicts.get() + 1);
            allowed.set(allowed.get() + i32::from(theirs));
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    println!("{} verdicts compared, {} of them allowed, 0 different", verdicts.get(), allowed.get());
    assert!(verdicts.get() >= 1_000_000 && allowed.get() > 20_000);
}

#[test]
fn what_a_user_holds_in_a_namespace_is_what_kubernetes_lists() {
    let Some(oracle) = Oracle::start() else { return };
    let oracle = std::cell::RefCell::new(oracle);
    let (compared, empty) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    let result = runner(1_000).run(&(policy(), 0..SUBJECTS.len()), |(policy, subject)| {
        let subject = SubjectKey::parse(SUBJECTS[subject]);
        let held = held(&package(policy.objects()), &subject);
        for namespace in ["", "n", "m"] {
            let mut question = policy.question("rules");
            question["user"] = json!({"name": subject.user()});
            question["requests"] = json!([{"namespace": namespace}]);
            let theirs: Vec<Rule> = serde_json::from_value(oracle.borrow_mut().ask(&question)).unwrap();
            let ours: Vec<Rule> =
                held.iter().filter(|(scope, _)| scope.reaches(namespace)).map(|(_, rule)| rule.clone()).collect();
            let (ours, theirs) = (PermissionSet::from_rules(&ours), PermissionSet::from_rules(&theirs));
            prop_assert!(ours == theirs, "{} in {:?}", subject, namespace);
            compared.set(compared.get() + 1);
            empty.set(empty.get() + i32::from(theirs.is_empty()));
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    println!("{} lists of rules compared, {} of them empty, 0 different", compared.get(), empty.get());
    assert!(compared.get() - empty.get() > 300);
}

#[test]
fn the_policy_of_the_lab_records_every_request_at_metadata() {
    let Some(mut oracle) = Oracle::start() else { return };
    let mut dice = Dice(7);
    let requests: Vec<Request> = (0..500).map(|_| dice.request()).collect();
    let asked = json!({
        "ask": "audit-records", "owner": crate::lab::AUDIT_POLICY, "user": {"name": "alice"}, "requests": requests,
    });
    assert!(oracle.ask(&asked).as_array().unwrap().iter().all(|record| record["level"] == "Metadata"));
}
