//! Small logs with one peculiarity each, against their known answers.

use std::path::Path;
use std::sync::Arc;

use rolecall::audit::{Decision, Observed, Origin, Usage};
use rolecall::input::log::read_logs;
use rolecall::needs;
use rolecall::rbac::Request;

use super::needed;
use crate::common::shared;

const ACCOUNT: &str = "system:serviceaccount:op-ns:op";

/// What the account was allowed, as `verb resource.group [name] in namespace`, and what it needed with it.
fn uses(usage: &Usage) -> Vec<String> {
    let allowed = |call: &&Arc<Observed>| call.user == ACCOUNT && call.decision == Decision::Allowed;
    let mut uses = Vec::new();
    for call in usage.calls.iter().filter(allowed) {
        uses.push(shown(&call.request));
        uses.extend(needed(call).iter().map(shown));
    }
    uses.sort();
    uses.dedup();
    uses
}

fn shown(request: &Request) -> String {
    match request {
        Request::Resource(request) => {
            let mut text = format!("{} {}", request.verb, request.combined());
            for (before, part) in [(".", &request.api_group), (" ", &request.name), (" in ", &request.namespace)] {
                if !part.is_empty() {
                    text += &format!("{before}{part}");
                }
            }
            text
        }
        Request::NonResource(request) => format!("{} {}", request.verb, request.path),
    }
}

fn read(folder: &Path, name: &str) -> Usage {
    read_logs(&[folder.join(name).to_string_lossy().into_owned()], &mut |_| ()).expect("a log")
}

#[test]
fn small_logs_give_their_known_answers() {
    let Some(folder) = shared("cases/audit-inputs") else {
        return;
    };
    let answers: &[(&str, &[&str], &[&str])] = &[
        (
            "c01_narrow.log",
            &["get configmaps a in op-ns", "get configmaps b in op-ns", "update configmaps a in op-ns"],
            &[],
        ),
        ("c02_query.log", &["get /metrics", "get /readyz", "get /version"], &[]),
        ("c03_token.log", &["create serviceaccounts/token agent in op-ns"], &[]),
        ("c04_ssa.log", &["create deployments.apps web in op-ns", "patch deployments.apps web in op-ns"], &[]),
        ("c06_imp.log", &["impersonate users alice"], &[]),
        ("c07_trunc.log", &["get pods p in op-ns"], &["audit event cut short"]),
        ("c08_garbage.log", &["get pods p in op-ns", "list nodes"], &["not JSON"]),
        ("c12_ocp.log", &["get pods p in op-ns", "list nodes"], &[]),
        ("c13_list.log", &["list secrets in op-ns", "watch secrets in op-ns"], &[]),
        ("c13_list.log.gz", &["list secrets in op-ns", "watch secrets in op-ns"], &[]),
        ("c14_404.log", &["create configmaps in op-ns", "get configmaps x in op-ns"], &[]),
        ("c17_watch.log", &["get pods a in ns1", "list pods", "watch pods"], &[]),
        ("c19_big.log", &["list nodes", "update configmaps big in op-ns"], &[]),
        ("c21_bind.log", &["create rolebindings.rbac.authorization.k8s.io in ns1"], &[]),
        ("c22_bom.log", &["list secrets in op-ns", "watch secrets in op-ns"], &[]),
        (
            "k01.log",
            &[
                "create configmaps in op-ns",
                "create rolebindings.rbac.authorization.k8s.io in ns1",
                "get /metrics",
                "get configmaps x in op-ns",
                "get pods p in op-ns",
                "get pods/log p in op-ns",
            ],
            &[],
        ),
        ("r01.log", &["create configmaps in op-ns", "get /metrics", "get pods p in op-ns"], &[]),
        (
            "g01.log",
            &[
                "create deployments.apps web in op-ns",
                "get /metrics",
                "get pods/log p in op-ns",
                "get secrets t in other-ns",
                "list configmaps in op-ns",
                "list nodes",
                "patch deployments.apps web in op-ns",
            ],
            &[],
        ),
        (
            "g02.log",
            &[
                "create deployments.apps web in op-ns",
                "get pods p in op-ns",
                "get secrets t in op-ns",
                "list configmaps in op-ns",
                "patch deployments.apps web in op-ns",
            ],
            &[],
        ),
        ("g03.log", &["list nodes"], &[]),
    ];
    for (name, expected, lost) in answers {
        let usage = read(&folder, name);
        assert_eq!(uses(&usage), *expected, "{name}");
        let causes: Vec<_> = usage.quality.skipped.iter().map(|skipped| &*skipped.cause).collect();
        assert_eq!(causes, *lost, "{name}");
        assert_eq!(usage.diagnostics.len(), lost.len(), "{name}: {:?}", usage.diagnostics);
    }
    let listed = std::fs::read_to_string(folder.join("answers.tsv")).expect("answers");
    for line in listed.lines().skip(1).filter_map(|line| line.split('\t').next()) {
        let name = line.split(" (").next().unwrap_or_default();
        assert!(name == LIST || answers.iter().any(|(known, _, _)| *known == name), "{name} is not tested");
    }
}

const LIST: &str = "c10_list.json";

#[test]
fn a_list_around_events_is_read() {
    let Some(folder) = shared("cases/audit-inputs") else {
        return;
    };
    let mut expected: Vec<String> = (0..50).map(|at| format!("list res{at}s.g.example.com")).collect();
    expected.push("get pods p0 in op-ns".to_owned());
    expected.sort();
    let usage = read(&folder, LIST);
    assert_eq!((uses(&usage), usage.quality.events, usage.diagnostics.len()), (expected, 51, 0));
}

#[test]
fn a_denied_call_is_one_denial_and_no_use() {
    let Some(folder) = shared("cases/audit-inputs") else {
        return;
    };
    let usage = read(&folder, "k01.log");
    let denied: Vec<_> = usage.calls.iter().filter(|call| call.decision == Decision::Denied).collect();
    assert_eq!(denied.len(), 1);
    assert_eq!((shown(&denied[0].request).as_str(), denied[0].count), ("delete secrets s in op-ns", 1));
    // Its RequestReceived event carries another audit id: a request of its own, without an end.
    let undecided: Vec<_> = usage.calls.iter().filter(|call| call.decision == Decision::Undecided).collect();
    assert_eq!((undecided.len(), undecided[0].count), (1, 1));
}

#[test]
fn an_impersonated_call_belongs_to_the_other_user() {
    let Some(folder) = shared("cases/audit-inputs") else {
        return;
    };
    let usage = read(&folder, "c06_imp.log");
    let alice: Vec<_> = usage.calls.iter().filter(|call| call.user == "alice").collect();
    assert_eq!(shown(&alice[0].request), "list pods in op-ns");
    assert_eq!((alice[0].origin, &*alice[0].impersonators), (Origin::Call, &[ACCOUNT.to_owned()][..]));
}

#[test]
fn a_binding_written_hints_at_a_hidden_check() {
    let Some(folder) = shared("cases/audit-inputs") else {
        return;
    };
    let usage = read(&folder, "c21_bind.log");
    let hints: Vec<_> = usage.calls.iter().filter_map(|call| needs::suspected(call)).collect();
    assert!(hints.len() == 1 && hints[0].contains("`bind`"), "{hints:?}");
}
