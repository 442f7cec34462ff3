//! Dead grants of real operators, drawn at random, against an API server that has the operator's own CRDs: what is
//! called dead must not be served.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::on_a_cluster;
use crate::common::{entries, load, shared, text};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, PostParams};
use rolecall::analysis::{Options, Verdict};
use rolecall::rbac::Scope;

/// How many are drawn.
const DRAWN: usize = 60;
/// How long a CRD may take until it is served.
const PATIENCE: Duration = Duration::from_secs(20);

/// A dead grant, once for each folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Dead {
    folder: String,
    group: String,
    resource: String,
    verb: String,
    in_a_namespace: bool,
    reason: String,
}

/// Numbers from a seed (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).unwrap()
    }
}

/// All dead grants that name one group and resource; URLs are never in discovery.
fn all(folders: &[std::path::PathBuf]) -> BTreeSet<Dead> {
    let mut found = BTreeSet::new();
    for folder in folders {
        for assessment in load(&[text(folder)], &[]).assess(&Options::default()) {
            let dead = assessment.grants.iter().filter(|grant| grant.verdict == Verdict::Dead);
            for grant in dead {
                let (Some(group), Some(resource)) = (grant.rule.api_groups.first(), grant.rule.resources.first())
                else {
                    continue;
                };
                found.insert(Dead {
                    folder: text(folder),
                    group: group.clone(),
                    resource: resource.clone(),
                    verb: grant.rule.verbs.first().cloned().unwrap_or_default(),
                    in_a_namespace: grant.scope != Scope::Cluster,
                    reason: grant.reason.clone(),
                });
            }
        }
    }
    found
}

/// What the server serves of a group: resource, verb, whether in namespaces.
async fn served(client: &kube::Client, group: &str) -> Vec<(String, Vec<String>, bool)> {
    let mut lists = Vec::new();
    if group.is_empty() {
        lists.push(client.list_core_api_resources("v1").await.unwrap());
    } else if let Some(known) = client.list_api_groups().await.unwrap().groups.iter().find(|known| known.name == group)
    {
        for version in &known.versions {
            // One that was just taken away may still be listed.
            lists.extend(client.list_api_group_resources(&version.group_version).await.ok());
        }
    }
    let resources = lists.into_iter().flat_map(|list| list.resources);
    resources.map(|resource| (resource.name, resource.verbs, resource.namespaced)).collect()
}

/// Installs the CRDs of a group that a folder ships; their names. Those that the API server refuses are left out.
async fn install(client: &kube::Client, folder: &str, group: &str) -> Vec<String> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let loaded = load(&[folder.to_owned()], &[]);
    let mut installed = Vec::new();
    for crd in loaded.packages.iter().flat_map(|package| &package.facts.crds) {
        if crd.resource.api_group == group {
            let object: Result<CustomResourceDefinition, _> = serde_saphyr::from_str(loaded.sources.slice(crd.span));
            if let Ok(object) = object
                && api.create(&PostParams::default(), &object).await.is_ok()
            {
                installed.push(crd.name.value.clone());
            }
        }
    }
    for name in &installed {
        let plural = name.split('.').next().unwrap();
        wait(async || served(client, group).await.iter().any(|(resource, ..)| resource == plural)).await;
    }
    installed
}

/// Takes them away again: another folder may ship others of these names.
async fn remove(client: &kube::Client, names: &[String]) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for name in names {
        api.delete(name, &DeleteParams::default()).await.unwrap();
        wait(async || api.get_opt(name).await.unwrap().is_none()).await;
    }
}

async fn wait(done: impl AsyncFn() -> bool) {
    let mut waited = Duration::ZERO;
    while waited < PATIENCE && !done().await {
        tokio::time::sleep(Duration::from_millis(100)).await;
        waited += Duration::from_millis(100);
    }
}

#[test]
fn what_is_called_dead_in_real_operators_is_not_served() {
    let Some(corpus) = shared("corpus") else { return };
    let checked = on_a_cluster(async |_, client| {
        let folders: Vec<_> = entries(&corpus).into_iter().filter(|entry| entry.is_dir()).collect();
        let mut left: Vec<Dead> = all(&folders).into_iter().collect();
        let total = left.len();
        let mut random = Random(2026);
        let drawn: Vec<Dead> = (0..DRAWN.min(total)).map(|_| left.swap_remove(random.below(left.len()))).collect();
        let mut by_group: BTreeMap<(&str, &str), Vec<&Dead>> = BTreeMap::new();
        for dead in &drawn {
            by_group.entry((&dead.folder, &dead.group)).or_default().push(dead);
        }
        let (mut crds, mut wrong) = (0, Vec::new());
        for ((folder, group), drawn) in by_group {
            let installed = install(&client, folder, group).await;
            let served = served(&client, group).await;
            for dead in drawn {
                let is_it = |(resource, verbs, namespaced): &(String, Vec<String>, bool)| {
                    (dead.resource == *resource || dead.resource == "*")
                        && (dead.verb == "*" || verbs.contains(&dead.verb))
                        && (*namespaced || !dead.in_a_namespace)
                };
                let folder = folder.rsplit('/').next().unwrap();
                println!("{folder}: {} {} of \"{group}\": {}", dead.verb, dead.resource, dead.reason);
                if served.iter().any(is_it) {
                    wrong.push(dead);
                }
            }
            remove(&client, &installed).await;
            crds += installed.len();
        }
        println!(
            "{} of {total} dead grants drawn, {crds} CRDs installed, {} served after all",
            drawn.len(),
            wrong.len()
        );
        assert!(wrong.is_empty(), "{wrong:#?}");
        drawn.len()
    });
    assert!(checked.is_none_or(|checked| checked == DRAWN));
}
