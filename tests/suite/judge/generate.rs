//! Generated rules, policies and requests: few words in every combination, odd ones among them, so that requests meet
//! the borders of rules often.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use rolecall::rbac::{NonResourceRequest, Request, ResourceRequest, Rule};
use serde_json::{Value, json};

const GROUPS: &[&str] = &["", "apps", "*", "x.io", "Apps", " ", "core", "*.io"];
const RESOURCES: &[&str] = &[
    "pods",
    "pods/exec",
    "secrets",
    "*",
    "*/exec",
    "pods/*",
    "*/*",
    "deployments/scale",
    "Pods",
    "",
    "*/",
    "pods/",
    "/exec",
    "a/b/c",
    "*/b/c",
    " pods",
    "deployments",
];
const NAMES: &[&str] = &["a", "b", "*", "", "A", "a*"];
const VERBS: &[&str] = &["get", "list", "*", "create", "GET", "", "bind", "ge*"];
const URLS: &[&str] = &[
    "/",
    "*",
    "/metrics",
    "/metrics/*",
    "/met*",
    "**",
    "/metrics*",
    "/a*b",
    "/a**",
    "",
    "/Metrics",
    "/metrics/",
    "/é*",
];
const ASKED_RESOURCES: &[&str] = &["pods", "secrets", "deployments", "Pods", "", "*", "a", " pods", "pod", "b"];
const ASKED_SUBRESOURCES: &[&str] = &["", "", "", "exec", "scale", "*", "b/c", "log", "EXEC"];
const ASKED_PATHS: &[&str] = &[
    "/",
    "/metrics",
    "/metrics/",
    "/metrics/a",
    "/met",
    "/metricsx",
    "/a*b",
    "/axb",
    "/a",
    "/Metrics",
    "/é",
    "/éx",
    "*",
    "/b",
];
pub(crate) const NAMESPACES: &[&str] = &["n", "m", "kube-system"];

fn some(of: &'static [&'static str], most: usize) -> impl Strategy<Value = Vec<String>> + Clone {
    subsequence(of, 0..=most).prop_shuffle().prop_map(|list| list.into_iter().map(str::to_owned).collect())
}

/// A rule; about one in four speaks of URLs.
pub(crate) fn rule() -> impl Strategy<Value = Rule> + Clone {
    let resources =
        (some(GROUPS, 3), some(RESOURCES, 4), prop_oneof![2 => Just(vec![]), 1 => some(NAMES, 2)], some(VERBS, 3));
    let urls = (some(URLS, 3), some(VERBS, 2));
    prop_oneof![
        3 => resources.prop_map(|(api_groups, resources, resource_names, verbs)| Rule {
            api_groups, resources, resource_names, verbs, non_resource_urls: vec![],
        }),
        1 => urls.prop_map(|(non_resource_urls, verbs)| Rule { non_resource_urls, verbs, ..Rule::default() }),
    ]
}

/// Subjects as a binding names them.
fn subject() -> impl Strategy<Value = Value> + Clone {
    let account = |namespace: &str, name: &str| json!({"kind": "ServiceAccount", "namespace": namespace, "name": name});
    let named = |kind: &str, name: &str| json!({"kind": kind, "apiGroup": "rbac.authorization.k8s.io", "name": name});
    select(vec![
        account("n", "op"),
        account("m", "op"),
        account("n", "other"),
        named("User", "system:serviceaccount:n:op"),
        named("User", "alice"),
        named("User", "system:serviceaccounts"),
        named("Group", "system:serviceaccounts"),
        named("Group", "system:serviceaccounts:n"),
        named("Group", "system:serviceaccounts:m"),
        named("Group", "system:authenticated"),
        named("Group", "alice"),
    ])
}

/// Subjects of a RoleBinding: a service account may leave out its namespace there.
fn subject_in_namespace() -> impl Strategy<Value = Value> + Clone {
    prop_oneof![4 => subject(), 1 => Just(json!({"kind": "ServiceAccount", "name": "op"}))]
}

/// Roles, bindings and what they bind, as JSON objects by kind.
#[derive(Debug, Clone)]
pub(crate) struct Policy {
    pub(crate) roles: Vec<Value>,
    pub(crate) cluster_roles: Vec<Value>,
    pub(crate) role_bindings: Vec<Value>,
    pub(crate) cluster_role_bindings: Vec<Value>,
}

impl Policy {
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Value> {
        self.roles.iter().chain(&self.cluster_roles).chain(&self.role_bindings).chain(&self.cluster_role_bindings)
    }

    /// The fields of a question to the oracle.
    pub(crate) fn question(&self, ask: &str) -> Value {
        json!({
            "ask": ask, "roles": self.roles, "clusterRoles": self.cluster_roles, "roleBindings": self.role_bindings,
            "clusterRoleBindings": self.cluster_role_bindings,
        })
    }
}

fn object(kind: &str, namespace: Option<&str>, name: &str) -> Value {
    let mut metadata = json!({"name": name});
    if let Some(namespace) = namespace {
        metadata["namespace"] = namespace.into();
    }
    json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata})
}

fn role(kind: &str, namespace: Option<&str>, name: &str, rules: &[Rule]) -> Value {
    let mut role = object(kind, namespace, name);
    role["rules"] = serde_json::to_value(rules).unwrap();
    role
}

fn binding(
    kind: &str,
    namespace: Option<&str>,
    name: &str,
    role_kind: &str,
    role: &str,
    subjects: Vec<Value>,
) -> Value {
    let mut binding = object(kind, namespace, name);
    binding["roleRef"] = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": role_kind, "name": role});
    binding["subjects"] = subjects.into();
    binding
}

/// Up to three ClusterRoles and three Roles, and bindings among them; some bind a role that is not there.
pub(crate) fn policy() -> impl Strategy<Value = Policy> {
    let rules = || vec(rule(), 0..4);
    let roles = vec((select(NAMESPACES), rules()), 0..4);
    let cluster_roles = vec(rules(), 0..4);
    let role_bindings = vec((select(NAMESPACES), any::<bool>(), 0..4_usize, vec(subject_in_namespace(), 0..4)), 0..5);
    let cluster_role_bindings = vec((0..4_usize, vec(subject(), 0..4)), 0..4);
    (roles, cluster_roles, role_bindings, cluster_role_bindings).prop_map(
        |(roles, cluster_roles, in_namespaces, everywhere)| {
            // One name in several namespaces and as a ClusterRole are different roles.
            let named = |at: usize| format!("r{at}");
            Policy {
                roles: roles
                    .iter()
                    .enumerate()
                    .map(|(at, (ns, rules))| role("Role", Some(ns), &named(at), rules))
                    .collect(),
                cluster_roles: cluster_roles
                    .iter()
                    .enumerate()
                    .map(|(at, rules)| role("ClusterRole", None, &named(at), rules))
                    .collect(),
                role_bindings: in_namespaces
                    .into_iter()
                    .enumerate()
                    .map(|(at, (ns, cluster, role, subjects))| {
                        let kind = if cluster { "ClusterRole" } else { "Role" };
                        binding("RoleBinding", Some(ns), &format!("b{at}"), kind, &named(role), subjects)
                    })
                    .collect(),
                cluster_role_bindings: everywhere
                    .into_iter()
                    .enumerate()
                    .map(|(at, (role, subjects))| {
                        binding("ClusterRoleBinding", None, &format!("b{at}"), "ClusterRole", &named(role), subjects)
                    })
                    .collect(),
            }
        },
    )
}

/// A small generator for what is wanted by the million: proptest would build a tree for each.
#[derive(Debug)]
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    pub(crate) fn of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    fn word(&mut self, words: &[&str]) -> String {
        self.of(words).to_owned()
    }

    /// A request of random words.
    pub(crate) fn request(&mut self) -> Request {
        if self.below(5) == 0 {
            return Request::NonResource(NonResourceRequest { path: self.word(ASKED_PATHS), verb: self.word(VERBS) });
        }
        Request::Resource(ResourceRequest {
            api_group: self.word(GROUPS),
            resource: self.word(ASKED_RESOURCES),
            subresource: self.word(ASKED_SUBRESOURCES),
            verb: self.word(VERBS),
            namespace: self.namespace(),
            name: if self.below(2) == 0 { String::new() } else { self.word(NAMES) },
        })
    }

    fn namespace(&mut self) -> String {
        if self.below(3) == 0 { String::new() } else { self.word(NAMESPACES) }
    }

    /// A request at the border of one of the rules: words of the rule, now and then another.
    pub(crate) fn request_near(&mut self, rules: &[Rule]) -> Request {
        if rules.is_empty() || self.below(8) == 0 {
            return self.request();
        }
        let rule = &rules[self.below(rules.len())];
        let verb = self.near(&rule.verbs, VERBS);
        if !rule.non_resource_urls.is_empty() {
            // A path is never empty; to the oracle an empty one means a resource.
            let path = Some(self.near(&rule.non_resource_urls, ASKED_PATHS)).filter(|path| !path.is_empty());
            let path = path.unwrap_or_else(|| "/".to_owned());
            return Request::NonResource(NonResourceRequest { path, verb });
        }
        let resource = self.near(&rule.resources, ASKED_RESOURCES);
        let (resource, subresource) = match resource.split_once('/') {
            Some((resource, subresource)) => (resource.to_owned(), subresource.to_owned()),
            None if self.below(4) == 0 => (resource, self.word(ASKED_SUBRESOURCES)),
            None => (resource, String::new()),
        };
        let name = if rule.resource_names.is_empty() && self.below(2) == 0 {
            String::new()
        } else {
            self.near(&rule.resource_names, NAMES)
        };
        Request::Resource(ResourceRequest {
            api_group: self.near(&rule.api_groups, GROUPS),
            resource: if resource == "*" { self.word(ASKED_RESOURCES) } else { resource },
            subresource,
            verb,
            namespace: self.namespace(),
            name,
        })
    }

    /// One of the words of a rule, a wildcard filled in; one time in ten any word.
    fn near(&mut self, words: &[String], others: &[&str]) -> String {
        if words.is_empty() || self.below(10) == 0 {
            return self.word(others);
        }
        let word = &words[self.below(words.len())];
        match word.trim_end_matches('*') {
            "" if !word.is_empty() => self.word(others),
            prefix if prefix.len() < word.len() && self.below(4) > 0 => {
                format!("{prefix}{}", self.of(&["", "x", "/y"]))
            }
            _ => word.clone(),
        }
    }
}
