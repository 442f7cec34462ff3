//! Authorization attributes out of method and URI, against `RequestInfoFactory`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use rolecall::audit::Collector;
use rolecall::rbac::Request;
use serde_json::{Value, json};

use super::generate::Dice;
use super::oracle::Oracle;
use crate::common;

const GENERATED: usize = 220_000;
const BATCH: usize = 2_000;

/// (HTTP method, URI).
type Call = (String, String);

/// What rolecall reads out of an event of this call, with the verb that Kubernetes would have logged.
fn ours(calls: &[(&Call, &Value)]) -> Vec<Option<Request>> {
    let mut log = String::new();
    for (at, ((_, uri), theirs)) in calls.iter().enumerate() {
        let event = json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
            "auditID": at.to_string(), "requestURI": uri, "verb": theirs["verb"], "user": {"username": format!("{at:09}")},
            "responseStatus": {"code": 200}, "annotations": {"authorization.k8s.io/decision": "allow"},
        });
        log += &(event.to_string() + "\n");
    }
    let mut collector = Collector::new();
    collector.read("generated", &mut log.as_bytes());
    let mut requests = vec![None; calls.len()];
    // Each call has a user of its own.
    for call in collector.finish().calls {
        requests[call.user.parse::<usize>().unwrap()] = Some(call.request.clone());
    }
    requests
}

/// Compares a batch; returns how many were compared, requests that Kubernetes cannot read left out.
fn compare(oracle: &mut Oracle, calls: &[Call]) -> usize {
    let http: Vec<Value> = calls.iter().map(|(method, uri)| json!({"method": method, "uri": uri})).collect();
    let theirs = oracle.ask(&json!({"ask": "attributes", "http": http}));
    let readable: Vec<(&Call, &Value)> =
        calls.iter().zip(theirs.as_array().unwrap()).filter(|(_, theirs)| theirs["error"].is_null()).collect();
    for (((method, uri), theirs), ours) in readable.iter().zip(ours(&readable)) {
        let shown = format!("{method} {uri}: {theirs}");
        let ours = ours.unwrap_or_else(|| panic!("not read: {shown}"));
        let text = |key: &str| theirs[key].as_str().unwrap();
        match &ours {
            Request::Resource(ours) => {
                let fields =
                    [&ours.api_group, &ours.resource, &ours.subresource, &ours.verb, &ours.namespace, &ours.name];
                let keys = ["apiGroup", "resource", "subresource", "verb", "namespace", "name"];
                assert_eq!(fields.map(String::as_str), keys.map(text), "{shown}");
                assert_eq!(text("nonResourceURL"), "", "{shown}");
            }
            Request::NonResource(ours) => {
                assert_eq!((ours.path.as_str(), ours.verb.as_str()), (text("nonResourceURL"), text("verb")), "{shown}");
            }
        }
    }
    readable.len()
}

/// A URI of parts that the API server tells apart, escapes and slips among them.
fn uri(dice: &mut Dice) -> String {
    let mut uri = String::new();
    let head = [
        "/api/v1",
        "/apis/apps/v1",
        "/apis/x.io/v1beta1",
        "/api",
        "/apis",
        "/apis/apps",
        "/api/v1/proxy",
        "/api/v1/watch",
        "/apis/apps/v1/watch",
        "/metrics",
        "/healthz/etcd",
        "/version",
        "",
        "/API/v1",
        "/api/v2",
        "//api/v1",
        "/openapi/v3",
    ];
    uri += dice.of(&head);
    for _ in 0..dice.below(6) {
        let part = [
            "namespaces",
            "n",
            "pods",
            "p",
            "exec",
            "log",
            "status",
            "proxy",
            "nodes",
            "a%2Fb",
            "%6E",
            "x%20y",
            "finalize",
            "services",
            "http:svc:80",
            "",
            ".",
            "..",
            "é",
            "pods%3Fx",
            "secrets",
            "watch",
            "deployments",
            "scale",
            "a+b",
        ];
        uri += "/";
        uri += dice.of(&part);
    }
    if dice.below(8) == 0 {
        uri += "/";
    }
    if dice.below(3) == 0 {
        let query = [
            "?watch=true",
            "?watch=1",
            "?watch=false",
            "?fieldSelector=metadata.name%3Da",
            "?fieldSelector=metadata.name=a",
            "?fieldSelector=metadata.name%3D%3Da",
            "?fieldSelector=metadata.name!%3Da",
            "?fieldSelector=spec.x%3D1,metadata.name%3Da",
            "?fieldSelector=metadata.name%3D",
            "?watch",
            "?watch=true&fieldSelector=metadata.name%3Da",
            "?limit=500",
            "?",
            "?fieldSelector=metadata.name%3Da%2Fb",
            "?fieldSelector=metadata.name%3Da&fieldSelector=metadata.name%3Db",
            "?a=%zz",
        ];
        uri += dice.of(&query);
    }
    if uri.is_empty() { "/".to_owned() } else { uri }
}

#[test]
fn attributes_of_generated_requests_are_those_of_kubernetes() {
    let Some(mut oracle) = Oracle::start() else { return };
    let mut dice = Dice(0x5eed);
    let mut compared = 0;
    for _ in 0..GENERATED / BATCH {
        let calls: Vec<Call> = (0..BATCH)
            .map(|_| {
                (
                    dice.of(&["GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]).to_owned(),
                    uri(&mut dice),
                )
            })
            .collect();
        compared += compare(&mut oracle, &calls);
    }
    println!("{compared} of {GENERATED} generated requests compared, 0 different");
    assert!(compared > GENERATED / 2);
}

/// The HTTP method that has the verb.
fn method(verb: &str) -> &'static str {
    match verb {
        "create" | "post" => "POST",
        "update" | "put" => "PUT",
        "patch" => "PATCH",
        "delete" | "deletecollection" => "DELETE",
        "head" => "HEAD",
        "options" => "OPTIONS",
        _ => "GET",
    }
}

#[test]
fn attributes_of_recorded_requests_are_those_of_kubernetes() {
    let Some(oracle) = Oracle::start() else { return };
    let Some(cases) = common::shared("cases") else { return };
    let oracle = RefCell::new(oracle);
    let calls = RefCell::new(BTreeSet::new());
    logs(&cases, &|line| {
        if let Ok(event) = serde_json::from_str::<Value>(line)
            && let (Some(uri), Some(verb)) = (event["requestURI"].as_str(), event["verb"].as_str())
        {
            calls.borrow_mut().insert((method(verb).to_owned(), uri.to_owned()));
        }
    });
    let calls: Vec<Call> = calls.into_inner().into_iter().collect();
    let compared = Cell::new(0);
    for batch in calls.chunks(BATCH) {
        compared.set(compared.get() + compare(&mut oracle.borrow_mut(), batch));
    }
    println!("{} of {} distinct recorded requests compared, 0 different", compared.get(), calls.len());
    assert!(compared.get() > 1_000);
}

/// The lines of every log below a folder.
fn logs(folder: &Path, each: &dyn Fn(&str)) {
    for path in common::entries(folder) {
        if path.is_dir() {
            logs(&path, each);
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = || std::fs::File::open(&path).unwrap();
        let lines: Box<dyn BufRead> = if name.ends_with(".log.gz") || name.ends_with(".jsonl.gz") {
            Box::new(BufReader::new(MultiGzDecoder::new(file())))
        } else if name.ends_with(".log") || name.ends_with(".jsonl") {
            Box::new(BufReader::new(file()))
        } else {
            continue;
        };
        lines.lines().map_while(Result::ok).for_each(|line| each(&line));
    }
}
