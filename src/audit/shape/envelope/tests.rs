use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use super::super::tests::{CALL, event, quote, quoted, read, said, shapes};
use super::*;

fn gzip(text: &str) -> Vec<u8> {
    use std::io::Write;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

#[test]
fn each_envelope_is_opened() {
    let (event, line) = (event(), quoted());
    let with_end = quote(&format!("{event}\n"));
    let subscription = format!(
        r#"{{"messageType":"DATA_MESSAGE","owner":"1","logGroup":"/aws/eks/c/cluster","logStream":"kube-apiserver-audit-1","subscriptionFilters":["f"],"logEvents":[{{"id":"1","timestamp":1,"message":{line}}}]}}"#
    );
    let lambda = format!(r#"{{"awslogs":{{"data":"{}"}}}}"#, BASE64_STANDARD.encode(gzip(&subscription)));
    let entry = r#"{"protoPayload":{"serviceName":"k8s.io","methodName":"io.k8s.core.v1.secrets.get","resourceName":"core/v1/namespaces/op-ns/secrets/s","authenticationInfo":{"principalEmail":"system:serviceaccount:op-ns:op"},"authorizationInfo":[{"granted":true}]}}"#;
    let pushed =
        format!(r#"{{"message":{{"data":"{}","messageId":"1"}},"subscription":"s"}}"#, BASE64_STANDARD.encode(entry));
    let pulled = format!(r#"[{{"ackId":"1","message":{{"data":"{}"}}}}]"#, BASE64_STANDARD.encode(entry));
    for (shape, text) in [
        (Shape::List, format!(r#"{{"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[{event}]}}"#)),
        (Shape::List, format!(r#"{{"kind":"List","apiVersion":"v1","items":[{event}]}}"#)),
        (Shape::Quoted, line.clone()),
        (Shape::Prefixed, format!("master-0.example.com {event}")),
        (Shape::Prefixed, format!("2026-12-01T00:00:00.000Z {event}")),
        (Shape::Prefixed, format!("2026-12-01T00:00:00.000000000Z stdout F {event}")),
        (
            Shape::CloudWatch,
            format!(
                r#"{{"events":[{{"logStreamName":"kube-apiserver-audit-1","timestamp":1,"message":{line},"ingestionTime":1,"eventId":"1"}}],"searchedLogStreams":[]}}"#
            ),
        ),
        (Shape::CloudWatch, format!(r#"{{"events":[{{"timestamp":1,"message":{line}}}],"nextForwardToken":"f/1"}}"#)),
        (Shape::CloudWatch, subscription),
        (Shape::CloudWatch, lambda),
        (
            Shape::CloudWatch,
            format!(
                r#"{{"results":[[{{"field":"@timestamp","value":"2026"}},{{"field":"@message","value":{line}}},{{"field":"@ptr","value":"x"}}]],"status":"Complete"}}"#
            ),
        ),
        (Shape::CloudWatch, format!("@timestamp,@message\n2026,\"{}\"\n", event.replace('"', "\"\""))),
        (Shape::CloudWatch, format!(r#"{{"@timestamp":"2026","@message":{event}}}"#)),
        (Shape::Gke, pushed),
        (Shape::Gke, pulled),
        (
            Shape::Aks,
            format!(
                r#"{{"records":[{{"category":"kube-audit","operationName":"x","properties":{{"log":{with_end},"stream":"stdout","pod":"p"}}}}]}}"#
            ),
        ),
        (Shape::Aks, format!(r#"{{"category":"kube-audit-admin","properties":{{"log":{event}}}}}"#)),
        (
            Shape::Aks,
            format!(r#"{{"category":"kube-audit","properties":{}}}"#, quote(&format!(r#"{{"log":{with_end}}}"#))),
        ),
        (Shape::AzureTable, format!(r#"{{"Category":"kube-audit","log_s":{with_end},"pod_s":"p"}}"#)),
        (Shape::AzureTable, format!("Category,log_s,pod_s\nkube-audit,\"{}\n\",p\n", event.replace('"', "\"\""))),
        (
            Shape::Otlp,
            format!(
                r#"{{"resourceLogs":[{{"resource":{{}},"scopeLogs":[{{"logRecords":[{{"body":{{"stringValue":{line}}},"attributes":[]}}]}}]}}]}}"#
            ),
        ),
        (Shape::Otlp, format!(r#"{{"body":{line}}}"#)),
        (Shape::Ecs, format!(r#"{{"kubernetes":{{"audit":{event}}}}}"#)),
        (Shape::Ecs, format!(r#"{{"_index":"i","_source":{{"kubernetes":{{"audit":{event}}}}}}}"#)),
        (Shape::Ecs, format!(r#"{{"took":1,"hits":{{"hits":[{{"_source":{{"kubernetes":{{"audit":{event}}}}}}}]}}}}"#)),
        (Shape::Splunk, format!(r#"{{"event":{event},"time":1,"sourcetype":"kube:audit"}}"#)),
        (Shape::Splunk, format!(r#"{{"preview":false,"result":{{"_raw":{line}}}}}"#)),
        (Shape::Splunk, format!(r#"{{"results":[{{"_raw":{line}}}]}}"#)),
        (Shape::Splunk, format!("_time,_raw\n1,\"{}\"\n", event.replace('"', "\"\""))),
        (
            Shape::Loki,
            format!(r#"{{"streams":[{{"stream":{{"app":"x"}},"values":[["1700000000000000000",{line}]]}}]}}"#),
        ),
        (
            Shape::Loki,
            format!(
                r#"{{"status":"success","data":{{"resultType":"streams","result":[{{"stream":{{}},"values":[["17",{line}]]}}]}}}}"#
            ),
        ),
        (Shape::Loki, format!(r#"{{"labels":{{"app":"x"}},"line":{line},"timestamp":"2026-12-01T00:00:00Z"}}"#)),
        (Shape::Collector, format!(r#"{{"log":{with_end},"stream":"stdout","time":"2026"}}"#)),
        (Shape::Collector, format!(r#"{{"log":{line}}}"#)),
        (Shape::Collector, format!(r#"{{"message":{line},"host":"h"}}"#)),
        (Shape::Collector, format!(r#"{{"message":{event}}}"#)),
    ] {
        let usage = read(&text);
        assert_eq!((said(&usage), shapes(&usage)), (vec![CALL.to_owned()], vec![shape.name()]), "{text}");
    }
}

#[test]
fn the_same_envelope_over_many_lines_holds_the_same() {
    let (event, line) = (event(), quoted());
    for text in [
        format!("{{\n\"events\": [\n  {{\n\"message\": {line}\n}}\n]\n}}"),
        format!("{{\n\"records\": [\n  {{\n\"properties\": {{\n\"log\": {line}}}\n}}\n]\n}}"),
        format!("{{\n\"data\": {{\n\"result\": [\n  {{\"values\": [[\"17\", {line}]]}}\n]\n}}\n}}"),
        format!(
            "{{\n\"hits\": {{\n\"hits\": [\n  {{\"_source\": {{\"kubernetes\": {{\"audit\": {event}}}}}}}\n]\n}}\n}}"
        ),
        format!("{{\n\"results\": [\n  [\n  {{\"field\": \"@message\", \"value\": {line}}}\n]\n]\n}}"),
    ] {
        assert_eq!(said(&read(&text)), [CALL], "{text}");
    }
}

#[test]
fn what_looks_like_an_envelope_is_none() {
    for (text, expected) in [
        (r#"{"events":"none"}"#, "1 object of unknown shape"),
        (r#"{"records":{"log":1}}"#, "1 object of unknown shape"),
        (r#"{"properties":{"logs":"x"}}"#, "1 object of unknown shape"),
        (r#"{"kind":"Pod","message":"x"}"#, "1 object of another kind"),
        (r#"{"kubernetes":{"pod":"p"},"message":"started"}"#, "1 not JSON"),
        (r#"{"awslogs":{"data":"no base64"}}"#, "1 object of unknown shape"),
        (r#"{"message":{"data":"SGVsbG8="}}"#, "1 not JSON"),
        (r#"[["17"]]"#, "1 not JSON"),
        (r#"[[{"field":"@ptr","value":"x"}]]"#, "1 object of unknown shape"),
        (r#"{"event":{"kind":"Event","apiVersion":"v1","involvedObject":{}}}"#, "1 core/v1 Event"),
        (r#"{"body":{"intValue":"1"}}"#, "1 object of unknown shape"),
    ] {
        assert_eq!(said(&read(text)), [expected], "{text}");
    }
}

#[test]
fn streams_that_share_a_log_are_told_apart() {
    let line = quoted();
    let message =
        |stream: &str, text: &str| format!(r#"{{"logStreamName":"{stream}","timestamp":1,"message":{text}}}"#);
    let text = format!(
        r#"{{"events":[{},{},{}]}}"#,
        message("authenticator-1", &quote("time=\"2026-12-01T00:00:00Z\" level=info msg=\"access granted\"")),
        message("kube-scheduler-1", &quote("I1201 00:00:00.000000      11 x.go:1] up")),
        message("kube-apiserver-audit-1", &line),
    );
    assert_eq!(said(&read(&text)), [CALL, "1 klog line", "1 text log of another program"]);
    let control = r#"{"messageType":"CONTROL_MESSAGE","owner":"CloudwatchLogs","logGroup":"","logStream":"","subscriptionFilters":[],"logEvents":[{"id":"","timestamp":1,"message":"CWL CONTROL MESSAGE: Checking health of destination Firehose."}]}"#;
    let data = format!(r#"{{"messageType":"DATA_MESSAGE","logEvents":[{{"id":"1","timestamp":1,"message":{line}}}]}}"#);
    let both = [CALL, "1 CloudWatch control message"];
    assert_eq!(said(&read(&format!("{control}{data}"))), both);
    assert_eq!(said(&read(&format!("{control}\n{data}"))), both);
    // Other categories of Azure carry the texts of other programs.
    let azure = |category: &str, log: &str| format!(r#"{{"category":"{category}","properties":{{"log":{log}}}}}"#);
    let text = format!(
        "{}\n{}",
        azure("kube-apiserver", &quote("I1201 00:00:00.000000 1 x.go:1] up\n")),
        azure("kube-audit", &line)
    );
    assert_eq!(said(&read(&text)), [CALL, "1 klog line"]);
    let text = format!(
        "{}\n{}\n{}",
        r#"{"log_type":"audit","log_source":"auditd","message":"type=DAEMON_START msg=audit(1.2:3): op=start","level":"default"}"#,
        r#"{"log_type":"audit","log_source":"ovn","message":"2026-12-01T00:00:00.000Z|00004|acl_log(ovn_pinctrl0)|INFO|name=x","level":"info"}"#,
        r#"{"log_type":"audit","log_source":"auditd","audit.linux":{"type":"DAEMON_START"}}"#,
    );
    assert_eq!(said(&read(&text)), ["2 Linux auditd record", "1 OVN network audit record"]);
}

#[test]
fn parts_are_put_together() {
    let event = event();
    let (first, second) = event.split_at(60);
    let (second, third) = second.split_at(60);
    let docker = |text: &str| format!("{{\"log\":{},\"stream\":\"stdout\"}}\n", quote(text));
    let runtime = |tag: &str, text: &str| format!("2026-12-01T00:00:00.1Z stdout {tag} {text}\n");
    for text in [
        docker(first) + &docker(second) + &docker(&format!("{third}\n")),
        runtime("P", first) + &runtime("P", second) + &runtime("F", third),
    ] {
        assert_eq!(said(&read(&text)), [CALL], "{text}");
        assert_eq!(said(&read(&text.repeat(2))), [format!("{CALL} x2")]);
    }
    // A part may end where an object within the event does.
    let (first, second) = event.split_at(event.find('}').expect("a brace") + 1);
    assert_eq!(said(&read(&(docker(first) + &docker(&format!("{second}\n"))))), [CALL]);
    let (first, second) = event.split_at(60);
    let (second, third) = second.split_at(60);
    // The other stream of the same container comes between.
    let klog = "I1201 00:00:00.000000 1 x.go:1] up";
    for text in [
        docker(first) + &docker(&format!("{klog}\n")) + &docker(second) + &docker(&format!("{third}\n")),
        runtime("P", first)
            + &runtime("F", klog).replace("stdout", "stderr")
            + &runtime("F", &format!("{second}{third}")),
    ] {
        assert_eq!(said(&read(&text)), [CALL, "1 klog line"], "{text}");
    }
    // Fluent takes the line feeds off, and may keep the runtime's tag.
    let fluent = |text: &str| docker(text).replace("\\n", "");
    let tagged =
        |tag: &str, text: &str| docker(text).replace("\"stream\"", &format!("\"logtag\":\"{tag}\",\"stream\""));
    for text in [
        fluent(first) + &fluent(second) + &fluent(third),
        tagged("P", first) + &tagged("P", second) + &tagged("F", third),
    ] {
        assert_eq!(said(&read(&text.repeat(2))), [format!("{CALL} x2")], "{text}");
    }
    // What never ends is lost; what begins no event is no part of one.
    assert_eq!(said(&read(&docker(first))), ["1 audit event cut short"]);
    let klog = docker("I1201 00:00:00.000000 1 x.go:1] up");
    assert_eq!(said(&read(&(klog + &docker(&format!("{event}\n"))))), [CALL, "1 klog line"]);
}

#[test]
fn a_packed_field_is_bounded() {
    let bomb = vec![b' '; usize::try_from(MOST_UNPACKED).expect("64 bits") + 1];
    let packed = gzip(&String::from_utf8(bomb).expect("spaces"));
    let text = format!(r#"{{"awslogs":{{"data":"{}"}}}}"#, BASE64_STANDARD.encode(packed));
    assert_eq!(said(&read(&text)), ["1 object of unknown shape"]);
}

#[test]
fn a_list_of_more_records_than_it_could_hold_is_no_list_of_them() {
    let of = |count: usize| format!("{{\"events\":[{}{{}}]}}", "{},".repeat(count - 1));
    let few = of(MOST_ELEMENTS);
    assert!(
        matches!(super::super::open(few.as_bytes(), None), Opened::Inner(_, records) if records.len() == MOST_ELEMENTS)
    );
    let many = of(MOST_ELEMENTS + 1);
    assert!(matches!(super::super::open(many.as_bytes(), None), Opened::Refused(Cause::OtherJson, _)));
}
