//! What the two runs prove: what was refused in the second that was not in the first, and how much of the first it did
//! again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;

use super::cluster::{label, text};
use super::command::Ran;
use crate::analysis::{Deficit, RefusedBy, allowed};
use crate::audit::{Decision, Observed, Origin, Through, Usage};
use crate::cli::Exit;
use crate::report::text::safe;
use crate::source::some_of;

/// How many of a kind are listed.
const SHOWN: usize = 20;

/// The comparison.
pub(super) struct Outcome<'a> {
    subject: &'a str,
    first: &'a Ran,
    second: &'a Ran,
    /// Refused under the written role only, for want of a permission.
    deficits: Vec<Refusal<'a>>,
    /// Refused under the shipped role as well, and never allowed there.
    as_before: Vec<Refusal<'a>>,
    /// Refused in the second run by what no permission changes.
    others: Vec<Refusal<'a>>,
    /// `verb resource` of the second run alone, and of the first alone.
    fresh: Vec<String>,
    not_again: Vec<String>,
    /// Bindings that were taken away and still allowed calls: the swap did not hold.
    held: Vec<String>,
}

/// A kind of call that was refused, in all namespaces and for all names.
struct Refusal<'a> {
    /// `verb resource.group`.
    call: String,
    /// The first of them.
    first: &'a Deficit,
    count: u64,
}

fn refusals(deficits: &[Deficit], counts: impl Fn(RefusedBy) -> bool) -> Vec<Refusal<'_>> {
    let mut kinds: BTreeMap<String, Refusal<'_>> = BTreeMap::new();
    for deficit in deficits.iter().filter(|deficit| counts(deficit.refused_by)) {
        let call = deficit.call();
        let known = kinds.entry(call.clone()).or_insert(Refusal { call, first: deficit, count: 0 });
        known.count = known.count.saturating_add(deficit.count);
    }
    kinds.into_values().collect()
}

fn calls(usage: &Usage) -> u64 {
    usage.calls.iter().map(|call| call.count).sum()
}

fn refused(usage: &Usage) -> u64 {
    let refused = |call: &Arc<Observed>| match call.decision {
        Decision::Denied => call.count,
        _ => call.codes.get(&403).copied().unwrap_or_default(),
    };
    usage.calls.iter().filter(|call| call.origin == Origin::Call).map(refused).fold(0, u64::saturating_add)
}

impl<'a> Outcome<'a> {
    /// `refused` is that of both runs; `taken` are the bindings that named the subject.
    pub(super) fn of(
        subject: &'a str,
        [first, second]: [&'a Ran; 2],
        refused: &'a [Vec<Deficit>; 2],
        taken: &[Value],
    ) -> Self {
        let (before, after) = (allowed(first.usage.calls.iter()), allowed(second.usage.calls.iter()));
        let by_permission = |by| by != RefusedBy::NotPermission;
        let [shipped, written] = refused;
        let already: BTreeSet<String> =
            refusals(shipped, by_permission).into_iter().map(|refusal| refusal.call).collect();
        let known = |refusal: &Refusal<'_>| !before.contains(&refusal.call) && already.contains(&refusal.call);
        let (as_before, deficits) = refusals(written, by_permission).into_iter().partition(known);
        let held = taken.iter().filter(|binding| still_allowed(&second.usage, binding)).map(label).collect();
        Self {
            subject,
            first,
            second,
            deficits,
            as_before,
            others: refusals(written, |by| by == RefusedBy::NotPermission),
            fresh: after.difference(&before).cloned().collect(),
            not_again: before.difference(&after).cloned().collect(),
            held,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        if !self.second.status.success() || !self.deficits.is_empty() {
            Exit::Findings
        } else if calls(&self.second.usage) == 0 || !self.held.is_empty() {
            Exit::Incomplete
        } else {
            Exit::Clean
        }
    }

    /// For people.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for (role, ran) in [("shipped", self.first), ("written", self.second)] {
            let refused = refused(&ran.usage);
            let (all, permissions) = (calls(&ran.usage), allowed(ran.usage.calls.iter()).len());
            let status = ran.status.to_string().replace("exit status: ", "exit ");
            let _ = writeln!(
                out,
                "{role} role: {status}; {all} calls of {}, {permissions} distinct permissions, {refused} calls denied",
                self.subject
            );
        }
        for refusal in &self.deficits {
            let _ = writeln!(out, "denied under the written role: {} ({}×)", refusal.call, refusal.count);
            let Refusal { first, .. } = refusal;
            if !first.reason.is_empty() {
                let _ = writeln!(out, "  {}", first.reason);
            }
            if !first.missing.is_empty() {
                let rules: Vec<String> =
                    first.missing.iter().map(|missing| format!("{} ({})", missing.text(), missing.scope)).collect();
                let _ = writeln!(out, "  would be allowed by: {}", rules.join(", "));
            }
        }
        let calls = |refusals: &[Refusal<'_>]| refusals.iter().map(|refusal| refusal.call.clone()).collect::<Vec<_>>();
        list(&mut out, "denied under both roles", &calls(&self.as_before));
        let others: Vec<String> =
            self.others.iter().map(|refusal| format!("{}: {}", refusal.call, refusal.first.reason)).collect();
        list(&mut out, "refused in the second run by what no permission changes", &others);
        list(&mut out, "only in the second run", &self.fresh);
        list(&mut out, "only in the first run, so not tried under the written role", &self.not_again);
        list(&mut out, "still allowed by bindings that were taken away, so the swap did not hold", &self.held);
        out += &self.verdict();
        out.lines().map(|line| format!("{}\n", safe(line))).collect()
    }

    fn verdict(&self) -> String {
        let deficits = self.deficits.len();
        match self.exit() {
            Exit::Clean if self.not_again.is_empty() => {
                "PROVEN: the command succeeds under the written role, and nothing is denied that was not before\n"
                    .to_owned()
            }
            Exit::Clean => format!(
                "PROVEN, but for what was not tried again ({}): the command succeeds under the written role, and nothing \
                 is denied that was not before\n",
                self.not_again.len()
            ),
            Exit::Incomplete if self.held.is_empty() => {
                "NOT PROVEN: the log shows no call of the subject in the second run\n".to_owned()
            }
            Exit::Incomplete => "NOT PROVEN: the second run did not run under the written role alone\n".to_owned(),
            _ if deficits == 0 => "NOT PROVEN: the command fails under the written role\n".to_owned(),
            _ => format!("NOT PROVEN: the written role is too small by {deficits} kinds of calls\n"),
        }
    }
}

fn list(out: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(out, "{title} ({}): {}", items.len(), some_of(items, SHOWN));
}

/// Whether the authorizer gave this binding as its reason. A watch that was opened before the swap ends in the second
/// run and is no sign of it.
fn still_allowed(usage: &Usage, binding: &Value) -> bool {
    let (kind, name) = (text(binding, "/kind"), text(binding, "/metadata/name"));
    let namespace = text(binding, "/metadata/namespace");
    let is_it = |reason: &String| {
        Through::of(reason)
            .is_some_and(|through| (through.kind.word(), through.namespace, through.name) == (kind, namespace, name))
    };
    let calls = usage.calls.iter().filter(|call| call.request.verb() != "watch");
    calls.flat_map(|call| &call.reasons).any(is_it)
}
