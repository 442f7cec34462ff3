//! The literal lists of the cases against what was really lost and won, role by role. A literal list names the tuples
//! of removed lines; what a removed line granted may stay, through another line or a wildcard.

use std::collections::{BTreeMap, BTreeSet};

use rolecall::rbac::{PermissionSet, Rule};
use serde::Deserialize;

use super::roles::{Key, Pair, Side, pairs};

/// One line of a list.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tuple {
    kind: String,
    name: String,
    api_group: Option<String>,
    resource: Option<String>,
    verb: String,
    resource_name: Option<String>,
    #[serde(rename = "nonResourceURL")]
    url: Option<String>,
}

impl Tuple {
    fn key(&self) -> Key {
        // What stands in a ClusterServiceVersion is `csv:NAME` in the lists and `csv-NAME` in the files.
        (self.kind.clone(), self.name.replacen("csv:", "csv-", 1))
    }

    fn set(&self) -> PermissionSet {
        let list = |word: &Option<String>| word.iter().cloned().collect::<Vec<String>>();
        PermissionSet::from_rules([&Rule {
            api_groups: list(&self.api_group),
            resources: list(&self.resource),
            resource_names: list(&self.resource_name),
            non_resource_urls: list(&self.url),
            verbs: vec![self.verb.clone()],
        }])
    }
}

fn tuples(list: &str) -> Vec<Tuple> {
    list.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn set(side: &Side) -> PermissionSet {
    PermissionSet::from_rules(side.held.iter().map(|(_, _, rule)| rule))
}

/// How a tuple stands to what one role lost.
fn cause(tuple: &Tuple, before: &Side, after: &Side) -> &'static str {
    let (was, is) = (set(&before.only(&tuple.key())), set(&after.only(&tuple.key())));
    let (lost, all) = (was.subtract(&is), tuple.set());
    let wildcard = [&tuple.api_group, &tuple.resource, &Some(tuple.verb.clone())];
    let wildcard = wildcard.into_iter().flatten().any(|word| word == "*" || word.starts_with("*/"));
    match (was.covers(&all), lost.covers(&all), lost.intersects(&all), wildcard) {
        (false, ..) => "not held before",
        (_, true, ..) => "lost",
        (_, _, false, _) => "kept by another line",
        (.., true) => "a wildcard, part of which is kept",
        (.., false) => "kept for some names",
    }
}

#[test]
fn literal_lists_agree_but_for_wildcards_and_names() {
    let Some(pairs) = pairs() else { return };
    let (mut removed, mut given_back) = (BTreeMap::new(), BTreeMap::new());
    for pair in &pairs {
        if let Some(list) = &pair.removed {
            count(pair, list, &pair.before, &pair.after, &mut removed);
            let mut listed: BTreeMap<Key, PermissionSet> = BTreeMap::new();
            for tuple in tuples(list) {
                let known = listed.entry(tuple.key()).or_default();
                *known = known.union(&tuple.set());
            }
            let keys: BTreeSet<&Key> = pair.before.objects.iter().map(|(key, _)| key).collect();
            for key in keys {
                let lost = set(&pair.before.only(key)).subtract(&set(&pair.after.only(key)));
                if !listed.entry(key.clone()).or_default().covers(&lost) {
                    println!("{}: {key:?} lost more than is listed", pair.title);
                    *removed.entry("roles that lost more than is listed").or_default() += 1;
                }
            }
        }
        if let Some(list) = &pair.given_back {
            count(pair, list, &pair.after, &pair.before, &mut given_back);
        }
    }
    println!("removed: {removed:?}\ngiven back: {given_back:?}");
    let (wildcards, names) = ("a wildcard, part of which is kept", "kept for some names");
    assert_eq!(removed, BTreeMap::from([("lost", 738), (wildcards, 166), (names, 35)]));
    assert_eq!(given_back, BTreeMap::from([("lost", 65), (wildcards, 1), (names, 5)]));
}

/// Adds the causes of one list, and prints them where they are not plain.
fn count(pair: &Pair, list: &str, before: &Side, after: &Side, causes: &mut BTreeMap<&'static str, usize>) {
    let mut here: BTreeMap<&str, usize> = BTreeMap::new();
    for tuple in tuples(list) {
        let cause = cause(&tuple, before, after);
        *here.entry(cause).or_default() += 1;
        *causes.entry(cause).or_default() += 1;
    }
    if here.keys().any(|cause| *cause != "lost") {
        println!("{}: {here:?}", pair.title);
    }
}
