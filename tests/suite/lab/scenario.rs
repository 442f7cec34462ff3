//! One life of the demo operator, in a second or two: it becomes the leader, makes what a notebook asks for, takes it
//! back where that fails and makes it again, is started anew, and takes down a notebook that is deleted. It ends early, where the first call of the operator is denied.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kube::Client;
use kube::api::{Patch, PatchParams};
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::operator::{Operator, USER, api, create, delete, notebook};

/// How long a step may take in which nothing is denied; a busy machine is slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// How a life ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// Everything was made and taken down again.
    Reached,
    /// What the API server refused, in its words.
    Denied(String),
    /// Nothing was refused, and this did not come about.
    Stuck(&'static str),
}

/// The operator's lines of an audit log, read as it grows.
pub(super) struct Tail {
    log: PathBuf,
    read: u64,
    rest: String,
    /// What was read since the last life began.
    pub(super) lines: Vec<String>,
}

impl Tail {
    pub(super) fn of(cluster: &Cluster) -> Self {
        Self { log: cluster.audit_log(), read: 0, rest: String::new(), lines: Vec::new() }
    }

    /// Reads on, and says what was denied in all that was read.
    fn denied(&mut self) -> Option<String> {
        let mut log = File::open(&self.log).unwrap();
        log.seek(SeekFrom::Start(self.read)).unwrap();
        self.read += log.read_to_string(&mut self.rest).unwrap() as u64;
        let whole = self.rest.rfind('\n').map_or(0, |end| end + 1);
        let rest = self.rest.split_off(whole);
        let new = std::mem::replace(&mut self.rest, rest);
        let own = new.lines().filter(|line| line.contains(&format!("\"username\":\"{USER}\"")));
        self.lines.extend(own.map(str::to_owned));
        self.lines.iter().find_map(|line| refusal(line))
    }
}

/// The call of an event that was refused, and what the authorizer was not asked for.
fn refusal(line: &str) -> Option<String> {
    let event: Value = serde_json::from_str(line).unwrap();
    if event["responseStatus"]["code"] != 403 {
        return None;
    }
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let subresource = match text(&event["objectRef"]["subresource"]) {
        none if none.is_empty() => none,
        subresource => format!("/{subresource}"),
    };
    let message = text(&event["responseStatus"]["message"]);
    let hidden = match &message {
        grants if grants.contains("attempting to grant RBAC permissions") => " (hands out what it does not hold)",
        owner if owner.contains("blockOwnerDeletion") => " (blockOwnerDeletion)",
        create if text(&event["verb"]) != "create" && create.contains("cannot create") => " (as create)",
        _ if event["annotations"]["authorization.k8s.io/decision"] == "forbid" => "",
        _ => " (by a check behind the authorizer)",
    };
    Some(format!("{} {}{subresource}{hidden}", text(&event["verb"]), text(&event["objectRef"]["resource"])))
}

/// One life, with a notebook of this name. `None` when the operator was not built.
pub(super) async fn life(cluster: &Cluster, client: &Client, tail: &mut Tail, name: &str) -> Option<End> {
    tail.denied();
    tail.lines.clear();
    let lease = json!({
        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
        "metadata": {"name": "notebook-operator-lock", "namespace": "notebook-system"},
    });
    let _ = api(client, &lease).delete("notebook-operator-lock", &Default::default()).await;
    let operator = Operator::start(cluster, client, &[]).await?;
    let end = steps(cluster, client, tail, name, operator).await;
    // Its finalizer would hold a notebook of a life that has failed.
    let rest = notebook("team-a", name);
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    let _ = api(client, &rest).patch(name, &PatchParams::default(), &free).await;
    let _ = api(client, &rest).delete(name, &Default::default()).await;
    Some(end)
}

async fn steps(cluster: &Cluster, client: &Client, tail: &mut Tail, name: &str, operator: Operator) -> End {
    let asked = notebook("team-a", name);
    let deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": asked["metadata"]});
    create(client, &asked).await;
    let ready = |found: Option<&Value>| found.is_some_and(|found| found["status"]["phase"] == "Ready");
    if let Some(end) = unless(client, tail, &asked, "the notebook is ready", ready).await {
        return end;
    }
    let told = async || {
        let events = api(client, &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "team-a"}}));
        let events = events.list(&Default::default()).await.unwrap();
        events.items.iter().filter(|event| event.data["involvedObject"]["name"] == name).count()
    };
    // One in each API group, which are one store.
    if let Some(end) = wait(tail, "two events tell of it", async || told().await >= 2).await {
        return end;
    }
    // What fails is taken back, and what is told a second time is told in the same events.
    for (image, phase, what) in [("broken", "Failed", "it has failed"), ("", "Ready", "it is ready again")] {
        let change = Patch::Merge(json!({"spec": {"image": image}}));
        api(client, &asked).patch(name, &PatchParams::default(), &change).await.unwrap();
        let said = |found: Option<&Value>| found.is_some_and(|found| found["status"]["phase"] == phase);
        if let Some(end) = unless(client, tail, &asked, what, said).await {
            return end;
        }
    }
    if let Some(end) = wait(tail, "two more events tell of it", async || told().await >= 4).await {
        return end;
    }
    let counted = async || {
        let events = api(client, &json!({"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "team-a"}}));
        let events = events.list(&Default::default()).await.unwrap();
        let again = events.items.iter().filter(|event| event.data["involvedObject"]["name"] == name);
        again.filter(|event| event.data["count"] == 2 || event.data["series"]["count"] == 2).count()
    };
    if let Some(end) = wait(tail, "both tell of it again", async || counted().await >= 2).await {
        return end;
    }
    // The next one finds the lease of this one.
    drop(operator);
    let Some(_operator) = Operator::start(cluster, client, &[]).await else { return End::Stuck("it starts again") };
    let more = Patch::Merge(json!({"spec": {"replicas": 2}}));
    api(client, &asked).patch(name, &PatchParams::default(), &more).await.unwrap();
    let scaled = |found: Option<&Value>| found.is_some_and(|found| found["spec"]["replicas"] == 2);
    if let Some(end) = unless(client, tail, &deployment, "the deployment has two replicas", scaled).await {
        return end;
    }
    delete(client, &asked).await;
    if let Some(end) = unless(client, tail, &asked, "the deleted notebook is gone", |found| found.is_none()).await {
        return end;
    }
    if let Some(end) = unless(client, tail, &deployment, "its deployment is gone", |found| found.is_none()).await {
        return end;
    }
    wait(tail, "two events tell of the end", async || told().await >= 6).await.unwrap_or(End::Reached)
}

/// Waits until the condition holds of the object; `Some` when it never does.
async fn unless(
    client: &Client,
    tail: &mut Tail,
    object: &Value,
    what: &'static str,
    holds: impl Fn(Option<&Value>) -> bool,
) -> Option<End> {
    let name = object["metadata"]["name"].as_str().unwrap();
    wait(tail, what, async || {
        let found = api(client, object).get_opt(name).await.unwrap();
        holds(found.map(|found| serde_json::to_value(found).unwrap()).as_ref())
    })
    .await
}

/// Waits for a call that is denied.
pub(super) async fn refused(tail: &mut Tail) -> Option<End> {
    wait(tail, "something is denied", async || false).await.filter(|end| matches!(end, End::Denied(_)))
}

async fn wait(tail: &mut Tail, what: &'static str, holds: impl AsyncFn() -> bool) -> Option<End> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        // In this order: what was denied on the way to the condition stands in the log before it holds.
        let reached = holds().await;
        if let Some(denied) = tail.denied() {
            return Some(End::Denied(denied));
        }
        if reached {
            return None;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Some(End::Stuck(what))
}
