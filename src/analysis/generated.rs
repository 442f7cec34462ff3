//! Roles that are generated from `+kubebuilder:rbac` markers: their grants point at the marker, which is the line to
//! change, and each tells how it differs from what its markers say.

use super::subjects::located;
use super::{Context, Drift, Drifted, GrantPlaces};
use crate::graph::{RoleKnown, RoleNode};
use crate::manifest::markers::{Generated, Permission};
use crate::rbac::Rule;
use crate::source::Span;

/// Moves the places of a grant to the first marker that names its permission; a grant that none names stays.
pub(super) fn point_at_markers(cx: &Context<'_>, source: &Generated, grant: &Rule, places: &mut GrantPlaces) {
    let mut tokens = source.tokens(&cx.package.facts.markers, grant);
    let Some(first) = tokens.next() else { return };
    *places = GrantPlaces {
        verb: located(cx, first.verb),
        resource: located(cx, first.thing),
        group: first.group.map(|group| located(cx, group)),
        entry: located(cx, first.marker),
        generated: Some(places.entry.clone()),
        also: tokens.map(|token| located(cx, token.marker)).collect(),
    };
}

/// How a role differs from its markers; `None` where it does not, or has none.
pub(super) fn drift(cx: &Context<'_>, role: &RoleNode) -> Option<Drift> {
    let RoleKnown::Shipped(index) = role.known else { return None };
    let generated = cx.package.generated(index)?;
    let drifted = |list: &[(Permission, Span)]| {
        list.iter().map(|(what, at)| Drifted { permission: what.to_string(), location: located(cx, *at) }).collect()
    };
    let drift =
        Drift { only_in_markers: drifted(&generated.only_in_markers), only_in_role: drifted(&generated.only_in_role) };
    (drift != Drift::default()).then_some(drift)
}
