//! The operator of `fixtures/demo`: turns a Notebook into a Deployment, a Service, a ConfigMap, a Secret, and a Role
//! for what runs in it. Written as operators are written, so that its audit log is worth judging. It runs in the lab
//! (`tests/suite/lab/demo.rs`), which records its logs. `--upgrade` makes it clean up after its first version before it
//! starts; a Notebook whose image is `broken` makes it take back what it has made.

#![expect(
    clippy::print_stderr,
    missing_docs,
    clippy::exit,
    reason = "a program that says what it does, and ends when it is no leader; generated types"
)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Event as CoreEvent, Secret, Service};
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::events::{Event, EventType, Recorder, Reporter};
use kube::runtime::finalizer::{self, finalizer};
use kube::runtime::watcher;
use kube::{Client, CustomResource, Resource, ResourceExt};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const NAME: &str = "notebook-operator";
const NAMESPACE: &str = "notebook-system";
const FINALIZER: &str = "demo.example.com/notebook";

#[derive(CustomResource, Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[kube(group = "demo.example.com", version = "v1", kind = "Notebook", namespaced, status = "NotebookStatus")]
#[serde(rename_all = "camelCase")]
pub struct NotebookSpec {
    image: String,
    #[serde(default)]
    replicas: i32,
    /// Asks for an Ingress, which the shipped role does not allow.
    #[serde(default)]
    public: bool,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct NotebookStatus {
    phase: String,
    replicas: i32,
    selector: String,
}

struct Context {
    client: Client,
    recorder: Recorder,
    /// What was told, of which uid.
    told: Mutex<BTreeMap<(Option<String>, String), Told>>,
}

/// When something was told last.
#[derive(Default)]
struct Told {
    /// Of which state of the object.
    generation: Option<i64>,
    /// Name of the event in the old API group, and how often it was told.
    event: String,
    count: i32,
}

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[derive(Debug)]
struct Failed(String);

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

impl From<kube::Error> for Failed {
    fn from(error: kube::Error) -> Self {
        Self(error.to_string())
    }
}

fn main() -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run())
}

async fn run() -> Result<(), Failure> {
    let client = Client::try_default().await?;
    lead(&client).await?;
    let renewed = client.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_secs(2)).await;
            if let Err(error) = lead(&renewed).await {
                eprintln!("no longer the leader: {error}");
                std::process::exit(1);
            }
        }
    });
    let reporter = Reporter { controller: NAME.to_owned(), instance: Some("notebook-operator-0".to_owned()) };
    if std::env::args().any(|arg| arg == "--upgrade")
        && let Err(error) = upgrade(&client).await
    {
        eprintln!("upgrade: {error}");
    }
    let recorder = Recorder::new(client.clone(), reporter);
    let context = Arc::new(Context { client: client.clone(), recorder, told: Mutex::default() });
    Controller::new(Api::<Notebook>::all(client.clone()), watcher::Config::default())
        .owns(Api::<Deployment>::all(client), watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_secs(2)), context)
        .for_each(async |result| {
            if let Err(error) = result {
                eprintln!("{error}");
            }
        })
        .await;
    Ok(())
}

/// Takes or renews the lease of the leader.
async fn lead(client: &Client) -> Result<(), kube::Error> {
    let leases: Api<Lease> = Api::namespaced(client.clone(), NAMESPACE);
    let now = k8s_openapi::jiff::Timestamp::now();
    let spec = json!({
        "holderIdentity": "notebook-operator-0", "leaseDurationSeconds": 15,
        "renewTime": k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime(now),
    });
    match leases.get_opt("notebook-operator-lock").await? {
        Some(mut lease) => {
            lease.spec = serde_json::from_value(spec).ok();
            leases.replace("notebook-operator-lock", &PostParams::default(), &lease).await?;
        }
        None => {
            let lease = json!({"metadata": {"name": "notebook-operator-lock"}, "spec": spec});
            leases.create(&PostParams::default(), &parsed(lease)).await?;
        }
    }
    Ok(())
}

/// The first version kept a ConfigMap of its own name per notebook, and knew no strategy of its Deployments.
async fn upgrade(client: &Client) -> Result<(), kube::Error> {
    let everywhere: Api<ConfigMap> = Api::all(client.clone());
    for old in everywhere.list(&ListParams::default().labels("app=notebook-v0")).await? {
        let (namespace, name) = (old.namespace().unwrap_or_default(), old.name_any());
        let configmaps: Api<ConfigMap> = Api::namespaced(client.clone(), &namespace);
        configmaps.delete(&name, &DeleteParams::default()).await?;
    }
    let everywhere: Api<Deployment> = Api::all(client.clone());
    for deployment in everywhere.list(&ListParams::default().labels("app=notebook")).await? {
        let (namespace, name) = (deployment.namespace().unwrap_or_default(), deployment.name_any());
        let deployments: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
        let mut current = deployments.get(&name).await?;
        current.annotations_mut().insert("demo.example.com/version".to_owned(), "1".to_owned());
        deployments.replace(&name, &PostParams::default(), &current).await?;
    }
    Ok(())
}

async fn reconcile(notebook: Arc<Notebook>, context: Arc<Context>) -> Result<Action, finalizer::Error<Failed>> {
    let namespace = notebook.namespace().unwrap_or_default();
    let notebooks: Api<Notebook> = Api::namespaced(context.client.clone(), &namespace);
    finalizer(&notebooks, FINALIZER, notebook, async |event| match event {
        finalizer::Event::Apply(notebook) => apply(&notebook, &namespace, &context).await,
        finalizer::Event::Cleanup(notebook) => clean_up(&notebook, &namespace, &context).await,
    })
    .await
}

async fn apply(notebook: &Notebook, namespace: &str, context: &Context) -> Result<Action, Failed> {
    let client = &context.client;
    let name = notebook.name_any();
    let defaults: Api<ConfigMap> = Api::namespaced(client.clone(), NAMESPACE);
    let defaults = defaults.get("notebook-defaults").await?;
    let image = match notebook.spec.image.as_str() {
        "" => defaults.data.and_then(|data| data.get("image").cloned()).unwrap_or_default(),
        image => image.to_owned(),
    };
    if image == "broken" {
        return take_back(notebook, namespace, context).await;
    }
    let labels = json!({"app": "notebook", "notebook": name});
    let mut owner = notebook.controller_owner_ref(&()).unwrap_or_default();
    owner.block_owner_deletion = Some(true);
    let metadata = json!({"name": name, "namespace": namespace, "labels": labels, "ownerReferences": [owner]});
    let template = json!({
        "metadata": {"labels": labels},
        "spec": {"containers": [{"name": "notebook", "image": image, "envFrom": [{"secretRef": {"name": name}}]}]},
    });
    let rbac = "rbac.authorization.k8s.io";
    apply_one::<ConfigMap>(client, &metadata, json!({"data": {"base": format!("/{name}/")}})).await?;
    apply_one::<Secret>(client, &metadata, json!({"stringData": {"token": "0123456789abcdef"}})).await?;
    apply_one::<Service>(client, &metadata, json!({"spec": {"selector": labels, "ports": [{"port": 8888}]}})).await?;
    // What runs in the notebook may read its own configuration.
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name], "verbs": ["get"]}]);
    apply_one::<Role>(client, &metadata, json!({"rules": rules})).await?;
    let bound = json!({
        "roleRef": {"apiGroup": rbac, "kind": "Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": "default", "namespace": namespace}],
    });
    apply_one::<RoleBinding>(client, &metadata, bound).await?;
    let spec = json!({"replicas": notebook.spec.replicas, "selector": {"matchLabels": labels}, "template": template});
    apply_one::<Deployment>(client, &metadata, json!({"spec": spec})).await?;
    if notebook.spec.public {
        let ingresses: Api<Ingress> = Api::namespaced(client.clone(), namespace);
        let backend = json!({"service": {"name": name, "port": {"number": 8888}}});
        let ingress = json!({"metadata": metadata, "spec": {"defaultBackend": backend}});
        if let Err(error) = ingresses.create(&PostParams::default(), &parsed(ingress)).await {
            eprintln!("{namespace}/{name}: {error}");
        }
    }
    if notebook.status.as_ref().map(|status| status.phase.as_str()) != Some("Ready") {
        tell_phase(notebook, namespace, context, "Ready", EventType::Normal, "Created").await?;
    }
    Ok(Action::await_change())
}

/// The way out of a failure: what was handed out is taken back, and the notebook says so.
async fn take_back(notebook: &Notebook, namespace: &str, context: &Context) -> Result<Action, Failed> {
    let name = notebook.name_any();
    let gone = DeleteParams::default();
    let bindings: Api<RoleBinding> = Api::namespaced(context.client.clone(), namespace);
    let roles: Api<Role> = Api::namespaced(context.client.clone(), namespace);
    for result in [bindings.delete(&name, &gone).await.map(drop), roles.delete(&name, &gone).await.map(drop)] {
        if let Err(error) = result {
            eprintln!("{namespace}/{name}: {error}");
        }
    }
    if notebook.status.as_ref().map(|status| status.phase.as_str()) != Some("Failed") {
        tell_phase(notebook, namespace, context, "Failed", EventType::Warning, "NoImage").await?;
    }
    Ok(Action::await_change())
}

async fn tell_phase(
    notebook: &Notebook,
    namespace: &str,
    context: &Context,
    phase: &str,
    kind: EventType,
    reason: &str,
) -> Result<(), Failed> {
    let status = json!({"status": {"phase": phase, "replicas": notebook.spec.replicas, "selector": "app=notebook"}});
    let notebooks: Api<Notebook> = Api::namespaced(context.client.clone(), namespace);
    notebooks.patch_status(&notebook.name_any(), &PatchParams::default(), &Patch::Merge(status)).await?;
    tell(notebook, namespace, context, kind, reason).await
}

async fn clean_up(notebook: &Notebook, namespace: &str, context: &Context) -> Result<Action, Failed> {
    let deployments: Api<Deployment> = Api::namespaced(context.client.clone(), namespace);
    // One that has failed has none.
    if let Err(error) = deployments.delete(&notebook.name_any(), &DeleteParams::default()).await
        && !matches!(&error, kube::Error::Api(status) if status.code == 404)
    {
        return Err(error.into());
    }
    tell(notebook, namespace, context, EventType::Normal, "Deleted").await?;
    Ok(Action::await_change())
}

/// An event in the new API group, and one in the old, as libraries of different age write them.
async fn tell(
    notebook: &Notebook,
    namespace: &str,
    context: &Context,
    kind: EventType,
    reason: &str,
) -> Result<(), Failed> {
    // The cache may still hold what was before: told once of each state.
    let key = (notebook.uid(), reason.to_owned());
    let generation = notebook.meta().generation;
    let before = match context.told.lock() {
        Ok(mut all) => all.insert(key.clone(), Told { generation, ..Told::default() }),
        Err(_) => return Ok(()),
    };
    let before = before.unwrap_or_default();
    if before.generation.is_some() && before.generation == generation {
        if let Ok(mut all) = context.told.lock() {
            all.insert(key, before);
        }
        return Ok(());
    }
    let event_type = if matches!(kind, EventType::Normal) { "Normal" } else { "Warning" };
    let event =
        Event { type_: kind, reason: reason.to_owned(), note: None, action: "Reconcile".to_owned(), secondary: None };
    context.recorder.publish(&event, &notebook.object_ref(&())).await?;
    let events: Api<CoreEvent> = Api::namespaced(context.client.clone(), namespace);
    let count = before.count + 1;
    let event = if before.event.is_empty() {
        let event = json!({
            "metadata": {"generateName": format!("{}-", notebook.name_any())},
            "involvedObject": notebook.object_ref(&()), "reason": reason, "type": event_type,
            "source": {"component": NAME},
        });
        events.create(&PostParams::default(), &parsed(event)).await?.name_any()
    } else {
        let again = Patch::Merge(json!({"count": count}));
        events.patch(&before.event, &PatchParams::default(), &again).await?.name_any()
    };
    if let Ok(mut all) = context.told.lock() {
        all.insert(key, Told { generation, event, count });
    }
    Ok(())
}

/// Server-side apply of an object made of these parts.
async fn apply_one<K>(client: &Client, metadata: &Value, mut rest: Value) -> Result<(), kube::Error>
where
    K: Resource<Scope = k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    K: Clone + std::fmt::Debug + DeserializeOwned + Serialize,
{
    let text = |key: &str| metadata.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(fields) = rest.as_object_mut() {
        fields.insert("apiVersion".to_owned(), K::api_version(&()).into());
        fields.insert("kind".to_owned(), K::kind(&()).into());
        fields.insert("metadata".to_owned(), metadata.clone());
    }
    let api: Api<K> = Api::namespaced(client.clone(), &text("namespace"));
    api.patch(&text("name"), &PatchParams::apply(NAME).force(), &Patch::Apply(rest)).await?;
    Ok(())
}

#[expect(clippy::expect_used, reason = "the objects are written out above")]
fn parsed<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).expect("an object of this kind")
}
