//! A run under a new role beside the run that the role was cut from: what is refused now, and what was not tried again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{Missing, describe};
use crate::audit::{Decision, Observed, Origin, Usage, What};

/// The comparison; permissions are `verb resource.group`, wherever and on whatever object.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rerun {
    /// Calls of the subject in the new run.
    pub calls: u64,
    /// Refused in the new run for want of a permission, and not refused before, or allowed there too.
    pub refused: Vec<RefusedNow>,
    /// Refused in both runs, and never allowed in the old one.
    pub as_before: Vec<String>,
    /// Allowed in the old run and not tried in the new one: the role is not proven for these.
    pub not_again: Vec<String>,
    /// Allowed in the new run alone.
    pub fresh: Vec<String>,
    /// Allowed in the new run and not granted by the role: the run was not under it, or not under it alone.
    pub not_granted: Vec<String>,
}

/// What the new run was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusedNow {
    /// The permission of the call.
    pub permission: String,
    /// How often.
    pub count: u64,
    /// Whether the call itself was allowed, and a check behind it failed.
    pub behind: bool,
}

/// Compares two runs of a user; `missing` is what the role would have refused of the new one.
pub fn rerun(before: &Usage, after: &Usage, user: &str, missing: &[Missing]) -> Rerun {
    let (old, new) = (calls(before, user), calls(after, user));
    let (allowed_before, allowed_now) = (allowed(old.iter().copied()), allowed(new.iter().copied()));
    let refused_before = refused(&old);
    let known = |permission: &str| refused_before.contains_key(permission) && !allowed_before.contains(permission);
    let (as_before, refused): (Vec<_>, Vec<_>) = refused(&new).into_iter().partition(|(text, _)| known(text));
    let tried: BTreeSet<&String> = allowed_now.iter().chain(refused.iter().map(|(permission, _)| permission)).collect();
    Rerun {
        calls: new.iter().fold(0, |sum, call| sum.saturating_add(call.count)),
        not_again: allowed_before.iter().filter(|permission| !tried.contains(permission)).cloned().collect(),
        not_granted: missing
            .iter()
            .map(|missing| missing.permission.clone())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
        fresh: allowed_now.difference(&allowed_before).cloned().collect(),
        as_before: as_before.into_iter().map(|(permission, _)| permission).collect(),
        refused: refused
            .into_iter()
            .map(|(permission, (count, behind))| RefusedNow { permission, count, behind })
            .collect(),
    }
}

fn calls<'a>(usage: &'a Usage, user: &str) -> Vec<&'a Arc<Observed>> {
    usage.calls.iter().filter(|call| call.user == user && call.origin == Origin::Call).collect()
}

/// `verb resource.group` of the calls that were allowed, by the authorizer and by the checks behind it.
pub fn allowed<'a>(calls: impl Iterator<Item = &'a Arc<Observed>>) -> BTreeSet<String> {
    let passed =
        |call: &&Arc<Observed>| call.decision == Decision::Allowed && call.codes.keys().any(|code| *code != 403);
    calls.filter(passed).map(|call| describe(&call.request)).collect()
}

/// How often each was refused, and whether by a check behind it.
fn refused(calls: &[&Arc<Observed>]) -> BTreeMap<String, (u64, bool)> {
    let mut refused: BTreeMap<String, (u64, bool)> = BTreeMap::new();
    for call in calls {
        let for_a_permission = |behind: &&crate::audit::Behind| {
            behind.refused && !matches!(behind.what, What::NotPermission { .. } | What::More)
        };
        let (count, behind) = match call.decision {
            Decision::Denied => (call.count, false),
            Decision::Allowed if call.behind.iter().any(|behind| for_a_permission(&behind)) => {
                (call.codes.get(&403).copied().unwrap_or_default(), true)
            }
            _ => continue,
        };
        let known = refused.entry(describe(&call.request)).or_insert((0, behind));
        *known = (known.0.saturating_add(count), known.1 && behind);
    }
    refused
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_left_out_behind_a_call_is_no_refusal() {
        let refused_by = |kind: &str| {
            let call = json!({
                "user": "u", "request": {"nonResourceURL": "/metrics", "verb": "get"}, "origin": "call",
                "decision": "allowed", "count": 3, "codes": {"200": 2, "403": 1}, "first": "", "last": "",
                "samples": [], "level": "Request", "behind": [{"kind": kind, "refused": true}],
            });
            let call: Arc<Observed> = Arc::new(serde_json::from_value(call).unwrap());
            refused(&[&call]).into_values().collect::<Vec<_>>()
        };
        assert_eq!(refused_by("more"), []);
        assert_eq!(refused_by("upgrade"), [(1, true)]);
    }
}
