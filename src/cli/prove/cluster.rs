//! The live cluster, as far as `prove` needs it: bindings are read and changed, roles of its own made and removed.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};
use kube::api::{Api, DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Config};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

/// No answer to `prove` takes longer.
const PATIENCE: Duration = Duration::from_secs(30);

/// A client that waits for each answer.
pub(super) struct Cluster {
    runtime: Runtime,
    client: Client,
    /// Where it is, to tell it from others.
    pub(super) server: String,
}

impl Cluster {
    /// As `kubectl` would find it; an in-cluster account where there is no kubeconfig.
    pub(super) fn connect(kubeconfig: Option<&Path>, context: Option<&str>) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let options = KubeConfigOptions { context: context.map(str::to_owned), ..KubeConfigOptions::default() };
        let config = async {
            let mut config = match kubeconfig {
                Some(path) => Config::from_custom_kubeconfig(Kubeconfig::read_from(path)?, &options).await?,
                None if context.is_some() => Config::from_kubeconfig(&options).await?,
                None => Config::infer().await?,
            };
            config.read_timeout = Some(PATIENCE);
            anyhow::Ok(config)
        };
        let config = runtime.block_on(config).context("no way to the cluster")?;
        let server = config.cluster_url.to_string();
        let client = runtime.block_on(async { Client::try_from(config) })?;
        Ok(Self { runtime, client, server })
    }

    /// Every ClusterRoleBinding and RoleBinding.
    pub(super) fn bindings(&self) -> Result<Vec<Value>> {
        let mut found = Vec::new();
        for kind in ["ClusterRoleBinding", "RoleBinding"] {
            let all: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource(kind));
            let listed = self.runtime.block_on(all.list(&ListParams::default()));
            for binding in listed.with_context(|| format!("cannot list every {kind}"))? {
                let mut binding = serde_json::to_value(binding)?;
                // Lists leave these out of their items.
                set(&mut binding, "apiVersion", "rbac.authorization.k8s.io/v1".into());
                set(&mut binding, "kind", kind.into());
                found.push(binding);
            }
        }
        Ok(found)
    }

    /// The object as it is now.
    pub(super) fn get(&self, object: &Value) -> Result<Option<Value>> {
        let found = self.runtime.block_on(self.api(object).get_opt(text(object, "/metadata/name")));
        let found = found.with_context(|| format!("cannot get {}", label(object)))?;
        found.map(|found| Ok(serde_json::to_value(found)?)).transpose()
    }

    pub(super) fn create(&self, object: &Value) -> Result<()> {
        let parsed: DynamicObject = serde_json::from_value(object.clone())?;
        let made = self.runtime.block_on(self.api(object).create(&PostParams::default(), &parsed));
        made.map(drop).with_context(|| format!("cannot create {}", label(object)))
    }

    /// Changes whom a binding names, unless it changed since it was read.
    pub(super) fn set_subjects(&self, binding: &Value, subjects: &[Value]) -> Result<()> {
        let version = text(binding, "/metadata/resourceVersion");
        let change = Patch::Merge(json!({"metadata": {"resourceVersion": version}, "subjects": subjects}));
        let name = text(binding, "/metadata/name");
        let changed = self.runtime.block_on(self.api(binding).patch(name, &PatchParams::default(), &change));
        changed.map(drop).with_context(|| format!("cannot change {}", label(binding)))
    }

    /// Removes an object, if it is there.
    pub(super) fn delete(&self, object: &Value) -> Result<()> {
        let (objects, params) = (self.api(object), DeleteParams::default());
        match self.runtime.block_on(objects.delete(text(object, "/metadata/name"), &params)) {
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
            gone => gone.map(drop).with_context(|| format!("cannot delete {}", label(object))),
        }
    }

    fn api(&self, object: &Value) -> Api<DynamicObject> {
        let resource = resource(text(object, "/kind"));
        match text(object, "/metadata/namespace") {
            "" => Api::all_with(self.client.clone(), &resource),
            namespace => Api::namespaced_with(self.client.clone(), namespace, &resource),
        }
    }
}

fn resource(kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk("rbac.authorization.k8s.io", "v1", kind))
}

/// The text at a JSON pointer; empty where there is none.
pub(super) fn text<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn set(object: &mut Value, field: &str, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(field.to_owned(), value);
    }
}

/// `KIND NAMESPACE/NAME`.
pub(super) fn label(object: &Value) -> String {
    let (kind, name) = (text(object, "/kind"), text(object, "/metadata/name"));
    match text(object, "/metadata/namespace") {
        "" => format!("{kind} {name}"),
        namespace => format!("{kind} {namespace}/{name}"),
    }
}
