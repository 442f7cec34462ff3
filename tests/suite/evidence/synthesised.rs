//! Manifests and a log out of roles alone: every role of a file is bound to one account, and the account makes one call
//! for each request that a role allows, of all that the rules can tell apart (wildcards become calls on the points of
//! the API table and on what the roles name). What is only checked and never called makes no call. Roles, bindings and
//! reviews are written with bodies that ask for nothing more, as an audit policy that is good for this shows them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use rolecall::analysis::{Assessment, Options};
use rolecall::api::{Table, is_check_only};
use rolecall::rbac::{Authority, Request, Rule, Scope};
use serde_json::{Value, json};

use crate::common::{assess, load, rules_of, text};
use crate::judge::narrowing::roles::{Side, namespace};
use crate::judge::narrowing::{OTHER, requests};

/// The namespace of the account: that of the roles which an operator has there, where they say one.
pub(super) fn own(side: &Side) -> String {
    let scopes = side.held.iter().filter_map(|(_, scope, _)| match scope {
        Scope::Namespace(namespace) => Some(namespace.clone()),
        Scope::Cluster => None,
    });
    let namespaces: BTreeSet<String> = scopes.collect();
    namespaces.into_iter().next().unwrap_or_else(|| namespace(None))
}

/// Roles, each bound to the account where it holds.
pub(super) fn manifests(side: &Side, own: &str) -> String {
    let mut documents = vec![json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "op", "namespace": own},
    })];
    for (index, (key, object)) in side.objects.iter().enumerate() {
        // Two of one name are variants of a chart.
        let name = format!("{}-{index}", key.1.replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let place = namespace(object["metadata"]["namespace"].as_str());
        let metadata = |is_role: bool| match is_role {
            true => json!({"name": name, "namespace": place}),
            false => json!({"name": name}),
        };
        let is_role = key.0 == "Role";
        documents.push(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": key.0, "metadata": metadata(is_role),
            "rules": object["rules"],
        }));
        documents.push(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": if is_role { "RoleBinding" } else { "ClusterRoleBinding" }, "metadata": metadata(is_role),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": key.0, "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "op", "namespace": own}],
        }));
    }
    documents.iter().map(|document| format!("---\n{document}\n")).collect()
}

/// The requests that can be called, of all that both sides can tell apart.
pub(super) fn points(table: &Table, sides: &[&Side]) -> Vec<Request> {
    let held: Vec<(&Scope, &Rule)> = sides.iter().flat_map(|side| side.rules()).collect();
    let known = |request: &Request| match request {
        Request::Resource(r) => {
            let words = [&r.api_group, &r.resource, &r.subresource, &r.verb];
            let names_one = words.iter().all(|word| !word.contains(OTHER) && *word != "*") && r.namespace != OTHER;
            // Nobody can ask for a cluster-scoped object in a namespace.
            let served = table.get(&r.api_group, &r.resource, &r.subresource);
            let void = served.is_some_and(|served| !served.namespaced) && !r.namespace.is_empty();
            names_one && !void && !r.resource.is_empty() && !is_check_only(&r.api_group, &r.combined(), &r.verb)
        }
        Request::NonResource(r) => !r.path.contains(OTHER) && !r.verb.contains(OTHER) && r.verb != "*",
    };
    let mut points = requests(table, &held);
    points.retain(known);
    points.sort();
    points.dedup();
    points
}

/// One event for each request that the side allows.
pub(super) fn log(side: &Side, points: &[Request], own: &str) -> String {
    let authority = Authority::new(side.rules());
    let mut log = String::new();
    for (index, request) in points.iter().filter(|request| authority.allows(request)).enumerate() {
        writeln!(log, "{}", event(request, index, own)).unwrap();
    }
    log
}

fn event(request: &Request, index: usize, own: &str) -> Value {
    let mut event = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("id-{index}"),
        "stage": "ResponseComplete", "user": {"username": format!("system:serviceaccount:{own}:op")}, "verb": request.verb(),
        "requestReceivedTimestamp": "2026-12-01T00:00:00Z", "responseStatus": {"code": 200},
        "annotations": {"authorization.k8s.io/decision": "allow"},
    });
    if let Some(body) = body(request) {
        event["level"] = "Request".into();
        event["requestObject"] = body;
    }
    match request {
        Request::NonResource(r) => event["requestURI"] = r.path.as_str().into(),
        Request::Resource(r) => {
            // Without a URI, as some collectors write it: any name and verb can be said.
            event["objectRef"] = json!({
                "apiGroup": r.api_group, "resource": r.resource, "subresource": r.subresource,
                "namespace": r.namespace, "name": if r.name == OTHER { "" } else { &r.name },
            });
        }
    }
    event
}

/// The body of a write whose body decides what else is checked.
fn body(request: &Request) -> Option<Value> {
    let Request::Resource(r) = request else { return None };
    match (&*r.api_group, &*r.resource) {
        ("rbac.authorization.k8s.io", "roles" | "clusterroles") => Some(json!({"rules": []})),
        // What everybody may do.
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => {
            Some(json!({"roleRef": {"kind": "ClusterRole", "name": "system:basic-user"}}))
        }
        ("authorization.k8s.io", _) => {
            Some(json!({"spec": {"nonResourceAttributes": {"path": "/version", "verb": "get"}}}))
        }
        _ => None,
    }
}

/// The assessment of the account that holds one side and did what the log says.
pub(super) fn judged(folder: &Path, own: &str, manifests: &str, log: Option<&str>, options: Options) -> Assessment {
    let file = folder.join("roles.yaml");
    std::fs::write(&file, manifests).unwrap();
    let audit: Vec<String> = log
        .map(|log| {
            let path = folder.join("audit.log");
            std::fs::write(&path, log).unwrap();
            text(&path)
        })
        .into_iter()
        .collect();
    assess(&load(&[text(&file)], &audit), &format!("{own}/op"), options)
}

/// What the generated role allows.
pub(super) fn generated(assessment: &Assessment) -> Authority {
    let rules = rules_of(assessment.minimal.as_ref().unwrap());
    Authority::new(rules.iter().map(|(scope, rule)| (scope, rule)))
}

/// The rule of one permission, as the lists beside the cases write it.
pub(super) fn tuple(tuple: &Value) -> Rule {
    let list = |key: &str| tuple[key].as_str().map(str::to_owned).into_iter().collect();
    Rule {
        api_groups: list("apiGroup"),
        resources: list("resource"),
        resource_names: list("resourceName"),
        non_resource_urls: list("nonResourceURL"),
        verbs: list("verb"),
    }
}
