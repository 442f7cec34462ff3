//! The rules as a table.

use tabled::builder::Builder;
use tabled::settings::object::Columns;
use tabled::settings::{Modify, Style, Width};

use crate::rules::RuleDoc;

/// Id, name, severities by scope, controls.
pub fn render(rules: &[RuleDoc]) -> String {
    let mut table = Builder::default();
    table.push_record(["Rule", "What is wrong", "Severity", "Controls"]);
    for rule in rules {
        let severities: Vec<String> =
            rule.severity.iter().map(|(class, severity)| format!("{severity} ({class})")).collect();
        table.push_record([
            format!("{} {}", rule.id, rule.name),
            rule.title.clone(),
            severities.join("\n"),
            rule.controls.shown().join(", "),
        ]);
    }
    let mut table = table.build();
    table
        .with(Style::sharp())
        .with(Modify::new(Columns::one(1)).with(Width::wrap(44).keep_words(true)))
        .with(Modify::new(Columns::one(3)).with(Width::wrap(28).keep_words(true)));
    format!("{table}\n")
}
