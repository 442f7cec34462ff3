//! Single experiments: what is read out of the event must be covered by what was held exactly when the
//! authorizer allowed it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use rolecall::api::builtin;
use rolecall::audit::{Collector, Decision, Origin, Usage};
use rolecall::needs::{self, NeedKind};
use rolecall::rbac::{Request, Rule, Scope};
use serde_json::Value;

use crate::common::{PINNED_MINOR, entries, shared};

#[test]
fn recorded_answers_follow_from_what_was_held() {
    let Some(folder) = shared("cases/recorded-micro") else {
        return;
    };
    let mut figures: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in entries(&folder).iter().filter(|path| path.is_dir()) {
        let events = events(&case.join("audit.log.gz"));
        let steps = std::fs::read_to_string(case.join("steps.jsonl")).expect("steps");
        for step in steps.lines() {
            let step: Value = serde_json::from_str(step).expect("a step");
            let id = text(&step, "auditID");
            let lines = events.get(id).map_or(&[] as &[String], |lines| lines);
            let outcome = judge(&step, lines);
            *figures.entry(outcome.figure).or_default() += 1;
            for problem in outcome.problems {
                let name = case.file_name().unwrap_or_default().to_string_lossy();
                wrong.push(format!("{name} {}: {problem}", step["step"]));
            }
        }
    }
    println!("recorded-micro: {figures:#?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(figures.values().sum::<u32>() > 200, "{figures:?}");
}

struct Outcome {
    figure: &'static str,
    problems: Vec<String>,
}

fn judge(step: &Value, lines: &[String]) -> Outcome {
    let refused = step.get("refused").is_some_and(|refused| refused == "permission");
    let decision = step.get("decision").and_then(Value::as_str).unwrap_or_default();
    let figure = match (decision, refused) {
        _ if step.get("exception").is_some() => "an exception: not judged",
        ("forbid", _) => "refused by the authorizer",
        ("allow", false) => "allowed",
        ("allow", true) => "refused behind the authorizer: call judged, hidden check not",
        _ => "refused impersonation",
    };
    if step.get("exception").is_some() {
        return Outcome { figure, problems: Vec::new() };
    }
    let event: Value = serde_json::from_str(lines.last().expect("an event of the step")).expect("JSON");
    let account = text(&event["user"], "username");
    let held = held(step);
    let mut problems = Vec::new();
    let mut seen = 0;
    for call in usage(lines).calls.iter().filter(|call| call.user == account) {
        // What an impersonated request may is a matter of the other user.
        let (expected, needed) = match (call.origin, call.decision) {
            (_, Decision::Denied) => (false, Vec::new()),
            (_, Decision::Allowed) => {
                let checked = |need: &needs::Need| need.kind == NeedKind::Checked;
                (true, needs::of(call, (1, 36)).into_iter().filter(checked).collect())
            }
            (Origin::Call, Decision::Undecided) if decision.is_empty() => continue,
            (_, Decision::Undecided) => {
                problems.push(format!("undecided: {:?}", call.request));
                continue;
            }
        };
        seen += 1;
        let needed = needed.into_iter().map(|need| need.request);
        for request in std::iter::once(call.request.clone()).chain(needed) {
            if allows(&held, &request) != expected {
                problems.push(format!("expected {expected} for {request:?} under {held:?}"));
            }
        }
    }
    let granted = decision == "allow";
    if seen == 0 {
        problems.push("nothing was read out of its event".to_owned());
    }
    let read = usage(lines);
    let own: Vec<_> = read.calls.iter().filter(|call| call.user == account).collect();
    if granted && own.iter().any(|call| call.decision != Decision::Allowed) {
        problems.push("read as refused".to_owned());
    }
    if !granted && !own.iter().any(|call| call.decision == Decision::Denied) {
        problems.push("no refused check was read".to_owned());
    }
    Outcome { figure, problems }
}

fn held(step: &Value) -> Vec<(Scope, Rule)> {
    let one = |value: &Value| vec![value.as_str().unwrap_or_default().to_owned()];
    let grant = |held: &Value| {
        let mut rule = Rule { verbs: one(&held["verb"]), ..Rule::default() };
        match held.get("nonResourceURL") {
            Some(url) => rule.non_resource_urls = one(url),
            None => {
                rule.api_groups = one(&held["apiGroup"]);
                rule.resources = one(&held["resource"]);
                let names = held.get("resourceNames").and_then(Value::as_array);
                rule.resource_names =
                    names.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect();
            }
        }
        let scope = match held.get("scope").and_then(Value::as_str) {
            None | Some("cluster") => Scope::Cluster,
            Some(namespace) => Scope::Namespace(namespace.to_owned()),
        };
        (scope, rule)
    };
    step["held"].as_array().expect("held").iter().map(grant).collect()
}

fn usage(lines: &[String]) -> Usage {
    let mut collector = Collector::new();
    collector.read("step", &mut lines.join("\n").as_bytes());
    collector.finish()
}

/// The lines of a log by audit id.
fn events(log: &Path) -> BTreeMap<String, Vec<String>> {
    let mut events: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let log = BufReader::new(MultiGzDecoder::new(File::open(log).expect("a log")));
    for line in log.lines() {
        let line = line.expect("a line");
        let event: Value = serde_json::from_str(&line).expect("an event");
        events.entry(text(&event, "auditID").to_owned()).or_default().push(line);
    }
    events
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Whether the grants, or what every authenticated user holds, allow a request.
fn allows(held: &[(Scope, Rule)], request: &Request) -> bool {
    held.iter().any(|(scope, rule)| scope.reaches(request.namespace()) && rule.allows(request))
        || builtin::authenticated_rules(PINNED_MINOR).iter().any(|rule| rule.allows(request))
}
