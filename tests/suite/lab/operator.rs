//! The demo operator on a real API server: under its shipped role, recorded; then under the role that rolecall writes
//! from that record. `UPDATE=1 cargo test` makes the record the demo's audit log.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use flate2::Compression;
use flate2::GzBuilder;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use rolecall::analysis::{Assessment, Options};
use rolecall::rewrite::role_yaml;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::on_a_cluster;
use crate::common::{assess, load, text};

/// Twentieths of a second that anything may take; a busy machine is slow.
const PATIENCE: usize = 1_200;

const DEMO: &str = "fixtures/demo";
const SUBJECT: &str = "notebook-system/notebook-operator";
const USER: &str = "system:serviceaccount:notebook-system:notebook-operator";

fn api(client: &Client, object: &Value) -> Api<DynamicObject> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let version = text(&object["apiVersion"]);
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &text(&object["kind"])));
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
        None => Api::all_with(client.clone(), &kind),
    }
}

async fn create(client: &Client, object: &Value) {
    let parsed = serde_json::from_value(object.clone()).unwrap();
    // A resource definition is served a moment after it was made.
    for _ in 0..100 {
        match api(client, object).create(&PostParams::default(), &parsed).await {
            Ok(_) => return,
            Err(kube::Error::Api(status)) if status.code == 404 => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(error) => panic!("{object}: {error}"),
        }
    }
    panic!("not served: {object}");
}

fn documents(yaml: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(yaml).unwrap()
}

fn notebook(namespace: &str, name: &str, public: bool) -> Value {
    json!({
        "apiVersion": "demo.example.com/v1", "kind": "Notebook", "metadata": {"name": name, "namespace": namespace},
        "spec": {"image": "", "replicas": 1, "public": public},
    })
}

/// The operator as a process under its account.
struct Operator(Child);

impl Operator {
    /// `None` when the example was not built (`cargo test --test suite` builds no examples).
    async fn start(cluster: &Cluster, client: &Client) -> Option<Self> {
        let program = std::env::current_exe().unwrap().parent()?.parent()?.join("examples/notebook-operator");
        if !program.exists() {
            println!("skipped: {} is not built (cargo build --examples)", program.display());
            return None;
        }
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "notebook-system");
        let asked = TokenRequest { spec: Default::default(), ..Default::default() };
        let token = accounts.create_token_request("notebook-operator", &PostParams::default(), &asked).await.unwrap();
        let kubeconfig = cluster.kubeconfig(&token.status.unwrap().token.unwrap());
        let log = fs::File::create(cluster.folder().join("operator.log")).unwrap();
        let child =
            Command::new(program).env("KUBECONFIG", kubeconfig).stdout(Stdio::null()).stderr(log).spawn().unwrap();
        Some(Self(child))
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the condition holds of the object; `None` is an object that is not there.
async fn until(client: &Client, object: &Value, holds: impl Fn(Option<&Value>) -> bool) -> bool {
    let name = object["metadata"]["name"].as_str().unwrap();
    for _ in 0..PATIENCE {
        let found = api(client, object).get_opt(name).await.unwrap();
        if holds(found.map(|found| serde_json::to_value(found).unwrap()).as_ref()) {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    false
}

async fn ready(client: &Client, notebook: &Value) -> bool {
    until(client, notebook, |found| found.is_some_and(|found| found["status"]["phase"] == "Ready")).await
}

async fn delete(client: &Client, object: &Value) {
    api(client, object).delete(object["metadata"]["name"].as_str().unwrap(), &Default::default()).await.unwrap();
}

/// Lines of the audit log that are the operator's, from a line on, and how many lines there are.
fn own_events(log: &Path, from: usize) -> (Vec<String>, usize) {
    let whole = fs::read_to_string(log).unwrap();
    let own = whole.lines().skip(from).filter(|line| line.contains(&format!("\"username\":\"{USER}\"")));
    (own.map(str::to_owned).collect(), whole.lines().count())
}

/// A log of these lines as a file, and what rolecall makes of it.
fn judged(folder: &Path, name: &str, lines: &[String]) -> (PathBuf, Assessment) {
    let path = folder.join(name);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let assessment = assess(&load(&[DEMO.to_owned()], &[text(&path)]), SUBJECT, Options::default());
    (path, assessment)
}

/// `verb resource` of the denied calls, each once.
fn denied(lines: &[String]) -> Vec<String> {
    let mut denied: Vec<String> = lines
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|event| event["responseStatus"]["code"] == 403)
        .map(|event| {
            format!("{} {}", event["verb"].as_str().unwrap(), event["objectRef"]["resource"].as_str().unwrap())
        })
        .collect();
    denied.sort();
    denied.dedup();
    denied
}

#[test]
fn the_demo_operator_works_under_the_role_written_from_its_log() {
    on_a_cluster(async |cluster, client| {
        for file in ["operator.yaml", "crd.yaml"] {
            for object in documents(&fs::read_to_string(format!("{DEMO}/{file}")).unwrap()) {
                // There is no node to run it: the test runs the program itself.
                if object["kind"] != "Deployment" {
                    create(&client, &object).await;
                }
            }
        }
        for name in ["team-a", "team-b"] {
            create(&client, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await;
        }

        // Under the shipped role: three notebooks, one changed, one deleted.
        let Some(operator) = Operator::start(cluster, &client).await else { return };
        let [alice, bob, carol] = [("team-a", "alice", false), ("team-a", "bob", true), ("team-b", "carol", false)]
            .map(|(namespace, name, public)| notebook(namespace, name, public));
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
        let (log, assessment) = judged(cluster.folder(), "shipped.log", &shipped);
        keep_as_demo(&log);

        // Under the written role alone.
        for (kind, name) in [("ClusterRoleBinding", "notebook-operator"), ("RoleBinding", "notebook-operator-leader")] {
            let mut binding =
                json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}});
            if kind == "RoleBinding" {
                binding["metadata"]["namespace"] = "notebook-system".into();
            }
            delete(&client, &binding).await;
        }
        for object in documents(&role_yaml::render(&assessment, assessment.minimal.as_ref().unwrap())) {
            create(&client, &object).await;
        }
        let operator = Operator::start(cluster, &client).await.unwrap();
        let dave = notebook("team-b", "dave", false);
        create(&client, &dave).await;
        // It hands out `get configmaps`, which it never uses itself: the escalation check leaves no event that says so.
        for _ in 0..PATIENCE {
            if !denied(&own_events(&cluster.audit_log(), seen).0).is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(until(&client, &dave, |found| found.is_some_and(|found| found["status"].is_null())).await);
        drop(operator);
        let (written, seen) = own_events(&cluster.audit_log(), seen);
        assert_eq!(denied(&written), ["patch roles"]);
        assert!(assessment.notes.iter().any(|note| note.contains("it must hold every rule that it hands out")));

        // With what it hands out.
        let handed_out = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "handed-out"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
        });
        let bound = json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": "handed-out"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "handed-out"},
            "subjects": [{"kind": "ServiceAccount", "name": "notebook-operator", "namespace": "notebook-system"}],
        });
        create(&client, &handed_out).await;
        create(&client, &bound).await;
        let operator = Operator::start(cluster, &client).await.unwrap();
        assert!(ready(&client, &dave).await, "dave does not get ready with what is handed out");
        delete(&client, &dave).await;
        assert!(until(&client, &dave, |found| found.is_none()).await);
        drop(operator);
        let (complete, _) = own_events(&cluster.audit_log(), seen);
        assert_eq!(denied(&complete), Vec::<String>::new());
        println!(
            "{} calls under the shipped role, {} under the written one and what it hands out: 0 denied",
            shipped.len(),
            complete.len()
        );
    });
}

/// With `UPDATE=1` the record becomes the demo's log.
fn keep_as_demo(log: &Path) {
    if std::env::var_os("UPDATE").is_some() {
        let packed = fs::File::create(format!("{DEMO}/audit.log.gz")).unwrap();
        let mut packed = GzBuilder::new().mtime(0).write(packed, Compression::best());
        packed.write_all(&fs::read(log).unwrap()).unwrap();
        packed.finish().unwrap();
    }
}
