//! What several tests share: the folder of real inputs beside the repository, and the pipeline.

use std::fs;
use std::path::{Path, PathBuf};

use rolecall::analysis::{Assessment, MinimalRole, Options};
use rolecall::cli::pipeline::{Loaded, Request};
use rolecall::rbac::{Rule, Scope};
use serde_json::Value;

/// The minor of the control plane in `tests/control-plane`, which is also that of the clusters in `../shared`.
pub const PINNED_MINOR: &str = "1.36";

/// `../shared/PATH`, or `None` with a printed reason when it is absent.
pub fn shared(path: &str) -> Option<PathBuf> {
    let full = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared").join(path);
    if full.exists() {
        return Some(full);
    }
    println!("skipped: ../shared/{path} is absent (real inputs that are not part of this repository)");
    None
}

/// Sorted entries of a folder.
pub fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

pub fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

pub fn load(paths: &[String], audit: &[String]) -> Loaded {
    load_under(None, paths, audit)
}

/// The same, of logs that were written under this audit policy.
pub fn load_under(audit_policy: Option<String>, paths: &[String], audit: &[String]) -> Loaded {
    let request = Request {
        paths: paths.to_vec(),
        select: Default::default(),
        render: false,
        audit: audit.to_vec(),
        audit_policy,
        namespace: None,
        install_mode: None,
        events: rolecall::audit::Select::default(),
        kube_version: PINNED_MINOR.to_owned(),
    };
    Loaded::read(&request, &mut |_| {}).unwrap()
}

/// The one assessment of a subject.
pub fn assess(loaded: &Loaded, subject: &str, options: Options) -> Assessment {
    let options = Options { subjects: vec![subject.to_owned()], ..options };
    let assessments = loaded.assess(&options);
    assert_eq!(assessments.len(), 1, "{subject} has one assessment");
    assessments.into_iter().next().unwrap()
}

/// The rules of a generated role, each where it holds.
pub fn rules_of(minimal: &MinimalRole) -> Vec<(Scope, Rule)> {
    let scopes = minimal.scopes.iter();
    scopes.flat_map(|s| s.rules.iter().map(|rule| (s.scope.clone(), rule.rule.clone()))).collect()
}

/// The event as the level `Metadata` writes it.
pub fn without_bodies(mut event: Value) -> Value {
    let fields = event.as_object_mut().unwrap();
    fields.remove("requestObject");
    fields.remove("responseObject");
    fields.insert("level".to_owned(), "Metadata".into());
    event
}

/// A recorded run of an operator.
pub struct Run {
    pub operator: String,
    pub name: String,
    pub manifests: PathBuf,
    pub log: PathBuf,
    /// `runs/RUN.json`.
    pub facts: serde_json::Value,
}

impl Run {
    /// `NAMESPACE/NAME` of the accounts under observation.
    pub fn subjects(&self) -> Vec<String> {
        let subjects = self.facts["subjects"].as_array().unwrap().iter();
        subjects
            .map(|user| {
                let user = user.as_str().unwrap().strip_prefix("system:serviceaccount:").unwrap();
                user.replacen(':', "/", 1)
            })
            .collect()
    }
}

/// Every run with a log, in order.
pub fn runs(recorded: &Path) -> Vec<Run> {
    let mut runs = Vec::new();
    for operator in entries(recorded).into_iter().filter(|path| path.is_dir()) {
        for log in entries(&operator) {
            let file = log.file_name().unwrap().to_str().unwrap();
            let Some(name) = file.strip_prefix("audit-").and_then(|rest| rest.strip_suffix(".log.gz")) else {
                continue;
            };
            let facts = fs::read_to_string(operator.join(format!("runs/{name}.json"))).unwrap();
            runs.push(Run {
                operator: operator.file_name().unwrap().to_str().unwrap().to_owned(),
                name: name.to_owned(),
                manifests: operator.join("manifests"),
                log: log.clone(),
                facts: serde_json::from_str(&facts).unwrap(),
            });
        }
    }
    runs
}
