//! Public samples in many shapes: each is read or refused by name, and none loses an event that it is known to hold.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use rolecall::audit::{Known, Shape, Usage};
use rolecall::input::log::read_logs;

use crate::common::shared;

fn read(path: &Path) -> Usage {
    read_logs(&[path.to_string_lossy().into_owned()], &mut |_| ()).expect("a log")
}

const DESCRIPTION: &str = "splunk+security_content/data_sources/kubernetes_audit.yml";

#[test]
fn public_samples_are_read_or_refused_by_name() {
    let Some(folder) = shared("cases/audit-public") else { return };
    let sources = std::fs::read_to_string(folder.join("SOURCES.tsv")).unwrap();
    let mut table = String::new();
    let (mut files, mut events) = (0, 0);
    let mut seen = BTreeSet::new();
    for row in sources.lines().skip(1) {
        let columns: Vec<&str> = row.split('\t').collect();
        let [path, .., shape, expected] = columns.as_slice() else { panic!("{row}") };
        let usage = read(&folder.join(path));
        let shapes: Vec<_> = usage.quality.shapes.iter().map(|(shape, count)| format!("{count} {shape}")).collect();
        let skipped: Vec<_> =
            usage.quality.skipped.iter().map(|skipped| format!("{} {}", skipped.lines, skipped.cause)).collect();
        writeln!(table, "{path}\t{shape}\t{expected}\t{}\t{}", shapes.join(", "), skipped.join(", ")).unwrap();
        // A description of a log with an example in it is no log.
        let expected = if *path == DESCRIPTION { "0" } else { expected };
        assert_eq!(usage.quality.events.to_string(), expected, "{row}: {shapes:?} {skipped:?}");
        let said = usage.quality.events > 0 || !usage.diagnostics.is_empty();
        assert!(said, "{path}: nothing is said of it");
        seen.extend(usage.quality.shapes.into_keys());
        files += 1;
        events += usage.quality.events;
    }
    let known = Shape::ALL.into_iter().filter(|shape| shape.known() == Known::Sample);
    assert_eq!(seen, known.map(|shape| shape.name().to_owned()).collect(), "shapes of which real logs were read");
    println!("{files} files, {events} events\n{table}");
}
