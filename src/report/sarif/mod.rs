//! SARIF 2.1.0 as GitHub code scanning takes it: one run, a rule per severity, one result per rule and line, relative
//! URIs, columns in code points.

mod model;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use model::*;

use super::Report;
use super::text::safe;
use crate::controls::{self, Framework};
use crate::finding::{Confidence, Finding, ScopeClass, Severity};
use crate::rules::RuleDoc;
use crate::source::{self, DiagnosticKind, SourceMap};

/// GitHub keeps the 5 000 most severe of at most 25 000 results, and refuses more.
const MAX_RESULTS: usize = 25_000;
/// GitHub keeps 100 locations of a result.
const MAX_LOCATIONS: usize = 100;
const MAX_NOTIFICATIONS: usize = 1_000;
const MAX_SNIPPET: usize = 500;

/// The report as SARIF. `category` becomes `automationDetails.id`.
pub fn render(
    report: &Report,
    sources: &SourceMap,
    docs: &[RuleDoc],
    category: Option<&str>,
) -> Result<String, serde_json::Error> {
    let (rules, index) = rules(docs);
    let (results, cut) = results(report, sources, &index);
    let log = Log {
        schema: "https://json.schemastore.org/sarif-2.1.0.json",
        version: "2.1.0",
        runs: vec![Run {
            tool: Tool {
                driver: Driver {
                    name: "rolecall",
                    version: report.tool.version.clone(),
                    semantic_version: report.tool.version.clone(),
                    information_uri: env!("CARGO_PKG_REPOSITORY"),
                    rules,
                    supported_taxonomies: Framework::ALL.iter().enumerate().map(component).collect(),
                },
            },
            automation_details: category
                .map(|category| AutomationDetails { id: format!("{}/", category.trim_end_matches('/')) }),
            invocations: vec![Invocation {
                execution_successful: true,
                tool_execution_notifications: notifications(report, cut),
            }],
            column_kind: "unicodeCodePoints",
            results,
            taxonomies: Framework::ALL.iter().map(|framework| taxonomy(*framework)).collect(),
        }],
    };
    super::json::to_text(&log)
}

/// GitHub reads the severity from the rule, so a rule has one id per severity class. All rules are listed, in use or
/// not: that is how alerts close.
fn rules(docs: &[RuleDoc]) -> (Vec<Rule>, BTreeMap<(String, ScopeClass), usize>) {
    let mut rules = Vec::new();
    let mut index = BTreeMap::new();
    for doc in docs {
        for (class, severity) in doc.severity.iter() {
            index.insert((doc.id.clone(), class), rules.len());
            let mut tags = vec!["security".to_owned()];
            tags.extend(doc.controls.shown().into_iter().take(9));
            rules.push(Rule {
                id: format!("{}/{class}", doc.id),
                name: doc.name.clone(),
                short_description: Message { text: doc.title.clone() },
                full_description: Message { text: clip(&doc.summary(), 1_000) },
                help: Help { text: doc.explain(), markdown: doc.help_markdown() },
                default_configuration: Configuration { level: level(severity) },
                relationships: doc
                    .controls
                    .iter()
                    .filter_map(|(framework, id)| {
                        let index = Framework::ALL.iter().position(|known| *known == framework)?;
                        let target = Target { id: id.to_owned(), tool_component: component((index, &framework)) };
                        Some(Relationship { target, kinds: vec!["relevant"] })
                    })
                    .collect(),
                properties: RuleProperties {
                    tags,
                    precision: match doc.confidence {
                        Confidence::High => "very-high",
                        Confidence::Medium => "high",
                        Confidence::Low => "medium",
                    },
                    security_severity: security_severity(severity),
                },
            });
        }
    }
    (rules, index)
}

fn component((index, framework): (usize, &Framework)) -> ComponentReference {
    ComponentReference { name: framework.title().to_owned(), index }
}

fn taxonomy(framework: Framework) -> Taxonomy {
    let taxa = controls::all().iter().filter(|control| control.framework == framework);
    Taxonomy {
        name: framework.title().to_owned(),
        organization: if framework.key().starts_with("nist") { "NIST" } else { "Center for Internet Security" }
            .to_owned(),
        short_description: Message { text: format!("Controls of {} that rules support", framework.title()) },
        taxa: taxa
            .map(|control| Taxon {
                id: control.id.to_owned(),
                short_description: Message { text: control.gist.to_owned() },
            })
            .collect(),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical | Severity::High => "error",
        Severity::Medium | Severity::Low => "warning",
        Severity::Info => "note",
    }
}

/// GitHub's bands: critical above 9.0, high from 7.0, medium from 4.0, low above 0.
fn security_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "9.5",
        Severity::High => "8.0",
        Severity::Medium => "5.5",
        Severity::Low => "3.0",
        Severity::Info => "0.5",
    }
}

/// Results in order of the findings, and how many were cut. Two findings of one rule on one line would share an
/// identity, so the later ones are told in the first.
fn results(
    report: &Report,
    sources: &SourceMap,
    index: &BTreeMap<(String, ScopeClass), usize>,
) -> (Vec<SarifResult>, usize) {
    let mut results: Vec<SarifResult> = Vec::new();
    let mut by_line: BTreeMap<(usize, &str, u32), usize> = BTreeMap::new();
    let mut cut = 0;
    for finding in &report.findings {
        let Some(&rule_index) = index.get(&(finding.rule.clone(), finding.scope)) else { continue };
        let key = (rule_index, &*finding.location.path, finding.location.line);
        if let Some(result) = by_line.get(&key).and_then(|&at| results.get_mut(at)) {
            if result.locations.len() + result.properties.also.len() < MAX_LOCATIONS {
                result.properties.also.push(safe(&finding.message).into_owned());
            }
        } else if results.len() == MAX_RESULTS {
            cut += 1;
        } else {
            by_line.insert(key, results.len());
            results.push(result(finding, rule_index, sources));
        }
    }
    for result in results.iter_mut().filter(|result| !result.properties.also.is_empty()) {
        let _ = write!(result.message.text, " (and {} more on this line)", result.properties.also.len());
    }
    (results, cut)
}

fn result(finding: &Finding, rule_index: usize, sources: &SourceMap) -> SarifResult {
    let mut text = safe(&finding.message).into_owned();
    for part in [&finding.evidence, &finding.remedy] {
        if !part.is_empty() {
            let _ = write!(text, "\n{}", safe(part));
        }
    }
    let places: Vec<(&str, &source::Location)> = finding
        .related
        .iter()
        .filter_map(|related| Some((related.label.as_str(), related.location.as_ref()?)))
        .take(MAX_LOCATIONS - 1)
        .collect();
    let mut seen = BTreeSet::new();
    let related: Vec<Location> = places
        .into_iter()
        .filter(|place| seen.insert(*place))
        .enumerate()
        .map(|(at, (label, place))| Location { id: Some(at + 1), ..location(place, sources, Some(label)) })
        .collect();
    // GitHub shows a related location only where the message links to it.
    for (at, place) in related.iter().enumerate().take(5) {
        let label = place.message.as_ref().map(|message| message.text.as_str()).unwrap_or_default();
        let label: String = label.chars().filter(|c| !matches!(c, '[' | ']' | '(' | ')')).collect();
        let _ = write!(text, "\n[{label}]({})", at + 1);
    }
    let steps: Vec<ThreadFlowLocation> = finding
        .chain
        .iter()
        .filter_map(|step| {
            Some(ThreadFlowLocation { location: location(step.location.as_ref()?, sources, Some(&step.label)) })
        })
        .collect();
    let flows = if steps.is_empty() {
        Vec::new()
    } else {
        vec![CodeFlow { thread_flows: vec![ThreadFlow { locations: steps }] }]
    };
    SarifResult {
        rule_id: format!("{}/{}", finding.rule, finding.scope),
        rule_index,
        level: level(finding.severity),
        message: Message { text },
        locations: vec![location(&finding.location, sources, None)],
        related_locations: related,
        code_flows: flows,
        partial_fingerprints: BTreeMap::from([("rolecall/v1", finding.fingerprint.clone())]),
        properties: ResultProperties {
            severity: finding.severity.to_string(),
            confidence: format!("{:?}", finding.confidence).to_lowercase(),
            package: safe(&finding.package).into_owned(),
            subject: safe(&finding.subject).into_owned(),
            permission: safe(&finding.permission).into_owned(),
            evidence: safe(&finding.evidence).into_owned(),
            remedy: safe(&finding.remedy).into_owned(),
            location_of: format!("{:?}", finding.location_of).to_lowercase(),
            controls: finding.controls.clone(),
            also: Vec::new(),
        },
    }
}

/// A place whose region lies on one line, the first: GitHub shows an alert in a pull request only where every line of
/// its region is part of the change.
fn location(place: &source::Location, sources: &SourceMap, label: Option<&str>) -> Location {
    let source = place.span.and_then(|span| sources.get(span.source));
    let line = source.map(|source| source.line_text(place.line)).unwrap_or_default();
    let end_column = match (place.end_line == place.line, source) {
        (true, _) => place.end_column,
        (false, Some(_)) => {
            // A byte order mark is no column.
            let letters = line.trim_start_matches('\u{feff}').trim_end().chars().count();
            u32::try_from(letters + 1).unwrap_or(u32::MAX)
        }
        (false, None) => place.column,
    };
    let snippet = (!line.is_empty() && line.len() <= MAX_SNIPPET).then(|| Message { text: safe(line).into_owned() });
    Location {
        id: None,
        physical_location: PhysicalLocation {
            artifact_location: ArtifactLocation { uri: uri(&place.path) },
            region: Region {
                start_line: place.line.max(1),
                start_column: place.column.max(1),
                end_line: place.line.max(1),
                end_column: end_column.max(place.column).max(1),
                // The text of the region's line; for people who read the file without its sources.
                snippet: snippet.filter(|_| label.is_none()),
            },
        },
        message: label.map(|label| Message { text: safe(label).into_owned() }),
    }
}

/// A relative reference as RFC 3986 has it: `/`-separated, what is not plain percent-encoded, no colon in the first
/// segment. Absolute paths, of files outside of the working directory, become `file` URIs.
fn uri(path: &str) -> String {
    let path = if path == "-" { "stdin" } else { path };
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b'+' | b'@' | b'=' | b',' => {
                uri.push(char::from(byte));
            }
            byte => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

fn notifications(report: &Report, cut: usize) -> Vec<Notification> {
    let lost: Vec<_> = report.inputs.diagnostics.iter().filter(|d| d.kind == DiagnosticKind::Unreadable).collect();
    let mut notifications: Vec<Notification> = lost
        .iter()
        .take(MAX_NOTIFICATIONS)
        .map(|diagnostic| Notification {
            level: "warning",
            message: Message { text: format!("not read: {}", safe(&diagnostic.message)) },
            locations: vec![location(&diagnostic.location, &SourceMap::default(), None)],
        })
        .collect();
    let say = |text: String| Notification { level: "warning", message: Message { text }, locations: Vec::new() };
    if lost.len() > MAX_NOTIFICATIONS {
        notifications.push(say(format!("{} more parts of the input were not read", lost.len() - MAX_NOTIFICATIONS)));
    }
    if cut > 0 {
        notifications
            .push(say(format!("{cut} results over the limit of {MAX_RESULTS} are left out, the least severe ones")));
    }
    notifications
}

fn clip(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}
