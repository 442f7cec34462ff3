//! Bindings whose roles are in no file that was read: what they hand out is not judged, and must not pass as right.

use std::collections::BTreeSet;

use crate::analysis::{Assessment, BindingPlace, RoleState};
use crate::cli::output::Terminal;
use crate::cli::pipeline::Loaded;
use crate::manifest::RoleKind;

/// Most bindings that are named.
const SHOWN: usize = 10;

/// Says which roles of these subjects were not read; with `nothing_judged` also which are not the user's to change.
pub(super) fn say(loaded: &Loaded, asked: &[Assessment], nothing_judged: bool, terminal: &Terminal) {
    let bindings = asked.iter().flat_map(|assessment| &assessment.bindings);
    let lines: BTreeSet<String> = bindings.filter_map(|binding| line(loaded, binding, nothing_judged)).collect();
    lines.iter().take(SHOWN).for_each(|line| terminal.note(line));
    if lines.len() > SHOWN {
        terminal.note(&format!("{} more such bindings", lines.len() - SHOWN));
    }
    if nothing_judged {
        let mut who: Vec<&str> = asked.iter().map(|assessment| assessment.subject.name.as_str()).collect();
        who.dedup();
        terminal.error(&format!("no role of {} was read and judged: nothing is changed", who.join(", ")));
    }
}

fn line(loaded: &Loaded, bound: &BindingPlace, nothing_judged: bool) -> Option<String> {
    let BindingPlace { role, binding, .. } = bound;
    let why = match bound.role_state {
        RoleState::Shipped => return None,
        RoleState::Missing | RoleState::Unrendered => match elsewhere(loaded, bound) {
            Some(place) => {
                format!("stands in another folder or argument ({place}): files named one by one are judged together")
            }
            None => "was not read".to_owned(),
        },
        RoleState::BuiltIn | RoleState::BuiltInUnknown if nothing_judged => {
            "is Kubernetes' own and not yours to change".to_owned()
        }
        RoleState::BuiltIn | RoleState::BuiltInUnknown => return None,
    };
    let place = binding.location.as_ref().map(|at| format!(" ({}:{})", at.path, at.line)).unwrap_or_default();
    Some(format!("{} {}, which {} {}{place} names, {why}", role.kind, role.name, binding.kind, binding.name))
}

/// Where another package has a role of that name.
fn elsewhere(loaded: &Loaded, bound: &BindingPlace) -> Option<String> {
    let mut roles = loaded.packages.iter().flat_map(|package| {
        package.facts.roles.iter().map(move |role| (package.resolve(role.namespace.as_ref()), role))
    });
    let (_, role) = roles.find(|(namespace, role)| {
        let kind = if bound.role.kind == "Role" { RoleKind::Role } else { RoleKind::ClusterRole };
        role.kind == kind
            && role.name.value == bound.role.name
            && (kind == RoleKind::ClusterRole || *namespace == bound.role.namespace)
    })?;
    let place = loaded.sources.locate(role.name.span);
    Some(format!("{}:{}", place.path, place.line))
}
