//! Roles that rolecall writes, put to the API server that is to take them (as a dry run).

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};
use rolecall::analysis::Options;
use rolecall::rewrite::role_yaml;
use serde_json::{Value, json};

use super::on_a_cluster;
use super::review::create;
use crate::common::{assess, load, runs, shared, text};

#[test]
fn the_api_server_takes_every_role_that_is_written() {
    let Some(recorded) = shared("cases/recorded") else { return };
    let taken = on_a_cluster(async |_, client| {
        let namespaces: Api<Namespace> = Api::all(client.clone());
        let mut taken = 0;
        for run in runs(&recorded).iter().filter(|run| run.name == "default") {
            let loaded = load(&[text(&run.manifests)], &[text(&run.log)]);
            for subject in run.subjects() {
                let assessment = assess(&loaded, &subject, Options::default());
                let yaml = role_yaml::render(&assessment, assessment.minimal.as_ref().unwrap());
                let written: Vec<Value> = serde_saphyr::from_multiple(&yaml).unwrap();
                for object in &written {
                    if let Some(name) = object["metadata"]["namespace"].as_str() {
                        let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
                        // It may be there already.
                        let _ = namespaces.create(&PostParams::default(), &namespace).await;
                    }
                    assert!(create(&client, object, true).await, "{}: {object}", run.operator);
                    taken += 1;
                }
            }
        }
        println!("{taken} objects taken by the API server");
        taken
    });
    assert!(taken.is_none_or(|taken| taken > 30));
}
