//! What extensions serve: the files are read whole and give points and hints, and absence from them says nothing.

use std::collections::BTreeSet;

use crate::api::extensions::{BY_HAND, GENERATED, all, group_of, read};
use crate::api::virtual_checks::is_checked;
use crate::api::{CustomResource, Liveness, Origin, Table, is_check_only};

fn table() -> Table {
    Table::for_minor("1.36").unwrap()
}

#[test]
fn both_files_are_sorted_and_every_line_is_read() {
    for (text, lines_at_least) in [(GENERATED, 230), (BY_HAND, 260)] {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let groups: Vec<&str> = lines.iter().filter_map(|line| group_of(line)).collect();
        assert!(groups.is_sorted_by(|one, next| one < next), "{groups:?}");
        assert!(lines.iter().all(|line| group_of(line).is_none_or(|_| line.split_once('\t').unwrap().1.contains('/'))));
        let resources: Vec<&str> = lines.iter().copied().filter(|line| group_of(line).is_none()).collect();
        assert!(resources.iter().all(|line| line.split('\t').count() == 7));
        let entries = read(text);
        let declared: usize =
            resources.iter().map(|line| 1 + line.matches(",status").count() + line.matches(",scale").count()).sum();
        assert_eq!(entries.len(), declared);
        assert!(resources.len() >= lines_at_least, "{}", resources.len());
        let keys = |of: &[crate::api::Served]| -> Vec<(String, String, String)> {
            of.iter()
                .map(|served| (served.api_group.clone(), served.resource.clone(), served.subresource.clone()))
                .collect()
        };
        let main: Vec<_> = keys(&entries).into_iter().map(|(group, resource, _)| (group, resource)).collect();
        assert!(main.is_sorted());
        assert!(entries.iter().all(|served| served.verbs.is_sorted() && !served.verbs.is_empty()));
        assert!(entries.iter().all(|served| !served.kind.is_empty() && !served.singular.is_empty()));
    }
}

#[test]
fn no_entry_is_given_twice_or_is_one_of_kubernetes() {
    let (mut seen, mut kinds) = (BTreeSet::new(), BTreeSet::new());
    for served in all() {
        let kind = (served.api_group.clone(), served.kind.clone());
        assert!(!served.subresource.is_empty() || kinds.insert(kind.clone()), "{kind:?}");
        assert!(crate::api::MINORS.iter().all(|minor| !Table::shared(minor).unwrap().knows_group(&served.api_group)));
        let key = (served.api_group.clone(), served.resource.clone(), served.subresource.clone());
        assert!(seen.insert(key.clone()), "{key:?}");
        for verb in &served.verbs {
            let resource = if key.2.is_empty() { key.1.clone() } else { format!("{}/{}", key.1, key.2) };
            assert!(!is_checked(&key.0, &resource, verb), "{key:?} {verb}");
        }
    }
}

#[test]
fn the_embedded_files_stay_small() {
    assert!(GENERATED.len() + BY_HAND.len() < 64 * 1024, "{}", GENERATED.len() + BY_HAND.len());
}

#[test]
fn what_extensions_serve_is_live_and_found_by_kind() {
    let table = table();
    for (group, resource, verb) in [
        ("monitoring.coreos.com", "servicemonitors", "*"),
        ("cert-manager.io", "certificates/status", "update"),
        ("route.openshift.io", "routes", "watch"),
        ("route.openshift.io", "*", "get"),
        ("build.openshift.io", "buildconfigs/instantiate", "create"),
        ("metrics.k8s.io", "pods", "list"),
        ("subresources.kubevirt.io", "virtualmachineinstances/sev/setupsession", "update"),
        ("*", "servicemonitors", "get"),
        ("keda.sh", "scaledobjects", "deletecollection"),
    ] {
        assert_eq!(table.liveness(group, resource, verb), Liveness::Live, "{group} {resource} {verb}");
    }
    assert_eq!(table.by_kind("route.openshift.io", "Route").unwrap().resource, "routes");
    assert!(!table.get("config.openshift.io", "dnses", "").unwrap().namespaced);
    assert_eq!(table.get("argoproj.io", "workflows", "").unwrap().origin, Origin::Extension);
}

#[test]
fn what_extensions_do_not_have_is_never_dead() {
    let table = table();
    for (group, resource, verb) in [
        // Another release may have it.
        ("monitoring.coreos.com", "shinythings", "get"),
        ("monitoring.coreos.com", "shinythings/status", "create"),
        // Neither this one nor another may have a status that this release does not declare.
        ("console.openshift.io", "consoleplugins/status", "update"),
        ("console.openshift.io", "consoleplugins/scale", "get"),
        ("subresources.kubevirt.io", "virtualmachines/teleport", "update"),
        ("route.openshift.io", "*/status", "create"),
        ("route.openshift.io", "pods", "get"),
    ] {
        assert_eq!(table.liveness(group, resource, verb), Liveness::UnknownGroup, "{group} {resource} {verb}");
    }
    for (group, resource, verb) in [
        ("monitoring.coreos.com", "prometheuses/api", "get"),
        ("monitoring.coreos.com", "prometheuses/api", "create"),
        ("route.openshift.io", "routes/custom-host", "create"),
        ("route.openshift.io", "routers/metrics", "get"),
        ("image.openshift.io", "registry/metrics", "get"),
        ("image.openshift.io", "imagestreams/layers", "update"),
        ("security.openshift.io", "securitycontextconstraints", "use"),
        ("cert-manager.io", "signers", "approve"),
        ("cert-manager.io", "certificates/finalizers", "update"),
        ("route.openshift.io", "newroutes/finalizers", "update"),
        ("metrics.k8s.io", "pods", "create"),
        ("messaging.knative.dev", "channels", "knsubscribe"),
        ("cluster.open-cluster-management.io", "managedclustersets", "join"),
    ] {
        assert_eq!(table.liveness(group, resource, verb), Liveness::CheckOnly, "{group} {resource} {verb}");
    }
    // Verbs that no request carries have no event either.
    assert!(is_check_only("cluster.open-cluster-management.io", "managedclustersets", "join"));
}

#[test]
#[rustfmt::skip]
fn a_slip_in_the_name_of_what_extensions_have_is_dead() {
    let table = table();
    for (group, resource, verb, message, suggestion) in [
        ("monitoring.coreos.com", "servicemonitor", "get", "has no resource servicemonitor", "servicemonitors"),
        ("monitoring.coreos.com", "ServiceMonitor", "get", "has no resource", "servicemonitors"),
        ("security.openshift.io", "scc", "get", "has no resource scc", "securitycontextconstraints"),
        ("config.openshift.io", "proxy", "get", "has no resource proxy", "proxies"),
        ("route.openshift.io", "route/status", "update", "has no resource route/status", "routes/status"),
        ("route.openshift.io", "routes/*", "*", "called \"*\"", "*/SUBRESOURCE"),
        ("cert-manager.io", "certificates/status", "create", "serves get, patch, update and not create", ""),
        ("metrics.k8s.io", "pods", "delete", "serves get, list, watch and not delete", ""),
        ("packages.operators.coreos.com", "packagemanifests", "create", "serves get, list", ""),
        // In a group of Kubernetes, extensions only help to say what was meant.
        ("", "routes", "get", "has no resource routes", "routes in apiGroup \"route.openshift.io\""),
        ("apps", "deploymentconfigs", "get", "has no resource", "apiGroup \"apps.openshift.io\""),
        ("", "ingress", "get", "has no resource", "networking.k8s.io"),
        // A label that Kubernetes has, one that a single extension has, and one that several have.
        ("networking", "ingresses", "get", "no API group", "networking.k8s.io"),
        ("metrics", "pods", "get", "no API group", "metrics.k8s.io"),
        ("snapshot", "volumesnapshots", "get", "no API group", ""),
    ] {
        let Liveness::Dead(reason) = table.liveness(group, resource, verb) else {
            panic!("{group:?} {resource} {verb} is not dead");
        };
        assert!(reason.message.contains(message), "{group:?} {resource} {verb}: {}", reason.message);
        let suggested = reason.suggestion.unwrap_or_default();
        assert!(suggested.contains(suggestion), "{group:?} {resource} {verb}: {suggested:?}");
        assert!(group != "snapshot" || suggested.is_empty());
        assert!(resource != "ingress" || !suggested.contains("openshift"), "{suggested:?}");
    }
}

#[test]
fn a_crd_of_the_input_counts_before_an_extension() {
    let mut table = table();
    table.add_custom(&CustomResource {
        api_group: "cert-manager.io".into(),
        plural: "certificates".into(),
        singular: "certificate".into(),
        short_names: Vec::new(),
        kind: "Certificate".into(),
        versions: vec!["v1alpha2".into()],
        namespaced: false,
        status: false,
        scale: false,
    });
    let served = table.get("cert-manager.io", "certificates", "").unwrap();
    assert!(served.origin == Origin::Crd && !served.namespaced && served.versions == ["v1alpha2"]);
    assert!(table.liveness("cert-manager.io", "certificates/status", "update").is_dead());
    // The rest of the group is as before.
    assert_eq!(table.liveness("cert-manager.io", "issuers/status", "update"), Liveness::Live);
    assert_eq!(table.liveness("cert-manager.io", "others", "get"), Liveness::UnknownGroup);
}
