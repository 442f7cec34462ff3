//! Every rule document: well-formed, fires where it must, is quiet where it must not, and is in the index.

use crate::common;
use std::fs;
use std::path::{Path, PathBuf};

use rolecall::analysis::Options;
use rolecall::controls::{self, Framework};
use rolecall::finding::{Finding, ScopeClass, Severity};
use rolecall::rules::{self, Kind, RuleDoc};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).map(|entries| entries.collect::<Vec<_>>()).unwrap_or_default();
    let mut names: Vec<String> =
        entries.into_iter().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_file_of_the_folder_is_embedded_and_parses() {
    let mut files = names_in(&root().join("rules"));
    files.retain(|name| name != "README.md");
    let embedded: Vec<String> = rules::embedded().into_iter().map(|(name, _)| name).collect();
    // A new file is embedded when `src/rules/mod.rs` is compiled again.
    assert_eq!(embedded, files);
    let docs = rules::load(rules::embedded().iter().map(|(_, text)| *text)).unwrap();
    assert_eq!(docs.len(), files.len());
    assert_eq!(rules::all().len(), files.len());
    for (doc, file) in docs.iter().zip(&files) {
        assert_eq!(&doc.file_name(), file);
        assert!(doc.id.starts_with("RC"), "{file}");
    }
}

#[test]
fn an_id_is_taken_once() {
    let (_, text) = rules::embedded()[0].clone();
    assert!(rules::load([text, text]).is_err());
}

#[test]
fn texts_are_short_and_whole() {
    for doc in rules::all() {
        assert!(doc.title.len() <= 80 && !doc.title.ends_with('.'), "{}: {}", doc.id, doc.title);
        assert!(doc.summary().len() <= 1024, "{}: SARIF takes no more", doc.id);
        for text in [doc.summary(), doc.remedy()] {
            assert!(text.ends_with('.'), "{}: {text}", doc.id);
        }
        let explained = doc.explain();
        assert!(explained.contains(&doc.title) && explained.contains("How to fix"), "{}", doc.id);
        assert!(doc.help_markdown().contains("## How to fix"), "{}", doc.id);
    }
}

#[test]
fn every_capability_rule_fires_and_is_quiet_on_its_own_manifests() {
    for doc in rules::all().iter().filter(|doc| doc.kind == Kind::Capability) {
        for (fires, manifests) in [(true, &doc.tests.fires), (false, &doc.tests.quiet)] {
            assert!(!manifests.is_empty(), "{}", doc.id);
            for text in manifests {
                let folder = tempfile::tempdir().unwrap();
                fs::write(folder.path().join("manifests.yaml"), text).unwrap();
                assert_eq!(finds(doc, folder.path()), fires, "{} on\n{text}", doc.id);
            }
        }
    }
}

#[test]
fn every_check_fires_and_is_quiet_on_its_folders() {
    for doc in rules::all().iter().filter(|doc| doc.kind == Kind::Check) {
        let folder = root().join("fixtures/rules").join(&doc.id);
        let cases = names_in(&folder);
        for kind in ["fires-", "quiet-"] {
            assert!(cases.iter().any(|case| case.starts_with(kind)), "{} has no {kind}* folder", doc.id);
        }
        for case in cases {
            let fires = case.starts_with("fires-");
            assert!(fires || case.starts_with("quiet-"), "{}: {case}", doc.id);
            assert_eq!(finds(doc, &folder.join(&case)), fires, "{}: {case}", doc.id);
        }
    }
}

#[test]
fn every_severity_class_of_a_capability_rule_is_shown_by_its_own_manifests() {
    for doc in rules::all().iter().filter(|doc| doc.kind == Kind::Capability) {
        let mut classes: Vec<ScopeClass> = Vec::new();
        for text in &doc.tests.fires {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("manifests.yaml"), text).unwrap();
            let findings = findings_for(folder.path());
            classes.extend(findings.into_iter().filter(|finding| finding.rule == doc.id).map(|finding| finding.scope));
        }
        assert!(classes.contains(&ScopeClass::Cluster), "{}: {classes:?}", doc.id);
        assert!(classes.iter().all(|class| doc.severity.get(*class).is_some()), "{}", doc.id);
    }
}

#[test]
fn controls_are_known_and_every_known_control_is_used() {
    let mut used = Vec::new();
    for doc in rules::all() {
        assert!(doc.controls.iter().next().is_some(), "{}", doc.id);
        for (framework, id) in doc.controls.iter() {
            assert!(controls::lookup(framework, id).is_some(), "{}: {id} is not in controls.tsv", doc.id);
            used.push((framework, id));
        }
    }
    for control in controls::all() {
        assert!(used.contains(&(control.framework, control.id)), "{} is in controls.tsv and in no rule", control.id);
    }
}

#[test]
fn controls_exist_in_the_frameworks_and_are_not_withdrawn() {
    let path = root().join("../shared/reference/compliance-ids.json");
    let Ok(text) = fs::read_to_string(&path) else {
        println!("skipped: ../shared/reference/compliance-ids.json is absent");
        return;
    };
    let ids: serde_json::Value = serde_json::from_str(&text).unwrap();
    for control in controls::all() {
        let (framework, id) = match control.framework {
            // `AC-6(1)` is `ac-6.1` in OSCAL.
            Framework::Nist80053 => ("nist-800-53-r5", control.id.to_lowercase().replace('(', ".").replace(')', "")),
            Framework::Csf2 => ("nist-csf-2.0", control.id.to_owned()),
            Framework::Cis8 => ("cis-controls-v8.1", control.id.to_owned()),
        };
        let entry = &ids[framework][&id];
        assert!(!entry.is_null(), "{framework} has no {id}");
        assert_ne!(entry["withdrawn_in_2.0"], serde_json::Value::Bool(true), "{id} is withdrawn");
        if control.framework == Framework::Nist80053 {
            let title = entry["title"].as_str().unwrap();
            assert!(control.gist.starts_with(title), "{id}: {title}");
        }
    }
}

#[test]
fn the_index_is_the_generated_one() {
    let path = root().join("rules/README.md");
    let index = rules::index(rules::all());
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &index).unwrap();
    }
    let kept = fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == index, "rules/README.md is stale: UPDATE=1 cargo test index");
}

#[test]
fn known_dangerous_manifests_are_found_with_their_severity() {
    let folder = root().join("../shared/cases/risk-fixtures");
    let Ok(answers) = fs::read_to_string(folder.join("answers.tsv")) else {
        println!("skipped: ../shared/cases/risk-fixtures is absent");
        return;
    };
    // No rule of this pack speaks of them yet: aggregation into built-in roles, writes to one
    // ConfigMap of kube-system; and the permissions of an OLM bundle are not read yet.
    let unspoken = ["25-", "31-", "38-"];
    let mut checked = 0;
    for line in answers.lines().skip(1).filter(|line| !unspoken.iter().any(|prefix| line.starts_with(prefix))) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, _, expected] = fields.as_slice() else { panic!("{line}") };
        let copy = tempfile::tempdir().unwrap();
        fs::copy(folder.join(file), copy.path().join("manifests.yaml")).unwrap();
        let findings = findings_for(copy.path());
        let worst = findings.iter().map(|finding| finding.severity).max();
        let fits = match expected.split([' ', '/']).next().unwrap() {
            "no" | "info" => worst.is_none_or(|worst| worst <= Severity::Low),
            word => worst == Some(word.parse().unwrap()),
        };
        assert!(fits, "{file}: {expected}, found {worst:?}");
        checked += 1;
    }
    assert!(checked > 15, "only {checked} of the manifests were judged");
}

/// Whether the rule finds something in the folder.
fn finds(doc: &RuleDoc, folder: &Path) -> bool {
    findings_for(folder).iter().any(|finding| finding.rule == doc.id)
}

/// Findings of all rules on a folder of manifests with, perhaps, an `audit.log`.
fn findings_for(folder: &Path) -> Vec<Finding> {
    let log = folder.join("audit.log");
    let audit: Vec<String> = log.exists().then(|| common::text(&log)).into_iter().collect();
    rules::run(&common::load(&[common::text(folder)], &audit).assess(&Options::default()))
}
