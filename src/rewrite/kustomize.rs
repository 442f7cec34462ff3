//! What the shipped roles keep as patches of a kustomization: each replaces the rules of one role (JSON 6902), so that
//! a base of somebody else is narrowed without a change in it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::keep::KeptRole;
use super::rule_text;
use super::yaml_text::{comment, scalar};
use crate::manifest::RoleKind;
use crate::rbac::{PermissionSet, Rule};

/// The `patches` of a kustomization.yaml; roles that do not change need none.
pub fn render(roles: &[KeptRole<'_>]) -> String {
    let changed: Vec<&KeptRole<'_>> = roles.iter().filter(|role| !role.is_unchanged()).collect();
    let head = format!("Written by rolecall {}: patches of a kustomization.yaml", env!("CARGO_PKG_VERSION"));
    let mut text = comment("", &head);
    text += if changed.is_empty() { "patches: []\n" } else { "patches:\n" };
    for kept in changed {
        let kind = match kept.role.kind {
            RoleKind::Role => "Role",
            RoleKind::ClusterRole => "ClusterRole",
        };
        let name = anchored(&kept.role.name.value);
        let _ = write!(
            text,
            "  - target:\n      group: rbac.authorization.k8s.io\n      version: v1\n      kind: {kind}\n      name: {name}\n"
        );
        if let Some(namespace) = &kept.role.namespace {
            let _ = writeln!(text, "      namespace: {}", anchored(&namespace.value));
        }
        text += "    patch: |-\n      - op: replace\n        path: /rules\n";
        let rules = kept.rules();
        text += if rules.is_empty() { "        value: []\n" } else { "        value:\n" };
        let additions = rules.len().saturating_sub(kept.additions.len());
        for (index, rule) in rules.iter().enumerate() {
            match index.checked_sub(additions).and_then(|index| kept.additions.get(index)) {
                Some(addition) => text += &comment("          ", &addition.reason),
                None => text.extend(unseen(kept, rule).iter().map(|why| comment("          ", why))),
            }
            text += &rule_text::item("          ", rule);
        }
    }
    text
}

/// Why the rule holds what no call shows.
fn unseen<'a>(kept: &KeptRole<'a>, rule: &Rule) -> BTreeSet<&'a str> {
    let set = PermissionSet::from_rules([rule]);
    let within = kept.unseen.iter().filter(|unseen| PermissionSet::from_rules([&unseen.rule]).intersects(&set));
    within.map(|unseen| unseen.reason.as_str()).collect()
}

/// A name as the regular expression that kustomize takes a target for: it anchors it at both ends itself.
fn anchored(name: &str) -> String {
    let mut expression = String::new();
    for c in name.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            expression.push('\\');
        }
        expression.push(c);
    }
    scalar(&expression)
}
