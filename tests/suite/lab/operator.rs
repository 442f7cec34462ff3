//! The demo operator (`examples/notebook-operator.rs`) in the lab: its objects, its process, what the log says of it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Compression;
use flate2::GzBuilder;
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Client;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use rolecall::analysis::{Assessment, Options};
use rolecall::rewrite::role_yaml;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::process::Process;
use crate::common::{assess, load, text};

/// Twentieths of a second that anything may take; a busy machine is slow.
pub(super) const PATIENCE: usize = 1_200;

pub(super) const DEMO: &str = "fixtures/demo";
pub(super) const SUBJECT: &str = "notebook-system/notebook-operator";
pub(super) const USER: &str = "system:serviceaccount:notebook-system:notebook-operator";

pub(super) fn api(client: &Client, object: &Value) -> Api<DynamicObject> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let version = text(&object["apiVersion"]);
    let (group, version) = version.split_once('/').unwrap_or(("", &version));
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &text(&object["kind"])));
    match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
        None => Api::all_with(client.clone(), &kind),
    }
}

pub(super) async fn create(client: &Client, object: &Value) {
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

pub(super) fn documents(yaml: &str) -> Vec<Value> {
    serde_saphyr::from_multiple(yaml).unwrap()
}

pub(super) fn notebook(namespace: &str, name: &str) -> Value {
    json!({
        "apiVersion": "demo.example.com/v1", "kind": "Notebook", "metadata": {"name": name, "namespace": namespace},
        "spec": {"image": "", "replicas": 1},
    })
}

/// The operator as a process under its account.
pub(super) struct Operator(#[expect(dead_code, reason = "ends it when dropped")] Process);

impl Operator {
    /// Starts it with switches such as `--upgrade`; `None` when the example was not built (`cargo test --test suite`
    /// builds no examples).
    pub(super) async fn start(cluster: &Cluster, client: &Client, switches: &[&str]) -> Option<Self> {
        let program = std::env::current_exe().unwrap().parent()?.parent()?.join("examples/notebook-operator");
        if !program.exists() {
            println!("skipped: {} is not built (cargo build --examples)", program.display());
            return None;
        }
        let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), "notebook-system");
        let asked = TokenRequest { spec: Default::default(), ..Default::default() };
        let token = accounts.create_token_request("notebook-operator", &PostParams::default(), &asked).await.unwrap();
        let kubeconfig = cluster.kubeconfig(&token.status.unwrap().token.unwrap());
        let switches: Vec<String> = switches.iter().map(|&switch| switch.to_owned()).collect();
        let env = [("KUBECONFIG", kubeconfig.to_str().unwrap())];
        Some(Self(Process::start(&program, &switches, &env, cluster.folder())))
    }
}

/// The operator's objects and two namespaces to work in. There is no node to run it: the test runs the program itself.
pub(super) async fn install(client: &Client) {
    for file in ["operator.yaml", "crd.yaml"] {
        for object in documents(&fs::read_to_string(format!("{DEMO}/{file}")).unwrap()) {
            if object["kind"] != "Deployment" {
                create(client, &object).await;
            }
        }
    }
    for name in ["team-a", "team-b"] {
        create(client, &json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})).await;
    }
}

/// Takes the shipped bindings away, and gives the account what rolecall has written.
pub(super) async fn replace_shipped_role(client: &Client, written: &str) {
    for (kind, name) in [("ClusterRoleBinding", "notebook-operator"), ("RoleBinding", "notebook-operator-leader")] {
        let mut binding =
            json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": {"name": name}});
        if kind == "RoleBinding" {
            binding["metadata"]["namespace"] = "notebook-system".into();
        }
        delete(client, &binding).await;
    }
    for object in documents(written) {
        create(client, &object).await;
    }
}

/// Waits until the condition holds of the object; `None` is an object that is not there.
pub(super) async fn until(client: &Client, object: &Value, holds: impl Fn(Option<&Value>) -> bool) -> bool {
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

pub(super) async fn ready(client: &Client, notebook: &Value) -> bool {
    until(client, notebook, |found| found.is_some_and(|found| found["status"]["phase"] == "Ready")).await
}

pub(super) async fn delete(client: &Client, object: &Value) {
    api(client, object).delete(object["metadata"]["name"].as_str().unwrap(), &Default::default()).await.unwrap();
}

/// Lines of the audit log that are the operator's, from a line on, and how many lines there are.
pub(super) fn own_events(log: &Path, from: usize) -> (Vec<String>, usize) {
    let whole = fs::read_to_string(log).unwrap();
    let own = whole.lines().skip(from).filter(|line| line.contains(&format!("\"username\":\"{USER}\"")));
    (own.map(str::to_owned).collect(), whole.lines().count())
}

/// These lines as a file.
pub(super) fn log_of(folder: &Path, name: &str, lines: &[String]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

/// What rolecall makes of the demo and these logs, and the role that it writes.
pub(super) fn judged(logs: &[&Path]) -> (Assessment, String) {
    let logs: Vec<String> = logs.iter().map(|log| text(log)).collect();
    // Minutes show no path long enough to be sure; here each is meant to be the whole of it.
    let options = Options { drop_unexercised: true, ..Options::default() };
    let assessment = assess(&load(&[DEMO.to_owned()], &logs), SUBJECT, options);
    let written = role_yaml::render(&assessment, assessment.minimal.as_ref().unwrap());
    (assessment, written)
}

/// `verb resource` of the denied calls, each once.
pub(super) fn denied(lines: &[String]) -> Vec<String> {
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

/// With `UPDATE=1` the record becomes a log of the demo.
pub(super) fn keep(log: &Path, name: &str) {
    if std::env::var_os("UPDATE").is_some() {
        let packed = fs::File::create(format!("{DEMO}/{name}")).unwrap();
        let mut packed = GzBuilder::new().mtime(0).write(packed, Compression::best());
        packed.write_all(&fs::read(log).unwrap()).unwrap();
        packed.finish().unwrap();
    }
}
