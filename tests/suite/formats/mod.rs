//! The formats of a report hold what they promise: SARIF as GitHub takes it, JSON by its committed schema, every
//! region the text that it speaks of, the same findings everywhere, nothing that a terminal would interpret.

mod hostile;
mod sarif;

use crate::common;
use std::fs;
use std::path::Path;

use rolecall::analysis::Options;
use rolecall::cli::pipeline::Loaded;
use rolecall::finding::Severity;
use rolecall::report::{self, Report};
use serde_json::Value;

const SCHEMA: &str = "src/report/rolecall-v0.schema.json";

/// Texts of one run.
pub(crate) struct Rendered {
    pub(crate) report: Report,
    pub(crate) json: String,
    pub(crate) sarif: String,
    pub(crate) table: String,
    pub(crate) markdown: String,
}

pub(crate) fn render(paths: &[&str], audit: &[&str]) -> Rendered {
    let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let loaded: Loaded = common::load(&owned(paths), &owned(audit));
    let assessments = loaded.assess(&Options::default());
    let findings = rolecall::rules::run(&assessments);
    let report = loaded.report(assessments, findings, Severity::Info);
    let rules = rolecall::rules::all();
    Rendered {
        json: report::json::render(&report).unwrap(),
        sarif: report::sarif::render(&report, &loaded.sources, rules, None).unwrap(),
        table: report::table::render(&report, &loaded.sources),
        markdown: report::markdown::render(&report),
        report,
    }
}

pub(crate) fn demo() -> Rendered {
    render(&["fixtures/demo"], &["fixtures/demo/audit.log.gz"])
}

/// Manifests and log of every folder of rule fixtures.
pub(crate) fn rule_fixtures() -> Vec<(String, Option<String>)> {
    let mut inputs = Vec::new();
    for rule in common::entries(Path::new("fixtures/rules")) {
        for case in common::entries(&rule) {
            let log = case.join("audit.log");
            inputs.push((common::text(&case), log.exists().then(|| common::text(&log))));
        }
    }
    assert!(inputs.len() > 20);
    inputs
}

#[test]
fn the_schema_is_the_generated_one_and_reports_follow_it() {
    let schema = report::json::schema();
    if std::env::var_os("UPDATE").is_some() {
        fs::write(SCHEMA, &schema).unwrap();
    }
    assert!(fs::read_to_string(SCHEMA).unwrap_or_default() == schema, "{SCHEMA} is stale: UPDATE=1 cargo test schema");
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let mut reports = vec![demo().json];
    reports.extend(
        rule_fixtures()
            .iter()
            .map(|(case, log)| render(&[case], &log.iter().map(String::as_str).collect::<Vec<_>>()).json),
    );
    for report in &reports {
        let report: Value = serde_json::from_str(report).unwrap();
        let errors: Vec<String> = validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(report["schema"], "rolecall/v0");
    }
}

#[test]
fn every_format_holds_the_same_findings() {
    let demo = demo();
    let json: Value = serde_json::from_str(&demo.json).unwrap();
    let sarif: Value = serde_json::from_str(&demo.sarif).unwrap();
    let findings = json["findings"].as_array().unwrap();
    assert!(findings.len() > 10);
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let told: Vec<String> = results
        .iter()
        .flat_map(|result| {
            let first = result["message"]["text"].as_str().unwrap().lines().next().unwrap().to_owned();
            let also = result["properties"]["also"].as_array().cloned().unwrap_or_default();
            std::iter::once(first).chain(also.into_iter().map(|text| text.as_str().unwrap().to_owned()))
        })
        .collect();
    assert_eq!(told.len(), findings.len());
    let plain_markdown = demo.markdown.replace('\\', "");
    for finding in findings {
        let message = finding["message"].as_str().unwrap();
        assert!(told.iter().any(|text| text == message), "SARIF: {message}");
        assert!(demo.table.contains(message), "table: {message}");
        assert!(plain_markdown.contains(message), "markdown: {message}");
    }
}

#[test]
fn the_demo_shows_each_verdict() {
    let demo = demo();
    let assessment = &demo.report.assessments[0];
    assert_eq!((assessment.points.held, assessment.points.used), (58, Some(28)));
    let verdicts: Vec<String> = assessment.verdicts().keys().map(|verdict| format!("{verdict:?}")).collect();
    assert_eq!(verdicts, ["Needed", "Used", "Dead", "Unused"]);
    let rules: Vec<&str> = demo.report.findings.iter().map(|finding| finding.rule.as_str()).collect();
    for rule in ["RC018", "RC031", "RC069", "RC173", "RC181", "RC182", "RC187"] {
        assert!(rules.contains(&rule), "{rule} in {rules:?}");
    }
}
