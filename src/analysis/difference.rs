//! What a change of roles gives and takes: the authority of one subject before and after, compared exactly, and listed
//! point by point. Names, namespaces and paths that a point does not hold for are said with it.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::points::in_namespace;
use crate::api::{Liveness, Origin, Table, exact_checks};
use crate::rbac::{Authority, Comparison, Names, Part, PermissionSet, Rule, Scope};

/// The authority of one subject before and after a change.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Difference {
    /// How the authority after stands to that before.
    pub comparison: Comparison,
    /// What was allowed before and is not after.
    pub only_before: Excess,
    /// What is allowed after and was not before.
    pub only_after: Excess,
}

/// What one side allows and the other does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Excess {
    /// Points of the API table, checks that nothing serves, and what the roles name beside those.
    pub points: Vec<Point>,
    /// Paths.
    #[serde(rename = "nonResourceURLs")]
    pub paths: Vec<PathPoint>,
    /// A wildcard also reaches API groups, resources or verbs that the table does not list.
    pub unbounded: bool,
}

/// One permission that is allowed on one side only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// Where.
    pub scope: Scope,
    /// API group; empty for core.
    pub api_group: String,
    /// `resource[/subresource]`; `*` for every one of an unknown group that the roles do not name.
    pub resource: String,
    /// Verb; `*` for every one that the roles do not name.
    pub verb: String,
    /// Only for objects of these names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Not for objects of these names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except_names: Vec<String>,
    /// Not, or for fewer names, in these namespaces: there both sides allow it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except_namespaces: Vec<String>,
}

/// A verb on paths that is allowed on one side only.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PathPoint {
    /// Path, or a prefix before `*`.
    pub path: String,
    /// Verb; `*` for every one that the roles do not name.
    pub verb: String,
    /// Not these below it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<String>,
}

/// Compares what two lists of rules grant, each rule where it holds.
pub fn difference<'a>(
    table: &Table,
    before: impl IntoIterator<Item = (&'a Scope, &'a Rule)>,
    after: impl IntoIterator<Item = (&'a Scope, &'a Rule)>,
) -> Difference {
    let (before, after) = (Authority::new(before), Authority::new(after));
    Difference {
        comparison: before.compare(&after),
        only_before: excess(table, &before.subtract(&after)),
        only_after: excess(table, &after.subtract(&before)),
    }
}

/// (apiGroup, resource[/subresource], verb).
type Key = (String, String, String);

fn excess(table: &Table, left: &Authority) -> Excess {
    let mut unbounded = false;
    let everywhere = points(table, left.elsewhere(), true, &mut unbounded);
    let mut listed = Vec::new();
    let mut excepted: BTreeMap<&Key, Vec<String>> = BTreeMap::new();
    for (namespace, set) in left.in_namespaces() {
        for (key, names) in points(table, set, false, &mut unbounded) {
            if everywhere.get(&key).is_none_or(|known| !known.covers(&names)) {
                listed.push(point(Scope::Namespace(namespace.to_owned()), key, &names, Vec::new()));
            }
        }
        for (key, names) in &everywhere {
            if !set.names(&key.0, &key.1, &key.2).covers(names) {
                excepted.entry(key).or_default().push(namespace.to_owned());
            }
        }
    }
    for (key, names) in &everywhere {
        let except = excepted.remove(key).unwrap_or_default();
        listed.push(point(Scope::Cluster, key.clone(), names, except));
    }
    listed.sort();
    let word = |word: Option<&str>| word.unwrap_or("*").to_owned();
    let paths = left.elsewhere().paths();
    let paths =
        paths.into_iter().map(|paths| PathPoint { path: paths.path, verb: word(paths.verb), except: paths.except });
    let mut paths: Vec<PathPoint> = paths.collect();
    paths.sort();
    Excess { points: listed, paths, unbounded }
}

fn point(scope: Scope, (api_group, resource, verb): Key, names: &Names, except_namespaces: Vec<String>) -> Point {
    let (names, except_names) = match names {
        Names::Only(names) => (names.iter().cloned().collect(), Vec::new()),
        Names::AllBut(names) => (Vec::new(), names.iter().cloned().collect()),
    };
    Point { scope, api_group, resource, verb, names, except_names, except_namespaces }
}

/// The points of one set, with the names that each holds for.
fn points(table: &Table, set: &PermissionSet, whole_cluster: bool, unbounded: &mut bool) -> BTreeMap<Key, Names> {
    let mut points = BTreeMap::new();
    let parts = set.parts();
    // What wildcards reach of the table; the group `*` has no extensions, which may not be installed.
    let by_name: BTreeSet<&str> = parts.iter().filter_map(|part| part.api_group).collect();
    let reached = |api_group: &str, origin| origin != Some(Origin::Extension) || by_name.contains(api_group);
    for part in parts {
        let known = part.api_group.is_some_and(|group| {
            let verb = part.verb.unwrap_or("*");
            table.knows_group(group) && table.liveness(group, &written(&part), verb) != Liveness::UnknownGroup
        });
        let named = part.api_group.is_some() && part.resource.is_some() && part.verb.is_some();
        *unbounded |= !named && !known;
        if let Some(group) = part.api_group
            && (named || !known)
        {
            let verb = part.verb.unwrap_or("*").to_owned();
            points.insert((group.to_owned(), written(&part), verb), part.names);
        }
    }
    let served = table.iter().filter(|served| reached(&served.api_group, Some(served.origin))).flat_map(|served| {
        let resource = served.combined();
        let verbs = served.verbs.iter().filter(move |verb| whole_cluster || in_namespace(served, verb));
        verbs.map(move |verb| (served.api_group.clone(), resource.clone(), verb.clone()))
    });
    let checks = exact_checks().filter(|(group, _, _)| table.knows_group(group) && reached(group, table.origin(group)));
    let checks = checks.map(|(group, resource, verb)| (group.to_owned(), resource.to_owned(), verb.to_owned()));
    for key in served.chain(checks).collect::<BTreeSet<Key>>() {
        let names = set.names(&key.0, &key.1, &key.2);
        if !names.is_empty() {
            points.insert(key, names);
        }
    }
    points
}

/// The resource of a part as a rule would write it.
fn written(part: &Part<'_>) -> String {
    match (part.resource.unwrap_or("*"), part.subresource) {
        (resource @ "*", None) | (resource, Some("")) => resource.to_owned(),
        (resource, subresource) => format!("{resource}/{}", subresource.unwrap_or("*")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(groups: &[&str], resources: &[&str], names: &[&str], verbs: &[&str]) -> Rule {
        let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        Rule {
            api_groups: list(groups),
            resources: list(resources),
            resource_names: list(names),
            verbs: list(verbs),
            non_resource_urls: Vec::new(),
        }
    }

    fn compare(before: &[(Scope, Rule)], after: &[(Scope, Rule)]) -> (Comparison, Vec<String>, bool) {
        let table = Table::for_minor("1.36").unwrap();
        let found = difference(&table, before.iter().map(|(s, r)| (s, r)), after.iter().map(|(s, r)| (s, r)));
        let text = |point: &Point| {
            format!(
                "{} {} {}.{} {:?} but {:?} {:?}",
                point.scope,
                point.verb,
                point.resource,
                point.api_group,
                point.names,
                point.except_names,
                point.except_namespaces
            )
        };
        (found.comparison, found.only_before.points.iter().map(text).collect(), found.only_before.unbounded)
    }

    #[test]
    fn names_and_namespaces_that_are_kept_are_said_with_the_point() {
        let all = (Scope::Cluster, rule(&[""], &["secrets"], &[], &["get"]));
        let own = (Scope::Namespace("own".to_owned()), rule(&[""], &["secrets"], &["tls"], &["get"]));
        let (comparison, points, unbounded) = compare(std::slice::from_ref(&all), &[own]);
        assert_eq!((comparison, unbounded), (Comparison::Narrower, false));
        assert_eq!(points, [r#"cluster get secrets. [] but [] ["own"]"#]);
        let named = (Scope::Cluster, rule(&[""], &["secrets"], &["tls"], &["get"]));
        assert_eq!(compare(&[all], &[named]).1, [r#"cluster get secrets. [] but ["tls"] []"#]);
    }

    #[test]
    fn wildcards_expand_over_the_table_and_its_checks_and_say_that_there_is_more() {
        let all = (Scope::Cluster, rule(&["rbac.authorization.k8s.io"], &["clusterroles"], &[], &["*"]));
        let get = (Scope::Cluster, rule(&["rbac.authorization.k8s.io"], &["clusterroles"], &[], &["get"]));
        let (_, points, unbounded) = compare(&[all], &[get]);
        assert!(!unbounded);
        for verb in ["bind", "escalate", "delete", "list"] {
            assert!(points.iter().any(|point| point.starts_with(&format!("cluster {verb} "))), "{verb}: {points:?}");
        }
        assert!(!points.iter().any(|point| point.starts_with("cluster get ")));
        let open = (Scope::Cluster, rule(&["x.io"], &["*"], &[], &["get"]));
        let (_, points, unbounded) = compare(&[open], &[]);
        assert!(unbounded);
        assert_eq!(points, [r"cluster get *.x.io [] but [] []"]);
        // An extension is in what names its group and not in the group `*`; what its table lacks is told as written.
        let routes = (Scope::Cluster, rule(&["route.openshift.io"], &["routes/status", "others"], &[], &["*"]));
        let (_, points, unbounded) = compare(&[routes], &[]);
        assert!(unbounded);
        for expected in ["get routes/status.", "patch routes/status.", "update routes/status.", "* others."] {
            assert!(points.iter().any(|point| point.starts_with(&format!("cluster {expected}"))), "{points:?}");
        }
        assert_eq!(points.len(), 4, "{points:?}");
        let any = (Scope::Cluster, rule(&["*"], &["*"], &[], &["*"]));
        let (_, points, _) = compare(&[any], &[]);
        assert!(points.iter().any(|point| point.contains(" pods.")) && !points.iter().any(|p| p.contains("openshift")));
        // Nodes are in no namespace.
        let nodes = (Scope::Namespace("own".to_owned()), rule(&[""], &["*"], &[], &["get"]));
        let (_, points, _) = compare(&[nodes], &[]);
        assert!(points.iter().any(|point| point.contains(" pods.")) && !points.iter().any(|p| p.contains(" nodes.")));
    }
}
