//! The role in its forms, and the change of the user's own files: what is written where, and what is refused.

mod patch;

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Answer, DEMO, DEMO_LOG, DEMO_SUBJECT, rolecall, text};

const HEAD: &str = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: op, namespace: ns}\n---\n";

fn bound(kind: &str, role_kind: &str, name: &str, subjects: &[&str]) -> String {
    let subjects: Vec<String> =
        subjects.iter().map(|subject| format!("{{kind: ServiceAccount, name: {subject}, namespace: ns}}")).collect();
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: ns}}\nroleRef: \
         {{apiGroup: rbac.authorization.k8s.io, kind: {role_kind}, name: {name}}}\nsubjects: [{}]\n---\n",
        subjects.join(", ")
    )
}

fn role(kind: &str, name: &str, rules: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: {name}, namespace: ns}}\nrules:\n{rules}---\n"
    )
}

fn cluster_role(name: &str, rules: &str, subjects: &[&str]) -> String {
    role("ClusterRole", name, rules) + &bound("ClusterRoleBinding", "ClusterRole", name, subjects)
}

/// Calls `ACCOUNT VERB URI`, all allowed.
fn log(calls: &[&str]) -> String {
    let event = |(at, call): (usize, &&str)| {
        let [account, verb, uri] = call.split(' ').collect::<Vec<_>>().try_into().unwrap();
        format!(
            r#"{{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"{at}","stage":"ResponseComplete","requestURI":"{uri}","verb":"{verb}","user":{{"username":"system:serviceaccount:ns:{account}"}},"responseStatus":{{"code":200}},"requestReceivedTimestamp":"2026-12-01T09:00:{at:02}.000000Z","annotations":{{"authorization.k8s.io/decision":"allow"}}}}"#
        ) + "\n"
    };
    calls.iter().enumerate().map(event).collect()
}

/// Manifests and a log; what is kept only because so short a log cannot show it is left out.
struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new(manifests: &str, calls: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("m")).unwrap();
        fs::write(folder.path().join("m/role.yaml"), format!("{HEAD}{manifests}")).unwrap();
        fs::write(folder.path().join("audit.log"), log(calls)).unwrap();
        Self { folder }
    }

    fn path(&self, path: &str) -> String {
        text(&self.folder.path().join(path)).to_owned()
    }

    fn run(&self, args: &[&str]) -> Answer {
        let role = ["role", &self.path("m"), "--audit", &self.path("audit.log"), "--drop-unexercised"];
        rolecall(&[&role, args].concat())
    }

    fn in_place(&self, args: &[&str]) -> (String, Answer) {
        let answer = self.run(&[&["--in-place"], args].concat());
        (fs::read_to_string(self.path("m/role.yaml")).unwrap(), answer)
    }
}

const PODS: &str = "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get, list, watch]\n";
const GET_POD: &str = "op get /api/v1/namespaces/other/pods/p";

#[test]
fn the_diff_of_the_demo_is_what_git_applies() {
    let answer = rolecall(&["role", DEMO, "--audit", DEMO_LOG, "--patch"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    let folder = tempfile::tempdir().unwrap();
    let demo = folder.path().join(DEMO);
    fs::create_dir_all(&demo).unwrap();
    fs::copy(format!("{DEMO}/operator.yaml"), demo.join("operator.yaml")).unwrap();
    fs::write(folder.path().join("role.patch"), &answer.stdout).unwrap();
    let applied = Command::new("git").args(["apply", "role.patch"]).current_dir(folder.path()).status();
    if applied.is_err() {
        println!("skipped: git is not there");
        return;
    }
    assert!(applied.unwrap().success());
    let again = rolecall(&["role", text(&demo), "--audit", DEMO_LOG, "--patch"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, ""));
    assert!(again.stderr.contains("nothing to change"), "{}", again.stderr);
    // Whoever has the changed roles can do all that was seen.
    let file = demo.join("operator.yaml");
    let verify = ["verify", "--role", text(&file), "--subject", DEMO_SUBJECT, "--audit", DEMO_LOG];
    assert_eq!(rolecall(&verify).code, 0);
}

#[test]
fn a_role_keeps_what_any_of_its_holders_needs() {
    let manifests = cluster_role("shared", PODS, &["op", "other"]);
    let calls = [GET_POD, "other list /api/v1/pods"];
    let (after, _) = Case::new(&manifests, &calls).in_place(&["--subject", "ns/op"]);
    assert!(after.contains("verbs: [get, list, watch]"), "{after}");
    // What the log does not show of one is not cut for the other.
    let (after, answer) = Case::new(&manifests, &calls[..1]).in_place(&["--subject", "ns/op"]);
    assert!(after.contains(PODS));
    assert_eq!(answer.code, 3);
    assert!(answer.stderr.contains("ns/other holds it, and the log shows nothing of that"), "{}", answer.stderr);
}

#[test]
fn a_grant_in_the_namespace_makes_one_in_the_cluster_needless() {
    let manifests = cluster_role("wide", PODS, &["op"])
        + &role("Role", "own", PODS)
        + &bound("RoleBinding", "Role", "own", &["op"]);
    let (after, _) = Case::new(&manifests, &["op get /api/v1/namespaces/ns/pods/p"]).in_place(&[]);
    assert!(after.contains("rules: []"), "{after}");
    assert!(after.contains("  verbs: [get]\n"), "{after}");
}

#[test]
fn additions_go_to_a_role_of_the_subject_alone() {
    let calls = [GET_POD, "op create /api/v1/namespaces/other/configmaps", "op list /api/v1/nodes"];
    let (after, answer) = Case::new(&cluster_role("a", PODS, &["op"]), &calls).in_place(&[]);
    let added = "  verbs: [get]\n# an addition: used, but no role of the input grants it\n- apiGroups: [\"\"]\n  resources: [nodes]\n  verbs: [list]\n";
    assert!(after.contains(added), "{after}");
    assert!(answer.stderr.contains("not added"), "{}", answer.stderr);
    let shared = cluster_role("a", PODS, &["op", "other"]);
    let (after, answer) = Case::new(&shared, &[calls[0], calls[2], "other list /api/v1/pods"]).in_place(&[]);
    assert!(!after.contains("nodes"), "{after}");
    assert!(answer.stderr.contains("ns/op: not added"), "{}", answer.stderr);
}

#[test]
fn roles_for_people_stay() {
    let labelled = cluster_role("a", PODS, &["op"]).replacen(
        "{name: a, namespace: ns}",
        "{name: a, labels: {rbac.authorization.k8s.io/aggregate-to-view: \"true\"}}",
        1,
    );
    let (after, answer) = Case::new(&labelled, &[GET_POD]).in_place(&[]);
    assert!(after.contains(PODS));
    assert!(answer.stderr.contains("hands it to people too"), "{}", answer.stderr);
}

#[cfg(unix)]
#[test]
fn files_keep_their_permissions_and_links_lead_nowhere_else() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let case = Case::new(&cluster_role("a", PODS, &["op"]), &[GET_POD]);
    let file = case.path("m/role.yaml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    let (after, answer) = case.in_place(&[]);
    assert!(after.contains("verbs: [get]") && answer.stdout.is_empty(), "{after}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_dir(case.path("m")).unwrap().count(), 1, "no temporary file is left");

    let case = Case::new(&cluster_role("a", PODS, &["op"]), &[GET_POD]);
    fs::rename(case.path("m/role.yaml"), case.path("outside.yaml")).unwrap();
    symlink(case.path("outside.yaml"), case.path("m/role.yaml")).unwrap();
    let (after, answer) = case.in_place(&[]);
    assert!(after.contains(PODS));
    assert_eq!(answer.code, 3);
    assert!(answer.stderr.contains("a link leads to it out of the given paths"), "{}", answer.stderr);
    // A link to what is given is followed, and stays one.
    let log = case.path("audit.log");
    let args = ["role", &case.path("m/role.yaml"), "--audit", &log, "--drop-unexercised", "--in-place"];
    let answer = rolecall(&args);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(fs::symlink_metadata(case.path("m/role.yaml")).unwrap().is_symlink());
    assert!(fs::read_to_string(case.path("outside.yaml")).unwrap().contains("verbs: [get]"));
}

#[test]
fn what_no_file_holds_is_said() {
    let case = Case::new(&cluster_role("a", PODS, &["op"]), &[GET_POD]);
    let archive = case.path("m.tgz");
    let file = flate2::write::GzEncoder::new(fs::File::create(&archive).unwrap(), Default::default());
    let mut tar = tar::Builder::new(file);
    tar.append_dir_all("m", case.path("m")).unwrap();
    tar.into_inner().unwrap().finish().unwrap();
    let answer = rolecall(&["role", &archive, "--audit", &case.path("audit.log"), "--drop-unexercised", "--patch"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""));
    assert!(answer.stderr.contains("it is in an archive or was rendered"), "{}", answer.stderr);
}

#[test]
fn arguments_that_do_not_go_together_are_refused() {
    for args in [
        &["role", DEMO, "--audit", DEMO_LOG, "--patch", "--as", "markers"][..],
        &["role", "--subject", DEMO_SUBJECT, "--audit", DEMO_LOG, "--patch"],
        &["role", DEMO, "--patch"],
    ] {
        assert_eq!(rolecall(args).code, 2, "{args:?}");
    }
}

#[test]
fn every_form_reads_back() {
    let form = |form: &str| {
        let answer = rolecall(&["role", DEMO, "--audit", DEMO_LOG, "--drop-unexercised", "--as", form]);
        assert_eq!(answer.code, 0, "{}", answer.stderr);
        answer.stdout
    };
    let folder = tempfile::tempdir().unwrap();
    let verified =
        |file: &Path| rolecall(&["verify", "--role", text(file), "--subject", DEMO_SUBJECT, "--audit", DEMO_LOG]);
    // As the block of a ClusterServiceVersion.
    let block: String = form("csv").lines().map(|line| format!("      {line}\n")).collect();
    let csv = format!(
        "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {{name: op.v1, namespace: notebook-system}}\nspec:\n  install:\n    strategy: deployment\n    spec:\n{block}"
    );
    let file = folder.path().join("csv.yaml");
    fs::write(&file, csv).unwrap();
    assert_eq!(verified(&file).code, 0);
    // Below the head that a template writes.
    let lists = form("helm");
    let mut objects = String::new();
    for (list, (kind, binding)) in
        lists.split("---\n").skip(1).zip([("ClusterRole", "ClusterRoleBinding"), ("Role", "RoleBinding")])
    {
        objects += &format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata: {{name: a, namespace: notebook-system}}\n{list}---\n"
        );
        objects +=
            &bound(binding, kind, "a", &["notebook-operator"]).replace("namespace: ns", "namespace: notebook-system");
    }
    let file = folder.path().join("helm.yaml");
    fs::write(&file, objects).unwrap();
    assert_eq!(verified(&file).code, 0);
    // The patch of a kustomization names each role and holds rules.
    let patches: serde_json::Value = serde_saphyr::from_str(&form("kustomize")).unwrap();
    let patches = patches["patches"].as_array().unwrap();
    let names: Vec<&str> = patches.iter().map(|patch| patch["target"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["notebook-operator", "notebook-operator-leader"]);
    for patch in patches {
        let operations: serde_json::Value = serde_saphyr::from_str(patch["patch"].as_str().unwrap()).unwrap();
        assert_eq!((&operations[0]["op"], &operations[0]["path"]), (&"replace".into(), &"/rules".into()));
        assert!(operations[0]["value"][0]["verbs"].is_array());
    }
    assert!(form("markers").contains(
        "// +kubebuilder:rbac:namespace=notebook-system,groups=coordination.k8s.io,resources=leases,verbs=create\n"
    ));
    assert_eq!(form("yaml"), rolecall(&["role", DEMO, "--audit", DEMO_LOG, "--drop-unexercised"]).stdout);
}
