//! What a change of the user's own files must not do: take from others, break templates, call right what was not read,
//! write a patch that nothing applies, or leave half of the files changed.

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::Command as Binary;

use super::{GET_POD, HEAD, PODS, bound, cluster_role, log, role};
use crate::cli::{Answer, answer, text};

/// A folder of files and a log.
struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)], calls: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, content)| tree.write(path, content));
        tree.write("audit.log", &log(calls));
        tree
    }

    fn path(&self, path: &str) -> std::path::PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, content: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), content).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }

    /// `rolecall role ARGS` in one of its folders.
    fn role(&self, folder: &str, args: &[&str]) -> Answer {
        let log = self.path("audit.log");
        let common = ["--audit", text(&log), "--drop-unexercised"];
        let mut command = Binary::cargo_bin("rolecall").unwrap();
        answer(command.current_dir(self.path(folder)).arg("role").args(args).args(common))
    }
}

fn account(name: &str) -> String {
    HEAD.replace("name: op", &format!("name: {name}"))
        + &format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: ns}}\nspec: {{template: {{spec: \
             {{serviceAccountName: {name}, containers: [{{name: a, image: b}}]}}}}}}\n---\n"
        )
}

fn binding(subject: &str, role: &str) -> String {
    bound("ClusterRoleBinding", "ClusterRole", role, &[subject]).replacen(
        &format!("name: {role}"),
        &format!("name: {role}-{subject}"),
        1,
    )
}

const OTHER_LISTS: &str = "other list /api/v1/pods";

#[test]
fn a_role_that_another_package_binds_stays() {
    let own = account("op") + &role("ClusterRole", "r", PODS) + &binding("op", "r");
    let other = account("other") + &binding("other", "r");
    let tree = Tree::new(&[("m/a/x.yaml", &own), ("m/b/x.yaml", &other)], &[GET_POD, OTHER_LISTS]);
    for args in
        [&["m"][..], &["m/a", "m/b"], &["m", "--subject", "ns/op"], &["m/a", "m/b/x.yaml", "--subject", "ns/op"]]
    {
        let answer = tree.role(".", &[args, &["--patch"]].concat());
        assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{args:?}: {}", answer.stderr);
        assert!(answer.stderr.contains("ClusterRoleBinding r-other (m/b/x.yaml:"), "{}", answer.stderr);
    }
    let answer = tree.role(".", &["m", "--subject", "ns/other", "--patch"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{}", answer.stderr);
    assert!(answer.stderr.contains("stands in another folder or argument (m/a/x.yaml:"), "{}", answer.stderr);
    // Together they are judged.
    let answer = tree.role(".", &["m/a/x.yaml", "m/b/x.yaml", "--subject", "ns/op", "--patch"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(answer.stdout.contains("+  verbs: [get, list, watch]") || answer.stdout.is_empty(), "{}", answer.stdout);
}

#[test]
fn an_aggregated_role_of_another_package_counts_as_one_who_has_it() {
    let labelled = role("ClusterRole", "r", PODS).replacen("{name: r,", "{name: r, labels: {team: x},", 1);
    let own = account("op") + &labelled + &binding("op", "r");
    let all = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: all}\naggregationRule: \
               {clusterRoleSelectors: [{matchLabels: {team: x}}]}\nrules: []\n---\n";
    let other = account("other") + all + &binding("other", "all");
    let tree = Tree::new(&[("m/a/x.yaml", &own), ("m/b/x.yaml", &other)], &[GET_POD, OTHER_LISTS]);
    let answer = tree.role(".", &["m", "--subject", "ns/op", "--patch"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{}", answer.stderr);
    assert!(answer.stderr.contains("ClusterRole all (m/b/x.yaml:"), "{}", answer.stderr);
    let tree = Tree::new(&[("m/a/x.yaml", &own), ("m/b/x.yaml", &other.replace("team: x", "team: y"))], &[GET_POD]);
    let answer = tree.role(".", &["m", "--subject", "ns/op", "--patch"]);
    assert!(answer.code == 0 && answer.stdout.contains("+  verbs: [get]"), "{}", answer.stderr);
}

#[test]
fn roles_of_one_name_in_two_packages_are_two() {
    let of = |name: &str| account(name) + &role("ClusterRole", "r", PODS) + &binding(name, "r");
    let tree = Tree::new(&[("m/a/x.yaml", &of("op")), ("m/b/x.yaml", &of("other"))], &[GET_POD, OTHER_LISTS]);
    let answer = tree.role(".", &["m", "--subject", "ns/op", "--patch"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(answer.stdout.contains("+  verbs: [get]"), "{}", answer.stdout);
}

/// The calls, allowed by what the reason says.
fn allowed_by(calls: &[&str], reason: &str) -> String {
    let reason = serde_json::to_string(&format!("RBAC: allowed by {reason}")).unwrap();
    let of = r#""authorization.k8s.io/decision":"allow""#;
    log(calls).replace(of, &format!(r#"{of},"authorization.k8s.io/reason":{reason}"#))
}

#[test]
fn a_role_that_the_log_shows_others_under_stays() {
    let manifests = account("op") + &cluster_role("r", PODS, &["op"]);
    let own = allowed_by(&[GET_POD], r#"ClusterRoleBinding "r" of ClusterRole "r" to ServiceAccount "op/ns""#);
    let elsewhere = |reason: &str| {
        let tree = Tree::new(&[("m/x.yaml", &manifests)], &[]);
        tree.write("audit.log", &format!("{own}{}", allowed_by(&[OTHER_LISTS], reason)));
        tree.role(".", &["m", "--subject", "ns/op", "--patch"])
    };
    let answer = elsewhere(r#"ClusterRoleBinding "b9" of ClusterRole "r" to ServiceAccount "other/ns""#);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{}", answer.stderr);
    let why = "the log shows ns/other under it through ClusterRoleBinding b9, which the input does not have";
    assert!(answer.stderr.contains(why), "{}", answer.stderr);
    let answer = elsewhere(r#"RoleBinding "b/zz" of ClusterRole "r" to Group "all""#);
    assert!(answer.code == 3 && answer.stderr.contains("RoleBinding b in zz"), "{}", answer.stderr);
    // Other roles of that name are none of its uses, and what a known binding gives is judged.
    for reason in [
        r#"RoleBinding "b/ns" of Role "r" to ServiceAccount "other/ns""#,
        r#"ClusterRoleBinding "b9" of ClusterRole "other" to ServiceAccount "other/ns""#,
        r#"ClusterRoleBinding "r" of ClusterRole "r" to ServiceAccount "op/ns""#,
    ] {
        let answer = elsewhere(reason);
        assert_eq!(answer.code, 0, "{reason}: {}", answer.stderr);
        assert!(answer.stdout.contains("+  verbs: [get]"), "{reason}: {}", answer.stdout);
    }
}

#[test]
fn what_its_own_holder_uses_through_a_binding_that_was_not_read_is_not_taken() {
    let manifests =
        account("op") + &role("ClusterRole", "r", PODS) + &bound("RoleBinding", "ClusterRole", "r", &["op"]);
    let tree = Tree::new(&[("m/x.yaml", &manifests)], &[]);
    let here = allowed_by(
        &["op get /api/v1/namespaces/ns/pods/p"],
        r#"RoleBinding "r/ns" of ClusterRole "r" to ServiceAccount "op/ns""#,
    );
    tree.write("audit.log", &here);
    assert!(tree.role(".", &["m", "--patch"]).stdout.contains("+  verbs: [get]"));
    let there = allowed_by(
        &["op list /api/v1/namespaces/zz/pods"],
        r#"RoleBinding "r/zz" of ClusterRole "r" to ServiceAccount "op/ns""#,
    );
    tree.write("audit.log", &(here + &there));
    let answer = tree.role(".", &["m", "--patch"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{}", answer.stderr);
    assert!(answer.stderr.contains("ns/op under it through RoleBinding r in zz"), "{}", answer.stderr);
}

#[test]
fn nothing_is_called_right_that_was_not_read() {
    let binding = HEAD.to_owned() + &binding("op", "r");
    let role = role("ClusterRole", "r", PODS);
    for other in [
        String::new(),
        format!("{{{{- if .Values.rbac }}}}\n{role}{{{{- end }}}}\n"),
        role.replace("[get, list, watch]", "[get, ${V}]"),
    ] {
        let tree = Tree::new(&[("m/binding.yaml", &binding), ("m/role.yaml", &other)], &[GET_POD]);
        for form in ["--patch", "--in-place"] {
            let answer = tree.role(".", &["m", form]);
            assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{other}: {}", answer.stderr);
            let said = "ClusterRole r, which ClusterRoleBinding r-op (m/binding.yaml:7) names, was not read";
            assert!(answer.stderr.contains(said), "{other}: {}", answer.stderr);
            assert!(answer.stderr.contains("no role of ns/op was read and judged"), "{}", answer.stderr);
            assert!(!answer.stderr.contains("nothing to change"), "{}", answer.stderr);
        }
    }
    // Kubernetes' own are in no file.
    let admin = HEAD.to_owned() + &binding.replace("name: r}", "name: view}");
    let tree = Tree::new(&[("m/binding.yaml", &admin)], &[GET_POD]);
    let answer = tree.role(".", &["m", "--patch"]);
    assert!(answer.code == 3 && answer.stderr.contains("view"), "{}", answer.stderr);
    assert!(answer.stderr.contains("is Kubernetes' own"), "{}", answer.stderr);
    // One that is right beside one that was not read: the one is said to be right, the other is named.
    let both =
        HEAD.to_owned() + &cluster_role("own", "- apiGroups: [\"\"]\n  resources: [pods]\n  verbs: [get]\n", &["op"]);
    let tree = Tree::new(&[("m/x.yaml", &(both + &self::binding("op", "r")))], &[GET_POD]);
    let answer = tree.role(".", &["m", "--patch"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(answer.stderr.contains("nothing to change") && answer.stderr.contains("was not read"), "{}", answer.stderr);
}

#[test]
fn templates_of_ytt_are_left() {
    let with_code = role("ClusterRole", "r", &format!("{PODS}#@ if x:\n{}#@ end\n", PODS.replace("pods", "secrets")));
    let tree = Tree::new(&[("m/x.yaml", &(HEAD.to_owned() + &binding("op", "r") + &with_code))], &[GET_POD]);
    let answer = tree.role(".", &["m", "--patch"]);
    assert_eq!((answer.code, answer.stdout.as_str()), (3, ""), "{}", answer.stderr);
    assert!(answer.stderr.contains("it stands in a template"), "{}", answer.stderr);
}

fn run(program: &str, args: &[&str], folder: &Path) -> Option<bool> {
    let quiet = Command::new(program).args(args).current_dir(folder).output();
    quiet.ok().map(|output| output.status.success())
}

#[test]
fn a_patch_applies_from_the_top_of_the_work_tree_and_where_it_is_said() {
    let manifests = account("op") + &cluster_role("r", PODS, &["op"]);
    let files = [("repo/my config/rbac/role.yaml", &*manifests), ("repo/tools/x", ""), ("repo/z/x", "")];
    let changed = manifests.replace("verbs: [get, list, watch]", "verbs: [get]");
    for git in [true, false] {
        // From, the paths given, where the patch is to be applied, where it can be applied besides.
        for (from, given, folder, also) in [
            ("repo", "my config", "repo", ""),
            ("repo/tools", "../my config", if git { "repo" } else { "repo/my config/rbac" }, ""),
            (
                "repo/my config",
                ".",
                if git { "repo" } else { "repo/my config" },
                if git { "repo/my config" } else { "" },
            ),
            ("repo/z", "ABSOLUTE", if git { "repo" } else { "repo/my config/rbac" }, ""),
        ] {
            let tree = Tree::new(&files, &[GET_POD]);
            if git && run("git", &["init", "-q"], &tree.path("repo")) != Some(true) {
                println!("skipped: git is not there");
                return;
            }
            let absolute = tree.path("repo/my config");
            let given = if given == "ABSOLUTE" { text(&absolute) } else { given };
            let answer = tree.role(from, &[given, "--patch"]);
            assert_eq!(answer.code, 0, "{}", answer.stderr);
            let said = answer.stderr.contains("the patch is to be applied in ");
            assert_eq!(said, folder != from, "{from}: {}", answer.stderr);
            if said {
                let folder = fs::canonicalize(tree.path(folder)).unwrap();
                assert!(answer.stderr.contains(&format!("applied in {}", folder.display())), "{}", answer.stderr);
            }
            let patch = tree.path("role.patch");
            fs::write(&patch, &answer.stdout).unwrap();
            let mut ways: Vec<(&str, &[&str], &str)> =
                vec![("git", &["apply"], folder), ("patch", &["-s", "-p1", "-i"], folder)];
            if !also.is_empty() {
                ways.push(("git", &["apply"], also));
            }
            for (program, args, folder) in ways {
                tree.write(files[0].0, &manifests);
                let Some(applied) = run(program, &[args, &[text(&patch)]].concat(), &tree.path(folder)) else {
                    println!("skipped: {program} is not there");
                    continue;
                };
                assert!(applied, "{program} in {folder}, written in {from}:\n{}", answer.stdout);
                assert_eq!(tree.read(files[0].0), changed, "{program} in {folder}, written in {from}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn in_place_changes_all_files_or_none() {
    use std::os::unix::fs::PermissionsExt;
    let of = |name: &str| cluster_role(name, PODS, &["op"]);
    let tree = Tree::new(&[("m/a/x.yaml", &(HEAD.to_owned() + &of("a"))), ("m/z/x.yaml", &of("z"))], &[GET_POD]);
    let locked = tree.path("m/z");
    let mode = |mode| fs::set_permissions(&locked, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    if fs::write(tree.path("m/z/probe"), "").is_ok() {
        println!("skipped: this user may write anywhere");
        return;
    }
    let answer = tree.role(".", &["m", "--in-place"]);
    mode(0o755);
    assert_eq!(answer.code, 2, "{}", answer.stderr);
    assert!(answer.stderr.contains("no file is changed"), "{}", answer.stderr);
    assert!(tree.read("m/a/x.yaml").contains(PODS), "the first file is changed");
    assert_eq!(fs::read_dir(tree.path("m/a")).unwrap().count(), 1, "a temporary file is left");
    assert_eq!(tree.role(".", &["m", "--in-place"]).code, 0);
    for file in ["m/a/x.yaml", "m/z/x.yaml"] {
        assert!(tree.read(file).contains("verbs: [get]"));
    }
}
