//! The report for people at a terminal: findings with their source line, and a table of what each subject holds and
//! uses. Colours are ANSI; who prints takes them out where they are not wanted.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use annotate_snippets::{Annotation, AnnotationKind, Level, Renderer, Snippet};
use tabled::builder::Builder;
use tabled::settings::Style;

use super::Report;
use super::text::{count, headline, safe};
use crate::analysis::{Assessment, Verdict};
use crate::finding::{Finding, Severity};
use crate::source::{SourceMap, some_of};

const WIDTH: usize = 110;
const SUBJECTS_NAMED: usize = 3;
/// Longer lines are not shown.
const LONGEST_LINE: usize = 2_000;

/// The whole report as text.
pub fn render(report: &Report, sources: &SourceMap) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        text += &render_finding(finding, sources);
        text.push('\n');
    }
    let shown: Vec<&Assessment> = report.assessments.iter().filter(|assessment| is_worth_a_row(assessment)).collect();
    if !shown.is_empty() {
        text += &subjects(&shown);
        text.push('\n');
    }
    text += &notes(&shown);
    text += &closing(report);
    text
}

fn is_worth_a_row(assessment: &Assessment) -> bool {
    !assessment.grants.is_empty() || !assessment.calls.is_empty() || !assessment.bindings.is_empty()
}

fn render_finding(finding: &Finding, sources: &SourceMap) -> String {
    let level = match finding.severity {
        Severity::Critical | Severity::High => Level::ERROR,
        Severity::Medium | Severity::Low => Level::WARNING,
        Severity::Info => Level::NOTE,
    };
    let title = safe(&finding.message).into_owned();
    let name = format!("{}[{}]", finding.severity, finding.rule);
    let place = finding.location.span.and_then(|span| Some((span, sources.get(span.source)?)));
    let mut group =
        level.clone().with_name(name).primary_title(&title).elements(Vec::<Snippet<'_, Annotation<'_>>>::new());
    // The line alone, cut where it is long: the text of a whole manifest would be searched for every finding.
    let line = place.map(|(_, source)| source.line_text(finding.location.line)).unwrap_or_default();
    let is_shown = place.is_some() && line.len() <= LONGEST_LINE;
    let line = if is_shown { safe(line).into_owned() } else { String::new() };
    let path = safe(&finding.location.path).into_owned();
    let below = Some(format!("{path}:{}:{}", finding.location.line, finding.location.column));
    let range = columns(finding, &line);
    if is_shown {
        group = group.element(
            Snippet::source(&*line)
                .path(path)
                .line_start(finding.location.line as usize)
                .annotation(AnnotationKind::Primary.span(range)),
        );
    } else if let Some(below) = &below {
        group = group.element(Level::NOTE.no_name().message(format!("at {below}")));
    }
    let mut messages = Vec::new();
    if !finding.evidence.is_empty() {
        messages.push(("seen", safe(&finding.evidence).into_owned()));
    }
    if !finding.remedy.is_empty() {
        messages.push(("help", safe(&finding.remedy).into_owned()));
    }
    for (label, message) in messages {
        group = group.element(Level::HELP.with_name(label).message(message));
    }
    let renderer = Renderer::styled().term_width(WIDTH);
    renderer.render(&[group]) + "\n"
}

/// Byte range of the location within its first line.
fn columns(finding: &Finding, line: &str) -> std::ops::Range<usize> {
    let place = &finding.location;
    let at = |column: u32| line.char_indices().nth(column.saturating_sub(1) as usize).map_or(line.len(), |(at, _)| at);
    let start = at(place.column);
    let end = if place.end_line == place.line { at(place.end_column) } else { line.len() };
    start..end.max(start)
}

/// One row a subject: what it holds, by verdict.
fn subjects(assessments: &[&Assessment]) -> String {
    let judged = assessments.iter().any(|assessment| assessment.points.used.is_some());
    let mut table = Builder::default();
    let mut head = vec!["Subject", "Holds"];
    if judged {
        head.extend(["Used", "Grants used", "unused", "needed", "not observable", "dead", "Denied calls"]);
    } else {
        head.push("dead");
    }
    table.push_record(head);
    for assessment in assessments {
        let verdicts = assessment.verdicts();
        let of = |verdict: Verdict| verdicts.get(&verdict).copied().unwrap_or_default().to_string();
        let points = &assessment.points;
        let denied: u64 = assessment
            .calls
            .iter()
            .filter(|call| call.verdict == crate::analysis::CallVerdict::Denied)
            .map(|call| call.observed.count)
            .fold(0, u64::saturating_add);
        let mut row = vec![
            safe(&assessment.subject.name).into_owned(),
            format!("{}{}", points.held, if points.unbounded { "+" } else { "" }),
        ];
        if judged {
            row.push(points.used.map_or_else(|| "-".to_owned(), |used| used.to_string()));
            row.extend([Verdict::Used, Verdict::Unused, Verdict::Needed, Verdict::Unobservable].map(of));
        }
        row.push(of(Verdict::Dead));
        if judged {
            row.push(denied.to_string());
        }
        table.push_record(row);
    }
    let mut text = format!("{}\n", table.build().with(Style::sharp()));
    for assessment in assessments.iter().filter(|assessment| assessment.evidence.is_some()) {
        // No line starts with text from the input: a workflow log could take it for a command.
        let _ = writeln!(text, "Subject {} {}", safe(&assessment.subject.name), safe(&headline(assessment)));
    }
    if assessments.iter().any(|assessment| assessment.points.unbounded) {
        text += "+ a wildcard also reaches API groups that neither Kubernetes nor the CRDs given here define\n";
    }
    text
}

/// Notes, once for all subjects that they are true of.
fn notes(assessments: &[&Assessment]) -> String {
    let mut subjects_of: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for assessment in assessments {
        for note in &assessment.notes {
            subjects_of.entry(note).or_default().insert(&assessment.subject.name);
        }
    }
    let mut text = String::new();
    for (note, subjects) in subjects_of {
        let _ = writeln!(text, "note: {}: {}", safe(&some_of(subjects, SUBJECTS_NAMED)), safe(note));
    }
    text
}

fn closing(report: &Report) -> String {
    let mut text = String::new();
    let inputs = &report.inputs;
    let ignored: u64 = inputs.documents_ignored.values().sum();
    let _ = write!(
        text,
        "Read {} ({} read, {ignored} of kinds that grant nothing, {} unreadable)",
        count(inputs.files.len() as u64, "file"),
        count(inputs.documents_read, "object"),
        inputs.documents_unreadable
    );
    if inputs.files_git_ignored > 0 {
        let _ = write!(text, ", {} left out by .gitignore", count(inputs.files_git_ignored, "file"));
    }
    if inputs.files_deselected > 0 {
        let _ = write!(text, ", {} not selected", count(inputs.files_deselected, "file"));
    }
    if let Some(log) = report.assessments.iter().find_map(|assessment| assessment.evidence.as_ref()).map(|e| &e.log) {
        let skipped: u64 = log.skipped.iter().map(|skipped| skipped.lines).fold(0, u64::saturating_add);
        let _ = write!(text, ", {} of audit log ({} events, {skipped} skipped)", count(log.lines, "line"), log.events);
    }
    let _ = writeln!(text, ", judged against Kubernetes {}.", report.kube_version);
    let by_severity: BTreeMap<_, _> = report.summary.findings.iter().rev().collect();
    let total: u64 = report.summary.findings.values().sum();
    let parts: Vec<String> = by_severity.iter().rev().map(|(severity, count)| format!("{count} {severity}")).collect();
    let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    let hidden = match report.summary.hidden {
        0 => String::new(),
        hidden => format!(" ({hidden} below --min-severity not shown)"),
    };
    let _ = writeln!(text, "{}{parts}{hidden}.", count(total, "finding"));
    text
}
