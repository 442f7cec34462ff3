use super::super::*;
use super::{Permission, derive};
use crate::source::Location;

fn read_go(text: &str) -> (SourceMap, Reading) {
    let mut sources = SourceMap::default();
    let id = sources.add("controller.go", text);
    let reading = read(&sources, id);
    (sources, reading)
}

/// A package of a Go file and manifests, its markers linked, and what was said of that.
fn linked(go: &str, manifests: &[(&str, &str)]) -> (Package, Vec<String>) {
    let mut sources = SourceMap::default();
    let mut files = Vec::new();
    for (path, text) in [("controller.go", go)].iter().chain(manifests) {
        let id = sources.add(*path, *text);
        files.push(((*path).to_owned(), read(&sources, id).facts));
    }
    let mut package = package::split(&[".".to_owned()], files).remove(0);
    let said = package.link_markers(&sources).into_iter().map(|note| note.message).collect();
    (package, said)
}

fn role(name: &str, verbs: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {{name: {name}}}\nrules:\n\
         - {{apiGroups: [''], resources: [pods], verbs: [{verbs}]}}\n- {{apiGroups: [apps], resources: [deployments], verbs: [get]}}\n"
    )
}

const PODS: &str = "package x\n\n// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=get;list\n\
                    // +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get\n";

#[test]
fn markers_and_their_tokens() {
    let (sources, reading) = read_go(PODS);
    let rule = &reading.facts.markers[0].rule;
    assert_eq!(rule.to_rule().verbs, ["get", "list"]);
    let Location { line, column, .. } = sources.locate(rule.verbs[1].span);
    assert_eq!((line, column, sources.slice(rule.verbs[1].span)), (3, 57, "list"));
    assert_eq!(sources.slice(rule.api_groups[0].span), "\"\"");
    assert!(sources.slice(rule.span).starts_with("+kubebuilder:rbac:groups="));
    assert_eq!((reading.documents, reading.diagnostics.len()), (DocumentCounts::default(), 0));
}

#[test]
fn what_is_refused_or_passed_over_is_told_with_its_place() {
    let (_, reading) = read_go(
        "package x\n// +kubebuilder:rbac:groups=a,verb=get\n// +kubebuilder:rbac:x:groups=a,verbs=get\n\n\
         // +kubebuilder:rbac:groups=a,resources=b,verbs=get\nfunc f() {}\n",
    );
    let said: Vec<(DiagnosticKind, u32, u32)> =
        reading.diagnostics.iter().map(|d| (d.kind, d.location.line, d.location.column)).collect();
    use DiagnosticKind::{Note, Unreadable};
    assert_eq!(said, [(Unreadable, 2, 31), (Note, 3, 4), (Note, 5, 4)]);
    assert_eq!((reading.facts.markers.len(), reading.facts.markers_lost), (0, 1));
}

#[test]
fn the_generated_role_is_told_by_what_it_holds() {
    let (package, said) = linked(PODS, &[("a.yaml", &role("other", "get")), ("b.yaml", &role("mine", "list, get"))]);
    assert_eq!((package.generated.len(), package.generated[0].role, said.len()), (1, 1, 0));
    assert!(package.generated[0].only_in_markers.is_empty() && package.generated[0].only_in_role.is_empty());
    // One in role.yaml before one elsewhere that has more of the rules.
    let (package, _) =
        linked(PODS, &[("config/rbac/role.yaml", &role("mine", "get")), ("z.yaml", &role("o", "get, list"))]);
    assert_eq!(package.generated[0].wanted.name, "mine");
    assert_eq!(package.generated[0].only_in_markers[0].0.to_string(), "list pods");
}

#[test]
fn of_two_that_fit_alike_none_is_taken() {
    let (package, said) = linked(PODS, &[("a.yaml", &role("a", "get, list")), ("b.yaml", &role("b", "get, list"))]);
    assert_eq!((package.generated.len(), said.len()), (0, 1));
    assert!(said[0].starts_with("several roles"), "{said:?}");
    let (package, said) = linked(PODS, &[("a.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: x}}")]);
    assert!(package.generated.is_empty() && said[0].starts_with("no role"), "{said:?}");
}

#[test]
fn permissions_are_compared_and_not_texts() {
    let go = "package x\n\n// +kubebuilder:rbac:groups=\"\",resources=pods;services,verbs=get,resourceNames=a;b\n\
              // +kubebuilder:rbac:urls=/metrics/x,verbs=get\n";
    let yaml = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: manager-role}\nrules:\n\
                - {apiGroups: [''], resources: [services], verbs: ['*']}\n\
                - {apiGroups: [''], resources: [pods], verbs: [get], resourceNames: [a]}\n\
                - {nonResourceURLs: [/metrics/*], verbs: [get]}\n";
    let (package, _) = linked(go, &[("role.yaml", yaml)]);
    let texts = |side: &[(Permission, Span)]| side.iter().map(|(what, _)| what.to_string()).collect::<Vec<_>>();
    assert_eq!(texts(&package.generated[0].only_in_markers), ["get pods (b)"]);
    assert_eq!(texts(&package.generated[0].only_in_role), ["get /metrics/*", "* services"]);
}

#[test]
fn groups_merged_by_chance_are_told() {
    let go = "package x\n\n// +kubebuilder:rbac:groups=a;b,resources=x,verbs=get\n\
              // +kubebuilder:rbac:groups=a,resources=x,verbs=list\n// +kubebuilder:rbac:groups=b,resources=x,verbs=list\n";
    let (_, said) = linked(go, &[("role.yaml", &role("manager-role", "get"))]);
    assert!(said[0].contains("at random"), "{said:?}");
}

#[test]
fn markers_that_multiply_out_cost_nothing() {
    let many = ["x"; 2_000].join(";");
    let go = format!("package x\n\n// +kubebuilder:rbac:groups={many},resources={many},verbs={many}\n");
    let (package, said) = linked(&go, &[("role.yaml", &role("manager-role", "get"))]);
    assert!(package.generated.is_empty() && said[0].contains("too many"), "{said:?}");
}

#[test]
fn code_beside_the_manifests_belongs_to_them() {
    let facts = |path: &str, text: &str| {
        let mut sources = SourceMap::default();
        let id = sources.add(path, text);
        (path.to_owned(), read(&sources, id).facts)
    };
    let pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}";
    let packages = package::split(
        &[".".to_owned()],
        vec![
            facts("config/role.yaml", &role("manager-role", "get")),
            facts("config/pod.yaml", pod),
            facts("dist/pod.yaml", pod),
            facts("internal/x.go", PODS),
        ],
    );
    let found: Vec<(&str, usize)> = packages.iter().map(|p| (p.name.as_str(), p.facts.markers.len())).collect();
    assert_eq!(found, [("config", 2), ("dist", 0)]);
}

proptest::proptest! {
    #[test]
    fn no_text_is_too_odd(text in "([/+*`\"'{}();,=\\\\\n ]|kubebuilder:rbac|:|groups|verbs|type|func|x){0,60}") {
        let (_, reading) = read_go(&format!("package x\n// +kubebuilder:rbac:{text}\n{text}"));
        for marker in &reading.facts.markers {
            derive(std::slice::from_ref(marker), "x");
        }
    }
}
