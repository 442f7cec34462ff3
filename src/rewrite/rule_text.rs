//! A PolicyRule as YAML, the same wherever a whole rule is written.

use std::fmt::Write as _;

use super::yaml_text::{comment, scalar};
use crate::analysis::MinimalRule;
use crate::rbac::Rule;

/// The rule as an item of a list whose dashes stand behind `indent`.
pub(super) fn item(indent: &str, rule: &Rule) -> String {
    let fields = [
        ("apiGroups", &rule.api_groups),
        ("resources", &rule.resources),
        ("resourceNames", &rule.resource_names),
        ("nonResourceURLs", &rule.non_resource_urls),
        ("verbs", &rule.verbs),
    ];
    let mut text = String::new();
    for (field, values) in fields.into_iter().filter(|(_, values)| !values.is_empty()) {
        let dash = if text.is_empty() { "- " } else { "  " };
        let _ = writeln!(text, "{indent}{dash}{field}:");
        for value in values {
            let _ = writeln!(text, "{indent}  - {}", scalar(value));
        }
    }
    text
}

/// The same with its reason above.
pub(super) fn explained(indent: &str, MinimalRule { rule, reason, .. }: &MinimalRule) -> String {
    let why = if reason.is_empty() { String::new() } else { comment(indent, reason) };
    why + &item(indent, rule)
}
