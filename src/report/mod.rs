//! The [`Report`] and one module a format, each a pure function of it.

pub mod json;
pub mod markdown;
pub mod rule_list;
pub mod sarif;
pub mod table;
pub mod text;
pub mod verification;

use schemars::JsonSchema;
use serde::Serialize;

use std::collections::BTreeMap;

use crate::analysis::Assessment;
use crate::finding::{Finding, Severity};
use crate::source::Diagnostic;

/// Everything a run found out. Serialised as it is by the JSON format (`rolecall/v0`).
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Always `rolecall/v0`: open, may gain fields and enum values until v1.
    pub schema: String,
    /// The tool that wrote it.
    pub tool: Tool,
    /// Kubernetes minor judged against.
    pub kube_version: String,
    /// What was read, ignored and unreadable.
    pub inputs: Inputs,
    /// One per subject, sorted by package and subject.
    pub assessments: Vec<Assessment>,
    /// Findings shown (at or above `--min-severity`), most severe first.
    pub findings: Vec<Finding>,
    /// Counts.
    pub summary: Summary,
}

/// The tool.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Tool {
    /// `rolecall`.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What was read.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Inputs {
    /// Manifest files, and Go files with rbac markers, in order of path.
    pub files: Vec<FileInput>,
    /// Files found in a directory that are neither (not YAML or JSON by name), by extension.
    pub other_files: BTreeMap<String, u64>,
    /// Manifest files in directories that a `.gitignore` leaves out.
    pub files_git_ignored: u64,
    /// Manifest files that `--include` and `--exclude` leave out.
    pub files_deselected: u64,
    /// Documents that became facts.
    pub documents_read: u64,
    /// Documents of kinds that grant nothing, by kind.
    pub documents_ignored: BTreeMap<String, u64>,
    /// Blank documents.
    pub documents_empty: u64,
    /// Documents that were lost.
    pub documents_unreadable: u64,
    /// Log files.
    pub logs: Vec<String>,
    /// What was lost or is worth knowing, with positions.
    pub diagnostics: Vec<Diagnostic>,
}

/// One file and what became of it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileInput {
    /// Path as given, `/`-separated.
    pub path: String,
    /// What became of it.
    pub state: FileState,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileState {
    /// At least one document became facts, or markers were read.
    Read,
    /// Only kinds that grant nothing, or blank.
    Ignored,
    /// At least one document or marker was lost and none became facts.
    Unreadable,
    /// What its chart or kustomization renders to was read instead.
    Rendered,
}

/// Counts of findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Findings shown, by severity.
    pub findings: BTreeMap<Severity, u64>,
    /// Findings below `--min-severity`, not shown.
    pub hidden: u64,
}
