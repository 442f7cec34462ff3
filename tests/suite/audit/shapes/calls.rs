//! Calls, and the events that an API server writes of them.

use serde_json::{Value, json};

pub const USERS: &[&str] =
    &["system:serviceaccount:op-ns:op", "system:serviceaccount:other:op", "jane", "arn:aws:iam::1:role/\"x\""];
/// Group, resource, subresource.
pub const RESOURCES: &[(&str, &str, &str)] = &[
    ("", "pods", ""),
    ("", "pods", "log"),
    ("", "serviceaccounts", "token"),
    ("apps", "deployments", ""),
    ("apps", "deployments", "scale"),
    ("rbac.authorization.k8s.io", "clusterroles", ""),
    ("cert-manager.io", "certificates", "status"),
];
/// Code, decision, message.
pub const ANSWERS: &[(u16, &str, &str)] = &[
    (200, "allow", ""),
    (201, "allow", ""),
    (404, "allow", "not found"),
    (409, "allow", "already exists"),
    (422, "allow", "invalid"),
    (403, "allow", "pods \"p\" is forbidden: exceeded quota"),
    (
        403,
        "forbid",
        "pods is forbidden: User \"u\" cannot list resource \"pods\" in API group \"\" at the cluster scope",
    ),
    (401, "", "Unauthorized"),
    (429, "", "too many requests"),
    (500, "allow", "boom"),
];

/// One call; its first fields say who, the next what, the last how it went.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    pub user: &'static str,
    pub acting: Option<&'static str>,
    pub verb: &'static str,
    pub what: (&'static str, &'static str, &'static str),
    pub namespace: &'static str,
    pub name: &'static str,
    /// Instead of a resource.
    pub path: &'static str,
    pub query: &'static str,
    pub answer: (u16, &'static str, &'static str),
    pub level: u8,
    /// Instead of an end only: the stages that were logged.
    pub stages: &'static [&'static str],
}

impl Default for Call {
    fn default() -> Self {
        Self {
            user: USERS[0],
            acting: None,
            verb: "get",
            what: RESOURCES[0],
            namespace: "n1",
            name: "a",
            path: "",
            query: "",
            answer: ANSWERS[0],
            level: 0,
            stages: &["ResponseComplete"],
        }
    }
}

/// Each peculiarity once.
pub fn table() -> Vec<Call> {
    let call = Call::default();
    let with = |verb, what, answer| Call { verb, what, answer, ..call };
    let (pods, ok, created) = (RESOURCES[0], ANSWERS[0], ANSWERS[1]);
    let mut calls = vec![
        call,
        Call { namespace: "", ..with("list", pods, ok) },
        Call { query: "?fieldSelector=metadata.name%3Dx&limit=5", ..with("list", pods, ok) },
        Call {
            query: "?watch=true",
            stages: &["RequestReceived", "ResponseStarted", "ResponseComplete"],
            ..with("watch", pods, ok)
        },
        Call { query: "?watch=true", stages: &["ResponseStarted"], namespace: "n2", ..with("watch", pods, ok) },
        Call { level: 3, ..with("create", pods, created) },
        Call { name: "", ..with("create", pods, created) },
        with("create", RESOURCES[3], created),
        Call { query: "?fieldManager=op&force=true", level: 2, ..with("patch", RESOURCES[3], created) },
        with("update", RESOURCES[6], ok),
        Call { what: ("", "namespaces", ""), namespace: "", name: "x", ..call },
        Call {
            what: ("", "namespaces", ""),
            namespace: "",
            name: "x",
            ..with("create", ("", "namespaces", ""), created)
        },
        Call { what: ("", "namespaces", "finalize"), namespace: "", name: "x", verb: "update", ..call },
        with("deletecollection", pods, ok),
        Call { stages: &["ResponseStarted"], ..with("create", ("", "pods", "exec"), (101, "allow", "")) },
        Call { name: "https:foo:443", ..with("get", ("", "services", "proxy"), ok) },
        Call { namespace: "", name: "n", ..with("get", ("", "nodes", "proxy"), ok) },
        Call { namespace: "", ..with("create", RESOURCES[5], created) },
        Call { path: "/metrics", ..call },
        Call { path: "/healthz/ping", verb: "head", ..call },
        Call { path: "/apis/apps/v1", ..call },
        Call { acting: Some("jane"), ..call },
        Call { acting: Some(USERS[1]), user: "jane", ..with("delete", pods, ok) },
        Call { stages: &["RequestReceived"], name: "never", ..call },
        Call {
            answer: (
                403,
                "",
                "users \"jane\" is forbidden: User \"u\" cannot impersonate resource \"users\" in API group \"\" at the cluster scope",
            ),
            name: "refused",
            ..call
        },
    ];
    calls.extend(ANSWERS.iter().map(|answer| Call { answer: *answer, name: "answered", ..call }));
    calls
}

/// The events of the calls, in order.
pub fn events(calls: &[Call]) -> Vec<Value> {
    let stages = |(at, call): (usize, &Call)| {
        let call = *call;
        call.stages.iter().map(move |stage| event(at, &call, stage))
    };
    calls.iter().enumerate().flat_map(stages).collect()
}

fn event(at: usize, call: &Call, stage: &str) -> Value {
    let mut event = json!({
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": if call.level < 2 { "Metadata" } else { ["Request", "RequestResponse"][usize::from(call.level - 2)] },
        "auditID": format!("id-{at}"),
        "stage": stage,
        "requestURI": uri(call),
        "verb": call.verb,
        "user": {"username": call.user, "groups": ["system:authenticated"]},
        "userAgent": format!("op/v{} (linux/amd64)", at % 2),
        "requestReceivedTimestamp": format!("2026-12-01T00:{:02}:{:02}.123456Z", at / 60 % 60, at % 60),
        "stageTimestamp": "2026-12-01T01:00:00.123456Z",
    });
    if call.user.starts_with("system:serviceaccount:") {
        event["user"]["extra"] = json!({"authentication.kubernetes.io/pod-name": [format!("op-{}", at % 3)]});
    }
    if let Some(acting) = call.acting {
        event["impersonatedUser"] = json!({"username": acting, "groups": ["g"]});
    }
    if call.path.is_empty() {
        event["objectRef"] = object(call);
    }
    if call.level >= 2 {
        event["requestObject"] = json!({"kind": "Pod", "metadata": {"annotations": {"a": "b\n\"c\""}}});
    }
    if stage != "RequestReceived" {
        let (code, decision, message) = call.answer;
        event["responseStatus"] = json!({"metadata": {}, "code": code, "message": message});
        if !decision.is_empty() {
            let reason = "RBAC: allowed by RoleBinding \"b/n1\" of Role \"r\" to ServiceAccount \"op/op-ns\"";
            let annotations = json!({"authorization.k8s.io/decision": decision, "authorization.k8s.io/reason": reason});
            event["annotations"] = annotations;
        }
    }
    event
}

/// Whether the URL has the object's name.
fn is_named(call: &Call) -> bool {
    let plain_create = call.verb == "create" && call.what.2.is_empty();
    !matches!(call.verb, "list" | "watch" | "deletecollection") && !plain_create && !call.name.is_empty()
}

fn uri(call: &Call) -> String {
    let (group, resource, subresource) = call.what;
    if !call.path.is_empty() {
        return call.path.to_owned();
    }
    let mut uri = if group.is_empty() { "/api/v1".to_owned() } else { format!("/apis/{group}/v1") };
    if !call.namespace.is_empty() {
        uri += &format!("/namespaces/{}", call.namespace);
    }
    uri += &format!("/{resource}");
    if is_named(call) {
        uri += &format!("/{}", call.name);
        uri += &if subresource.is_empty() { String::new() } else { format!("/{subresource}") };
    }
    uri + call.query
}

/// `objectRef`, whose name is that of the body where the URL has none.
fn object(call: &Call) -> Value {
    let (group, resource, subresource) = call.what;
    let mut object = json!({"resource": resource, "apiVersion": "v1"});
    let selected = call.query.contains("metadata.name%3Dx").then_some("x");
    let of_body = call.verb == "create" && !call.name.is_empty();
    let name = selected.unwrap_or(if is_named(call) || of_body { call.name } else { "" });
    let namespace = if resource == "namespaces" && is_named(call) { call.name } else { call.namespace };
    let subresource = if is_named(call) { subresource } else { "" };
    for (key, text) in [("apiGroup", group), ("namespace", namespace), ("name", name), ("subresource", subresource)] {
        if !text.is_empty() {
            object[key] = text.into();
        }
    }
    object
}
