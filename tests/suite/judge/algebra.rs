//! The algebra of permission sets point by point through Kubernetes' authorizer, and against its own `Covers` and
//! escalation check.

use std::cell::{Cell, RefCell};

use proptest::collection::vec;
use proptest::prelude::*;
use rolecall::graph::SubjectKey;
use rolecall::rbac::{PermissionSet, Request, Rule};
use serde_json::{Value, json};

use super::authorize::{held, package};
use super::generate::{Dice, policy, rule};
use super::oracle::Oracle;
use super::runner;

/// What Kubernetes allows a user of whom nothing but these rules is known, cluster-wide.
fn allowed(oracle: &mut Oracle, rules: &[Rule], requests: &[Request]) -> Vec<bool> {
    let meta =
        |kind: &str| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": "r"}});
    let (mut role, mut binding) = (meta("ClusterRole"), meta("ClusterRoleBinding"));
    role["rules"] = serde_json::to_value(rules).unwrap();
    binding["roleRef"] = json!({"kind": "ClusterRole", "name": "r"});
    binding["subjects"] = json!([{"kind": "User", "name": "u"}]);
    let question = json!({
        "ask": "authorize", "clusterRoles": [role], "clusterRoleBindings": [binding], "user": {"name": "u"},
        "requests": requests,
    });
    oracle.ask(&question).as_array().unwrap().iter().map(|answer| answer["allowed"].as_bool().unwrap()).collect()
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    vec(rule(), 0..4)
}

#[test]
fn union_intersection_and_subtraction_hold_at_every_point_asked() {
    let Some(oracle) = Oracle::start() else { return };
    let oracle = RefCell::new(oracle);
    let points = Cell::new(0);
    let result = runner(600).run(&(rules(), rules(), any::<u64>()), |(a, b, seed)| {
        let mut dice = Dice(seed);
        let both = [a.clone(), b.clone()].concat();
        let requests: Vec<Request> = (0..200).map(|_| dice.request_near(&both)).collect();
        let in_a = allowed(&mut oracle.borrow_mut(), &a, &requests);
        let in_b = allowed(&mut oracle.borrow_mut(), &b, &requests);
        let (a, b) = (PermissionSet::from_rules(&a), PermissionSet::from_rules(&b));
        let (union, both, less) = (a.union(&b), a.intersect(&b), a.subtract(&b));
        for ((request, in_a), in_b) in requests.iter().zip(in_a).zip(in_b) {
            prop_assert_eq!(a.allows(request), in_a, "{:?}", request);
            prop_assert_eq!(union.allows(request), in_a || in_b, "union {:?}", request);
            prop_assert_eq!(both.allows(request), in_a && in_b, "intersection {:?}", request);
            prop_assert_eq!(less.allows(request), in_a && !in_b, "subtraction {:?}", request);
            points.set(points.get() + 1);
        }
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    println!("{} points of a, a + b, a * b and a - b: 0 different", points.get());
}

/// Whether ours and theirs agree that `owner` covers `servant`. Theirs asks for one rule that covers each part, so it
/// may miss what several rules cover together; then no point may be found that shows it right.
fn compare(
    oracle: &mut Oracle,
    owner: &[Rule],
    servant: &[Rule],
    theirs: bool,
    seed: u64,
) -> Result<bool, TestCaseError> {
    let ours = PermissionSet::from_rules(owner).covers(&PermissionSet::from_rules(servant));
    prop_assert!(ours || !theirs, "Kubernetes says covered, rolecall does not");
    if ours && !theirs {
        let mut dice = Dice(seed);
        let requests: Vec<Request> = (0..200).map(|_| dice.request_near(servant)).collect();
        let (asked, held) = (allowed(oracle, servant, &requests), allowed(oracle, owner, &requests));
        let witness = requests.iter().zip(asked).zip(held).find(|((_, asked), held)| *asked && !held);
        prop_assert!(witness.is_none(), "not covered: {:?}", witness);
    }
    Ok(ours == theirs)
}

#[test]
fn covers_is_never_less_than_kubernetes_covers_and_more_only_where_it_is_right() {
    let Some(oracle) = Oracle::start() else { return };
    let oracle = RefCell::new(oracle);
    let (compared, covered, more) = (Cell::new(0), Cell::new(0), Cell::new(0));
    // Rules made smaller are covered often; others hardly ever.
    let cases = (rules(), rules(), any::<bool>(), any::<u64>());
    let result = runner(6_000).run(&cases, |(owner, other, related, seed)| {
        let servant = if related { smaller(&owner, &mut Dice(seed)) } else { other };
        let question = json!({"ask": "covers", "owner": owner, "servant": servant});
        let mut oracle = oracle.borrow_mut();
        let theirs = oracle.ask(&question)["covered"].as_bool().unwrap();
        let same = compare(&mut oracle, &owner, &servant, theirs, seed)?;
        compared.set(compared.get() + 1);
        covered.set(covered.get() + i32::from(theirs));
        more.set(more.get() + i32::from(!same));
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    println!(
        "{} pairs: covered by both {}, by rolecall alone {} (several rules together, or nothing asked), by Kubernetes alone 0",
        compared.get(),
        covered.get(),
        more.get()
    );
    assert!(covered.get() > 500);
}

/// Rules with fewer words.
fn smaller(rules: &[Rule], dice: &mut Dice) -> Vec<Rule> {
    let mut smaller = rules.to_vec();
    for rule in &mut smaller {
        for list in [&mut rule.verbs, &mut rule.api_groups, &mut rule.resources, &mut rule.non_resource_urls] {
            list.retain(|_| dice.below(3) > 0);
        }
    }
    smaller
}

#[test]
fn the_escalation_check_follows_from_what_is_held() {
    let Some(oracle) = Oracle::start() else { return };
    let oracle = RefCell::new(oracle);
    let (compared, passed, more) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let cases = (policy(), rules(), any::<bool>(), any::<u64>());
    let result = runner(2_000).run(&cases, |(policy, other, related, seed)| {
        let subject = SubjectKey::parse("n/op");
        let held = held(&package(policy.objects()), &subject);
        // As a role is written in namespace `n`.
        let owner: Vec<Rule> = held.into_iter().filter(|(scope, _)| scope.reaches("n")).map(|(_, rule)| rule).collect();
        let servant = if related { smaller(&owner, &mut Dice(seed)) } else { other };
        let mut question = policy.question("escalation");
        question["user"] = json!({"name": subject.user()});
        question["servant"] = serde_json::to_value(&servant).unwrap();
        question["requests"] = json!([{"namespace": "n"}]);
        let mut oracle = oracle.borrow_mut();
        let answer: Value = oracle.ask(&question);
        let theirs = answer["allowed"].as_bool().unwrap();
        let same = compare(&mut oracle, &owner, &servant, theirs, seed)?;
        compared.set(compared.get() + 1);
        passed.set(passed.get() + i32::from(theirs));
        more.set(more.get() + i32::from(!same));
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    println!(
        "{} escalation checks, {} passed, {} where Kubernetes alone refuses",
        compared.get(),
        passed.get(),
        more.get()
    );
    assert!(passed.get() > 200);
}
