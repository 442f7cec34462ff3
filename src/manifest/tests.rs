mod oddities;
mod olm;
mod rendered;
mod unrendered;

use std::collections::BTreeSet;

use super::*;

fn read_text(text: &str) -> (SourceMap, Reading) {
    let mut sources = SourceMap::default();
    let id = sources.add("test.yaml", text);
    let reading = read(&sources, id);
    (sources, reading)
}

const ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: op}\nrules:\n";

#[test]
fn roles_and_their_tokens() {
    let (sources, reading) =
        read_text(&format!("{ROLE}- apiGroups: ['']\n  resources: [pods, \"pods/log\"]\n  verbs:\n  - get\n"));
    let rule = &reading.facts.roles[0].rules[0];
    assert_eq!(rule.to_rule().resources, ["pods", "pods/log"]);
    assert_eq!(sources.slice(rule.resources[1].span), "pods/log");
    let place = sources.locate(rule.verbs[0].span);
    assert_eq!((place.line, place.column), (8, 5));
    assert_eq!(reading.documents, DocumentCounts { read: 1, ..DocumentCounts::default() });
}

#[test]
fn lists_of_every_make_are_flattened() {
    let item = "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: a, namespace: n}}";
    for (text, roles) in [
        (format!("{{apiVersion: v1, kind: List, items: [{item}, {item}]}}"), 2),
        (format!("{{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleList, items: [{item}]}}"), 1),
        (format!("{{apiVersion: v1, kind: List, items: [{{kind: List, apiVersion: v1, items: [{item}]}}]}}"), 1),
        (format!("{{apiVersion: template.openshift.io/v1, kind: Template, objects: [{item}]}}"), 1),
        ("{apiVersion: v1, kind: List}".to_owned(), 0),
    ] {
        let (_, reading) = read_text(&text);
        assert_eq!(reading.facts.roles.len(), roles, "{text}");
    }
}

#[test]
fn lists_out_of_aliases_are_bounded() {
    let mut text = "apiVersion: v1\nkind: List\nx0: &a0 {kind: List, items: []}\n".to_owned();
    for level in 1..8 {
        let below = format!("*a{}", level - 1);
        text.extend([format!("x{level}: &a{level} {{kind: List, items: [{}]}}\n", [below.as_str(); 20].join(", "))]);
    }
    text += "items: [*a7]\n";
    let (_, reading) = read_text(&text);
    assert!(reading.documents.read == 0 && reading.documents.unreadable + reading.documents.empty > 0);
}

#[test]
fn wrong_types_cost_the_field_and_say_where() {
    let (_, reading) = read_text(&format!(
        "{ROLE}- apiGroups: ['']\n  resources: [pods, {{{{ .Values.x }}}}, [a]]\n  verbs: get\n- just text\n- verbs: [get]\n  resources: [nodes]\n  apiGroups: ['']\n"
    ));
    let role = &reading.facts.roles[0];
    assert_eq!((role.rules.len(), role.rules[0].resources.len(), role.rules[0].verbs.len()), (2, 1, 0));
    let said: Vec<(u32, &str)> = reading.diagnostics.iter().map(|d| (d.location.line, d.message.as_str())).collect();
    assert_eq!(
        said,
        [
            (8, "an entry of `rules` is a scalar, not a mapping"),
            (7, "`verbs` is a scalar, not a list"),
            (6, "an entry of `resources` is a template that was not rendered, not a string"),
            (6, "an entry of `resources` is a list, not a string"),
        ]
    );
}

#[test]
fn names_that_cannot_be_read_never_widen_an_entry() {
    for (names, verbs, read) in [
        ("[a]", 1, 1),
        ("[]", 1, 0),
        ("null", 1, 0),
        ("TPL", 0, 0),
        ("[{{ .Values.x }}]", 0, 0),
        ("[a, {{ .Values.x }}]", 1, 1),
        ("{a: b}", 0, 0),
    ] {
        let (_, reading) = read_text(&format!(
            "{ROLE}- apiGroups: ['']\n  resources: [secrets]\n  verbs: [get]\n  resourceNames: {names}\n"
        ));
        let rule = &reading.facts.roles[0].rules[0];
        assert_eq!((rule.verbs.len(), rule.resource_names.len()), (verbs, read), "{names}");
    }
}

#[test]
fn selectors_that_cannot_be_read_select_nothing() {
    for (selector, selected) in [
        ("{matchLabels: {a: b}}", 1),
        ("{}", 1),
        ("{matchLabels: {a: null}}", 1),
        ("{matchLabels: TPL}", 0),
        ("{matchLabels: {{ .Values.labels }}}", 0),
        ("{matchExpressions: TPL}", 0),
        ("{matchLabels: {a: [b]}}", 0),
    ] {
        let (_, reading) = read_text(&format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: r}}\naggregationRule: {{clusterRoleSelectors: [{selector}]}}\n"
        ));
        let selectors = reading.facts.roles[0].aggregation.as_ref().unwrap();
        assert_eq!(selectors.len(), selected, "{selector}");
        assert!(selector == "{}" || selectors.iter().all(|selector| !selector.match_labels.is_empty()), "{selector}");
    }
}

#[test]
fn templates_and_broken_documents_cost_themselves() {
    let (_, reading) = read_text(
        "kind: [\n---\n{{- if .Values.rbac }}\nkind: Role\n{{- end }}\n---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op}\n",
    );
    assert_eq!((reading.documents.read, reading.documents.unreadable), (1, 2));
    assert!(!reading.diagnostics[0].message.contains("template"), "{:?}", reading.diagnostics);
    assert!(reading.diagnostics[1].message.starts_with("a template that was not rendered"));
    assert_eq!(reading.facts.accounts[0].name.value, "op");
}

#[test]
fn bindings_with_all_kinds_of_subjects() {
    let (_, reading) = read_text(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b, namespace: n}\nroleRef: {kind: ClusterRole, name: view}\nsubjects:\n- {kind: ServiceAccount, name: op}\n- {kind: User, name: jane}\n- {kind: Group, name: 'system:masters'}\n- {kind: Robot, name: x}\n",
    );
    let binding = &reading.facts.bindings[0];
    assert_eq!((binding.role_kind, binding.subjects.len(), reading.diagnostics.len()), (RoleKind::ClusterRole, 3, 1));
}

#[test]
fn parts_of_objects_are_patches() {
    for text in [
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: b}\n",
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n$patch: delete\nmetadata: {name: b}\n",
    ] {
        let (_, reading) = read_text(text);
        assert!(reading.documents.ignored.keys().next().unwrap().ends_with("(patch)"), "{text}");
    }
}

#[test]
fn workloads_name_their_account_and_what_they_are_told() {
    let pod =
        "{serviceAccountName: op, containers: [{name: c, args: [--id=lock, '-n a,b'], env: [{name: X, value: y-z}]}]}";
    for (kind, group, spec) in [
        ("Pod", "v1", pod.to_owned()),
        ("Deployment", "apps/v1", format!("{{template: {{spec: {pod}}}}}")),
        ("CronJob", "batch/v1", format!("{{jobTemplate: {{spec: {{template: {{spec: {pod}}}}}}}}}")),
        ("Rollout", "argoproj.io/v1alpha1", format!("{{template: {{spec: {pod}}}}}")),
    ] {
        let (_, reading) =
            read_text(&format!("{{apiVersion: {group}, kind: {kind}, metadata: {{name: w}}, spec: {spec}}}"));
        let workload = &reading.facts.workloads[0];
        assert_eq!(workload.service_account.as_ref().unwrap().value, "op", "{kind}");
        assert!(
            ["lock", "a", "b"].iter().filter(|word| workload.mentions.contains(**word)).count() == 1,
            "two letters at least"
        );
        assert!(workload.mentions.contains("y-z"));
    }
    let (_, reading) =
        read_text("{apiVersion: x.io/v1, kind: Thing, metadata: {name: w}, spec: {template: {spec: {a: 1}}}}");
    assert_eq!((reading.facts.workloads.len(), reading.documents.ignored["Thing"]), (0, 1));
}

#[test]
fn custom_resources_of_both_versions() {
    let v1 = "{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: foos.x.io}, spec: {group: x.io, scope: Cluster, names: {kind: Foo, plural: foos}, versions: [{name: v1, served: true, subresources: {status: {}}}, {name: v0, served: false, subresources: {scale: {}}}]}}";
    let beta = "{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition, metadata: {name: foos.x.io}, spec: {group: x.io, names: {kind: Foo, plural: foos, singular: phoo}, subresources: {status: }}}";
    let (_, reading) = read_text(v1);
    let resource = &reading.facts.crds[0].resource;
    assert_eq!(
        (resource.namespaced, resource.status, resource.scale, resource.singular.as_str()),
        (false, true, false, "foo")
    );
    let (_, reading) = read_text(beta);
    let resource = &reading.facts.crds[0].resource;
    assert_eq!((resource.namespaced, resource.status, resource.singular.as_str()), (true, true, "phoo"));
}

#[test]
fn wrong_types_of_whole_fields_are_told_too() {
    let head = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ";
    for (text, said) in [
        (format!("{head}ClusterRole\nmetadata: x\n"), "3: `metadata` is a scalar, not a mapping"),
        (format!("{head}ClusterRole\nmetadata: {{name: a, labels: [x]}}\n"), "3: `labels` is a list, not a mapping"),
        (
            format!("{head}ClusterRole\nmetadata: {{name: a}}\naggregationRule: x\n"),
            "4: `aggregationRule` is a scalar, not a mapping",
        ),
        (format!("{head}RoleBinding\nmetadata: {{name: a}}\nroleRef: [x]\n"), "4: `roleRef` is a list, not a mapping"),
        (
            format!(
                "{head}RoleBinding\nmetadata: {{name: a}}\nroleRef: {{kind: Role, name: x}}\nsubjects: [{{kind: User}}]\n"
            ),
            "5: a subject without a name",
        ),
        ("apiVersion: v1\nkind: List\nitems: x\n".to_owned(), "1: `items` of a list is no list"),
    ] {
        let (_, reading) = read_text(&text);
        let lines: Vec<String> =
            reading.diagnostics.iter().map(|d| format!("{}: {}", d.location.line, d.message)).collect();
        assert_eq!(lines, [said], "{text}");
    }
}

#[test]
fn aliases_of_large_parts_are_bounded_and_told() {
    let verbs = vec!["v"; 3_000].join(",");
    let text = format!(
        "verbs: &v [{verbs}]\nkind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {{name: a}}\nrules: [{}]\n",
        vec!["{apiGroups: [''], resources: [pods], verbs: *v}"; 3_000].join(",")
    );
    let (_, reading) = read_text(&text);
    let said: Vec<&str> = reading.diagnostics.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(said, ["aliases multiply out to more than the file holds: the rest of it is left out"]);
    assert_eq!(reading.documents.unreadable, 1);
    // The same written out is read.
    let rule = format!("{{apiGroups: [''], resources: [pods], verbs: [{verbs}]}}");
    let text = format!(
        "kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {{name: a}}\nrules: [{}]\n",
        vec![rule.as_str(); 100].join(",")
    );
    let (_, reading) = read_text(&text);
    assert_eq!((reading.diagnostics.len(), reading.facts.roles[0].rules[99].verbs.len()), (0, 3_000));
}
