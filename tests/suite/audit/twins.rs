//! Entries of GKE beside the native events that a converter made of them: both say the same call.

use std::fs;

use rolecall::audit::Collector;
use rolecall::rbac::Request;
use serde_json::Value;

use crate::common::{entries, shared};

const FOLDER: &str = "cases/audit-public/sysdiglabs+stackdriver-webhook-bridge/converter/test_files";

#[test]
fn an_entry_says_what_its_native_twin_says() {
    let Some(folder) = shared(FOLDER) else { return };
    let mut pairs = 0;
    for entry in entries(&folder.join("log_entries")) {
        let name = entry.file_name().unwrap();
        let twin = fs::read_to_string(folder.join("k8s_audit_events").join(name)).unwrap();
        let twin: Value = serde_json::from_str(&twin).unwrap();
        let part = |pointer: &str| twin.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
        // The converter writes `core` for the group that has no name.
        let group = part("/objectRef/apiGroup").replace("core", "");
        let mut collector = Collector::new();
        collector.read("entry.json", &mut &*fs::read(&entry).unwrap());
        let usage = collector.finish();
        assert_eq!(usage.calls.len(), 1, "{name:?}: {:?}", usage.diagnostics);
        let call = &usage.calls[0];
        let Request::Resource(request) = &call.request else { panic!("{name:?}: {:?}", call.request) };
        // A namespace that exists is in itself for Kubernetes; the converter says nothing of that.
        let namespace = match &*request.resource {
            "namespaces" if request.namespace == request.name => "",
            _ => &request.namespace,
        };
        let got = [&*call.user, &request.verb, &request.api_group, &request.resource, &request.subresource, namespace];
        let expected = [
            part("/user/username"),
            part("/verb"),
            group,
            part("/objectRef/resource"),
            part("/objectRef/subresource"),
            part("/objectRef/namespace"),
        ];
        assert_eq!(got, expected, "{name:?}");
        pairs += 1;
    }
    println!("{pairs} pairs");
    assert!(pairs >= 25, "{pairs}");
}
