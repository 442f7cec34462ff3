//! Hostile and broken input: bounded memory, a message with the position, the rest analysed, never a silent success.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Answer, DEMO, DEMO_LOG, DEMO_SUBJECT, DEMO_USED, rolecall, rolecall_within, text};

const ROLE: &str = "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {name: a}\nrules:\n\
                    - {apiGroups: [''], resources: [secrets], verbs: [list]}\n---\n\
                    apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: a}\n\
                    roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: a}\n\
                    subjects: [{kind: ServiceAccount, name: op, namespace: ns}]\n";

/// More than any run below needs, less than input that is held whole or multiplied out would take.
const MEBIBYTES: u64 = 400;

fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Scans one bad manifest beside a good one.
fn beside_a_good_one(bytes: &[u8]) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "good.yaml", ROLE);
    write(folder.path(), "bad.yaml", bytes);
    rolecall_within(MEBIBYTES, &["scan", text(folder.path()), "-o", "table"])
}

#[test]
fn a_bad_manifest_costs_itself_and_is_named_with_its_position() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        bomb.extend([format!("a{level}: &a{level} [{}]\n", [below.as_str(); 9].join(", "))]);
    }
    let bomb = format!(
        "{bomb}kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {{name: b}}\nrules: *a11\n"
    );
    let items = format!("{bomb}---\nkind: List\napiVersion: v1\nitems: &i [{}]\n", ["*i"; 50].join(","));
    let nested = format!("kind: ClusterRole\nrules: {}", "[".repeat(100_000));
    let deep_blocks: String = (0..20_000).map(|level| format!("{}a:\n", " ".repeat(level % 2_000))).collect();
    let cases: &[(&str, &[u8], &str)] = &[
        ("binary", b"\x7fELF\0\0\0", "bad.yaml:1:1: a binary file"),
        ("not UTF-8", b"a: \xff\xfe", "bad.yaml:1:4: not UTF-8"),
        ("template", b"kind: Role\nmetadata:\n  name: {{ .Values.name }}\n{{- if }}\n", "bad.yaml:"),
        ("bare template", b"{{- if .Values.rbac }}\nkind: Role\n{{- end }}\n", "bad.yaml:1:"),
        ("alias bomb", bomb.as_bytes(), "bad.yaml:"),
        ("list that holds itself", items.as_bytes(), "bad.yaml:"),
        ("100 000 deep", nested.as_bytes(), "bad.yaml:"),
        ("deep blocks", deep_blocks.as_bytes(), "bad.yaml:"),
        ("broken quote", b"kind: \"Role\nmetadata: x", "bad.yaml:"),
        ("tabs", b"kind: Role\n\tmetadata: x\n", "bad.yaml:"),
        (
            "a name that is a list",
            b"apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: [x]}\n",
            "bad.yaml:3:18",
        ),
    ];
    for (name, bytes, said) in cases {
        let answer = beside_a_good_one(bytes);
        assert_eq!(answer.code, 1, "{name}: {answer:?}");
        assert!(answer.stdout.contains("RC031"), "{name}: the good file is judged: {answer:?}");
        assert!(answer.stderr.contains(said), "{name}: {}", answer.stderr);
        assert!(answer.stderr.len() < 20_000, "{name}: {} bytes of messages", answer.stderr.len());
    }
    // Blank and unknown documents are no fault.
    for fine in [
        &b""[..],
        b"\n\n# only a comment\n",
        b"---\n---\n",
        b"kind: Unknown\napiVersion: x/v1\n",
        b"\xef\xbb\xbfkind: X\r\napiVersion: v1\r\n",
    ] {
        let answer = beside_a_good_one(fine);
        assert_eq!((answer.code, answer.stderr.as_str()), (1, ""), "{fine:?}");
    }
}

#[test]
fn a_rule_that_multiplies_out_to_anything_stays_small_and_is_no_success() {
    let many = |what: &str| (0..2_000).map(|at| format!("{what}{at}")).collect::<Vec<_>>().join(",");
    let rule = format!("{{apiGroups: [{}], resources: [{}], verbs: [{}]}}", many("g"), many("r"), many("v"));
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "m.yaml", ROLE.replace("rules:\n", &format!("rules:\n- {rule}\n")));
    let answer = rolecall_within(MEBIBYTES, &["scan", text(&file), "--fail-on", "never"]);
    assert_eq!(answer.code, 3, "{}", answer.stderr);
    assert!(answer.stdout.contains("RC031") && answer.stderr.contains("not judged"), "{answer:?}");
    let verified =
        rolecall_within(MEBIBYTES, &["verify", "--role", text(&file), "--subject", "ns/op", "--audit", DEMO_LOG]);
    assert_eq!(verified.code, 3, "{}", verified.stderr);
}

#[test]
fn a_broken_document_between_good_ones_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    let second = ROLE.replace("name: a", "name: b").replace("secrets", "pods/exec").replace("list", "create");
    let file = write(folder.path(), "m.yaml", format!("{ROLE}---\nkind: ClusterRole\n  bad: [\n---\n{second}"));
    let answer = rolecall(&["scan", text(&file)]);
    assert!(answer.stdout.contains("RC031") && answer.stdout.contains("RC069"), "{}", answer.stdout);
    assert!(answer.stderr.contains("m.yaml:14:"), "{}", answer.stderr);
    assert_eq!(rolecall(&["scan", text(&file), "--strict"]).code, 3);
}

fn events() -> Vec<u8> {
    let mut text = Vec::new();
    std::io::copy(&mut flate2::read::GzDecoder::new(fs::File::open(DEMO_LOG).unwrap()), &mut text).unwrap();
    text
}

/// The demo judged by a log.
fn judged_by(log: &[u8]) -> Answer {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "audit.log", log);
    rolecall_within(MEBIBYTES, &["scan", DEMO, "--audit", text(&log)])
}

#[test]
fn bad_lines_of_a_log_cost_themselves() {
    let good = events();
    let cut = good[..good.len() - 100].to_vec();
    let with = |line: &[u8]| [line, b"\n", &good].concat();
    let long = with(&vec![b'a'; 50 << 20]);
    let long_event = with(&[b"{\"kind\":\"Event\",\"x\":\"".to_vec(), vec![b'a'; 50 << 20], b"\"}".to_vec()].concat());
    let nested = with(&vec![b'['; 100_000]);
    let cases: &[(&str, &[u8], &str, &str)] = &[
        ("cut last line", &cut, "audit.log:84:", ", used 2"),
        ("garbage", &with(b"\x00\xff garbage"), "audit.log:1:1: ", DEMO_USED),
        ("line of 50 MB", &long, "audit.log:1:", DEMO_USED),
        ("event of 50 MB", &long_event, "audit.log:1:", DEMO_USED),
        ("deep nesting", &nested, "audit.log:1:", DEMO_USED),
        ("application log", &with(b"I0101 00:00:00.000000 1 main.go:1] started"), "audit.log:1:1: ", DEMO_USED),
    ];
    for (name, log, said, used) in cases {
        let answer = judged_by(log);
        assert_eq!(answer.code, 1, "{name}: {answer:?}");
        assert!(answer.stderr.contains(said), "{name}: {}", answer.stderr);
        assert!(answer.stdout.contains(used), "{name}: {}", answer.stdout);
    }
}

#[test]
fn a_gzip_cut_short_gives_what_it_holds_and_says_so() {
    let whole = fs::read(DEMO_LOG).unwrap();
    let answer = judged_by(&whole[..whole.len() - 200]);
    assert!(answer.stderr.contains("audit.log:"), "{}", answer.stderr);
    assert!(answer.stdout.contains(", used ") && !answer.stdout.contains(DEMO_USED), "{}", answer.stdout);
}

#[test]
fn a_bomb_of_gzip_stays_small() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..600 {
        bomb.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    bomb.write_all(b"\n").unwrap();
    bomb.write_all(&events()).unwrap();
    let answer = judged_by(&bomb.finish().unwrap());
    assert!(answer.stdout.contains(DEMO_USED), "{answer:?}");
    assert!(answer.stderr.contains("audit.log:1:"), "{}", answer.stderr);
}

#[test]
fn a_log_of_another_kind_is_named_and_no_success() {
    for (log, said) in [
        ("type=SYSCALL msg=audit(1364481363.243:24287): arch=c000003e syscall=2 success=no\n", "auditd"),
        ("2026-01-01T00:00:00Z INFO starting manager\n", "audit.k8s.io"),
        ("{\"level\":\"info\",\"ts\":1,\"msg\":\"Reconciling\"}\n", "audit.log:1:1"),
    ] {
        let answer = judged_by(log.as_bytes());
        assert_eq!(answer.code, 3, "{log}: {answer:?}");
        assert!(answer.stderr.contains(said) && answer.stderr.contains("no audit event"), "{log}: {}", answer.stderr);
    }
}

#[test]
fn no_event_of_the_subject_judges_nothing_unused() {
    let other = String::from_utf8(events()).unwrap().replace("notebook-operator", "somebody-else");
    let answer = judged_by(other.as_bytes());
    assert!(!answer.stdout.contains("RC181") && !answer.stdout.contains("RC187"), "{}", answer.stdout);
    assert!(answer.stdout.contains("no event of this subject"), "{}", answer.stdout);
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "audit.log", other);
    let role = rolecall(&["role", DEMO, "--subject", DEMO_SUBJECT, "--audit", text(&log)]);
    assert_eq!((role.code, role.stdout.as_str()), (3, ""), "{}", role.stderr);
}

#[test]
fn a_folder_as_a_log_and_a_log_given_twice_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "audit.log", events());
    let answer = rolecall(&["scan", DEMO, "--audit", text(folder.path()), "--audit", text(&log)]);
    assert!(answer.stdout.contains(DEMO_USED), "{}", answer.stdout);
}

#[test]
fn ten_thousand_files_are_read_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..10_000 {
        write(
            folder.path(),
            &format!("{number}.yaml"),
            format!("apiVersion: v1\nkind: ServiceAccount\nmetadata: {{name: a{number}}}\n"),
        );
    }
    write(folder.path(), "role.yaml", ROLE);
    let answer = rolecall_within(MEBIBYTES, &["scan", text(folder.path()), "--fail-on", "never"]);
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert!(answer.stdout.contains("Read 10001 files (10002 objects read"), "{}", answer.stdout);
}

#[cfg(unix)]
#[test]
fn what_may_not_be_read_is_said_and_the_rest_is_read() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "good.yaml", ROLE);
    let secret = write(folder.path(), "secret.yaml", ROLE);
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read(&secret).is_ok() {
        println!("skipped: this user may read everything");
        return;
    }
    let answer = rolecall_within(MEBIBYTES, &["scan", text(folder.path()), "--strict"]);
    assert_eq!(answer.code, 3);
    assert!(answer.stderr.contains("secret.yaml:1:1: Permission denied"), "{}", answer.stderr);
    assert!(answer.stdout.contains("Secrets can be listed"), "{}", answer.stdout);
}
