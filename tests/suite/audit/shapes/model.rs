//! Events in other words: shapes that are no envelope around the event of the API server.

use serde_json::{Map, Value, json};

/// An entry of Cloud Logging.
pub fn entry(event: &Value) -> Option<Value> {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if event["stage"] == "RequestReceived" {
        return None;
    }
    let (verb, path) = (text("/verb"), text("/requestURI").split('?').next().unwrap_or_default());
    let (method, resource) = match event.get("objectRef") {
        None => (format!("io.k8s.{verb}"), path.trim_start_matches('/').to_owned()),
        Some(object) => {
            let part = |key: &str| object[key].as_str().unwrap_or_default();
            let group: Vec<&str> =
                part("apiGroup").trim_end_matches(".k8s.io").rsplit('.').filter(|part| !part.is_empty()).collect();
            let group = if group.is_empty() { "core".to_owned() } else { group.join(".") };
            let parts = ["io.k8s", &group, "v1", part("resource"), part("subresource"), verb];
            let method = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".");
            let core = path.strip_prefix("/api/").map(|rest| format!("core/{rest}"));
            let mut resource = core.unwrap_or_else(|| path.trim_start_matches("/apis/").to_owned());
            // What was created is named; of a stream, the pod twice.
            let repeats = matches!(part("subresource"), "exec" | "attach");
            if !part("name").is_empty() && (repeats || verb == "create" && part("subresource").is_empty()) {
                resource += &format!("/{}", part("name"));
            }
            (method, resource)
        }
    };
    let status = &event["responseStatus"];
    let code = match status["code"].as_u64()? {
        101 => 2,
        200..300 => 0,
        400 | 422 => 3,
        401 => 16,
        403 => 7,
        404 => 5,
        409 => 10,
        429 => 8,
        _ => 13,
    };
    let mut payload = json!({
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "serviceName": "k8s.io",
        "methodName": method,
        "resourceName": resource,
        "authenticationInfo": {"principalEmail": text("/user/username")},
        "requestMetadata": {"callerSuppliedUserAgent": text("/userAgent")},
        "status": {"code": code, "message": status["message"]},
    });
    if let Some(body) = event.get("requestObject") {
        payload["request"] = body.clone();
    }
    let (first, last) = (event["stage"] == "ResponseStarted", event["stage"] == "ResponseComplete");
    let mut entry = json!({
        "insertId": event["auditID"],
        "timestamp": event["requestReceivedTimestamp"],
        "operation": {"id": event["auditID"], "first": first, "last": last},
        "protoPayload": payload,
    });
    if let Some(annotations) = event.get("annotations") {
        entry["labels"] = annotations.clone();
    }
    Some(entry)
}

/// The row of an entry in BigQuery: names without capitals, numbers as text.
pub fn bigquery(entry: &Value) -> Value {
    let mut payload = Map::new();
    for (key, value) in entry["protoPayload"].as_object().expect("an object") {
        match &**key {
            "@type" => {}
            "request" => {
                payload.insert("requestjson".to_owned(), value.to_string().into());
            }
            "status" => {
                let code = value["code"].to_string();
                payload.insert(key.clone(), json!({"code": code, "message": value["message"]}));
            }
            "requestMetadata" => {
                let agent = &value["callerSuppliedUserAgent"];
                payload.insert(key.to_lowercase(), json!({"callersupplieduseragent": agent}));
            }
            "authenticationInfo" => {
                payload.insert(key.to_lowercase(), json!({"principalemail": value["principalEmail"]}));
            }
            _ => {
                payload.insert(key.to_lowercase(), value.clone());
            }
        }
    }
    let time = entry["timestamp"].as_str().expect("a time").replace('T', " ").replace('Z', " UTC");
    let mut row = json!({
        "insertid": entry["insertId"],
        "timestamp": time,
        "operation": entry["operation"],
        "protopayload_auditlog": payload,
    });
    if let Some(labels) = entry.get("labels").and_then(Value::as_object) {
        let labels: Map<_, _> =
            labels.iter().map(|(key, value)| (key.replace(['.', '/'], "_"), value.clone())).collect();
        row["labels"] = labels.into();
    }
    row
}

/// A row of AKSAudit: what is nested is JSON in text.
pub fn aks_audit(event: &Value) -> Value {
    let nested = |key: &str| event.get(key).map_or(String::new(), Value::to_string);
    json!({
        "AuditId": event["auditID"],
        "Level": event["level"],
        "Stage": event["stage"],
        "RequestUri": event["requestURI"],
        "Verb": event["verb"],
        "User": nested("user"),
        "UserAgent": event["userAgent"],
        "ObjectRef": nested("objectRef"),
        "ResponseStatus": nested("responseStatus"),
        "RequestReceivedTime": event["requestReceivedTimestamp"],
        "Annotations": nested("annotations"),
        "RequestObject": nested("requestObject"),
    })
}

/// A row of Log Service: the fields of an event, what is nested as text.
pub fn sls(event: &Value) -> Value {
    let fields = event.as_object().expect("an object").iter();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    fields
        .filter(|(key, _)| !matches!(&***key, "kind" | "apiVersion"))
        .map(|(key, value)| (key.clone(), text(value).into()))
        .collect::<Map<_, _>>()
        .into()
}

/// An event as Elastic keeps it: no dots in keys of annotations.
pub fn ecs(event: &Value) -> Value {
    let mut event = event.clone();
    rename(&mut event, |key| key.replacen(".", "_", 2));
    event
}

/// The same with a key for each field.
pub fn dotted(event: &Value) -> Value {
    let mut row = Map::new();
    for (key, value) in event.as_object().expect("an object") {
        match value.as_object().filter(|_| key != "requestObject") {
            None => {
                row.insert(format!("kubernetes.audit.{key}"), value.clone());
            }
            Some(fields) => {
                for (field, value) in fields {
                    match value.as_object().filter(|_| field == "extra") {
                        None => drop(row.insert(format!("kubernetes.audit.{key}.{field}"), value.clone())),
                        Some(extra) => row.extend(
                            extra
                                .iter()
                                .map(|(name, value)| (format!("kubernetes.audit.{key}.extra.{name}"), value.clone())),
                        ),
                    }
                }
            }
        }
    }
    row.into()
}

/// An event as Panther keeps it: times without `T` and zone, no slashes in keys.
pub fn panther(event: &Value) -> Value {
    let mut event = event.clone();
    for key in ["requestReceivedTimestamp", "stageTimestamp"] {
        let time = event[key].as_str().expect("a time").replace('T', " ").replace('Z', "");
        event[key] = time.into();
    }
    rename(&mut event, |key| key.replace('/', "_slash_"));
    event["p_log_type"] = "Kubernetes.Audit".into();
    event
}

fn rename(event: &mut Value, name: impl Fn(&str) -> String) {
    for pointer in ["/annotations", "/user/extra"] {
        if let Some(fields) = event.pointer_mut(pointer) {
            let old = fields.as_object().expect("an object").clone();
            *fields = old.into_iter().map(|(key, value)| (name(&key), value)).collect::<Map<_, _>>().into();
        }
    }
}

/// An OCSF API Activity of Security Lake.
pub fn activity(event: &Value) -> Value {
    let mut activity = json!({
        "class_uid": 6003,
        "metadata": {"product": {"name": "Amazon EKS"}, "log_level": event["level"]},
        "message": event["stage"],
        "api": {"operation": event["verb"], "request": {"uid": event["auditID"]}, "response": null},
        "actor": {"user": {"name": event["user"]["username"]}},
        "http_request": {"url": {"path": event["requestURI"]}, "user_agent": event["userAgent"]},
        "resources": [],
        "start_time_dt": event["requestReceivedTimestamp"],
        "time_dt": event["stageTimestamp"],
    });
    activity["api"]["response"] = json!({"code": event.pointer("/responseStatus/code").unwrap_or(&0.into())});
    if let Some(object) = event.get("objectRef") {
        let part = |key: &str| object[key].as_str().unwrap_or_default();
        let glued = if part("subresource").is_empty() {
            part("resource").to_owned()
        } else {
            format!("{}/{}", part("resource"), part("subresource"))
        };
        activity["resources"] = json!([{"type": glued, "name": part("name"), "namespace": object["namespace"], "group": {"name": part("apiGroup")}}]);
    }
    if let Some(annotations) = event.get("annotations") {
        let (decision, reason) =
            (&annotations["authorization.k8s.io/decision"], &annotations["authorization.k8s.io/reason"]);
        activity["actor"]["authorizations"] = json!([{"decision": decision, "policy": {"desc": reason}}]);
    }
    let mut rest = event.clone();
    let fields = rest.as_object_mut().expect("an object");
    for mapped in ["apiVersion", "level", "stage", "verb", "auditID", "requestURI", "objectRef", "userAgent"] {
        fields.remove(mapped);
    }
    activity["unmapped"] = rest;
    activity
}
