//! What can go wrong in the lab itself: each ends with a clear message and with nothing left running.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, PostParams};

use super::cluster::{AUDIT_POLICY, Cluster};
use super::on_a_cluster;
use super::process::Process;

/// Processes whose command line has this text.
pub(super) fn running(text: &str) -> Vec<u32> {
    let listed = Command::new("ps").args(["-eo", "pid=,args="]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let found = listed.lines().filter(|line| line.contains(text) && !line.contains("sh -c"));
    found.filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

pub(super) fn end(pid: u32) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

pub(super) fn gone(text: &str) -> bool {
    (0..200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        running(text).is_empty()
    })
}

#[test]
fn a_port_that_is_taken_is_named_and_others_are_tried() {
    on_a_cluster(async |_, _| {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = taken.local_addr().unwrap().port();
        let free = super::cluster::free_ports::<2>();
        for (ports, program) in [([port, free[0], free[1]], "etcd"), ([free[0], free[1], port], "kube-apiserver")] {
            let Err(why) = Cluster::start_on(ports, AUDIT_POLICY, &[]).await else {
                panic!("{program} runs on a port that is taken")
            };
            assert!(why.starts_with(&format!("{program} ended with exit status: 1")), "{why}");
            assert!(why.contains("address already in use") && why.contains(&port.to_string()), "{why}");
        }
    });
}

#[test]
fn an_etcd_killed_in_the_middle_is_named() {
    on_a_cluster(async |cluster, client| {
        let folder = cluster.folder().display().to_string();
        assert_eq!(cluster.obituary(), None);
        for pid in running(&format!("--data-dir={folder}")) {
            end(pid);
        }
        // A request that needs it is not answered, or with an error; the client may try it again and again.
        let namespaces: Api<Namespace> = Api::all(client);
        let namespace = serde_json::from_value(serde_json::json!({"metadata": {"name": "late"}})).unwrap();
        let params = PostParams::default();
        let answer = tokio::time::timeout(Duration::from_secs(10), namespaces.create(&params, &namespace)).await;
        assert!(!matches!(answer, Ok(Ok(_))), "there is no etcd");
        let why = cluster.obituary().expect("it is known that etcd has ended");
        assert!(why.starts_with("etcd ended with signal 9"), "{why}");
        println!("etcd killed: a request ends with {answer:?}");
    });
}

#[test]
fn a_program_that_cannot_write_says_so() {
    on_a_cluster(async |_, _| {
        let folder = tempfile::tempdir().unwrap();
        let args = ["--data-dir=/dev/full".to_owned()];
        let mut etcd = Process::start(&crate::judge::oracle::assets().join("etcd"), &args, &[], folder.path());
        let why = (0..200).find_map(|_| {
            std::thread::sleep(Duration::from_millis(50));
            etcd.obituary()
        });
        let why = why.expect("it ends");
        assert!(why.starts_with("etcd ended with") && why.contains("/dev/full"), "{why}");
    });
}

const KILLED: &str = "ROLECALL_LAB_KILLED";

/// Run by the test below in a process of its own.
#[test]
fn to_be_killed() {
    let Some(folder) = std::env::var_os(KILLED) else { return };
    let _sleeping = Process::start(Path::new("sleep"), &["987.5".to_owned()], &[], Path::new(&folder));
    println!("\nstarted");
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
fn nothing_is_left_when_the_tests_are_killed() {
    let folder = tempfile::tempdir().unwrap();
    let mut tests = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lab::trouble::to_be_killed", "--nocapture"])
        .env(KILLED, folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(tests.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap() == "started"));
    assert!((0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        running("sleep 987.5").len() == 1
    }));
    tests.kill().unwrap();
    tests.wait().unwrap();
    assert!(gone("sleep 987.5"), "{:?}", running("sleep 987.5"));
    assert!(fs::read_dir(folder.path()).unwrap().count() > 0);
}

#[test]
fn a_failed_test_leaves_its_logs_and_no_process() {
    let mut left = None;
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        on_a_cluster(async |cluster, _| {
            left = Some(cluster.folder().to_owned());
            panic!("on purpose");
        })
    }));
    let Some(folder) = left else { return assert!(failed.is_ok_and(|run: Option<()>| run.is_none())) };
    assert!(failed.is_err() && gone(&folder.display().to_string()));
    assert!(folder.join("etcd.log").exists() && folder.join("kube-apiserver.log").exists());
    fs::remove_dir_all(folder).unwrap();
}
