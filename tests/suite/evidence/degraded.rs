//! Worse logs of the same runs: without reads, without core events, without bodies, of a fraction of the time. None may
//! turn a grant into a sure "unused", and the role made from each at the defaults must allow all that the whole log
//! shows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};

use flate2::read::MultiGzDecoder;
use rolecall::analysis::{Assessment, Confidence, Options, Verdict, verify};
use rolecall::graph::SubjectKey;
use serde_json::Value;

use crate::common::{assess, load, rules_of, runs, shared, text, without_bodies};
use crate::recorded::known;

/// What is done to an event; `None` drops it.
type Degrade = fn(Value, f64) -> Option<Value>;

const WAYS: [(&str, Degrade); 5] = [
    ("whole", |event, _| Some(event)),
    ("no reads", |event, _| (!matches!(event["verb"].as_str(), Some("get" | "list" | "watch"))).then_some(event)),
    ("no core events", |event, _| {
        let object = &event["objectRef"];
        (!(object["resource"] == "events" && object["apiGroup"].as_str().unwrap_or_default().is_empty()))
            .then_some(event)
    }),
    ("no bodies", |event, _| Some(without_bodies(event))),
    ("first half", |event, done| (done <= 0.5).then_some(event)),
];

#[test]
fn a_worse_log_makes_nothing_surely_unused_and_its_role_allows_the_whole_run() {
    let Some(recorded) = shared("cases/recorded") else { return };
    let folder = tempfile::tempdir().unwrap();
    println!("{:60} {:15} verdicts", "run", "log");
    let (mut roles, mut unobservable) = (0, BTreeMap::new());
    for run in runs(&recorded).into_iter().filter(|run| !run.name.starts_with("broken")) {
        let lines: Vec<Value> = BufReader::new(MultiGzDecoder::new(File::open(&run.log).unwrap()))
            .lines()
            .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
            .collect();
        let whole = load(&[text(&run.manifests)], &[text(&run.log)]);
        for (what, degrade) in WAYS {
            let path = folder.path().join("audit.log");
            let mut log = File::create(&path).unwrap();
            for (index, line) in lines.iter().enumerate() {
                if let Some(line) = degrade(line.clone(), index as f64 / lines.len() as f64) {
                    writeln!(log, "{line}").unwrap();
                }
            }
            drop(log);
            let loaded = load(&[text(&run.manifests)], &[text(&path)]);
            for subject in run.subjects() {
                let assessment = assess(&loaded, &subject, Options::default());
                let title = format!("{}/{} {subject}", run.operator, run.name);
                println!("{title:60} {what:15} {}", counts(&assessment));
                let sure = |grant: &&rolecall::analysis::Grant| {
                    grant.verdict == Verdict::Unused && grant.confidence == Some(Confidence::High)
                };
                assert_eq!(assessment.grants.iter().filter(sure).count(), 0, "{title} {what}");
                *unobservable.entry(what).or_insert(0) +=
                    assessment.grants.iter().filter(|grant| grant.verdict == Verdict::Unobservable).count();
                let Some(minimal) = &assessment.minimal else { continue };
                let rules = rules_of(minimal);
                let key = SubjectKey::parse(&subject);
                let usage = whole.usage.as_ref().unwrap();
                let answer = verify(&rules, None, &key, usage, &known(&whole));
                // What no role of the input grants is only known from the log.
                let held = |missing: &&rolecall::analysis::Missing| {
                    assessment
                        .grants
                        .iter()
                        .any(|g| g.scope.reaches(missing.request.namespace()) && g.rule.allows(&missing.request))
                };
                let lost: Vec<_> = answer.missing.iter().filter(held).map(|missing| &missing.permission).collect();
                assert!(lost.is_empty(), "{title} {what}: {lost:?}");
                roles += 1;
            }
        }
    }
    println!("{roles} roles allow the whole run; unobservable grants: {unobservable:?}");
    assert!(unobservable["no reads"] > unobservable["whole"] && unobservable["no bodies"] > unobservable["whole"]);
}

fn counts(assessment: &Assessment) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for grant in &assessment.grants {
        let sure = grant.confidence.filter(|_| grant.verdict == Verdict::Unused);
        let sure = sure.map(|sure| format!(" {sure:?}")).unwrap_or_default();
        *counts.entry(format!("{:?}{sure}", grant.verdict)).or_default() += 1;
    }
    counts.iter().map(|(verdict, count)| format!("{verdict} {count}")).collect::<Vec<_>>().join(", ")
}
