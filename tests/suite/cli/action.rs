//! The GitHub Action: its schema, pinned steps, no input in a script, and its scan step run by hand.

use std::fs;
use std::process::Command;

use serde_json::Value;

use super::{DEMO, DEMO_LOG, text};
use crate::common::shared;

fn action() -> Value {
    serde_saphyr::from_str(&fs::read_to_string("action.yml").unwrap()).unwrap()
}

#[test]
fn the_action_is_valid_pinned_and_takes_inputs_through_the_environment_only() {
    let action = action();
    if let Some(schema) = shared("schemas/github-action.json") {
        let schema: Value = serde_json::from_str(&fs::read_to_string(schema).unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&action).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
    }
    let steps = action["runs"]["steps"].as_array().unwrap();
    assert!(steps.len() >= 3);
    for step in steps {
        if let Some(script) = step["run"].as_str() {
            assert!(!script.contains("${{"), "an expression in a script is an injection: {script}");
            assert!(!script.contains("curl") && !script.contains("gh "), "{script}");
        }
        if let Some(uses) = step["uses"].as_str() {
            let (_, pin) = uses.split_once('@').unwrap();
            assert!(pin.len() == 40 && pin.bytes().all(|byte| byte.is_ascii_hexdigit()), "{uses}");
        }
    }
}

#[test]
fn the_scan_step_writes_its_outputs_and_the_result_step_exits_with_the_code() {
    let action = action();
    let step = |id: &str| {
        let steps = action["runs"]["steps"].as_array().unwrap().iter();
        steps.clone().find(|step| step["id"] == id || step["name"] == id).unwrap()["run"].as_str().unwrap().to_owned()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (output, summary, sarif) = (path("output"), path("summary"), path("r.sarif"));
    let binary = assert_cmd::cargo::cargo_bin("rolecall");
    for (fail_on, code) in [("medium", "1"), ("never", "0")] {
        let run = Command::new("bash")
            .arg("-c")
            .arg(step("scan"))
            .env("BINARY", &binary)
            .envs([("PATHS", DEMO), ("AUDIT_LOG", DEMO_LOG), ("NAMESPACE", ""), ("KUBE_VERSION", "1.36")])
            .envs([("FAIL_ON", fail_on), ("MIN_SEVERITY", "info"), ("STRICT", "true"), ("SUMMARY", "true")])
            .envs([("SARIF_FILE", text(&sarif)), ("CATEGORY", "x"), ("RUNNER_TEMP", text(folder.path()))])
            .envs([("GITHUB_OUTPUT", &output), ("GITHUB_STEP_SUMMARY", &summary)])
            .output()
            .unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
        let read = |path| fs::read_to_string(path).unwrap();
        assert_eq!(read(&output), format!("exit-code={code}\n"));
        assert!(read(&summary).starts_with("## rolecall"));
        let log: Value = serde_json::from_str(&read(&sarif)).unwrap();
        assert_eq!(log["runs"][0]["automationDetails"]["id"], "x/");
        let printed = String::from_utf8(run.stdout).unwrap();
        assert!(printed.starts_with("::stop-commands::") && printed.trim_end().ends_with("::"), "{printed}");
        fs::remove_file(&output).unwrap();
        let result = Command::new("bash").arg("-c").arg(step("Result")).env("EXIT_CODE", code).status().unwrap();
        assert_eq!(result.code().unwrap().to_string(), code);
    }
}
