//! The role written from one recorded run of an operator, at the defaults, allows what its other runs did: a log is never
//! the whole life.

use rolecall::analysis::{Options, verify};
use rolecall::graph::SubjectKey;

use crate::common::{assess, load, rules_of, runs, shared, text};
use crate::recorded::known;

#[test]
fn a_role_written_from_one_run_allows_the_other_runs() {
    let Some(recorded) = shared("cases/recorded") else { return };
    let all = runs(&recorded);
    let (mut roles, mut pairs, mut calls) = (0, 0, 0);
    for run in all.iter().filter(|run| run.name == "default") {
        for subject in run.subjects() {
            let loaded = load(&[text(&run.manifests)], &[text(&run.log)]);
            let assessment = assess(&loaded, &subject, Options::default());
            let written = rules_of(assessment.minimal.as_ref().unwrap());
            roles += 1;
            for other in all.iter().filter(|other| other.operator == run.operator && other.name != run.name) {
                let seen = load(&[text(&other.manifests)], &[text(&other.log)]);
                let usage = seen.usage.as_ref().unwrap();
                let answer = verify(&written, None, &SubjectKey::parse(&subject), usage, &known(&seen));
                // What the shipped role does not grant, no role written from it can.
                let other = assess(&seen, &subject, Options::default());
                let shipped = |missing: &&rolecall::analysis::Missing| {
                    other.grants.iter().any(|grant| {
                        grant.scope.reaches(missing.request.namespace()) && grant.rule.allows(&missing.request)
                    })
                };
                let lost: Vec<_> = answer.missing.iter().filter(shipped).collect();
                assert!(lost.is_empty(), "{} {subject}: {lost:?}", run.operator);
                pairs += 1;
                calls += answer.calls;
            }
        }
    }
    println!("{roles} roles written from one run, {pairs} other runs with {calls} calls: 0 refused that was granted");
    assert!(pairs > 20, "{pairs}");
}
