#![expect(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    unreachable_pub,
    reason = "a test helper fails loudly"
)]

use rolecall::analysis::{
    Assessment, BindingPlace, Grant, GrantPlaces, Place, Points, RoleState, SubjectId, Verdict,
};
use rolecall::rbac::{Rule, Scope};
use rolecall::source::Location;
use serde_json::Value;

/// One assessment of `op-ns/op` with every binding of the text, and one per role bound to nobody.
/// `None` where the text holds more than plain objects.
pub fn assess(text: &str) -> Option<Vec<Assessment>> {
    let docs: Vec<Value> = serde_saphyr::from_multiple(text).ok()?;
    if !docs
        .iter()
        .all(|doc| doc["kind"].is_string() && doc["kind"] != "List" && doc["kind"] != "ClusterServiceVersion")
    {
        return None;
    }
    let of_kind = |kinds: [&str; 2]| {
        docs.iter()
            .filter(move |doc| kinds.contains(&kind(doc)))
            .collect::<Vec<_>>()
    };
    let roles = of_kind(["Role", "ClusterRole"]);
    let bindings = of_kind(["RoleBinding", "ClusterRoleBinding"]);
    let crds: Vec<String> = of_kind(["CustomResourceDefinition", ""])
        .iter()
        .map(|crd| name(crd))
        .collect();
    let mut bound = assessment("op-ns/op", false, &crds);
    let mut held = Vec::new();
    for binding in bindings {
        let reference = &binding["roleRef"];
        let role = roles.iter().find(|role| {
            kind(role) == reference["kind"]
                && name(role) == reference["name"]
                && (kind(role) == "ClusterRole" || namespace(role) == namespace(binding))
        });
        let scope = if kind(binding) == "ClusterRoleBinding" {
            Scope::Cluster
        } else {
            Scope::Namespace(namespace(binding))
        };
        let state = match (role, reference["name"].as_str().unwrap()) {
            (Some(_), _) => RoleState::Shipped,
            (None, "cluster-admin" | "view") => RoleState::BuiltIn,
            (None, _) => RoleState::Missing,
        };
        let named = role.map_or_else(
            || {
                place(
                    reference["kind"].as_str().unwrap(),
                    reference["name"].as_str().unwrap(),
                )
            },
            |role| of(role),
        );
        add(&mut bound, of(binding), named, scope, state, role.copied());
        held.extend(role.map(|role| name(role)));
    }
    let mut all = vec![bound];
    for role in roles.iter().filter(|role| !held.contains(&name(role))) {
        let mut unbound = assessment(&format!("unbound:{}", name(role)), true, &crds);
        let nobody = Place {
            location: None,
            ..place("(unbound)", "")
        };
        add(
            &mut unbound,
            nobody,
            of(role),
            Scope::Cluster,
            RoleState::Shipped,
            Some(role),
        );
        all.push(unbound);
    }
    Some(all)
}

fn add(
    a: &mut Assessment,
    binding: Place,
    role: Place,
    scope: Scope,
    role_state: RoleState,
    object: Option<&Value>,
) {
    let index = a.bindings.len();
    a.bindings.push(BindingPlace {
        binding,
        role,
        subject_location: None,
        role_ref_location: Some(at()),
        scope: scope.clone(),
        role_state,
        via_group: None,
    });
    let Some(object) = object else { return };
    for (entry, rule) in object["rules"].as_array().into_iter().flatten().enumerate() {
        let list = |key: &str| -> Vec<String> {
            rule[key]
                .as_array()
                .map(|list| {
                    list.iter()
                        .map(|text| text.as_str().unwrap().to_owned())
                        .collect()
                })
                .unwrap_or_default()
        };
        for verb in list("verbs") {
            let mut singles = Vec::new();
            for group in list("apiGroups") {
                for resource in list("resources") {
                    singles.push(Rule {
                        api_groups: vec![group.clone()],
                        resources: vec![resource],
                        resource_names: list("resourceNames"),
                        ..Rule::default()
                    });
                }
            }
            singles.extend(list("nonResourceURLs").into_iter().map(|url| Rule {
                non_resource_urls: vec![url],
                ..Rule::default()
            }));
            for single in singles {
                a.grants.push(Grant {
                    index: a.grants.len(),
                    binding: index,
                    entry,
                    aggregated_from: None,
                    scope: scope.clone(),
                    rule: Rule {
                        verbs: vec![verb.clone()],
                        ..single
                    },
                    verdict: Verdict::Unjudged,
                    reason: String::new(),
                    calls: 0,
                    used_as: Vec::new(),
                    places: Some(GrantPlaces {
                        verb: at(),
                        resource: at(),
                        group: Some(at()),
                        entry: at(),
                    }),
                });
            }
        }
    }
}

fn assessment(subject: &str, unbound: bool, crds: &[String]) -> Assessment {
    Assessment {
        package: String::new(),
        subject: SubjectId {
            name: subject.to_owned(),
            user: String::new(),
            groups: Vec::new(),
            unbound,
        },
        workloads: Vec::new(),
        account: None,
        bindings: Vec::new(),
        crds: crds.to_vec(),
        points: Points::default(),
        evidence: None,
        grants: Vec::new(),
        calls: Vec::new(),
        minimal: None,
        notes: Vec::new(),
    }
}

fn kind(doc: &Value) -> &str {
    doc["kind"].as_str().unwrap()
}

fn name(doc: &Value) -> String {
    doc["metadata"]["name"].as_str().unwrap().to_owned()
}

fn namespace(doc: &Value) -> String {
    doc["metadata"]["namespace"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn of(doc: &Value) -> Place {
    Place {
        namespace: namespace(doc),
        ..place(kind(doc), &name(doc))
    }
}

fn place(kind: &str, name: &str) -> Place {
    Place {
        kind: kind.to_owned(),
        namespace: String::new(),
        name: name.to_owned(),
        location: Some(at()),
    }
}

fn at() -> Location {
    Location {
        path: "manifests.yaml".to_owned(),
        line: 1,
        column: 1,
        end_line: 1,
        end_column: 2,
        span: None,
    }
}
