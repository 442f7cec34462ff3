//! Roles and bindings.

use super::fields::{Fields, Metadata};
use super::{Binding, BindingKind, Facts, Known, LabelSelector, PolicyRule, Role, RoleKind, Subject, SubjectKind};
use crate::source::yaml::Node;

pub(super) fn role(kind: &str, fields: &mut Fields<'_>, metadata: Metadata, facts: &mut Facts) -> Known {
    let Some(name) = metadata.name else { return Known::Patch };
    if is_patch(fields) {
        return Known::Patch;
    }
    let kind = if kind == "ClusterRole" { RoleKind::ClusterRole } else { RoleKind::Role };
    let aggregation = match fields.mapping("aggregationRule") {
        Some(node) if kind == RoleKind::ClusterRole => Some(selectors(fields, node)),
        _ => None,
    };
    let rules = fields.mappings("rules").into_iter().map(|rule| policy_rule(fields, rule)).collect();
    facts.roles.push(Role {
        kind,
        namespace: metadata.namespace.filter(|_| kind == RoleKind::Role),
        name,
        labels: metadata.labels,
        aggregation,
        rules,
        olm_permissions: false,
        span: fields.span(),
    });
    Known::Read
}

pub(super) fn policy_rule<'a>(fields: &mut Fields<'a>, rule: Node<'a>) -> PolicyRule {
    fields.within(rule, |rule| {
        let known_problems = rule.problems.len();
        let resource_names = rule.texts("resourceNames");
        // No names mean any name: where all that are written are unreadable, the entry grants nothing.
        let names_lost = rule.problems.len() > known_problems || rule.allowance.is_spent();
        let verbs = if names_lost && resource_names.is_empty() { Vec::new() } else { rule.texts("verbs") };
        PolicyRule {
            span: rule.span(),
            verbs,
            api_groups: rule.texts("apiGroups"),
            resources: rule.texts("resources"),
            resource_names,
            non_resource_urls: rule.texts("nonResourceURLs"),
        }
    })
}

fn selectors<'a>(fields: &mut Fields<'a>, aggregation: Node<'a>) -> Vec<LabelSelector> {
    fields.within(aggregation, |aggregation| {
        let selectors = aggregation.mappings("clusterRoleSelectors");
        let mut read = Vec::new();
        for selector in selectors {
            let known_problems = aggregation.problems.len();
            let selector = aggregation.within(selector, label_selector);
            // One that lost what it asks for would select more.
            if aggregation.problems.len() == known_problems && !aggregation.allowance.is_spent() {
                read.push(selector);
            }
        }
        read
    })
}

fn label_selector(selector: &mut Fields<'_>) -> LabelSelector {
    let match_labels = selector.text_map("matchLabels");
    let expressions = selector.mappings("matchExpressions");
    let match_expressions = expressions
        .into_iter()
        .filter_map(|expression| {
            selector.within(expression, |expression| {
                let values = expression.texts("values").into_iter().map(|value| value.value).collect();
                Some((expression.text("key")?.value, expression.text("operator")?.value, values))
            })
        })
        .collect();
    LabelSelector { match_labels, match_expressions }
}

pub(super) fn binding(kind: &str, fields: &mut Fields<'_>, metadata: Metadata, facts: &mut Facts) -> Known {
    let role_ref = fields.mapping("roleRef");
    let role = role_ref.and_then(|node| {
        fields.within(node, |role_ref| Some((role_ref.text("name")?, role_ref.text("kind").map(|kind| kind.value))))
    });
    let (Some(name), Some((role_name, role_kind))) = (metadata.name, role) else { return Known::Patch };
    if is_patch(fields) {
        return Known::Patch;
    }
    let kind = if kind == "ClusterRoleBinding" { BindingKind::ClusterRoleBinding } else { BindingKind::RoleBinding };
    // OpenShift's own bindings name no kind; a cluster binding can only mean a ClusterRole.
    let role_kind = match (role_kind.as_deref(), kind) {
        (Some("Role"), _) | (None, BindingKind::RoleBinding) => RoleKind::Role,
        _ => RoleKind::ClusterRole,
    };
    let subjects = fields.mappings("subjects").into_iter().filter_map(|node| subject(fields, node)).collect();
    facts.bindings.push(Binding {
        kind,
        namespace: metadata.namespace.filter(|_| kind == BindingKind::RoleBinding),
        name,
        role_kind,
        role_name,
        subjects,
        olm_permissions: false,
        span: fields.span(),
    });
    Known::Read
}

fn subject<'a>(fields: &mut Fields<'a>, node: Node<'a>) -> Option<Subject> {
    fields.within(node, |subject| {
        let kind = match subject.text("kind")?.value.as_str() {
            "ServiceAccount" => SubjectKind::ServiceAccount,
            "User" | "SystemUser" => SubjectKind::User,
            "Group" | "SystemGroup" => SubjectKind::Group,
            other => {
                subject.problems.push((subject.span(), format!("`{other}` is no kind of subject")));
                return None;
            }
        };
        let Some(name) = subject.text("name") else {
            subject.problems.push((subject.span(), "a subject without a name".to_owned()));
            return None;
        };
        Some(Subject { kind, name, namespace: subject.text("namespace"), span: subject.span() })
    })
}

/// A strategic-merge directive makes it a patch of an object that stands elsewhere.
fn is_patch(fields: &Fields<'_>) -> bool {
    fields.node().get("$patch").is_some()
}
