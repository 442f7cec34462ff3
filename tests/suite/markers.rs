//! What is read from `+kubebuilder:rbac` markers is what controller-gen makes of them: on our fixtures, on random
//! arguments, and on real operators. `tests/controller-gen` builds controller-gen from its Go module; without Go or
//! the module this is skipped, and said.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{entries, load, shared, text};
use rolecall::analysis::Options;
use rolecall::manifest::markers::{GeneratedRole, derive};
use rolecall::manifest::{self, Facts, Role};
use rolecall::source::SourceMap;
use rolecall::{input, rules};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// controller-gen, built once; `None` with a printed reason.
fn controller_gen() -> Option<&'static Path> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        let program = root().join(".build/controller-gen/controller-gen");
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&program).arg("sigs.k8s.io/controller-tools/cmd/controller-gen");
        let output = go.current_dir(root().join("tests/controller-gen")).output().map_err(|error| error.to_string())?;
        if output.status.success() { Ok(program) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
    });
    match built {
        Ok(program) => Some(program),
        Err(why) => {
            println!("skipped: controller-gen was not built: {}", why.lines().last().unwrap_or_default());
            None
        }
    }
}

/// The roles that controller-gen writes for a folder, and whether it refused something.
fn generated(program: &Path, folder: &Path) -> (Vec<GeneratedRole>, bool) {
    let (module, out) = (folder.join("go.mod"), folder.join("generated"));
    fs::write(&module, "module example.com/fixture\n\ngo 1.24\n").unwrap();
    let mut command = Command::new(program);
    command.args(["rbac:roleName=manager-role", "paths=./..."]).arg(format!("output:dir={}", out.display()));
    // Linux on amd64 is what rolecall judges build constraints for.
    command.envs([("GOOS", "linux"), ("GOARCH", "amd64"), ("CGO_ENABLED", "1"), ("GOFLAGS", "-mod=mod")]);
    let output = command.current_dir(folder).output().unwrap();
    let written = out.join("role.yaml");
    let mut facts = if written.exists() { facts(&[text(&written)]) } else { Facts::default() };
    fs::remove_file(module).unwrap();
    let _ = fs::remove_dir_all(out);
    (facts.roles.drain(..).map(as_generated).collect(), !output.status.success())
}

fn facts(paths: &[String]) -> Facts {
    let found = input::manifests(paths, &input::Select::default()).unwrap();
    let mut facts = Facts::default();
    for source in found.files.iter().filter_map(|file| file.source) {
        facts.extend(manifest::read(&found.sources, source).facts);
    }
    facts
}

fn as_generated(role: Role) -> GeneratedRole {
    let rule = |rule: &manifest::PolicyRule| manifest::markers::GeneratedRule {
        rule: rule.to_rule(),
        markers: Default::default(),
        clashes: false,
    };
    GeneratedRole {
        kind: role.kind,
        namespace: role.namespace.as_ref().map(|namespace| namespace.value.clone()),
        name: role.name.value.clone(),
        rules: role.rules.iter().map(rule).collect(),
    }
}

fn derived(facts: &Facts) -> Vec<GeneratedRole> {
    let mut roles = derive(&facts.markers, "manager-role");
    for rule in roles.iter_mut().flat_map(|role| &mut role.rules) {
        assert!(!rule.markers.is_empty());
        rule.markers.clear();
    }
    roles
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let to = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).unwrap();
        }
    }
}

/// Fails with the first rule that differs.
fn same(derived: &[GeneratedRole], expected: &[GeneratedRole], what: &str) {
    for (own, theirs) in derived.iter().zip(expected) {
        for (own, theirs) in own.rules.iter().zip(&theirs.rules) {
            assert_eq!(own.rule, theirs.rule, "{what}");
        }
    }
    assert_eq!(derived, expected, "{what}");
}

#[test]
fn fixtures_make_the_roles_that_controller_gen_makes() {
    let Some(program) = controller_gen() else { return };
    let mut refused = 0;
    for fixture in entries(&root().join("fixtures/markers")) {
        let folder = tempfile::tempdir().unwrap();
        copy(&fixture, folder.path());
        let facts = facts(&[text(&fixture)]);
        let (expected, refuses) = generated(program, folder.path());
        assert_eq!(facts.markers_lost > 0, refuses, "{}", fixture.display());
        refused += usize::from(refuses);
        same(&derived(&facts), &expected, &text(&fixture));
    }
    assert!(refused >= 3);
}

/// A package a marker, so that one that is refused costs no other.
#[test]
fn random_arguments_are_read_as_controller_gen_reads_them() {
    let Some(program) = controller_gen() else { return };
    let folder = tempfile::tempdir().unwrap();
    let pieces = [
        "groups",
        "resources",
        "verbs",
        "resourceNames",
        "urls",
        "roleName",
        "namespace",
        "=",
        "=",
        "=",
        ",",
        ",",
        ",",
        ";",
        ";",
        "{",
        "}",
        "\"",
        "\"a\"",
        "`b`",
        "'",
        " ",
        "get",
        "list",
        "*",
        "core",
        "a/b",
        "1",
        ".5",
        "-",
        ":",
        "\\n",
        "\"\\x41\"",
        "é",
    ];
    let seed = std::env::var("ROLECALL_SEED").ok().and_then(|text| u64::from_str_radix(&text, 16).ok());
    let mut state = seed.unwrap_or(0x00c0_ffee);
    println!("ROLECALL_SEED={state:x}");
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let (mut expected, mut refused) = (BTreeMap::new(), 0);
    for case in 0..250 {
        // Mostly well-formed, with a piece too many here and there; a role of its own, so that nothing is merged.
        let mut marker = format!("namespace=n{case},groups=g,resources=r");
        for _ in 0..next(3) {
            let argument = pieces[next(6)];
            let values: Vec<&str> = (0..1 + next(3)).map(|_| pieces[18 + next(pieces.len() - 18)]).collect();
            marker += &format!(",{argument}={}", values.join([";", ";", ",", ""][next(4)]));
        }
        marker += &format!(",verbs=get;{}", pieces[next(pieces.len())]);
        let text = format!("package x\n\n// +kubebuilder:rbac:{marker}\n");
        let package = folder.path().join(format!("p{case}"));
        fs::create_dir(&package).unwrap();
        fs::write(package.join("x.go"), &text).unwrap();
        let mut sources = SourceMap::default();
        let id = sources.add("x.go", text);
        let facts = manifest::read(&sources, id).facts;
        refused += facts.markers_lost;
        expected.insert(case, facts);
    }
    let mut all = Facts::default();
    expected.into_values().for_each(|facts| all.extend(facts));
    println!("{} markers read, {refused} refused", all.markers.len());
    assert!(all.markers.len() > 50 && refused > 50);
    same(&derived(&all), &generated(program, folder.path()).0, "random markers");
}

#[test]
fn real_operators_have_the_role_of_their_markers_but_one() {
    let Some(folder) = shared("cases/markers") else { return };
    for operator in entries(&folder).into_iter().filter(|path| path.is_dir()) {
        let loaded = load(&[text(&operator)], &[]);
        assert_eq!(loaded.packages[0].generated.len(), 1, "{}", operator.display());
        let assessments = loaded.assess(&Options::default());
        let findings = rules::run(&assessments);
        let stale: Vec<&str> = findings.iter().filter(|f| f.rule == "RC190").map(|f| f.message.as_str()).collect();
        if operator.ends_with("argoproj-labs_argocd-operator") {
            let [message] = stale.as_slice() else { panic!("{stale:?}") };
            assert!(message.ends_with("only markers name `* notificationsconfiguration.argoproj.io`"), "{message}");
        } else {
            assert!(stale.is_empty(), "{}: {stale:?}", operator.display());
        }
        // Whatever is granted is named by a marker.
        let mut places = assessments.iter().flat_map(|assessment| &assessment.grants).filter_map(|g| g.places.as_ref());
        assert!(places.all(|places| places.generated.is_some() && places.verb.path.ends_with(".go")));
    }
}

#[test]
fn findings_point_at_the_marker_and_name_the_generated_rule() {
    let folder = root().join("fixtures/rules/RC190/quiet-generated");
    let findings = rules::run(&load(&[text(&folder)], &[]).assess(&Options::default()));
    let secrets = findings.iter().find(|finding| finding.rule == "RC031").unwrap();
    assert!(secrets.location.path.ends_with("controller.go"), "{:?}", secrets.location);
    let rule = secrets.related.iter().find(|place| place.label == "generated rule").unwrap();
    assert!(rule.location.as_ref().unwrap().path.ends_with("role.yaml"));
    assert!(secrets.remedy.contains("make manifests"));
}
