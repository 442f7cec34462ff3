//! `docs/audit-logs.md` is what the code says of its shapes. `UPDATE=1 cargo test audit_logs` writes it anew.

use std::fs;
use std::path::Path;

use rolecall::audit::{Known, Loss, Shape};

use super::write::CARRIERS;

const HEAD: &str = "\
# Audit logs that are read

Written by a test from `src/audit/shape`: `UPDATE=1 cargo test audit_logs`.

The shape of a log is told from its content, record by record; gzip, zstd and tar (a must-gather) from their
first bytes. Every way below is tested with the same calls, whose profile must be that of the API server's own log,
apart from what the shape declares to lose. *Real logs* were read of the shapes marked so; the others are built from
documentation, or from code that writes or reads them.

| Shape | Ways | Known from | Not kept |
|---|---|---|---|
";

const TAIL: &str = "
What a loss means:

";

const REFUSED: &str = "
Refused by name, each with what to do: the legacy text format (`--audit-log-format=legacy`), Rancher's API audit log,
`AdmissionReview`, `Policy`, core `Event`, Cloud Logging entries of other services, klog lines, records of Linux auditd
and of OVN, control messages of CloudWatch. A record that cannot be read costs that record, with its place and reason.
";

#[test]
fn the_document_of_audit_logs_is_current() {
    let mut text = HEAD.to_owned();
    for shape in Shape::ALL {
        let ways = CARRIERS.iter().filter(|carrier| carrier.shape == shape).map(|carrier| carrier.name);
        let known = match shape.known() {
            Known::Sample => "real logs",
            Known::Description => "descriptions",
        };
        let losses: Vec<_> = shape.losses().iter().map(|loss| loss.text()).collect();
        let losses = if losses.is_empty() { "-".to_owned() } else { losses.join("; ") };
        text += &format!("| {} | {} | {known} | {losses} |\n", shape.name(), ways.collect::<Vec<_>>().join("; "));
    }
    text += TAIL;
    for loss in Loss::ALL {
        text += &format!("- {}: {}\n", loss.text(), loss.meaning());
    }
    text += REFUSED;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/audit-logs.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == text,
        "docs/audit-logs.md is stale: UPDATE=1 cargo test audit_logs"
    );
}
