//! Which of several ways satisfies a need: holding the rules that are handed out, or `escalate`; `bind`, or the bound
//! role's rules. The role as shipped decides, and where it has several, the one that is there anyway.

use std::collections::BTreeSet;

use super::index::GrantIndex;
use super::is_default;
use crate::needs::{Ask, Need, NeedKind};
use crate::rbac::{Rule, Scope};

/// A need, and how it is satisfied.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    pub(super) need: &'a Need,
    /// Every permission of the way, with the grants that give it, by their index.
    pub(super) asks: Vec<(&'a Ask, Vec<usize>)>,
    /// Whether the grants, and what everybody holds, give all of it.
    pub(super) satisfied: bool,
}

/// Chooses a way for every need.
pub(super) fn choose<'a>(needs: &'a [Need], index: &GrantIndex<'_>, defaults: &[Rule]) -> Vec<Chosen<'a>> {
    let by_default = |ask: &Ask| match ask {
        Ask::Make(request) => is_default(defaults, request),
        Ask::Hold(..) => ask.is_given_by(defaults.iter().map(|rule| (&Scope::Cluster, rule))),
    };
    let ways = |need: &'a Need| -> Vec<Chosen<'a>> {
        let way = |way: &'a Vec<Ask>| {
            let asks = way.iter().filter(|ask| !by_default(ask));
            let given = |ask| index.covering_ask(ask).into_iter().map(|grant| grant.index).collect::<Vec<usize>>();
            let asks: Vec<_> = asks.map(|ask| (ask, given(ask))).collect();
            let satisfied = asks.iter().all(|(_, grants)| !grants.is_empty());
            Chosen { need, asks, satisfied }
        };
        need.ways.iter().map(way).collect()
    };
    let mut chosen: Vec<Chosen<'a>> = Vec::with_capacity(needs.len());
    let mut there: BTreeSet<&Ask> = BTreeSet::new();
    let mut open = Vec::new();
    for need in needs {
        let mut ways = ways(need);
        let count = ways.iter().filter(|way| way.satisfied).count();
        if count > 1 {
            open.push(ways);
            continue;
        }
        let at = ways.iter().position(|way| way.satisfied).unwrap_or(0);
        if at < ways.len() {
            let way = ways.swap_remove(at);
            if way.satisfied || need.kind == NeedKind::Checked {
                there.extend(way.asks.iter().map(|(ask, _)| *ask));
            }
            chosen.push(way);
        }
    }
    for mut ways in open {
        ways.retain(|way| way.satisfied);
        let at = ways.iter().position(|way| way.asks.iter().all(|(ask, _)| there.contains(ask))).unwrap_or(0);
        if at < ways.len() {
            let way = ways.swap_remove(at);
            there.extend(way.asks.iter().map(|(ask, _)| *ask));
            chosen.push(way);
        }
    }
    chosen
}
