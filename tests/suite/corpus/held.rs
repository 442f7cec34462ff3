//! What every account of the corpus holds, beside what it held when the table was last written: a change of meaning
//! shows as a line that differs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use crate::common::{load, shared, text};
use rolecall::analysis::Options;
use rolecall::source::DiagnosticKind;

const TABLE: &str = "tests/suite/corpus/held.tsv";

/// A word for each cause that makes a part unreadable.
fn cause(message: &str) -> &'static str {
    for (word, cause) in [
        ("template that was not rendered", "template"),
        ("is no kind of subject", "subject of an unknown kind"),
        ("a subject without a name", "subject without a name"),
        ("mapping values are not allowed", "no YAML"),
        ("unexpected character", "no YAML"),
    ] {
        if message.contains(word) {
            return cause;
        }
    }
    "another cause"
}

#[test]
fn what_accounts_hold_is_stable() {
    let Some(corpus) = shared("corpus") else { return };
    let mut table = String::from("# folder\tsubject\tpoints held\tunbounded\tURL patterns\n");
    let mut causes: BTreeMap<&str, u64> = BTreeMap::new();
    for folder in crate::common::entries(&corpus).into_iter().filter(|entry| entry.is_dir()) {
        let loaded = load(&[text(&folder)], &[]);
        for assessment in loaded.assess(&Options::default()) {
            let points = &assessment.points;
            if assessment.subject.unbound || (points.held, points.unbounded, points.non_resource_urls) == (0, false, 0)
            {
                continue;
            }
            let folder = folder.file_name().unwrap().to_string_lossy();
            let unbounded = if points.unbounded { "unbounded" } else { "-" };
            let subject = &assessment.subject.name;
            writeln!(table, "{folder}\t{subject}\t{}\t{unbounded}\t{}", points.held, points.non_resource_urls).unwrap();
        }
        for lost in loaded.inputs.diagnostics.iter().filter(|lost| lost.kind == DiagnosticKind::Unreadable) {
            let cause = cause(&lost.message);
            *causes.entry(cause).or_default() += 1;
            if cause == "template" {
                let text = std::fs::read_to_string(&*lost.location.path).unwrap();
                let marks = ["{{", "{%"].iter().any(|mark| text.contains(mark));
                assert!(marks, "{:?} is said to be a template", lost.location);
            }
        }
    }
    println!(
        "{} accounts that hold something; parts that cannot be read, by cause: {causes:?}",
        table.lines().count() - 1
    );
    assert!(!causes.contains_key("another cause"), "{causes:?}");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(TABLE, table).unwrap();
        return;
    }
    let known = fs::read_to_string(TABLE).unwrap();
    let known: Vec<&str> = known.lines().collect();
    let changed: Vec<&str> = table.lines().filter(|line| !known.contains(line)).collect();
    assert!(changed.is_empty(), "`UPDATE=1 cargo test` when this is meant: {changed:#?}");
    assert_eq!(known.len(), table.lines().count());
}
