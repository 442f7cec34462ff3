//! The answer of `verify`, for people and for programs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::text::{count, safe};
use crate::analysis::{Doubt, MayBeNeeded, Missing, Rerun, Verification, in_words};
use crate::rbac::{Request, Rule, Scope};

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
        let calls = answer.missing.iter().filter(|missing| missing.count > 0).count();
        let checks = match answer.missing.len() - calls {
            0 => String::new(),
            checks => format!(", and {} made with them", count(checks as u64, "check")),
        };
        let permissions = answer.checked;
        let _ =
            writeln!(text, "The role would refuse {calls} of {permissions} distinct permissions of {subject}{checks}");
        for missing in &answer.missing {
            let _ = writeln!(text, "  {}", missing_line(missing));
        }
    }
    if !answer.doubtful.is_empty() {
        let doubts = answer.doubtful.len();
        let _ = writeln!(text, "cannot be told from this log, and the role does not hold it ({doubts}):");
        for doubt in &answer.doubtful {
            let _ = writeln!(text, "  {}", doubt_line(doubt));
        }
    }
    if !answer.not_verified.is_empty() {
        const SHOWN: usize = 10;
        let _ = writeln!(text, "not verified ({}):", answer.not_verified.len());
        for open in answer.not_verified.iter().take(SHOWN) {
            let _ = writeln!(text, "  {}", safe(open));
        }
        if answer.not_verified.len() > SHOWN {
            let _ = writeln!(text, "  and {} more; --output json lists them all", answer.not_verified.len() - SHOWN);
        }
    }
    if answer.denied > 0 {
        let _ = writeln!(text, "{} denied calls of the log stay denied", answer.denied);
    }
    if !answer.leftover.is_empty() {
        let _ = writeln!(text, "left over, asked for by no observed call ({}):", answer.leftover.len());
        answer.leftover.iter().for_each(|left| text += &entry_line(&left.rule, &left.scope));
    }
    let mut by_reason: BTreeMap<&str, Vec<&MayBeNeeded>> = BTreeMap::new();
    for entry in &answer.may_be_needed {
        by_reason.entry(&entry.reason).or_default().push(entry);
    }
    for (reason, entries) in by_reason {
        let _ =
            writeln!(text, "asked for by no observed call, but may be needed ({}): {}", entries.len(), safe(reason));
        entries.iter().for_each(|entry| text += &entry_line(&entry.rule, &entry.scope));
    }
    if let Some(rerun) = &answer.rerun {
        text += &rerun_lines(rerun);
    }
    for note in &answer.notes {
        let _ = writeln!(text, "note: {}", safe(note));
    }
    text
}

/// The new run beside the old one.
fn rerun_lines(rerun: &Rerun) -> String {
    let mut text = match rerun.refused.len() {
        0 => format!("In the new run nothing was refused that was not before ({})\n", count(rerun.calls, "call")),
        refused => format!(
            "In the new run {} refused that was not before:\n",
            match refused {
                1 => "1 permission was".to_owned(),
                more => format!("{more} permissions were"),
            }
        ),
    };
    for now in &rerun.refused {
        let behind = if now.behind { ", by a check behind it" } else { "" };
        let _ = writeln!(text, "  {} ({}×{behind})", safe(&now.permission), now.count);
    }
    let lists = [
        ("refused in both runs", &rerun.as_before),
        ("not tried again, so not proven", &rerun.not_again),
        ("only in the new run", &rerun.fresh),
        ("allowed in the new run and not granted by the role, so it was not under this role alone", &rerun.not_granted),
    ];
    for (title, permissions) in lists.into_iter().filter(|(_, permissions)| !permissions.is_empty()) {
        let _ = writeln!(text, "{title} ({}): {}", permissions.len(), safe(&permissions.join(", ")));
    }
    text
}

fn missing_line(missing: &Missing) -> String {
    let why = match (missing.count, missing.samples.first()) {
        (0, _) => missing.reason.clone(),
        (count, Some(sample)) => format!("{count} calls, first at {}:{}", sample.path, sample.line),
        (count, None) => format!("{count} calls"),
    };
    safe(&format!("{}: {why}", in_words(&missing.request))).into_owned()
}

fn entry_line(rule: &Rule, scope: &Scope) -> String {
    format!("  {} ({})\n", safe(&rule_text(rule)), safe(&scope.to_string()))
}

/// What would do, and what it is for.
fn doubt_line(doubt: &Doubt) -> String {
    const SHOWN: usize = 3;
    let way = |way: &Vec<Request>| {
        let shown: Vec<String> = way.iter().take(SHOWN).map(in_words).collect();
        match way.len().saturating_sub(SHOWN) {
            0 => shown.join(" and "),
            more => format!("{} and {more} more", shown.join(", ")),
        }
    };
    let mut ways: Vec<String> = doubt.ways.iter().map(way).collect();
    if !doubt.bound_role.is_empty() {
        ways.push(format!("the rules of {}", doubt.bound_role));
    }
    safe(&format!("{}: {}", ways.join(", or "), doubt.reason)).into_owned()
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
