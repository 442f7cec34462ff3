//! `rolecall audit-policy`, and `--audit-policy` beside a log.

use std::fs;

use serde_json::Value;

use super::{DEMO, DEMO_LOG, DEMO_SUBJECT, rolecall, text};

#[test]
fn the_policy_that_is_written_is_one_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    let printed = rolecall(&["audit-policy", "--subject", DEMO_SUBJECT]);
    assert_eq!((printed.code, printed.stderr.as_str()), (0, ""));
    for (flag, starts) in [("--kind", "kind: Cluster"), ("--envtest", "--audit-policy-file=")] {
        let beside = rolecall(&["audit-policy", "--subject", DEMO_SUBJECT, "-o", text(&file), flag]);
        assert_eq!(beside.code, 0);
        assert!(beside.stdout.lines().any(|line| line.starts_with(starts)), "{}", beside.stdout);
        assert!(beside.stdout.contains(text(&file)) && fs::read_to_string(&file).unwrap() == printed.stdout);
    }
    let args = ["scan", DEMO, "--audit", DEMO_LOG, "--fail-on", "never"];
    let plain = rolecall(&args);
    let under = rolecall(&[&args[..], &["--audit-policy", text(&file)]].concat());
    // It records all that the operator may do.
    assert_eq!((under.code, under.stdout), (plain.code, plain.stdout));
}

#[test]
fn what_the_policy_does_not_record_is_unobservable_with_the_rule_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    let rules = "- level: None\n  resources:\n  - group: apps\n    resources: [deployments]\n    verbs: [update]\n\
                 - level: None\n  verbs: [update]\n  resources: [{group: apps}]\n- level: Metadata\n";
    fs::write(
        &file,
        format!(
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n{}",
            &rules[rules.find("- level: None\n  verbs").unwrap()..]
        ),
    )
    .unwrap();
    let args = ["scan", DEMO, "--audit", DEMO_LOG, "--audit-policy", text(&file), "-o", "json", "--fail-on", "never"];
    let answer = rolecall(&args);
    let report: Value = serde_json::from_str(&answer.stdout).unwrap();
    let grants = report["assessments"][0]["grants"].as_array().unwrap();
    let hidden: Vec<(&str, &str)> = grants
        .iter()
        .filter(|grant| grant["verdict"] == "unobservable")
        .map(|grant| (grant["rule"]["verbs"][0].as_str().unwrap(), grant["reason"].as_str().unwrap()))
        .collect();
    let why = "its use is not recorded: rule 1 of the audit policy (line 4) has level None";
    assert_eq!(hidden, [("update", why)]);
    let role = rolecall(&["role", DEMO, "--audit", DEMO_LOG, "--audit-policy", text(&file)]);
    assert!(role.stdout.contains(&format!("kept although unseen: {why}")), "{}", role.stdout);

    // A typo makes another policy: the API server only warns.
    fs::write(&file, format!("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules:\n{rules}")).unwrap();
    let answer = rolecall(&args);
    let warning = "policy.yaml: the API server does not know the field `rules.0.resources.0.verbs`";
    assert!(answer.stderr.contains(warning), "{}", answer.stderr);
    assert!(answer.stdout.contains("the log has calls that the audit policy does not record, such as"));
}

#[test]
fn a_policy_that_no_api_server_takes_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.yaml");
    fs::write(&file, "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: All}]\n").unwrap();
    for (policy, why) in [
        (text(&file), "`All` is none of None, Metadata, Request, RequestResponse"),
        ("no-such.yaml", "cannot read no-such.yaml"),
        (DEMO_LOG, "cannot read"),
        ("fixtures/demo/crd.yaml", "is no audit policy: its apiVersion is `apiextensions.k8s.io/v1`"),
    ] {
        let answer = rolecall(&["scan", DEMO, "--audit", DEMO_LOG, "--audit-policy", policy]);
        assert!(answer.code == 2 && answer.stderr.contains(why), "{answer:?}");
    }
    // Without a log there is nothing that it could explain.
    assert_eq!(rolecall(&["scan", DEMO, "--audit-policy", text(&file)]).code, 2);
    assert_eq!(rolecall(&["audit-policy", "--kind"]).code, 2);
}
