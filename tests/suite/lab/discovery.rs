//! The embedded table of what Kubernetes serves, against the discovery of the API server of that minor.

use std::collections::BTreeMap;

use rolecall::api::{Origin, Table};

use super::on_a_cluster;
use crate::common::PINNED_MINOR;

/// What is served of a resource or subresource, each list sorted.
#[derive(Debug, Default, PartialEq)]
struct Entry {
    verbs: Vec<String>,
    namespaced: bool,
    versions: Vec<String>,
    short_names: Vec<String>,
}

/// By apiGroup and resource[/subresource].
type Served = BTreeMap<(String, String), Entry>;

fn sorted(mut words: Vec<String>) -> Vec<String> {
    words.sort();
    words.dedup();
    words
}

async fn discovered(client: &kube::Client) -> Served {
    let mut served = Served::new();
    let mut lists = vec![("".to_owned(), client.list_core_api_resources("v1").await.unwrap())];
    for group in client.list_api_groups().await.unwrap().groups {
        for version in &group.versions {
            lists.push((group.name.clone(), client.list_api_group_resources(&version.group_version).await.unwrap()));
        }
    }
    for (group, list) in lists {
        for resource in list.resources {
            let entry = served.entry((group.clone(), resource.name)).or_default();
            entry.namespaced = resource.namespaced;
            entry.verbs = sorted([std::mem::take(&mut entry.verbs), resource.verbs].concat());
            entry.short_names.extend(resource.short_names.unwrap_or_default());
            entry.short_names = sorted(std::mem::take(&mut entry.short_names));
            let version = list.group_version.rsplit('/').next().unwrap().to_owned();
            entry.versions = sorted([std::mem::take(&mut entry.versions), vec![version]].concat());
        }
    }
    served
}

#[test]
fn the_embedded_table_is_what_the_api_server_serves() {
    let Some(theirs) = on_a_cluster(async |_, client| {
        let version = client.apiserver_version().await.unwrap();
        assert_eq!(format!("{}.{}", version.major, version.minor), PINNED_MINOR);
        discovered(&client).await
    }) else {
        return;
    };
    let table = Table::for_minor(PINNED_MINOR).unwrap();
    let mut ours = Served::new();
    for served in table.iter().filter(|served| served.origin == Origin::Kubernetes && served.by_default) {
        // A server offers its stable versions only; the table also has those that must be switched on.
        let stable = |version: &&String| !version.contains("alpha") && !version.contains("beta");
        let entry = Entry {
            verbs: sorted(served.verbs.clone()),
            namespaced: served.namespaced,
            versions: sorted(served.versions.iter().filter(stable).cloned().collect()),
            short_names: served.short_names.clone(),
        };
        ours.insert((served.api_group.clone(), served.combined()), entry);
    }
    let only = |a: &Served, b: &Served| {
        a.iter().filter(|(key, value)| b.get(*key) != Some(value)).map(|(key, _)| key.clone()).collect::<Vec<_>>()
    };
    assert_eq!((only(&theirs, &ours), only(&ours, &theirs)), (vec![], vec![]), "(theirs, ours)");
    println!("{} resources and subresources served by the API server, all equal", theirs.len());
    assert!(theirs.len() > 100);
}
