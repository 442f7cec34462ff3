//! `src/api/data/extensions.tsv` is what the CRDs in released Go modules declare. `UPDATE=1 cargo test extensions`
//! writes it again once every module is in the Go module cache (`go mod download MODULE@VERSION` fetches one).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use rolecall::api::{CustomResource, DEFAULT_MINOR, Origin, Table};
use rolecall::source::SourceMap;

use super::common::{entries, load, shared};
use super::generated::{compare, module};

/// A module, its version, and the files or folders with the CRDs that it releases. All are under the Apache License
/// 2.0 or the MIT License.
type Released = (&'static str, &'static str, &'static [&'static str]);

#[rustfmt::skip]
const MODULES: &[Released] = &[
    ("github.com/argoproj/argo-cd/v2", "v2.14.21", &["manifests/crds"]),
    ("github.com/argoproj/argo-rollouts", "v1.8.5", &["manifests/crds"]),
    ("github.com/cert-manager/cert-manager", "v1.21.2", &["deploy/crds"]),
    ("github.com/cilium/cilium", "v1.20.2", &["pkg/k8s/apis/cilium.io/client/crds/v2", "pkg/k8s/apis/cilium.io/client/crds/v2alpha1"]),
    ("github.com/external-secrets/external-secrets", "v1.3.2", &["config/crds/bases"]),
    ("github.com/fluxcd/kustomize-controller", "v1.9.6", &["config/crd/bases"]),
    ("github.com/fluxcd/source-controller", "v1.9.6", &["config/crd/bases"]),
    ("github.com/kedacore/keda/v2", "v2.21.0", &["config/crd/bases"]),
    ("github.com/kubeflow/training-operator", "v1.8.1", &["manifests/base/crds"]),
    ("github.com/kubernetes-csi/external-snapshotter/client/v8", "v8.7.0", &["config/crd"]),
    ("github.com/kyverno/kyverno", "v1.19.1", &["config/crds/kyverno", "config/crds/policies.kyverno.io"]),
    ("github.com/open-policy-agent/gatekeeper/v3", "v3.23.1", &["config/crd/bases", "charts/gatekeeper/crds"]),
    ("github.com/operator-framework/api", "v0.9.1", &["crds"]),
    ("github.com/projectcontour/contour", "v1.33.8", &["examples/contour"]),
    ("github.com/prometheus-operator/prometheus-operator", "v0.85.0", &["example/prometheus-operator-crd"]),
    ("github.com/traefik/traefik/v3", "v3.7.13", &["docs/content/reference/dynamic-configuration"]),
    ("github.com/vmware-tanzu/velero", "v1.18.3", &["config/crd/v1/bases", "config/crd/v2alpha1/bases"]),
    ("istio.io/api", "v1.32.0", &["kubernetes"]),
    ("k8s.io/autoscaler/vertical-pod-autoscaler", "v1.8.1", &["deploy"]),
    ("knative.dev/serving", "v0.51.0", &["config/core/300-resources"]),
    ("sigs.k8s.io/cluster-api", "v1.14.2", &["core/config/crd/bases", "bootstrap/kubeadm/config/crd/bases", "controlplane/kubeadm/config/crd/bases"]),
    ("sigs.k8s.io/gateway-api", "v1.6.2", &["config/crd/standard", "config/crd/experimental"]),
    ("sigs.k8s.io/jobset", "v0.11.1", &["config/components/crd/bases"]),
    ("sigs.k8s.io/karpenter", "v1.12.1", &["pkg/apis/crds"]),
    ("sigs.k8s.io/kueue", "v0.17.0", &["config/components/crd/bases"]),
    ("sigs.k8s.io/lws", "v0.8.0", &["config/crd/bases"]),
    ("sigs.k8s.io/mcs-api", "v0.5.2", &["config/crd-base"]),
    ("sigs.k8s.io/network-policy-api", "v0.3.0", &["config/crd/standard", "config/crd/experimental"]),
];

#[test]
fn extensions_are_what_their_crds_declare() {
    let absent = MODULES.iter().find(|(name, version, _)| module(name, version).is_none());
    if let Some((name, version, _)) = absent {
        eprintln!("skipped extensions.tsv: {name}@{version} is not in the module cache");
        return;
    }
    compare("extensions.tsv", &generated());
}

#[test]
fn crds_of_real_operators_agree_with_what_is_known_of_their_groups() {
    if shared("corpus").is_none() {
        return;
    }
    let known = Table::for_minor(DEFAULT_MINOR).unwrap();
    let (mut agree, mut differ, mut further) = (0, Vec::new(), Vec::new());
    let table = load(&["../shared/corpus".to_owned()], &[]).table;
    for crd in table.iter().filter(|served| served.origin == Origin::Crd && served.subresource.is_empty()) {
        let name = format!("{}.{}", crd.resource, crd.api_group);
        match known.get(&crd.api_group, &crd.resource, "") {
            Some(told) if (&told.kind, told.namespaced) == (&crd.kind, crd.namespaced) => agree += 1,
            Some(_) => differ.push(name),
            None if known.knows_group(&crd.api_group) => further.push(name),
            None => {}
        }
    }
    println!("{agree} CRDs agree; not in the table: {further:?}");
    assert!(differ.is_empty(), "{differ:?}");
    assert!(agree >= 60 && further.len() <= agree / 10, "{agree} {further:?}");
}

/// The file: each group with the modules that have CRDs in it.
fn generated() -> String {
    let mut groups: BTreeMap<String, (BTreeSet<String>, BTreeMap<String, CustomResource>)> = BTreeMap::new();
    for released in MODULES {
        for resource in crds(released) {
            let (from, resources) = groups.entry(resource.api_group.clone()).or_default();
            from.insert(format!("{} {}", released.0, released.1));
            match resources.get_mut(&resource.plural) {
                Some(known) => unite(known, &resource),
                None => drop(resources.insert(resource.plural.clone(), resource)),
            }
        }
    }
    let mut text = "# Written by tests/suite/extensions.rs; the format is told in src/api/extensions.rs.\n".to_owned();
    for (group, (from, resources)) in groups {
        let from: Vec<String> = from.into_iter().collect();
        text.push_str(&format!("[{group}]\t{}\n", from.join(", ")));
        for resource in resources.values() {
            text.push_str(&line(resource));
        }
    }
    text
}

/// The CRDs of a module, read as any manifest is.
fn crds((name, version, places): &Released) -> Vec<CustomResource> {
    let folder = module(name, version).unwrap();
    let mut found = Vec::new();
    for file in places.iter().flat_map(|place| entries(&folder.join(place))).filter(|file| is_yaml(file)) {
        let mut sources = SourceMap::default();
        let id = sources.add(file.display().to_string(), fs::read_to_string(&file).unwrap());
        let crds = rolecall::manifest::read(&sources, id).facts.crds;
        found.extend(crds.into_iter().map(|crd| crd.resource));
    }
    assert!(!found.is_empty(), "{name} has no CRD in {places:?}");
    found
}

fn is_yaml(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "yaml" || extension == "yml")
}

/// The same resource in another channel or file of the module.
fn unite(known: &mut CustomResource, other: &CustomResource) {
    assert_eq!((&known.kind, known.namespaced), (&other.kind, other.namespaced), "{}", known.plural);
    let versions: BTreeSet<&String> =
        other.versions.iter().filter(|version| !known.versions.contains(version)).collect();
    let versions: Vec<String> = versions.into_iter().cloned().collect();
    known.versions.extend(versions);
    known.status |= other.status;
    known.scale |= other.scale;
}

fn line(resource: &CustomResource) -> String {
    let list = |words: &[String]| if words.is_empty() { "-".to_owned() } else { words.join(",") };
    let mut served = "crd".to_owned();
    for (subresource, _) in [("status", resource.status), ("scale", resource.scale)].into_iter().filter(|(_, has)| *has)
    {
        served = format!("{served},{subresource}");
    }
    let scope = if resource.namespaced { "namespaced" } else { "cluster" };
    let (versions, short_names) = (list(&resource.versions), list(&resource.short_names));
    let CustomResource { plural, kind, singular, .. } = resource;
    format!("{plural}\t{kind}\t{singular}\t{scope}\t{served}\t{versions}\t{short_names}\n")
}
