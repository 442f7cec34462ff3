//! Single experiments on a real API server: what is read out of an event, uses and needs, must be covered by what was
//! held exactly when the request was not refused for a permission. Once as logged, once without bodies.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use rolecall::api::{Table, builtin};
use rolecall::audit::{Collector, Decision, Observed, Origin, Usage, What};
use rolecall::manifest;
use rolecall::needs::{self, Ask, Cluster, Need, NeedKind, NoRoles, Platform, Way};
use rolecall::rbac::{Request, Rule, Scope};
use rolecall::source::SourceMap;
use serde_json::Value;

use crate::common::{PINNED_MINOR, entries, shared, without_bodies};

/// What is read of a step.
struct Read {
    /// Permissions of calls that the authorizer let pass.
    passed: Vec<Request>,
    /// Permissions that the authorizer refused.
    denied: Vec<Request>,
    /// Needs of what passed.
    needed: Vec<Need>,
    /// What it was refused for behind the authorizer.
    wanted: Vec<Need>,
    /// Refused behind the authorizer, by something that is no permission.
    otherwise: bool,
    /// A refusal behind the authorizer whose permission is in the missing body.
    unread: bool,
}

#[test]
fn as_logged_every_outcome_follows_from_what_was_held() {
    let Some(folder) = shared("cases/recorded-micro") else { return };
    let mut figures: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    each_step(&folder, |case, step, read, held| {
        let refused = step.get("refused").and_then(Value::as_str).unwrap_or_default();
        let everything = covered(&read.passed, &read.denied, &read.needed, &read.wanted, held);
        let (figure, right) = match refused {
            "permission" => ("refused for a permission", !everything && !read.otherwise),
            "not-permission" => ("refused for something else", everything && read.otherwise),
            _ => ("not refused", everything && !read.otherwise),
        };
        *figures.entry(figure).or_default() += 1;
        if !right {
            wrong.push(format!("{case} {}: {figure}: {}", step["step"], step["title"]));
        }
    });
    println!("recorded-micro as logged: {figures:#?}");
    assert!(wrong.is_empty(), "{} steps:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(figures.values().sum::<u32>(), 208 - exceptions(&folder), "{figures:?}");
}

#[test]
fn without_bodies_no_need_is_asserted_that_was_not_one() {
    let Some(folder) = shared("cases/recorded-micro") else { return };
    let mut figures: BTreeMap<&str, u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    for_each(&folder, |case, step, lines, table, held| {
        let bare: Vec<String> = lines
            .iter()
            .map(|line| without_bodies(serde_json::from_str(line).expect("an event")).to_string())
            .collect();
        let read = read(&bare, account(lines), table, platform(case));
        let refused = step.get("refused").and_then(Value::as_str).unwrap_or_default();
        let asserted = covered(&read.passed, &read.denied, &read.needed, &read.wanted, held);
        let figure = match (refused, asserted) {
            ("permission", false) => "refused, and the message tells for what",
            ("permission", true) if read.unread => "refused, cannot be read from this log",
            (_, true) => "not refused for a permission",
            (_, false) => "a need is asserted that was none",
        };
        *figures.entry(figure).or_default() += 1;
        if (refused == "permission") != (!asserted || read.unread) || figure.starts_with('a') {
            wrong.push(format!("{case} {}: {figure}: {}", step["step"], step["title"]));
        }
    });
    println!("recorded-micro without bodies: {figures:#?}");
    assert!(wrong.is_empty(), "{} steps:\n{}", wrong.len(), wrong.join("\n"));
}

fn each_step(folder: &Path, mut judge: impl FnMut(&str, &Value, &Read, &[(Scope, Rule)])) {
    for_each(folder, |case, step, lines, table, held| {
        judge(case, step, &read(lines, account(lines), table, platform(case)), held);
    });
}

/// Every step without an exception: its case, itself, the lines of its request, what is served, what was held.
fn for_each(folder: &Path, mut judge: impl FnMut(&str, &Value, &[String], &Table, &[(Scope, Rule)])) {
    for case in entries(folder).iter().filter(|path| path.is_dir()) {
        let name = case.file_name().unwrap_or_default().to_string_lossy();
        let events = events(&case.join("audit.log.gz"));
        let table = table(&case.join("setup.yaml"));
        let steps = std::fs::read_to_string(case.join("steps.jsonl")).expect("steps");
        for step in steps.lines() {
            let step: Value = serde_json::from_str(step).expect("a step");
            if step.get("exception").is_none() {
                let lines = events.get(text(&step, "auditID")).expect("events of the step");
                judge(&name, &step, lines, &table, &held(&step));
            }
        }
    }
}

fn exceptions(folder: &Path) -> u32 {
    let cases = entries(folder).into_iter().filter(|path| path.is_dir());
    let steps = cases.map(|case| std::fs::read_to_string(case.join("steps.jsonl")).expect("steps"));
    let count = |steps: String| steps.lines().filter(|step| step.contains("\"exception\"")).count();
    u32::try_from(steps.map(count).sum::<usize>()).expect("few")
}

/// The admission plugins that the README of a case names.
fn platform(case: &str) -> Platform {
    if case == "ownerref-enforcement" { Platform::OpenShift } else { Platform::Vanilla }
}

fn account(lines: &[String]) -> String {
    let event: Value = serde_json::from_str(lines.last().expect("an event of the step")).expect("JSON");
    text(&event["user"], "username").to_owned()
}

fn read(lines: &[String], account: String, table: &Table, platform: Platform) -> Read {
    let mut read = Read {
        passed: Vec::new(),
        denied: Vec::new(),
        needed: Vec::new(),
        wanted: Vec::new(),
        otherwise: false,
        unread: false,
    };
    let cluster = Cluster { minor: (1, 36), platform, table, roles: &NoRoles };
    // Of what it asks for in a review, the answer is not a refusal.
    let own = |call: &&std::sync::Arc<Observed>| call.user == account && call.origin != Origin::Asked;
    for call in usage(lines).calls.iter().filter(own) {
        match call.decision {
            Decision::Allowed => read.passed.push(call.request.clone()),
            Decision::Denied => read.denied.push(call.request.clone()),
            // A refused impersonation: its own check is beside it.
            Decision::Undecided => {}
        }
        read.needed.extend(needs::of(call, &cluster).into_iter().filter(|need| need.kind == NeedKind::Checked));
        let wanted = needs::refused(call, &cluster);
        let refused: Vec<&What> =
            call.behind.iter().filter(|behind| behind.refused).map(|behind| &behind.what).collect();
        read.otherwise |= refused.iter().any(|what| matches!(what, What::NotPermission { .. }));
        let unnamed = |what: &&What| matches!(what, What::BlocksOwner { owner_kind, .. } if owner_kind.is_empty());
        read.unread |= refused.iter().any(unnamed);
        // Without the owner's name, whose finalizers are meant is not known.
        if !refused.iter().any(unnamed) {
            read.wanted.extend(wanted);
        }
    }
    assert!(!read.passed.is_empty() || !read.denied.is_empty(), "nothing was read of {lines:?}");
    read
}

fn covered(passed: &[Request], denied: &[Request], needed: &[Need], wanted: &[Need], held: &[(Scope, Rule)]) -> bool {
    let given = |ask: &Ask| {
        let defaults: Vec<(Scope, Rule)> =
            builtin::authenticated_rules(PINNED_MINOR).into_iter().map(|rule| (Scope::Cluster, rule)).collect();
        ask.is_given_by(held.iter().chain(&defaults).map(|(scope, rule)| (scope, rule)))
    };
    let way = |way: &Way| way.iter().all(given);
    passed.iter().chain(denied).all(|request| given(&Ask::Make(request.clone())))
        && needed.iter().chain(wanted).all(|need| need.ways.iter().any(way))
}

fn table(setup: &Path) -> Table {
    let mut table = Table::for_minor(PINNED_MINOR).expect("a table");
    let mut sources = SourceMap::default();
    let id = sources.add("setup.yaml", std::fs::read_to_string(setup).unwrap_or_default());
    let facts = manifest::read(&sources, id).facts;
    facts.crds.iter().for_each(|crd| table.add_custom(&crd.resource));
    table
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
