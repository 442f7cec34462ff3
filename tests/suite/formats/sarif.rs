//! SARIF against its schema, against what code scanning asks for, and against the files it points into.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{demo, render, rule_fixtures};
use crate::common::{self, shared};

/// Runs of the shipped fixtures, and of the real input where it is there.
fn all_runs() -> Vec<(String, String)> {
    let mut runs = vec![("demo".to_owned(), demo().sarif)];
    for (case, log) in rule_fixtures() {
        let log: Vec<&str> = log.iter().map(String::as_str).collect();
        runs.push((case.clone(), render(&[&case], &log).sarif));
    }
    if shared("cases/recorded").is_some() {
        for run in common::runs(Path::new("../shared/cases/recorded")) {
            runs.push((
                run.operator.clone(),
                render(&[&common::text(&run.manifests)], &[&common::text(&run.log)]).sarif,
            ));
        }
    }
    if shared("corpus").is_some() {
        runs.push(("corpus".to_owned(), render(&["../shared/corpus"], &[]).sarif));
    }
    runs
}

#[test]
fn sarif_is_valid_and_as_code_scanning_asks_and_its_regions_are_what_they_speak_of() {
    let schema = shared("schemas/sarif-2.1.0.json").map(|path| {
        let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    });
    let mut lines = Lines::default();
    let (mut results, mut regions) = (0, BTreeMap::<String, u64>::new());
    for (name, text) in all_runs() {
        let log: Value = serde_json::from_str(&text).unwrap();
        if let Some(schema) = &schema {
            let errors: Vec<String> = schema
                .iter_errors(&log)
                .take(5)
                .map(|error| format!("{} at {}", error, error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
        }
        assert!(!text.contains(": null"), "{name}: a null stands where nothing should");
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        check_rules(rules);
        for result in run["results"].as_array().unwrap() {
            check_result(result, rules, &name);
            let of = check_region(result, &mut lines, &name);
            *regions.entry(of).or_default() += 1;
            results += 1;
        }
        let identities: BTreeSet<String> = run["results"].as_array().unwrap().iter().map(identity).collect();
        assert_eq!(identities.len(), run["results"].as_array().unwrap().len(), "{name}: one result per rule and line");
    }
    assert!(results > 50 && regions.len() >= 4, "{results} {regions:?}");
    println!("{results} results, regions re-read: {regions:?}");
}

fn identity(result: &Value) -> String {
    let place = &result["locations"][0]["physicalLocation"];
    format!("{} {} {}", result["ruleId"], place["artifactLocation"]["uri"], place["region"]["startLine"])
}

fn check_rules(rules: &[Value]) {
    let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), rules.len());
    for rule in rules {
        let id = &rule["id"];
        let full = rule["fullDescription"]["text"].as_str().unwrap();
        assert!(!full.is_empty() && full.chars().count() <= 1024, "{id}");
        assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty(), "{id}");
        assert!(
            !rule["help"]["text"].as_str().unwrap().is_empty()
                && !rule["help"]["markdown"].as_str().unwrap().is_empty(),
            "{id}"
        );
        let tags = rule["properties"]["tags"].as_array().unwrap();
        assert!(tags.len() <= 10 && tags[0] == "security", "{id}");
        let severity: f64 = rule["properties"]["security-severity"].as_str().unwrap().parse().unwrap();
        let expected = match rule["defaultConfiguration"]["level"].as_str().unwrap() {
            "error" => 7.0..10.0,
            "warning" => 0.1..7.0,
            "note" => 0.1..4.0,
            level => panic!("{id}: {level}"),
        };
        assert!(expected.contains(&severity), "{id}: {severity}");
    }
}

fn check_result(result: &Value, rules: &[Value], name: &str) {
    let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
    assert_eq!(rules[index]["id"], result["ruleId"], "{name}");
    assert!(!result["message"]["text"].as_str().unwrap().trim().is_empty(), "{name}");
    assert_eq!(result["locations"].as_array().unwrap().len(), 1, "{name}");
    let fingerprint = result["partialFingerprints"]["rolecall/v1"].as_str().unwrap();
    assert!(fingerprint.len() == 32 && fingerprint.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    let flows = result["codeFlows"].as_array().into_iter().flatten();
    let steps =
        flows.flat_map(|flow| flow["threadFlows"][0]["locations"].as_array().unwrap()).map(|step| &step["location"]);
    let all = result["locations"]
        .as_array()
        .unwrap()
        .iter()
        .chain(result["relatedLocations"].as_array().into_iter().flatten());
    for place in all.chain(steps) {
        let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
        let relative = !uri.is_empty() && !uri.starts_with('/') && !uri.starts_with("./") && !uri.contains(['\\', ' ']);
        assert!(relative && !uri.split('/').next().unwrap().contains(':'), "{name}: {uri}");
        let region = &place["physicalLocation"]["region"];
        let at = |key: &str| region[key].as_u64().unwrap();
        assert!(
            at("startLine") >= 1 && at("startColumn") >= 1 && at("endColumn") >= at("startColumn"),
            "{name}: {region}"
        );
        assert_eq!(
            at("startLine"),
            at("endLine"),
            "{name}: shown in a pull request only when all its lines are changed"
        );
    }
}

/// Re-reads the region from its file and compares it with what the result says it is. Returns what it is.
fn check_region(result: &Value, lines: &mut Lines, name: &str) -> String {
    let place = &result["locations"][0]["physicalLocation"];
    let path = decode(place["artifactLocation"]["uri"].as_str().unwrap());
    let region = &place["region"];
    let at = |key: &str| usize::try_from(region[key].as_u64().unwrap()).unwrap();
    let line = lines.get(&path, at("startLine"));
    let text: String = line.chars().skip(at("startColumn") - 1).take(at("endColumn") - at("startColumn")).collect();
    let token = text.trim_matches(['"', '\'']);
    let properties = &result["properties"];
    let permission = properties["permission"].as_str().unwrap();
    let of = properties["locationOf"].as_str().unwrap();
    let flows = result["codeFlows"].as_array().into_iter().flatten();
    let steps: Vec<&str> = flows
        .flat_map(|flow| flow["threadFlows"][0]["locations"].as_array().unwrap())
        .map(|step| step["location"]["message"]["text"].as_str().unwrap())
        .collect();
    let message = result["message"]["text"].as_str().unwrap();
    let said = |what: &str| [permission, message].iter().chain(&steps).any(|text| text.contains(what));
    let fits = match of {
        "verb" => token == "*" || permission.split([' ', ',', ';']).any(|word| word == token),
        "group" if token.is_empty() => text.len() == 2,
        "resource" | "group" | "name" => !token.is_empty() && (token.contains('*') || said(token)),
        "entry" => {
            let keys =
                ["apiGroups", "resources", "verbs", "resourceNames", "nonResourceURLs", "{", "\"", "<<", "*", "&"];
            keys.iter().any(|key| token.starts_with(key))
        }
        "object" => !token.trim().is_empty(),
        other => panic!("{name}: {other}"),
    };
    assert!(fits, "{name}: {path}:{region}: {of} is {text:?} for {permission:?} in line {line:?}");
    of.to_owned()
}

fn decode(uri: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = uri.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte == b'%' {
            let hex = std::str::from_utf8(&tail[..2]).unwrap();
            bytes.push(u8::from_str_radix(hex, 16).unwrap());
            rest = &tail[2..];
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// Lines of files, each file read once. A byte order mark is no part of its line.
#[derive(Default)]
struct Lines {
    files: BTreeMap<String, Vec<String>>,
}

impl Lines {
    fn get(&mut self, path: &str, line: usize) -> &str {
        let read = || {
            let text = fs::read_to_string(path).unwrap();
            text.trim_start_matches('\u{feff}').split('\n').map(str::to_owned).collect()
        };
        &self.files.entry(path.to_owned()).or_insert_with(read)[line - 1]
    }
}
