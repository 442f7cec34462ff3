//! SubjectAccessReviews of a running API server, against rolecall's verdicts; and the log that it wrote of them.

use std::time::Duration;

use futures_util::{StreamExt, stream};
use k8s_openapi::api::authorization::v1::{
    NonResourceAttributes, ResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec,
};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use proptest::strategy::{Strategy, ValueTree};
use rolecall::api::builtin;
use rolecall::audit::{Collector, Decision};
use rolecall::graph::SubjectKey;
use rolecall::manifest::PolicyRule;
use rolecall::rbac::{Request, Rule, Scope};
use serde_json::{Value, json};

use super::on_a_cluster;
use crate::common::PINNED_MINOR;
use crate::judge::authorize::{allows, held, package};
use crate::judge::generate::{Dice, NAMESPACES, policy};
use crate::judge::runner;

const POLICIES: usize = 20;
const REVIEWS: usize = 1_000;

fn review(subject: &SubjectKey, request: &Request) -> SubjectAccessReview {
    let mut spec =
        SubjectAccessReviewSpec { user: Some(subject.user()), groups: Some(subject.groups()), ..Default::default() };
    match request {
        Request::Resource(asked) => {
            spec.resource_attributes = Some(ResourceAttributes {
                group: Some(asked.api_group.clone()),
                resource: Some(asked.resource.clone()),
                subresource: Some(asked.subresource.clone()),
                verb: Some(asked.verb.clone()),
                namespace: Some(asked.namespace.clone()),
                name: Some(asked.name.clone()),
                ..Default::default()
            });
        }
        Request::NonResource(asked) => {
            spec.non_resource_attributes =
                Some(NonResourceAttributes { path: Some(asked.path.clone()), verb: Some(asked.verb.clone()) });
        }
    }
    SubjectAccessReview { spec, ..Default::default() }
}

pub(super) async fn allowed(client: &kube::Client, subject: &SubjectKey, request: &Request) -> bool {
    let reviews: Api<SubjectAccessReview> = Api::all(client.clone());
    let answer = reviews.create(&PostParams::default(), &review(subject, request)).await.unwrap();
    answer.status.unwrap().allowed
}

/// Creates an RBAC object; `false` when the API server finds it invalid.
pub(super) async fn create(client: &kube::Client, object: &Value, dry_run: bool) -> bool {
    let kind = object["kind"].as_str().unwrap();
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("rbac.authorization.k8s.io", "v1", kind));
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
        None => Api::all_with(client.clone(), &kind),
    };
    let params = PostParams { dry_run, ..PostParams::default() };
    match api.create(&params, &serde_json::from_value(object.clone()).unwrap()).await {
        Ok(_) => true,
        Err(kube::Error::Api(status)) if status.code == 422 => false,
        Err(error) => panic!("{object}: {error}"),
    }
}

/// What the built-in bindings give the groups of a subject.
fn defaults(subject: &SubjectKey) -> Vec<(Scope, Rule)> {
    let groups = subject.groups();
    let mut held = Vec::new();
    for binding in builtin::default_bindings(PINNED_MINOR) {
        if binding.subjects.iter().any(|holder| holder.kind == "Group" && groups.contains(&holder.name)) {
            let rules = builtin::cluster_role(PINNED_MINOR, &binding.role_name).unwrap().rules.clone();
            let scope = binding.namespace.clone().map_or(Scope::Cluster, Scope::Namespace);
            held.extend(rules.into_iter().map(|rule| (scope.clone(), rule)));
        }
    }
    held
}

#[test]
fn reviews_of_the_api_server_are_the_verdicts_of_rolecall() {
    let compared = on_a_cluster(async |cluster, client| {
        let namespaces: Api<Namespace> = Api::all(client.clone());
        for name in NAMESPACES.iter().filter(|name| **name != "kube-system") {
            let namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
            namespaces.create(&PostParams::default(), &namespace).await.unwrap();
        }
        let mut runner = runner(1);
        let (mut compared, mut allowed_by_both) = (0, 0);
        for round in 0..POLICIES {
            let policy = policy().new_tree(&mut runner).unwrap().current();
            // Names of this round only; what the API server refuses counts for neither.
            let mut kept = Vec::new();
            for object in policy.objects() {
                let text = object.to_string().replace("\"name\":\"r", &format!("\"name\":\"{round}-r"));
                let object: Value =
                    serde_json::from_str(&text.replace("\"name\":\"b", &format!("\"name\":\"{round}-b"))).unwrap();
                if create(&client, &object, false).await {
                    kept.push(object);
                }
            }
            let package = package(kept.iter());
            let subject = SubjectKey::parse(["n/op", "m/op", "alice"][round % 3]);
            let mut held = held(&package, &subject);
            held.extend(defaults(&subject));
            let rules: Vec<Rule> =
                package.facts.roles.iter().flat_map(|role| &role.rules).map(PolicyRule::to_rule).collect();
            let mut dice = Dice(round as u64 + 1);
            let requests: Vec<Request> = (0..REVIEWS).map(|_| dice.request_near(&rules)).collect();
            settled(&client, round).await;
            let answers: Vec<bool> =
                stream::iter(&requests).map(|request| allowed(&client, &subject, request)).buffered(8).collect().await;
            for (request, theirs) in requests.iter().zip(answers) {
                assert_eq!(allows(&held, request), theirs, "{subject} asks {request:?} under {kept:#?}");
                compared += 1;
                allowed_by_both += usize::from(theirs);
            }
            for object in &kept {
                delete(&client, object).await;
            }
        }
        println!("{compared} reviews compared, {allowed_by_both} of them allowed, 0 different");
        assert!(allowed_by_both > 200);
        own_log(&cluster.audit_log(), compared);
        compared
    });
    assert!(compared.is_none_or(|compared| compared >= 20_000));
}

async fn delete(client: &kube::Client, object: &Value) {
    let kind = ApiResource::from_gvk(&GroupVersionKind::gvk(
        "rbac.authorization.k8s.io",
        "v1",
        object["kind"].as_str().unwrap(),
    ));
    let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
        Some(namespace) => Api::namespaced_with(client.clone(), namespace, &kind),
        None => Api::all_with(client.clone(), &kind),
    };
    api.delete(object["metadata"]["name"].as_str().unwrap(), &Default::default()).await.unwrap();
}

/// Waits until the authorizer has seen what was written so far: an object of each kind, written last.
async fn settled(client: &kube::Client, round: usize) {
    let name = format!("sentinel-{round}");
    let user = SubjectKey::User(name.clone());
    let meta = json!({"name": name, "namespace": "n"});
    let subjects = json!([{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}]);
    let rules = json!([{"apiGroups": ["sentinel"], "resources": ["everywhere"], "verbs": ["get"]}]);
    let here = json!([{"apiGroups": ["sentinel"], "resources": ["here"], "verbs": ["get"]}]);
    let role_ref = |kind: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    for object in [
        json!({"kind": "ClusterRole", "metadata": {"name": name}, "rules": rules}),
        json!({"kind": "ClusterRoleBinding", "metadata": {"name": name}, "roleRef": role_ref("ClusterRole"), "subjects": subjects}),
        json!({"kind": "Role", "metadata": meta, "rules": here}),
        json!({"kind": "RoleBinding", "metadata": meta, "roleRef": role_ref("Role"), "subjects": subjects}),
    ] {
        assert!(create(client, &object, false).await);
    }
    let asks = |resource: &str| {
        Request::Resource(rolecall::rbac::ResourceRequest {
            api_group: "sentinel".into(),
            resource: resource.into(),
            verb: "get".into(),
            namespace: "n".into(),
            ..Default::default()
        })
    };
    for _ in 0..300 {
        if allowed(client, &user, &asks("everywhere")).await && allowed(client, &user, &asks("here")).await {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the authorizer does not see what was written");
}

/// The audit log of all this is read without loss, and shows the reviews.
fn own_log(path: &std::path::Path, reviews: usize) {
    let mut collector = Collector::new();
    collector.read("audit.log", &mut std::io::BufReader::new(std::fs::File::open(path).unwrap()));
    let usage = collector.finish();
    assert!(usage.quality.skipped.is_empty(), "{:?}", usage.quality.skipped);
    let created = |request: &Request| matches!(request, Request::Resource(asked) if asked.resource == "subjectaccessreviews" && asked.verb == "create");
    let own = usage.calls.iter().filter(|call| call.user == "admin" && call.decision == Decision::Allowed);
    let count: u64 = own.filter(|call| created(&call.request)).map(|call| call.count).sum();
    assert!(count >= reviews as u64, "{count} of {reviews} reviews in the log");
    println!("{} events of the API server's own log read, none lost", usage.quality.events);
}
