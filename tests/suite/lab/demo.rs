//! The demo operator under its shipped role, recorded; then under the role that rolecall writes from the record.
//! `UPDATE=1 cargo test demo_operator` makes the records the demo's audit logs.

use kube::api::{Patch, PatchParams};
use rolecall::analysis::{Grant, Verdict};
use serde_json::{Value, json};

use super::on_a_cluster;
use super::operator::{
    Operator, api, create, delete, denied, install, judged, keep, log_of, notebook, own_events, ready,
    replace_shipped_role, until,
};

#[test]
fn the_demo_operator_works_under_the_role_written_from_its_log() {
    on_a_cluster(async |cluster, client| {
        install(&client).await;
        // Under the shipped role: three notebooks, one changed, one deleted.
        let Some(operator) = Operator::start(cluster, &client, &[]).await else { return };
        let [alice, mut bob, carol] =
            [("team-a", "alice"), ("team-a", "bob"), ("team-b", "carol")].map(|(ns, name)| notebook(ns, name));
        // Asks for an Ingress, which the shipped role does not allow.
        bob["spec"]["public"] = true.into();
        for notebook in [&alice, &bob, &carol] {
            create(&client, notebook).await;
            assert!(ready(&client, notebook).await, "{notebook}");
        }
        let more = Patch::Merge(json!({"spec": {"replicas": 2}}));
        api(&client, &alice).patch("alice", &PatchParams::default(), &more).await.unwrap();
        let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": alice["metadata"]});
        assert!(until(&client, &deployment, |found| found.is_some_and(|found| found["spec"]["replicas"] == 2)).await);
        delete(&client, &bob).await;
        assert!(until(&client, &bob, |found| found.is_none()).await, "bob is still there");
        drop(operator);
        let (shipped, seen) = own_events(&cluster.audit_log(), 0);
        assert_eq!(denied(&shipped), ["create ingresses"]);
        let log = log_of(cluster.folder(), "shipped.log", &shipped);
        let (assessment, written) = judged(&[&log]);
        keep(&log, "audit.log.gz");
        // It hands out `get configmaps`, which it never uses itself: the escalation check leaves no event that says so,
        // the body of the role does.
        let handed_out = |grant: &&Grant| grant.rule.resources == ["configmaps"] && grant.rule.verbs == ["get"];
        let handed_out = assessment.grants.iter().find(handed_out).unwrap();
        assert_eq!(handed_out.verdict, Verdict::Needed, "{:#?}", assessment.notes);

        // Under the written role alone.
        replace_shipped_role(&client, &written).await;
        let operator = Operator::start(cluster, &client, &[]).await.unwrap();
        let dave = notebook("team-b", "dave");
        create(&client, &dave).await;
        assert!(ready(&client, &dave).await, "dave does not get ready: {written}");
        delete(&client, &dave).await;
        assert!(until(&client, &dave, |found| found.is_none()).await);
        drop(operator);
        let (complete, _) = own_events(&cluster.audit_log(), seen);
        assert_eq!(denied(&complete), Vec::<String>::new());
        println!("{} calls under the shipped role, {} under the written one: 0 denied", shipped.len(), complete.len());
    });
}

/// Unusual paths use what a log of the usual ones does not show.
#[test]
fn the_demo_operator_needs_more_for_an_upgrade_and_after_a_failure() {
    on_a_cluster(async |cluster, client| {
        install(&client).await;
        let legacy = |name: &str| {
            json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "team-a", "labels": {"app": "notebook-v0"}},
            })
        };
        let mut broken = notebook("team-a", "broken");
        broken["spec"]["image"] = "broken".into();
        let has_failed = |found: Option<&Value>| found.is_some_and(|found| found["status"]["phase"] == "Failed");

        // The usual path, the failure and the upgrade, each in a log of its own.
        let Some(operator) = Operator::start(cluster, &client, &[]).await else { return };
        let [erin, hank] = [notebook("team-a", "erin"), notebook("team-a", "hank")];
        for notebook in [&erin, &hank] {
            create(&client, notebook).await;
            assert!(ready(&client, notebook).await);
        }
        delete(&client, &hank).await;
        assert!(until(&client, &hank, |found| found.is_none()).await);
        drop(operator);
        let (usual, seen) = own_events(&cluster.audit_log(), 0);

        let operator = Operator::start(cluster, &client, &[]).await.unwrap();
        create(&client, &broken).await;
        assert!(until(&client, &broken, has_failed).await);
        drop(operator);
        let (failure, seen) = own_events(&cluster.audit_log(), seen);

        create(&client, &legacy("erin-old")).await;
        let operator = Operator::start(cluster, &client, &["--upgrade"]).await.unwrap();
        assert!(until(&client, &legacy("erin-old"), |found| found.is_none()).await);
        // What comes after the upgrade is the usual path again.
        let frank = notebook("team-b", "frank");
        create(&client, &frank).await;
        assert!(ready(&client, &frank).await);
        drop(operator);
        let (upgrade, seen) = own_events(&cluster.audit_log(), seen);
        assert_eq!((denied(&failure), denied(&upgrade)), (vec![], vec![]));
        let folder = cluster.folder();
        let usual = log_of(folder, "usual.log", &usual);
        let [failure, upgrade] = [("failure", failure), ("upgrade", upgrade)].map(|(name, lines)| {
            let log = log_of(folder, &format!("{name}.log"), &lines);
            keep(&log, &format!("{name}.log.gz"));
            log
        });

        // Under the role written from the usual path both are refused something.
        let (_, written) = judged(&[&usual]);
        replace_shipped_role(&client, &written).await;
        create(&client, &legacy("erin-older")).await;
        let operator = Operator::start(cluster, &client, &["--upgrade"]).await.unwrap();
        let gina = notebook("team-b", "gina");
        create(&client, &gina).await;
        assert!(ready(&client, &gina).await, "a failed upgrade does not stop the usual path");
        delete(&client, &broken).await;
        assert!(until(&client, &broken, |found| found.is_none()).await);
        create(&client, &broken).await;
        assert!(until(&client, &broken, has_failed).await);
        drop(operator);
        let (lines, seen) = own_events(&cluster.audit_log(), seen);
        assert_eq!(denied(&lines), ["delete rolebindings", "delete roles", "list configmaps"]);

        // Under the role written from all three logs nothing is.
        for object in super::operator::documents(&written) {
            delete(&client, &object).await;
        }
        let (_, written) = judged(&[&usual, &failure, &upgrade]);
        for object in super::operator::documents(&written) {
            create(&client, &object).await;
        }
        let operator = Operator::start(cluster, &client, &["--upgrade"]).await.unwrap();
        assert!(until(&client, &legacy("erin-older"), |found| found.is_none()).await);
        delete(&client, &broken).await;
        assert!(until(&client, &broken, |found| found.is_none()).await);
        create(&client, &broken).await;
        assert!(until(&client, &broken, has_failed).await);
        drop(operator);
        let (lines, _) = own_events(&cluster.audit_log(), seen);
        assert_eq!(denied(&lines), Vec::<String>::new());
        println!("the role of the usual path refuses 3 calls of the others, that of all three logs refuses none");
    });
}
