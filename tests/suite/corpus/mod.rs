//! Hundreds of real operators' manifests: nothing panics, every file and document is accounted for, the same bytes
//! come out twice, and the known oddities among them are read as Kubernetes reads them.

mod held;
mod oddities;

use crate::common;
use std::collections::BTreeMap;
use std::path::Path;

use crate::common::{load, shared};
use assert_cmd::Command;
use rolecall::report::FileState;
use rolecall::source::DiagnosticKind;

const CORPUS: &str = "../shared/corpus";

/// Files of a folder by extension.
fn files(folder: &Path, found: &mut BTreeMap<String, u64>) {
    for path in common::entries(folder) {
        if path.is_dir() {
            files(&path, found);
        } else {
            let extension = path.extension().map_or("(none)".into(), |extension| extension.to_string_lossy());
            *found.entry(extension.into_owned()).or_default() += 1;
        }
    }
}

#[test]
fn every_file_and_document_is_accounted_for() {
    let Some(corpus) = shared("corpus") else { return };
    let mut there = BTreeMap::new();
    files(&corpus, &mut there);
    let inputs = load(&[CORPUS.to_owned()], &[]).inputs;

    let manifests: u64 = ["yaml", "yml", "json"].iter().filter_map(|extension| there.remove(*extension)).sum();
    assert_eq!(inputs.files.len() as u64 + inputs.files_git_ignored, manifests);
    assert_eq!(inputs.other_files, there);
    let unreadable: Vec<&str> =
        inputs.files.iter().filter(|file| file.state == FileState::Unreadable).map(|file| file.path.as_str()).collect();
    let lost = inputs.diagnostics.iter().filter(|diagnostic| diagnostic.kind == DiagnosticKind::Unreadable);
    let reasons: Vec<_> = lost.collect();
    for path in &unreadable {
        assert!(reasons.iter().any(|reason| *reason.location.path == **path), "{path} is unreadable without a reason");
    }
    // Other broken parts of a document that was read are told too, so there may be more reasons than documents.
    assert!(reasons.len() as u64 >= inputs.documents_unreadable);
    for reason in &reasons {
        assert!(reason.location.line > 0 && reason.location.column > 0 && !reason.message.is_empty(), "{reason:?}");
    }
    let ignored: u64 = inputs.documents_ignored.values().sum();
    println!(
        "{manifests} files ({} unreadable), {} documents read, {ignored} of other kinds, {} blank, {} unreadable",
        unreadable.len(),
        inputs.documents_read,
        inputs.documents_empty,
        inputs.documents_unreadable
    );
    // What stays unreadable is text before its template was rendered, and these.
    let broken: Vec<String> = reasons
        .iter()
        .filter(|reason| !reason.message.contains("template that was not rendered"))
        .map(|reason| format!("{}: {}", reason.location.path, reason.message))
        .collect();
    assert!(broken.len() < 20, "{broken:#?}");
}

#[test]
fn two_runs_over_everything_give_the_same_bytes() {
    if shared("corpus").is_none() {
        return;
    }
    let run = |folder: &Path| {
        let output = |format: &str| format!("{format}={}", folder.join(format).display());
        let mut command = Command::cargo_bin("rolecall").unwrap();
        command.args(["scan", CORPUS, "--quiet", "--fail-on", "never"]);
        for format in ["json", "sarif", "markdown", "table"] {
            command.args(["--output", &output(format)]);
        }
        assert_eq!(command.output().unwrap().status.code(), Some(0));
        ["json", "sarif", "markdown", "table"].map(|format| std::fs::read(folder.join(format)).unwrap())
    };
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(run(first.path()) == run(second.path()));
}
