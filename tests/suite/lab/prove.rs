//! `rolecall prove` on the lab's API server: a proof, a role that is too small, and the way back after a command that
//! fails, after Ctrl-C and after `kill -9`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kube::Client;
use kube::api::ListParams;
use serde_json::{Value, json};

use super::cluster::{Cluster, TOKEN};
use super::minimal::policy;
use super::on_a_cluster_that_records;
use super::operator::{DEMO, Operator, SUBJECT, api, create, install};
use super::scenario::{End, Tail, life, refused};
use super::trouble::{end, gone, running};
use crate::cli::{Answer, answer};

const ATTACH: &str = "ROLECALL_LAB_ATTACH";
const WHAT: &str = "ROLECALL_LAB_WHAT";

/// The command whose two runs are compared; run by the tests below in a process of its own.
#[test]
fn to_be_proven() {
    let Ok(attach) = std::env::var(ATTACH) else { return };
    let (port, folder) = attach.split_once(':').unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let (cluster, client) = Cluster::attached(Path::new(folder), port.parse().unwrap()).await;
        let mut tail = Tail::of(&cluster);
        let run = std::env::var("ROLECALL_RUN").unwrap();
        let name = format!("run-{run}-{}", std::process::id());
        assert_eq!(life(&cluster, &client, &mut tail, &name).await, Some(End::Reached));
        if run == "2" && std::env::var(WHAT).is_ok_and(|what| what == "upgrade") {
            // What the first run did not show.
            let _operator = Operator::start(&cluster, &client, &["--upgrade"]).await.unwrap();
            assert!(refused(&mut tail).await.is_some());
        }
    });
}

/// `rolecall prove` in the folder of a cluster.
struct Prove<'a> {
    cluster: &'a Cluster,
    kubeconfig: PathBuf,
    folder: tempfile::TempDir,
}

impl<'a> Prove<'a> {
    fn on(cluster: &'a Cluster) -> Self {
        let folder = tempfile::tempdir().unwrap();
        // The operators of the scenario write theirs over the cluster's.
        let kubeconfig = folder.path().join("admin");
        std::fs::copy(cluster.kubeconfig(TOKEN), &kubeconfig).unwrap();
        Self { cluster, kubeconfig, folder }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("rolecall-prove.json")
    }

    /// The scenario, then what else the command does.
    fn command(&self, then: &str) -> Command {
        let scenario = std::env::current_exe().unwrap();
        let command = format!("{} --exact lab::prove::to_be_proven --nocapture && {then}", scenario.display());
        let mut prove = self.with(&["--command", &command, "--subject", SUBJECT, "--settle", "0.5"]);
        prove.arg("--audit").arg(self.cluster.audit_log()).arg(std::path::absolute(DEMO).unwrap());
        prove.env(ATTACH, format!("{}:{}", self.cluster.port(), self.cluster.folder().display()));
        prove
    }

    fn with(&self, args: &[&str]) -> Command {
        let mut prove = Command::new(assert_cmd::cargo::cargo_bin("rolecall"));
        prove.arg("prove").args(args).arg("--kubeconfig").arg(&self.kubeconfig).current_dir(self.folder.path());
        prove
    }

    fn runs(&self, then: &str, what: &str, args: &[&str]) -> Answer {
        let mut command = assert_cmd::Command::from_std(self.command(then));
        answer(command.env(WHAT, what).args(args))
    }

    /// Begun, and in the middle of its second run, where it sleeps for so many seconds.
    fn in_the_second_run(&self, seconds: &str) -> Child {
        let then = format!("if [ $ROLECALL_RUN = 2 ]; then sleep {seconds}; fi");
        let running_now = || !running(&format!("sleep {seconds}")).iter().all(|pid| is_shell(*pid));
        let child = self.command(&then).arg("--yes").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(100));
            running_now()
        });
        assert!(begun, "no second run");
        child
    }
}

/// Whether the process only has the text in its command line.
fn is_shell(pid: u32) -> bool {
    let command = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    command.trim() != "sleep"
}

/// Every role and binding, without what each write changes.
async fn rbac(client: &Client) -> BTreeMap<String, Value> {
    let mut found = BTreeMap::new();
    for kind in ["ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"] {
        let all = api(client, &json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind}));
        for object in all.list(&ListParams::default()).await.unwrap() {
            let object = serde_json::to_value(object).unwrap();
            let name = format!("{kind} {}/{}", object["metadata"]["namespace"], object["metadata"]["name"]);
            // Those that the operator makes for its notebooks.
            if !name.contains("\"run-") {
                found.insert(name, json!([object["subjects"], object["roleRef"], object["rules"]]));
            }
        }
    }
    found
}

#[test]
fn a_role_is_proven_and_the_cluster_is_as_before_whatever_happens() {
    on_a_cluster_that_records(&policy(), &[], async |cluster, client| {
        install(&client).await;
        // What the operator hands out, it holds as a member of a group: that stays.
        let rbac_group = "rbac.authorization.k8s.io";
        let version = format!("{rbac_group}/v1");
        let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]);
        let metadata = json!({"name": "handed-out", "namespace": "team-a"});
        create(&client, &json!({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules})).await;
        let group = json!({"kind": "Group", "apiGroup": rbac_group, "name": "system:serviceaccounts:notebook-system"});
        let role = json!({"apiGroup": rbac_group, "kind": "Role", "name": "handed-out"});
        let bound = json!({
            "apiVersion": version, "kind": "RoleBinding", "metadata": metadata, "subjects": [group], "roleRef": role,
        });
        create(&client, &bound).await;
        if Operator::start(cluster, &client, &[]).await.is_none() {
            return;
        }
        let before = rbac(&client).await;
        let prove = Prove::on(cluster);
        let restored = async |what: &str| {
            assert_eq!(rbac(&client).await, before, "{what}");
            assert!(!prove.state().exists(), "{what}");
        };

        let shown = prove.runs("true", "", &["--dry-run"]);
        assert_eq!(shown.code, 0, "{shown:?}");
        assert!(shown.stdout.contains("ClusterRoleBinding notebook-operator (of ClusterRole notebook-operator)"));
        restored("dry run").await;
        let unasked = prove.runs("true", "", &[]);
        assert!(unasked.code == 2 && unasked.stderr.contains("--yes agrees"), "{unasked:?}");
        restored("nobody agreed").await;

        let proven = prove.runs("true", "", &["--yes", "--output", "role.yaml"]);
        println!("{}{}", proven.stdout, proven.stderr);
        assert!(proven.code == 0 && proven.stdout.contains("\nPROVEN: "), "{proven:?}");
        assert!(proven.stdout.contains("RoleBinding team-a/handed-out reaches it through a group"), "{proven:?}");
        assert!(prove.folder.path().join("role.yaml").exists());
        restored("proven").await;

        // At the defaults what the first run does not exercise stays.
        let small = prove.runs("true", "upgrade", &["--yes", "--drop-unexercised"]);
        assert!(
            small.code == 1 && small.stdout.contains("denied under the written role: list configmaps"),
            "{small:?}"
        );
        assert!(small.stdout.contains("  would be allowed by: list configmaps (cluster)\n"), "{small:?}");
        restored("too small").await;

        let failed = prove.runs("[ $ROLECALL_RUN = 1 ]", "", &["--yes"]);
        assert!(failed.code == 1 && failed.stdout.contains("the command fails under the written role"), "{failed:?}");
        restored("failed").await;
        let failed = prove.runs("false", "", &["--yes"]);
        assert!(failed.code == 2 && failed.stderr.contains("fails under the shipped role already"), "{failed:?}");

        for (signal, seconds) in [("-INT", "81.25"), ("-TERM", "82.25")] {
            let mut child = prove.in_the_second_run(seconds);
            assert_ne!(rbac(&client).await, before, "it is swapped in the second run");
            Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
            assert_eq!(child.wait().unwrap().code(), Some(2), "{signal}");
            assert!(gone(&format!("sleep {seconds}")));
            restored(signal).await;
        }

        let mut child = prove.in_the_second_run("83.25");
        child.kill().unwrap();
        child.wait().unwrap();
        running("sleep 83.25").into_iter().for_each(end);
        assert_ne!(rbac(&client).await, before, "nothing was put back");
        let again = prove.runs("true", "", &["--yes"]);
        assert!(again.code == 2 && again.stderr.contains("undo that swap first"), "{again:?}");
        let state = prove.state();
        let undone = answer(&mut assert_cmd::Command::from_std(prove.with(&["--restore", state.to_str().unwrap()])));
        assert_eq!(undone.code, 0, "{undone:?}");
        restored("--restore").await;

        // Another log than the cluster's, and a subject that nobody binds.
        let other = tempfile::NamedTempFile::new().unwrap();
        let mut silent = prove.with(&["--command", "true", "--subject", SUBJECT, "--yes", "--settle", "0"]);
        silent.arg("--audit").arg(other.path());
        assert_eq!(answer(&mut assert_cmd::Command::from_std(silent)).code, 3);
        let mut unbound = prove.with(&["--command", "true", "--subject", "a/b", "--yes", "--settle", "0"]);
        unbound.arg("--audit").arg(other.path());
        assert_eq!(answer(&mut assert_cmd::Command::from_std(unbound)).code, 2);
        restored("nothing to prove").await;
    });
}
