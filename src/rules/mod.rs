//! The rule pack: documents embedded from `rules/`, run over assessments, findings out. Capability rules match
//! declaratively (`capability`); checks are functions by rule id (`checks`).

mod capability;
mod checks;
mod document;
mod draft;
mod entries;
mod evidence;
mod held;
mod matching;
mod pattern;
mod text;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use include_dir::{Dir, include_dir};
use rayon::prelude::*;

pub use document::{Controls, InlineTests, Kind, RuleDoc, RuleError, SECTIONS, Severities};
pub use pattern::{Match, Named, Pattern};
pub use text::index;

use self::entries::Entry;
use crate::analysis::Assessment;
use crate::finding::{Finding, fingerprint};
use held::Held;

static DOCUMENTS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/rules");

/// Name and text of each embedded document, in order of name.
pub fn embedded() -> Vec<(String, &'static str)> {
    let files = DOCUMENTS.files().filter_map(|file| Some((file.path().to_str()?.to_owned(), file.contents_utf8()?)));
    let mut documents: Vec<_> = files.filter(|(name, _)| name.ends_with(".md") && name != "README.md").collect();
    documents.sort();
    documents
}

/// Parses documents of one pack; an id may occur once.
pub fn load<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<RuleDoc>, RuleError> {
    let mut ids = BTreeSet::new();
    let mut docs = Vec::new();
    for text in texts {
        let doc = RuleDoc::parse(text)?;
        if !ids.insert(doc.id.clone()) {
            return Err(RuleError::DuplicateId(doc.id));
        }
        docs.push(doc);
    }
    Ok(docs)
}

/// The embedded pack, parsed once, by id. (`tests/rules.rs` holds that every embedded document is in it.)
pub fn all() -> &'static [RuleDoc] {
    static ALL: LazyLock<Vec<RuleDoc>> = LazyLock::new(|| {
        let mut docs: Vec<RuleDoc> = embedded().iter().filter_map(|(_, text)| RuleDoc::parse(text).ok()).collect();
        docs.sort_by(|a, b| a.id.cmp(&b.id));
        docs
    });
    &ALL
}

/// The rule of an id or a name.
pub fn get(id_or_name: &str) -> Option<&'static RuleDoc> {
    all().iter().find(|doc| doc.id.eq_ignore_ascii_case(id_or_name) || doc.name == id_or_name)
}

/// Runs the embedded pack over the assessments.
pub fn run(assessments: &[Assessment]) -> Vec<Finding> {
    run_with(all(), assessments)
}

/// Runs these rules over the assessments. Most severe first, then by path, line, rule and fingerprint.
pub fn run_with<'a>(docs: impl IntoIterator<Item = &'a RuleDoc>, assessments: &[Assessment]) -> Vec<Finding> {
    let uses = checks::Uses::of(assessments);
    let held: Vec<Held<'_>> = assessments.par_iter().map(Held::of).collect();
    let entries: Vec<Vec<Entry<'_>>> = assessments.par_iter().map(entries::shipped).collect();
    let docs: Vec<&RuleDoc> = docs.into_iter().collect();
    let found = docs.into_par_iter().flat_map_iter(|doc| {
        let mut findings = Vec::new();
        for ((assessment, held), entries) in assessments.iter().zip(&held).zip(&entries) {
            let input = checks::Input { assessment, entries, held, all: assessments, uses: &uses };
            match doc.kind {
                Kind::Capability => capability::find(assessment, doc, &mut findings),
                Kind::Check => checks::run(&input, doc, &mut findings),
            }
        }
        findings
    });
    let mut findings: Vec<Finding> = found.collect();
    let key = |finding: &Finding| {
        let location = finding.location.clone();
        (std::cmp::Reverse(finding.severity), location, finding.rule.clone(), finding.fingerprint.clone())
    };
    findings.sort_by_cached_key(key);
    fingerprint::make_unique(&mut findings);
    findings
}

#[cfg(test)]
pub(crate) mod fixture;
