//! The audit policy that rolecall writes, against one that records everything: the same scenario of the demo operator
//! on an API server with each, what rolecall sees in the two logs, and how long they are.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use assert_cmd::Command;
use kube::api::{Patch, PatchParams};
use rolecall::analysis::{Assessment, CallVerdict, Options, describe};
use serde_json::json;

use super::on_a_cluster_that_records;
use super::operator::{
    DEMO, Operator, PATIENCE, SUBJECT, api, create, delete, install, log_of, notebook, own_events, ready, until,
};
use crate::common::{assess, load_under, text};

const EVERYTHING: &str = "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: RequestResponse}]\n";

/// What became of the scenario under a policy.
struct Record {
    /// Bytes of the operator's events.
    own: u64,
    /// Bytes of the log.
    whole: u64,
    assessment: Assessment,
}

/// Notebooks made, changed and deleted, and the leader's lease renewed.
fn recorded(policy: &str) -> Option<Record> {
    let record = on_a_cluster_that_records(policy, &[], async |cluster, client| {
        install(&client).await;
        let operator = Operator::start(cluster, &client, &[]).await?;
        let [alice, mut bob] = [("team-a", "alice"), ("team-b", "bob")].map(|(ns, name)| notebook(ns, name));
        // Asks for an Ingress, which the shipped role does not allow.
        bob["spec"]["public"] = true.into();
        for notebook in [&alice, &bob] {
            create(&client, notebook).await;
            assert!(ready(&client, notebook).await, "{notebook}");
        }
        let more = Patch::Merge(json!({"spec": {"replicas": 2}}));
        api(&client, &alice).patch("alice", &PatchParams::default(), &more).await.unwrap();
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": alice["metadata"]});
        assert!(until(&client, &deployment, |found| found.is_some_and(|found| found["spec"]["replicas"] == 2)).await);
        delete(&client, &bob).await;
        assert!(until(&client, &bob, |found| found.is_none()).await, "bob is still there");
        let renewed = |lines: &[String]| {
            lines.iter().any(|line| line.contains("\"verb\":\"update\"") && line.contains("/leases/"))
        };
        for _ in 0..PATIENCE {
            if renewed(&own_events(&cluster.audit_log(), 0).0) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        drop(operator);
        let (lines, _) = own_events(&cluster.audit_log(), 0);
        let whole = fs::metadata(cluster.audit_log()).unwrap().len();
        let log = log_of(cluster.folder(), "own.log", &lines);
        // As a user gives them: the policy beside the log.
        let policy = Some(text(&cluster.folder().join("policy.yaml")));
        let loaded = load_under(policy, &[DEMO.to_owned()], &[text(&log)]);
        let own = lines.iter().map(|line| line.len() as u64 + 1).sum();
        Some(Record { own, whole, assessment: assess(&loaded, SUBJECT, Options::default()) })
    });
    record.flatten()
}

/// What is known of the subject: the verdict of each grant and of each call, and what is suspected. What every user may
/// do is not a need.
fn known(assessment: &Assessment) -> BTreeSet<String> {
    let grants =
        assessment.grants.iter().map(|grant| format!("{:?} {} {}", grant.rule, grant.scope, grant.verdict as u8));
    let calls = assessment.calls.iter().filter(|call| call.verdict != CallVerdict::Default).map(|call| {
        let request = &call.observed.request;
        format!("{} in `{}` {:?}", describe(request), request.namespace(), call.verdict)
    });
    grants.chain(calls).chain(assessment.notes.iter().cloned()).collect()
}

#[test]
fn the_written_audit_policy_shows_the_same_in_a_quarter_of_the_bytes() {
    let mut rolecall = Command::cargo_bin("rolecall").unwrap();
    let written = rolecall.args(["audit-policy", "--subject", SUBJECT]).output().unwrap();
    let (Some(full), Some(written)) = (recorded(EVERYTHING), recorded(&String::from_utf8(written.stdout).unwrap()))
    else {
        return;
    };
    let (all, some) = (known(&full.assessment), known(&written.assessment));
    let lost: Vec<_> = all.difference(&some).collect();
    assert!(lost.is_empty(), "only under the full policy: {lost:#?}");
    let more: Vec<_> = some.difference(&all).collect();
    assert!(more.is_empty(), "only under the written policy: {more:#?}");
    let percent = |part: u64, whole: u64| 100.0 * part as f64 / whole as f64;
    let (own, whole) = (percent(written.own, full.own), percent(written.whole, full.whole));
    println!(
        "the whole log: {} bytes under the written policy, {} under the full one: {whole:.1} %",
        written.whole, full.whole
    );
    println!("the operator's events: {} bytes, {}: {own:.1} %; {} facts the same", written.own, full.own, all.len());
    // The demo's objects are small, so that the Metadata of its events alone, which every need shows in, is a third.
    assert!(whole <= 25.0 && own <= 50.0, "{whole} {own}");
}
