//! Writes events as each shape has them: what an API, an export or a collector puts around or instead of them.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use rolecall::audit::Shape;
use serde_json::{Value, json};

use super::model;

/// A way in which events of a shape reach a file.
pub struct Carrier {
    pub shape: Shape,
    pub name: &'static str,
    pub write: fn(&[Value]) -> String,
}

const fn carrier(shape: Shape, name: &'static str, write: fn(&[Value]) -> String) -> Carrier {
    Carrier { shape, name, write }
}

pub const CARRIERS: &[Carrier] = &[
    carrier(Shape::Native, "JSON lines", |events| lines(events.iter().cloned())),
    carrier(Shape::Native, "JSON over many lines", |events| {
        events.iter().map(|event| format!("{event:#}\n")).collect()
    }),
    carrier(Shape::Native, "JSON without line ends", |events| events.iter().map(Value::to_string).collect()),
    carrier(Shape::Native, "JSON array", |events| format!("{:#}", Value::from(events))),
    carrier(Shape::Native, "YAML", |events| documents(events.iter().cloned())),
    carrier(Shape::List, "EventList without kinds", |events| list(events, true).to_string()),
    carrier(Shape::List, "List", |events| format!("{}\n", list(events, false))),
    carrier(Shape::Prefixed, "`oc adm node-logs`", |events| each(events, |event| format!("master-0 {event}\n"))),
    carrier(Shape::Prefixed, "CRI log", cri),
    carrier(Shape::Prefixed, "CloudWatch export", |events| {
        each(events, |event| format!("2026-12-01T00:00:00.000Z {event}\n"))
    }),
    carrier(Shape::Quoted, "JSON strings", |events| each(events, |event| format!("{}\n", quoted(event)))),
    carrier(Shape::CloudWatch, "`aws logs filter-log-events`", |events| {
        let message = |event: &Value| json!({"logStreamName": "kube-apiserver-audit-1", "timestamp": 1, "message": event.to_string()});
        json!({"events": events.iter().map(message).collect::<Vec<_>>(), "searchedLogStreams": []}).to_string()
    }),
    carrier(Shape::CloudWatch, "subscription, one behind the other", |events| {
        each(events, |event| subscription(event).to_string())
    }),
    carrier(Shape::CloudWatch, "subscription as a Lambda gets it", |events| {
        each(events, |event| {
            format!(
                "{}\n",
                json!({"awslogs": {"data": BASE64_STANDARD.encode(gzip(&subscription(event).to_string()))}})
            )
        })
    }),
    carrier(Shape::CloudWatch, "Insights, JSON", |events| {
        let row = |event: &Value| json!([{"field": "@timestamp", "value": "x"}, {"field": "@message", "value": event.to_string()}]);
        json!({"results": events.iter().map(row).collect::<Vec<_>>(), "status": "Complete"}).to_string()
    }),
    carrier(Shape::CloudWatch, "Insights, CSV", |events| {
        csv("@timestamp,@message", events, |event| vec!["x".to_owned(), event.to_string()])
    }),
    carrier(Shape::Gke, "Cloud Logging, JSON lines", |events| lines(events.iter().filter_map(model::entry))),
    carrier(Shape::Gke, "Cloud Logging, JSON array", |events| {
        format!("{:#}", Value::from(events.iter().filter_map(model::entry).collect::<Vec<_>>()))
    }),
    carrier(Shape::Gke, "Cloud Logging, YAML", |events| documents(events.iter().filter_map(model::entry))),
    carrier(Shape::Gke, "BigQuery", |events| {
        lines(events.iter().filter_map(model::entry).map(|entry| model::bigquery(&entry)))
    }),
    carrier(Shape::Gke, "Pub/Sub", |events| {
        lines(
            events
                .iter()
                .filter_map(model::entry)
                .map(|entry| json!({"message": {"data": BASE64_STANDARD.encode(entry.to_string())}})),
        )
    }),
    carrier(Shape::Aks, "Event Hub, storage", |events| {
        json!({"records": events.iter().map(azure).collect::<Vec<_>>()}).to_string()
    }),
    carrier(Shape::Aks, "storage, JSON lines", |events| lines(events.iter().map(azure))),
    carrier(Shape::AzureTable, "AKSAudit, JSON", |events| lines(events.iter().map(model::aks_audit))),
    carrier(Shape::AzureTable, "AKSAudit, CSV", |events| {
        let columns = "AuditId,Level,Stage,RequestUri,Verb,User,UserAgent,ObjectRef,ResponseStatus,RequestReceivedTime,\
                       Annotations,RequestObject";
        csv(columns, events, |event| {
            let row = model::aks_audit(event);
            columns.split(',').map(|column| row[column].as_str().unwrap_or_default().to_owned()).collect()
        })
    }),
    carrier(Shape::ViaQ, "JSON lines", |events| {
        lines(events.iter().cloned().map(|mut event| {
            event["k8s_audit_level"] = event["level"].take();
            event["level"] = "default".into();
            event["log_source"] = "kubeAPI".into();
            event
        }))
    }),
    carrier(Shape::Otlp, "JSON", |events| {
        let record =
            |event: &Value| json!({"timeUnixNano": "1", "body": {"stringValue": event.to_string()}, "attributes": []});
        let records: Vec<_> = events.iter().map(record).collect();
        json!({"resourceLogs": [{"resource": {}, "scopeLogs": [{"logRecords": records}]}]}).to_string()
    }),
    carrier(Shape::Sls, "JSON lines", |events| lines(events.iter().map(model::sls))),
    carrier(Shape::Ecs, "JSON lines", |events| {
        lines(events.iter().map(|event| json!({"kubernetes": {"audit": model::ecs(event)}})))
    }),
    carrier(Shape::Ecs, "answer of a search", |events| {
        let hit = |event: &Value| json!({"_id": "1", "_source": {"kubernetes": {"audit": model::ecs(event)}}});
        json!({"took": 1, "hits": {"hits": events.iter().map(hit).collect::<Vec<_>>()}}).to_string()
    }),
    carrier(Shape::Ecs, "keys with dots", |events| lines(events.iter().map(|event| model::dotted(&model::ecs(event))))),
    carrier(Shape::Splunk, "HTTP collector", |events| {
        lines(events.iter().map(|event| json!({"event": event, "time": 1})))
    }),
    carrier(Shape::Splunk, "export of a search", |events| {
        lines(events.iter().map(|event| json!({"preview": false, "result": {"_raw": event.to_string()}})))
    }),
    carrier(Shape::Panther, "JSON lines", |events| lines(events.iter().map(model::panther))),
    carrier(Shape::Ocsf, "JSON lines", |events| lines(events.iter().map(model::activity))),
    carrier(Shape::Loki, "push", |events| {
        let values: Vec<_> = events.iter().map(|event| json!(["1700000000000000000", event.to_string()])).collect();
        json!({"streams": [{"stream": {}, "values": values}]}).to_string()
    }),
    carrier(Shape::Loki, "query", |events| {
        let values: Vec<_> = events.iter().map(|event| json!(["1700000000000000000", event.to_string()])).collect();
        json!({"status": "success", "data": {"resultType": "streams", "result": [{"stream": {}, "values": values}]}})
            .to_string()
    }),
    carrier(Shape::Loki, "logcli", |events| {
        lines(events.iter().map(|event| json!({"labels": {}, "line": event.to_string()})))
    }),
    carrier(Shape::Collector, "docker", docker),
    carrier(Shape::Collector, "Fluent, of docker", |events| docker(events).replace(r#"}\n""#, r#"}""#)),
    carrier(Shape::Collector, "Fluent, of CRI", fluent),
    carrier(Shape::Collector, "`message`", |events| {
        lines(events.iter().map(|event| json!({"message": event.to_string()})))
    }),
];

fn each(events: &[Value], write: impl Fn(&Value) -> String) -> String {
    events.iter().map(write).collect()
}

fn lines(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| format!("{value}\n")).collect()
}

/// JSON is YAML.
fn documents(values: impl Iterator<Item = Value>) -> String {
    values.map(|value| format!("---\n{value:#}\n")).collect()
}

fn quoted(event: &Value) -> String {
    Value::from(event.to_string()).to_string()
}

fn list(events: &[Value], bare: bool) -> Value {
    let mut items = events.to_vec();
    for item in items.iter_mut().filter(|_| bare).filter_map(Value::as_object_mut) {
        item.remove("kind");
        item.remove("apiVersion");
    }
    json!({"kind": if bare { "EventList" } else { "List" }, "apiVersion": "audit.k8s.io/v1", "items": items})
}

fn halves(text: &str) -> (&str, &str) {
    text.split_at(text.floor_char_boundary(text.len() / 2))
}

fn cri(events: &[Value]) -> String {
    each(events, |event| {
        let text = event.to_string();
        let (first, rest) = halves(&text);
        format!("2026-12-01T00:00:00.0Z stdout P {first}\n2026-12-01T00:00:00.0Z stdout F {rest}\n")
    })
}

fn docker(events: &[Value]) -> String {
    each(events, |event| {
        let text = format!("{event}\n");
        let (first, rest) = halves(&text);
        format!("{}\n{}\n", json!({"log": first, "stream": "stdout"}), json!({"log": rest, "stream": "stdout"}))
    })
}

fn fluent(events: &[Value]) -> String {
    each(events, |event| {
        let text = event.to_string();
        let (first, rest) = halves(&text);
        let piece = |log: &str, tag: &str| json!({"stream": "stdout", "logtag": tag, "log": log});
        format!("{}\n{}\n", piece(first, "P"), piece(rest, "F"))
    })
}

fn subscription(event: &Value) -> Value {
    json!({"messageType": "DATA_MESSAGE", "logEvents": [{"id": "1", "timestamp": 1, "message": event.to_string()}]})
}

fn azure(event: &Value) -> Value {
    json!({"category": "kube-audit", "properties": {"log": format!("{event}\n"), "stream": "stdout", "pod": "p"}})
}

fn gzip(text: &str) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn csv(header: &str, events: &[Value], row: impl Fn(&Value) -> Vec<String>) -> String {
    let cell = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
    let row = |event| row(event).iter().map(cell).collect::<Vec<_>>().join(",") + "\r\n";
    format!("{header}\r\n{}", events.iter().map(row).collect::<String>())
}
