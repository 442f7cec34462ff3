//! Look-ups in the tables, and that each embedded file is read whole.

use super::table;
use crate::api::{MINORS, Origin, Table, builtin, data};

#[test]
fn tables_answer_by_name_and_by_kind() {
    let table = table();
    assert_eq!(table.by_kind("apps", "Deployment").unwrap().resource, "deployments");
    assert_eq!(table.by_kind("", "Endpoints").unwrap().resource, "endpoints");
    assert_eq!(table.by_kind("example.com", "Gadget").unwrap().resource, "gadgets");
    assert!(table.by_kind("", "Deployment").is_none());
    assert!(table.knows_group("") && table.knows_group("example.com") && !table.knows_group("example.org"));
    let pods = table.get("", "pods", "").unwrap();
    assert!(pods.namespaced && pods.by_default && pods.origin == Origin::Kubernetes);
    assert_eq!(pods.kind, "Pod");
    assert!(!table.get("", "nodes", "").unwrap().namespaced);
    assert_eq!(table.get("", "pods", "exec").unwrap().verbs, ["create", "get"]);
    assert!(!table.get("scheduling.k8s.io", "workloads", "").unwrap().by_default);
    assert!(table.get("networking.k8s.io", "ingresses", "").unwrap().by_default);
    assert!(table.get("example.com", "widgets", "").unwrap().origin == Origin::Crd);
    assert!(table.get("example.com", "gadgets", "status").is_none());
    let keys: Vec<_> = table.iter().map(|s| (&s.api_group, &s.resource, &s.subresource)).collect();
    assert!(keys.is_sorted() && keys.len() > 100);
    assert!(table.iter().all(|served| served.verbs.is_sorted() && !served.kind.is_empty()));
}

#[test]
fn every_shipped_minor_is_whole_and_others_are_not_there() {
    for minor in MINORS {
        let table = Table::shared(minor).unwrap();
        let lines = data::of(minor).unwrap().served.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(table.iter().count(), lines, "{minor}");
        assert_eq!(table.minor(), minor);
        let rules = data::of(minor).unwrap().builtin.lines().filter(|line| line.starts_with("  {")).count();
        assert_eq!(builtin::rules_of(minor), rules, "{minor}");
    }
    assert!(Table::for_minor("1.12").is_none() && Table::for_minor("").is_none());
}
