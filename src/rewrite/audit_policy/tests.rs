//! What is written is a policy that an API server takes without a warning, and records what it says it records.

use super::*;
use crate::api::builtin;
use crate::audit::policy::{Level, Policy, Requester};
use crate::rbac::{NonResourceRequest, Request, ResourceRequest};

fn written(subjects: &[&str], platform: Platform) -> Policy {
    let subjects: Vec<SubjectKey> = subjects.iter().map(|subject| SubjectKey::parse(subject)).collect();
    let text = policy(&subjects, platform, &builtin::authenticated_rules("1.36"));
    let policy = Policy::read("policy.yaml", &text).unwrap();
    assert_eq!(policy.warnings, Vec::<String>::new());
    policy
}

/// The level of `verb group/resource[/subresource]`, or of `verb /path`, asked by a user.
fn level(policy: &Policy, user: &str, groups: &[&str], asked: &str) -> Level {
    let (verb, thing) = asked.split_once(' ').unwrap();
    let request = if thing.starts_with('/') && !thing.starts_with("//") {
        Request::NonResource(NonResourceRequest { path: thing.to_owned(), verb: verb.to_owned() })
    } else {
        let mut parts = thing.trim_start_matches("//").split('/').map(str::to_owned);
        let (api_group, resource) =
            if thing.starts_with("//") { (String::new(), parts.next()) } else { (parts.next().unwrap(), parts.next()) };
        Request::Resource(ResourceRequest {
            api_group,
            resource: resource.unwrap(),
            subresource: parts.next().unwrap_or_default(),
            verb: verb.to_owned(),
            namespace: "ns".to_owned(),
            name: String::new(),
        })
    };
    let groups: Vec<String> = groups.iter().map(|&group| group.to_owned()).collect();
    policy.evaluate(Requester { user, groups: &groups }, &request).level
}

const OPERATOR: &str = "system:serviceaccount:ns:op";

#[test]
fn bodies_are_recorded_where_a_need_stands_in_them() {
    use Level::{Metadata, None, Request, RequestResponse};
    let policy = written(&["ns/op", "alice"], Platform::Vanilla);
    for (asked, own, other) in [
        ("patch rbac.authorization.k8s.io/roles", Request, None),
        ("get rbac.authorization.k8s.io/roles", Metadata, None),
        ("update certificates.k8s.io/certificatesigningrequests/approval", RequestResponse, None),
        ("create authorization.k8s.io/subjectaccessreviews", RequestResponse, RequestResponse),
        ("create authorization.k8s.io/selfsubjectaccessreviews", Request, None),
        ("create //events", Metadata, None),
        ("update coordination.k8s.io/leases", Metadata, None),
        ("create //secrets", Metadata, None),
        ("create apps/deployments", Metadata, None),
        ("get /api", None, None),
        ("get /apis/apps/v1", None, None),
        ("get /metrics", Metadata, None),
    ] {
        for (user, expected) in [(OPERATOR, own), ("alice", own), ("bob", other)] {
            assert_eq!(level(&policy, user, &["system:authenticated"], asked), expected, "{user} {asked}");
        }
    }
    assert!(policy.omit_managed_fields);
}

#[test]
fn on_openshift_bodies_name_the_owners_but_hold_no_secrets() {
    let policy = written(&["ns/op"], Platform::OpenShift);
    let of = |asked| level(&policy, OPERATOR, &[], asked);
    assert_eq!(of("create apps/deployments"), Level::Request);
    assert_eq!(of("get apps/deployments"), Level::Metadata);
    assert_eq!(of("create //secrets"), Level::Metadata);
    assert_eq!(of("create //serviceaccounts/token"), Level::Metadata);
}

#[test]
fn without_a_subject_all_but_kubernetes_own_components_are_recorded() {
    let policy = written(&[], Platform::Vanilla);
    let of = |user, groups: &[&str]| level(&policy, user, groups, "get //pods");
    assert_eq!(of(OPERATOR, &["system:serviceaccounts"]), Level::Metadata);
    assert_eq!(of("system:node:n", &["system:nodes"]), Level::None);
    assert_eq!(of("system:serviceaccount:kube-system:x", &["system:serviceaccounts:kube-system"]), Level::None);
    assert_eq!(of("system:apiserver", &["system:masters"]), Level::None);
}

#[test]
fn checks_that_anyone_makes_of_the_operator_are_recorded_with_the_answer() {
    for policy in [written(&[], Platform::Vanilla), written(&["kube-system/op"], Platform::OpenShift)] {
        for (user, groups) in [
            ("system:node:n", &["system:nodes"]),
            ("system:serviceaccount:kube-system:x", &["system:serviceaccounts:kube-system"]),
            ("system:serviceaccount:ns:webhook", &["system:serviceaccounts"]),
        ] {
            let asked = "create authorization.k8s.io/subjectaccessreviews";
            assert_eq!(level(&policy, user, groups, asked), Level::RequestResponse, "{user}");
        }
    }
}

#[test]
fn a_hostile_name_stays_a_name() {
    let name = "a\n  - level: None # \u{1b}[2J: \"x\"";
    let policy = written(&[name], Platform::Vanilla);
    assert!(policy.rules.iter().filter(|rule| !rule.users.is_empty()).all(|rule| rule.users == [name]));
}

#[test]
fn the_kind_configuration_mounts_the_policy_and_the_log_for_both_versions_of_kubeadm() {
    let cluster: serde_json::Value = serde_saphyr::from_str(&kind("audit policy.yaml")).unwrap();
    let node = &cluster["nodes"][0];
    let mount = &node["extraMounts"][0];
    assert_eq!(mount["hostPath"], "./audit policy.yaml");
    for (at, version) in ["kubeadm.k8s.io/v1beta3", "kubeadm.k8s.io/v1beta4"].into_iter().enumerate() {
        let patch = node["kubeadmConfigPatches"][at].as_str().unwrap();
        let patch: serde_json::Value = serde_saphyr::from_str(patch).unwrap();
        assert_eq!((&patch["apiVersion"], &patch["kind"]), (&version.into(), &"ClusterConfiguration".into()));
        let server = &patch["apiServer"];
        let file = &server["extraArgs"]["audit-policy-file"];
        let file = if file.is_null() { &server["extraArgs"][0]["value"] } else { file };
        assert_eq!((file, &server["extraVolumes"][0]["hostPath"]), (&mount["containerPath"], &mount["containerPath"]));
    }
}
