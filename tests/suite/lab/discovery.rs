//! The embedded table of what Kubernetes serves, against the discovery of the API server of that minor.

use std::collections::BTreeMap;

use rolecall::api::{DEFAULT_MINOR, Table};

use super::on_a_cluster;

/// (apiGroup, resource[/subresource]) → verbs and whether namespaced.
type Served = BTreeMap<(String, String), (Vec<String>, bool)>;

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
            let (verbs, _) =
                served.entry((group.clone(), resource.name)).or_insert_with(|| (Vec::new(), resource.namespaced));
            verbs.extend(resource.verbs);
            verbs.sort();
            verbs.dedup();
        }
    }
    served
}

#[test]
fn the_embedded_table_is_what_the_api_server_serves() {
    let Some(theirs) = on_a_cluster(async |_, client| {
        let version = client.apiserver_version().await.unwrap();
        assert_eq!(format!("{}.{}", version.major, version.minor), DEFAULT_MINOR);
        discovered(&client).await
    }) else {
        return;
    };
    let table = Table::for_minor(DEFAULT_MINOR).unwrap();
    let mut ours = Served::new();
    for served in table.iter().filter(|served| served.by_default) {
        let resource = match served.subresource.as_str() {
            "" => served.resource.clone(),
            subresource => format!("{}/{subresource}", served.resource),
        };
        let mut verbs = served.verbs.clone();
        verbs.sort();
        ours.insert((served.api_group.clone(), resource), (verbs, served.namespaced));
    }
    let only = |a: &Served, b: &Served| {
        a.iter().filter(|(key, value)| b.get(*key) != Some(value)).map(|(key, _)| key.clone()).collect::<Vec<_>>()
    };
    assert_eq!((only(&theirs, &ours), only(&ours, &theirs)), (vec![], vec![]), "(theirs, ours)");
    println!("{} resources and subresources served by the API server, all equal", theirs.len());
    assert!(theirs.len() > 100);
}
