//! The written role is enough, and nothing in it is too much: the demo operator lives under it, and dies without any one
//! of its entries. For logs with bodies and without, on API servers with and without the check of `blockOwnerDeletion`.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kube::Client;
use kube::api::{Patch, PatchParams};
use rolecall::analysis::{Assessment, Basis, Options, Platform};
use rolecall::graph::SubjectKey;
use rolecall::rbac::{Request, ResourceRequest};
use rolecall::rewrite::role_yaml;
use serde_json::{Value, json};

use super::cluster::Cluster;
use super::on_a_cluster_that_records;
use super::operator::{DEMO, SUBJECT, USER, api, create, delete, documents, install, log_of, replace_shipped_role};
use super::review::allowed;
use super::scenario::{End, Tail, life};
use crate::common::{assess, load, text, without_bodies};

/// Records the operator alone, with the bodies of its requests.
pub(super) fn policy() -> String {
    let rules = json!([{"level": "Request", "users": [USER]}, {"level": "None"}]);
    let omitted = json!(["RequestReceived"]);
    json!({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": omitted, "rules": rules}).to_string()
}

/// One verb (`list` and `watch` are one) on one resource, in one rule of one role.
#[derive(Debug, Clone)]
struct Entry {
    /// Which of the documents written, and which of its rules.
    document: usize,
    rule: usize,
    group: String,
    resource: String,
    verbs: Vec<String>,
    names: Vec<String>,
    namespace: String,
    basis: Basis,
    reason: String,
}

impl Entry {
    fn label(&self) -> String {
        let group = if self.group.is_empty() { String::new() } else { format!(".{}", self.group) };
        let names = if self.names.is_empty() { String::new() } else { format!(" [{}]", self.names.join(",")) };
        let place = if self.namespace.is_empty() { String::new() } else { format!(" in {}", self.namespace) };
        format!("{} {}{group}{names}{place}", self.verbs.join("+"), self.resource)
    }

    /// A request that it allows.
    fn request(&self) -> Request {
        let (resource, subresource) = self.resource.split_once('/').unwrap_or((&self.resource, ""));
        Request::Resource(ResourceRequest {
            api_group: self.group.clone(),
            resource: resource.to_owned(),
            subresource: subresource.to_owned(),
            verb: self.verbs[0].clone(),
            namespace: if self.namespace.is_empty() { "team-a".to_owned() } else { self.namespace.clone() },
            name: self.names.first().cloned().unwrap_or_default(),
        })
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned()).collect()
}

/// The entries of a written role. The assessment has the same rules in the same order, with what they are there for.
fn entries(written: &[Value], assessment: &Assessment) -> Vec<Entry> {
    let scopes = &assessment.minimal.as_ref().unwrap().scopes;
    let mut reasons = scopes.iter().flat_map(|scope| &scope.rules);
    let mut found = Vec::new();
    for (document, role) in written.iter().enumerate() {
        for (index, rule) in role["rules"].as_array().into_iter().flatten().enumerate() {
            let why = reasons.next().unwrap();
            let mut verbs: Vec<Vec<String>> = strings(&rule["verbs"]).into_iter().map(|verb| vec![verb]).collect();
            if verbs.contains(&vec!["list".to_owned()]) && verbs.contains(&vec!["watch".to_owned()]) {
                verbs.retain(|verb| verb[0] != "list" && verb[0] != "watch");
                verbs.push(vec!["list".to_owned(), "watch".to_owned()]);
            }
            for group in strings(&rule["apiGroups"]) {
                for resource in strings(&rule["resources"]) {
                    found.extend(verbs.iter().map(|verbs| Entry {
                        document,
                        rule: index,
                        group: group.clone(),
                        resource: resource.clone(),
                        verbs: verbs.clone(),
                        names: strings(&rule["resourceNames"]),
                        namespace: role["metadata"]["namespace"].as_str().unwrap_or_default().to_owned(),
                        basis: why.basis,
                        reason: why.reason.clone(),
                    }));
                }
            }
        }
    }
    assert!(reasons.next().is_none(), "the documents have fewer rules than the assessment");
    found
}

/// The rules of the entry's role without it: at most three in the place of one.
fn rules_without(role: &Value, entry: &Entry) -> Value {
    let mut rules = Vec::new();
    for (index, rule) in role["rules"].as_array().unwrap().iter().enumerate() {
        if index != entry.rule {
            rules.push(rule.clone());
            continue;
        }
        let (only_group, only_resource) = (vec![entry.group.clone()], vec![entry.resource.clone()]);
        let rest = |field: &str, out: &[String]| {
            strings(&rule[field]).into_iter().filter(|value| !out.contains(value)).collect::<Vec<_>>()
        };
        let parts = [
            (rest("apiGroups", &only_group), strings(&rule["resources"]), strings(&rule["verbs"])),
            (only_group.clone(), rest("resources", &only_resource), strings(&rule["verbs"])),
            (only_group.clone(), only_resource.clone(), rest("verbs", &entry.verbs)),
        ];
        for (groups, resources, verbs) in parts {
            if !groups.is_empty() && !resources.is_empty() && !verbs.is_empty() {
                let mut part = rule.clone();
                part["apiGroups"] = groups.into();
                part["resources"] = resources.into();
                part["verbs"] = verbs.into();
                rules.push(part);
            }
        }
    }
    rules.into()
}

/// Gives a role these rules, and waits until the authorizer knows: it follows the roles a moment later.
async fn give(client: &Client, role: &Value, rules: &Value, entry: &Entry, expected: bool) {
    let merge = Patch::Merge(json!({"rules": rules}));
    let name = role["metadata"]["name"].as_str().unwrap();
    api(client, role).patch(name, &PatchParams::default(), &merge).await.unwrap();
    let subject = SubjectKey::parse(SUBJECT);
    for _ in 0..100 {
        if allowed(client, &subject, &entry.request()).await == expected {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// What the API server checks of the operator without an event that says so, in the namespace of its notebooks.
fn hidden_needs() -> Vec<Value> {
    let (rbac, metadata) = ("rbac.authorization.k8s.io", json!({"name": "hidden", "namespace": "team-a"}));
    let rules = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]},
        {"apiGroups": ["demo.example.com"], "resources": ["notebooks/finalizers"], "verbs": ["update"]},
    ]);
    let account = json!([{"kind": "ServiceAccount", "name": "notebook-operator", "namespace": "notebook-system"}]);
    let version = format!("{rbac}/v1");
    vec![
        json!({"apiVersion": version, "kind": "Role", "metadata": metadata, "rules": rules}),
        json!({
            "apiVersion": version, "kind": "RoleBinding", "metadata": metadata, "subjects": account,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "hidden"},
        }),
    ]
}

/// What became of each entry in one setting.
struct Column {
    setting: String,
    /// How the operator lives under the whole role.
    whole: End,
    /// The entries of the role, and how it lives without each.
    without: Vec<(Entry, End)>,
}

async fn column(cluster: &Cluster, client: &Client, tail: &mut Tail, setting: &str, judged: &Assessment) -> Column {
    let begin = Instant::now();
    let slug: String = setting.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_lowercase();
    let yaml = role_yaml::render(judged, judged.minimal.as_ref().unwrap());
    let written = documents(&yaml);
    for object in &written {
        create(client, object).await;
    }
    let entries = entries(&written, judged);
    for entry in &entries {
        give(client, &written[entry.document], &written[entry.document]["rules"], entry, true).await;
    }
    let whole = life(cluster, client, tail, &format!("{slug}-whole")).await.unwrap();
    let help = if whole == End::Reached { Vec::new() } else { hidden_needs() };
    if !help.is_empty() {
        println!("{setting}: {whole:?}; the rest is tested with its hidden needs beside this role:\n{yaml}");
    }
    for object in &help {
        create(client, object).await;
    }
    let mut without = Vec::new();
    for (index, entry) in entries.into_iter().enumerate() {
        let role = &written[entry.document];
        give(client, role, &rules_without(role, &entry), &entry, false).await;
        let end = life(cluster, client, tail, &format!("{slug}-{index}")).await.unwrap();
        give(client, role, &role["rules"], &entry, true).await;
        without.push((entry, end));
    }
    for object in written.iter().chain(&help) {
        delete(client, object).await;
    }
    println!("{setting}: {} lives in {:.0?}", without.len() + 1, begin.elapsed());
    Column { setting: setting.to_owned(), whole, without }
}

/// Both logs of one API server. `None` where there is none, or no operator.
fn columns(admission: &[&str], platform: Platform) -> Option<Vec<Column>> {
    let columns = on_a_cluster_that_records(&policy(), admission, async |cluster, client| {
        install(&client).await;
        let mut tail = Tail::of(cluster);
        let shipped = life(cluster, &client, &mut tail, "shipped").await?;
        assert_eq!(shipped, End::Reached, "under the shipped role");
        let bodies = log_of(cluster.folder(), "bodies.log", &tail.lines);
        let bare: Vec<String> =
            tail.lines.iter().map(|line| without_bodies(serde_json::from_str(line).unwrap()).to_string()).collect();
        let bare = log_of(cluster.folder(), "bare.log", &bare);
        replace_shipped_role(&client, "").await;
        let mut columns = Vec::new();
        for (level, log) in [("Request", &bodies), ("Metadata", &bare)] {
            let options = Options { platform, drop_unexercised: true, ..Options::default() };
            let judged = assess(&load(&[DEMO.to_owned()], &[text(log)]), SUBJECT, options);
            let check = if admission.is_empty() { "off" } else { "on" };
            columns.push(column(cluster, &client, &mut tail, &format!("{check}, {level}"), &judged).await);
        }
        Some(columns)
    });
    columns.flatten()
}

/// One line an entry, one column a setting.
fn table(columns: &[Column]) -> String {
    let mut lines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (index, column) in columns.iter().enumerate() {
        for (entry, end) in &column.without {
            let cell = match end {
                End::Reached => format!("nothing: {:?}, {}", entry.basis, entry.reason.replace('\n', "; ")),
                End::Denied(call) => format!("denied: {call}"),
                End::Stuck(what) => format!("never: {what}"),
            };
            lines.entry(entry.label()).or_insert_with(|| vec!["(not in the role)".to_owned(); columns.len()])[index] =
                cell;
        }
    }
    let mut rows = tabled::builder::Builder::default();
    rows.push_record(std::iter::once("without").chain(columns.iter().map(|column| column.setting.as_str())));
    for (label, cells) in lines {
        rows.push_record(std::iter::once(label).chain(cells));
    }
    rows.build().with(tabled::settings::Style::sharp()).to_string()
}

#[test]
fn the_written_role_is_enough_and_none_of_its_entries_is_too_much() {
    const PLUGIN: &str = "OwnerReferencesPermissionEnforcement";
    let columns = std::thread::scope(|scope| {
        let off = scope.spawn(|| columns(&[], Platform::Vanilla));
        let on = columns(&[PLUGIN], Platform::OpenShift);
        Some([off.join().unwrap()?, on?].into_iter().flatten().collect::<Vec<_>>())
    });
    let Some(columns) = columns else { return };
    println!("blockOwnerDeletion checked, level of the log; what breaks without one entry:\n{}", table(&columns));
    let mut wrong = Vec::new();
    for Column { setting, whole, without } in &columns {
        if *whole != End::Reached {
            wrong.push(format!("{setting}: under the whole role {whole:?}"));
        }
        for (entry, end) in without {
            // Kept without a use is what the log could not have shown, and the role says so.
            let stated = entry.basis == Basis::Kept && !entry.reason.is_empty();
            if *end == End::Reached && !stated {
                wrong.push(format!("{setting}: `{}` is too much ({:?} {})", entry.label(), entry.basis, entry.reason));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
