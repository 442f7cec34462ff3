//! The answer of `verify`, for people and for programs.

use std::fmt::Write as _;

use super::text::safe;
use crate::analysis::{Missing, Verification, describe};
use crate::rbac::{Request, Rule};

/// The answer as text.
pub fn table(answer: &Verification) -> String {
    let mut text = String::new();
    let subject = safe(&answer.subject);
    if answer.missing.is_empty() {
        let _ = writeln!(
            text,
            "The role allows all {} observed calls of {subject} ({} distinct permissions)",
            answer.calls, answer.checked
        );
    } else {
        let _ = writeln!(
            text,
            "The role would refuse {} of {} distinct permissions and checks of {subject}",
            answer.missing.len(),
            answer.checked
        );
        for missing in &answer.missing {
            let _ = writeln!(text, "  {}", missing_line(missing));
        }
    }
    if answer.denied > 0 {
        let _ = writeln!(text, "{} denied calls of the log stay denied", answer.denied);
    }
    if !answer.leftover.is_empty() {
        let _ = writeln!(text, "left over, asked for by no observed call ({}):", answer.leftover.len());
        for left in &answer.leftover {
            let _ = writeln!(text, "  {} ({})", safe(&rule_text(&left.rule)), safe(&left.scope.to_string()));
        }
    }
    text
}

fn missing_line(missing: &Missing) -> String {
    let place = match missing.request.namespace() {
        "" => "at cluster scope".to_owned(),
        namespace => format!("in {namespace}"),
    };
    let name = match &missing.request {
        Request::Resource(request) if !request.name.is_empty() => format!(" `{}`", request.name),
        _ => String::new(),
    };
    let why = match (missing.count, missing.samples.first()) {
        (0, _) => missing.reason.clone(),
        (count, Some(sample)) => format!("{count} calls, first at {}:{}", sample.path, sample.line),
        (count, None) => format!("{count} calls"),
    };
    safe(&format!("{}{name} {place}: {why}", describe(&missing.request))).into_owned()
}

/// A rule of one verb in one line; one that multiplies out to too much as a whole.
fn rule_text(rule: &Rule) -> String {
    if rule.verbs.len() > 1 {
        return format!("a rule of {} verbs on {} resources", rule.verbs.len(), rule.resources.len());
    }
    let texts: Vec<String> = rule
        .singles()
        .iter()
        .map(|single| {
            let first = |list: &[String]| list.first().cloned().unwrap_or_default();
            let group = first(&single.api_groups);
            let what =
                if single.resources.is_empty() { first(&single.non_resource_urls) } else { first(&single.resources) };
            let group = if group.is_empty() { String::new() } else { format!(".{group}") };
            let names = if single.resource_names.is_empty() {
                String::new()
            } else {
                format!(" [{}]", single.resource_names.join(", "))
            };
            format!("{} {what}{group}{names}", first(&single.verbs))
        })
        .collect();
    texts.join(", ")
}

/// The answer as JSON.
pub fn json(answer: &Verification) -> Result<String, serde_json::Error> {
    super::json::to_text(answer)
}
