//! Logs of real operators against figures that a simple program counted from them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rolecall::audit::{Decision, Observed, Origin, Usage};
use rolecall::input::log::read_logs;
use rolecall::rbac::Request;
use serde_json::Value;

use crate::common::{entries, shared};

/// (verb, apiGroup, resource[/subresource], namespace) → calls.
type Calls = BTreeMap<(String, String, String, String), u64>;

#[test]
fn calls_equal_the_recorded_figures() {
    let Some(folder) = shared("cases/recorded") else { return };
    let (mut logs, mut tuples, mut calls) = (0, 0, 0);
    let mut differences = Vec::new();
    for operator in entries(&folder).iter().filter(|path| path.is_dir()) {
        for log in entries(operator) {
            let name = log.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(run) = name.strip_prefix("audit-").and_then(|name| name.strip_suffix(".log.gz")) else {
                continue;
            };
            let facts = std::fs::read_to_string(operator.join("runs").join(format!("{run}.json")));
            let facts: Value = serde_json::from_str(&facts.expect("facts of the run")).expect("JSON");
            let usage = read_logs(&[log.to_string_lossy().into_owned()], &mut |_| ()).expect("a log");
            assert_eq!(usage.diagnostics, [], "{}", log.display());
            assert_eq!(usage.quality.events, facts["events"].as_u64().unwrap_or_default());
            let (expected, seen) = (expected(&facts), seen(&usage, &facts));
            logs += 1;
            tuples += expected.len();
            calls += expected.values().sum::<u64>();
            let label = format!("{} {run}", operator.file_name().unwrap_or_default().to_string_lossy());
            for key in expected.keys().chain(seen.keys()).collect::<std::collections::BTreeSet<_>>() {
                let (wanted, got) = (expected.get(key), seen.get(key));
                if wanted != got {
                    differences.push(format!("{label}: {key:?}: recorded {wanted:?}, read {got:?}"));
                }
            }
        }
    }
    println!("recorded: {logs} logs, {tuples} tuples, {calls} calls, {} differences", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(logs > 40);
}

fn expected(facts: &Value) -> Calls {
    let mut calls = Calls::new();
    for call in facts["calls"].as_array().expect("calls") {
        let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
        let key = (text("verb"), text("apiGroup"), text("resource"), text("namespace"));
        *calls.entry(key).or_default() += call["count"].as_u64().unwrap_or_default();
    }
    calls
}

fn seen(usage: &Usage, facts: &Value) -> Calls {
    let subjects: Vec<_> = facts["subjects"].as_array().expect("subjects").iter().filter_map(Value::as_str).collect();
    let mut calls = Calls::new();
    let own = |call: &&Arc<Observed>| subjects.contains(&&*call.user) && call.origin == Origin::Call;
    for call in usage.calls.iter().filter(own) {
        let key = match &call.request {
            Request::Resource(request) => {
                // The figures take the namespace of objectRef.
                let namespace = match &*call.object_namespace {
                    "" => request.namespace.clone(),
                    other => other.to_owned(),
                };
                (request.verb.clone(), request.api_group.clone(), request.combined(), namespace)
            }
            Request::NonResource(request) => (request.verb.clone(), String::new(), request.path.clone(), String::new()),
        };
        *calls.entry(key).or_default() += call.count;
    }
    calls
}

/// Runs of one scenario, recorded at different levels.
const LEVELS: [&str; 4] = ["metadata-allstages", "default", "request", "full"];

#[test]
fn the_level_of_a_log_changes_nothing_of_what_was_used() {
    let Some(folder) = shared("cases/recorded") else { return };
    let (mut compared, mut differences) = (0, Vec::new());
    for operator in entries(&folder).iter().filter(|path| path.is_dir()) {
        let name = operator.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let runs: Vec<(&str, std::collections::BTreeSet<String>)> = LEVELS
            .into_iter()
            .filter(|run| operator.join(format!("audit-{run}.log.gz")).exists())
            .map(|run| {
                let facts = std::fs::read_to_string(operator.join("runs").join(format!("{run}.json"))).unwrap();
                let log = operator.join(format!("audit-{run}.log.gz")).to_string_lossy().into_owned();
                (run, used(&read_logs(&[log], &mut |_| ()).unwrap(), &serde_json::from_str(&facts).unwrap()))
            })
            .collect();
        let [(first, used), others @ ..] = runs.as_slice() else { continue };
        for (other, also) in others {
            compared += 1;
            for permission in used.symmetric_difference(also) {
                let run = if used.contains(permission) { first } else { other };
                differences.push(format!("{name}: only {run} of {first} and {other}: {permission}"));
            }
        }
    }
    println!("{compared} pairs of runs compared: {} differences", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 5);
}

/// Permissions that the subjects used, without names.
fn used(usage: &Usage, facts: &Value) -> std::collections::BTreeSet<String> {
    let subjects: Vec<_> = facts["subjects"].as_array().expect("subjects").iter().filter_map(Value::as_str).collect();
    let own = |call: &&Arc<Observed>| subjects.contains(&&*call.user) && call.decision == Decision::Allowed;
    let text = |call: &Arc<Observed>| match &call.request {
        Request::Resource(r) => format!("{} {}.{} in `{}`", r.verb, r.combined(), r.api_group, r.namespace),
        Request::NonResource(r) => format!("{} {}", r.verb, r.path),
    };
    usage.calls.iter().filter(own).map(text).collect()
}
