//! The report as Markdown, for the summary of a GitHub Actions step.

use std::fmt::Write as _;

use super::Report;
use super::text::{count, headline, safe};
use crate::finding::Severity;

/// GitHub refuses a summary of more than 1 MiB.
const MAX_BYTES: usize = 900 << 10;

/// Counts, subjects, findings; cut with a note where it would be too long.
pub fn render(report: &Report) -> String {
    let mut text = "## rolecall\n\n".to_owned();
    let total: u64 = report.summary.findings.values().sum();
    let counts: Vec<String> = Severity::ALL
        .iter()
        .rev()
        .filter_map(|severity| Some(format!("{} {severity}", report.summary.findings.get(severity)?)))
        .collect();
    let counts = if counts.is_empty() { String::new() } else { format!(": {}", counts.join(", ")) };
    let _ = writeln!(text, "{}{counts}.\n", count(total, "finding"));
    for assessment in report.assessments.iter().filter(|assessment| !assessment.grants.is_empty()) {
        let _ = writeln!(text, "- **{}** {}", cell(&assessment.subject.name), cell(&headline(assessment)));
    }
    if !report.findings.is_empty() {
        text += "\n| severity | rule | where | what | controls |\n| --- | --- | --- | --- | --- |\n";
    }
    for (index, finding) in report.findings.iter().enumerate() {
        let row = format!(
            "| {} | {} | {}:{} | {} | {} |\n",
            finding.severity,
            finding.rule,
            cell(&finding.location.path),
            finding.location.line,
            cell(&finding.message),
            cell(&finding.controls.join(", "))
        );
        if text.len() + row.len() > MAX_BYTES {
            let _ = writeln!(text, "\n{} more are left out here.", report.findings.len() - index);
            break;
        }
        text += &row;
    }
    let lost = report.inputs.documents_unreadable;
    if lost > 0 {
        let _ = writeln!(text, "\n{} could not be read.", count(lost, "document"));
    }
    text
}

/// Text of the input inside a table cell: no markup, no line breaks.
fn cell(text: &str) -> String {
    let mut escaped = String::new();
    for c in safe(text).chars() {
        match c {
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '&' => escaped += "&amp;",
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '!' | '#' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '@' => escaped += "&#64;",
            c => escaped.push(c),
        }
    }
    escaped
}
