use super::super::unrendered::{MOST_STEPS, Renderer, find};
use super::*;

fn found(files: &[(&str, &str)]) -> Vec<(Renderer, String, Vec<String>)> {
    let mut sources = SourceMap::default();
    let files: Vec<_> = files.iter().map(|(path, text)| ((*path).to_owned(), sources.add(*path, *text))).collect();
    let found = find(&sources, &files);
    found.into_iter().map(|one| (one.renderer, one.directory, one.files.unwrap().into_iter().collect())).collect()
}

#[test]
fn charts_are_known_by_their_templates_and_take_in_what_is_below() {
    let files = [
        ("op/Chart.yaml", "name: op"),
        ("op/templates/role.yaml", "{{ x }}"),
        ("op/charts/sub/Chart.yaml", "name: sub"),
        ("op/charts/sub/templates/role.yaml", "{{ x }}"),
        ("other/Chart.yaml", "name: no templates"),
        ("library/Chart.yaml", "type: library"),
        ("library/templates/helper.yaml", "{{ x }}"),
        ("operator.yaml", "a: 1"),
    ];
    let below = files[..4].iter().map(|(path, _)| (*path).to_owned());
    let below: BTreeSet<String> = below.collect();
    assert_eq!(found(&files), [(Renderer::Helm, "op".to_owned(), below.into_iter().collect())]);
    let here = found(&[("Chart.yaml", "name: op"), ("templates/role.yaml", "")]);
    assert_eq!((here[0].1.as_str(), here[0].2.len()), (".", 2));
}

#[test]
fn kustomizations_are_the_ones_that_no_other_takes_in() {
    let files = [
        ("config/default/kustomization.yaml", "resources: [../rbac, ../manager, https://x/y]\npatches: []"),
        ("config/rbac/kustomization.yml", "resources:\n- role.yaml\n- ./binding.yaml\n- ../../outside.yaml"),
        ("config/manager/Kustomization", "bases: [manager.yaml]"),
        ("config/rbac/role.yaml", "kind: Role"),
    ];
    let reached = ["config/manager/manager.yaml", "config/rbac/binding.yaml", "config/rbac/role.yaml", "outside.yaml"];
    let reached: Vec<String> = reached.iter().map(|path| (*path).to_owned()).collect();
    assert_eq!(found(&files), [(Renderer::Kustomize, "config/default".to_owned(), reached)]);
    // Two that take each other in are no kustomization that could be built.
    assert!(
        found(&[("a/kustomization.yaml", "resources: [../b]"), ("b/kustomization.yaml", "resources: [../a]")])
            .is_empty()
    );
}

#[test]
fn kustomizations_that_share_much_cost_no_product() {
    let mut sources = SourceMap::default();
    let base = sources.add("base/kustomization.yaml", format!("resources: [{}]", "x.yaml, ".repeat(3000)));
    let mut files = vec![("base/kustomization.yaml".to_owned(), base)];
    for root in 0..800 {
        let path = format!("{root:03}/kustomization.yaml");
        files.push((path.clone(), sources.add(path, "resources: [../base]")));
    }
    let found = find(&sources, &files);
    let known = found.iter().take_while(|one| one.files.is_some()).count();
    // Each goes to the base and from there to its files.
    assert_eq!((found.len(), known), (800, MOST_STEPS / (3000 + 2)));
    assert!(found[known..].iter().all(|one| one.files.is_none()));
    assert_eq!(found[0].files, Some(BTreeSet::from(["base/x.yaml".to_owned()])));
}

#[test]
fn a_folder_is_never_an_option_of_the_command() {
    let mut sources = SourceMap::default();
    let files = vec![("-x/kustomization.yaml".to_owned(), sources.add("-x/kustomization.yaml", "resources: []"))];
    assert_eq!(find(&sources, &files)[0].command(), ["kubectl", "kustomize", "./-x"]);
}

#[test]
fn charts_and_bundles_with_workloads_of_their_own_are_packages() {
    let deployment =
        "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: op}\nspec: {template: {spec: {containers: []}}}\n";
    let facts = |path: &str, text: &str| {
        let mut sources = SourceMap::default();
        let id = sources.add(path, text);
        (path.to_owned(), read(&sources, id).facts)
    };
    let names = |arguments: &[&str], paths: &[&str]| -> Vec<String> {
        let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let text = |path: &str| if path.contains("deploy") { deployment } else { "a: 1" };
        let files = paths.iter().map(|path| facts(path, text(path))).collect();
        package::split(&arguments, files).into_iter().map(|package| package.name).collect()
    };
    let charts =
        ["charts/a/Chart.yaml", "charts/a/templates/deploy.yaml", "charts/b/Chart.yaml", "charts/b/deploy.yaml"];
    assert_eq!(names(&["."], &charts), ["charts/a", "charts/b"]);
    assert_eq!(names(&["charts/"], &charts), ["charts/a", "charts/b"]);
    assert_eq!(names(&["charts/a"], &charts[..2]), ["charts/a"]);
    // A subchart belongs to its chart, and one chart alone to the whole.
    let nested = ["x/op/Chart.yaml", "x/op/deploy.yaml", "x/op/charts/sub/Chart.yaml", "x/op/charts/sub/deploy.yaml"];
    assert_eq!(names(&["x"], &nested), ["x"]);
    let bundles = ["b/1.0/metadata/annotations.yaml", "b/1.0/manifests/deploy.yaml", "b/1.1/metadata/annotations.yaml"];
    assert_eq!(names(&["."], &bundles), ["."]);
    let two = [bundles.as_slice(), &["b/1.1/manifests/deploy.yaml"]].concat();
    assert_eq!(names(&["."], &two), ["b/1.0", "b/1.1"]);
}
