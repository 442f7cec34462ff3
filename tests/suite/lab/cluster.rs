//! A control plane of its own: etcd and kube-apiserver in a folder, on free ports, with throw-away keys. Both end when
//! it is dropped, also by a panic, which leaves the folder with the logs.

use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use kube::{Client, Config};

use crate::judge::oracle::assets;

const TOKEN: &str = "lab-admin-token";
/// How long the API server may take to become ready.
const PATIENCE: Duration = Duration::from_secs(90);

pub(crate) const AUDIT_POLICY: &str =
    "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n";

pub(crate) struct Cluster {
    // Before the folder, so that the processes end first.
    apiserver: Process,
    etcd: Process,
    port: u16,
    folder: Folder,
}

/// A folder that stays when its test fails.
struct Folder(Option<tempfile::TempDir>);

impl Folder {
    fn path(&self) -> &Path {
        self.0.as_ref().unwrap().path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(folder) = self.0.take()
        {
            println!("the logs of the control plane are kept in {}", folder.keep().display());
        }
    }
}

/// A child that is killed and waited for when dropped.
struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Process {
    fn start(name: &'static str, folder: &Path, args: &[String]) -> Self {
        let log = folder.join(format!("{name}.log"));
        let file = File::create(&log).unwrap();
        let child = Command::new(assets().join(name))
            .args(args)
            .stdin(Stdio::null())
            .stdout(file.try_clone().unwrap())
            .stderr(file)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        Self { name, child, log }
    }

    /// Fails with the end of its log when it has ended.
    fn assert_running(&mut self) {
        if let Some(status) = self.child.try_wait().unwrap() {
            let log = fs::read_to_string(&self.log).unwrap_or_default();
            let tail: Vec<&str> = log.lines().rev().take(20).collect();
            panic!("{} ended with {status}:\n{}", self.name, tail.into_iter().rev().collect::<Vec<_>>().join("\n"));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Ports that are free now. Held together while they are chosen, so that they differ.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

impl Cluster {
    /// Starts the processes; `None` with a printed reason when they were not built.
    pub(crate) fn start() -> Option<Self> {
        for program in ["etcd", "kube-apiserver"] {
            if !assets().join(program).exists() {
                println!("skipped: no {program} in {} (tests/control-plane/build)", assets().display());
                return None;
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let [client, peer, port] = free_ports();
        let (clients, peers) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
        let etcd = [
            ("--data-dir", at("etcd")),
            ("--listen-client-urls", clients.clone()),
            ("--advertise-client-urls", clients.clone()),
            ("--listen-peer-urls", peers.clone()),
            ("--initial-advertise-peer-urls", peers.clone()),
            ("--initial-cluster", format!("default={peers}")),
            ("--unsafe-no-fsync", "true".to_owned()),
        ];
        let etcd = Process::start("etcd", folder.path(), &flags(&etcd));

        fs::write(at("tokens.csv"), format!("{TOKEN},admin,1,\"system:masters\"\n")).unwrap();
        fs::write(at("policy.yaml"), AUDIT_POLICY).unwrap();
        let accounts = rcgen::KeyPair::generate().unwrap();
        fs::write(at("accounts.key"), accounts.serialize_pem()).unwrap();
        fs::write(at("accounts.pub"), accounts.public_key_pem()).unwrap();
        let apiserver = [
            ("--etcd-servers", clients),
            ("--secure-port", port.to_string()),
            ("--bind-address", "127.0.0.1".to_owned()),
            ("--advertise-address", "127.0.0.1".to_owned()),
            ("--cert-dir", at("certificates")),
            ("--authorization-mode", "RBAC".to_owned()),
            ("--token-auth-file", at("tokens.csv")),
            ("--service-account-key-file", at("accounts.pub")),
            ("--service-account-signing-key-file", at("accounts.key")),
            ("--service-account-issuer", "https://lab.invalid".to_owned()),
            ("--service-cluster-ip-range", "10.0.0.0/24".to_owned()),
            ("--audit-policy-file", at("policy.yaml")),
            ("--audit-log-path", at("audit.log")),
            ("--audit-log-maxsize", "0".to_owned()),
        ];
        let apiserver = Process::start("kube-apiserver", folder.path(), &flags(&apiserver));
        Some(Self { apiserver, etcd, port, folder: Folder(Some(folder)) })
    }

    /// A client of an administrator, once the API server is ready.
    pub(crate) async fn ready(&mut self) -> Client {
        let mut config = Config::new(format!("https://127.0.0.1:{}", self.port).parse().unwrap());
        config.accept_invalid_certs = true;
        config.auth_info.token = Some(TOKEN.to_owned().into());
        let client = Client::try_from(config).unwrap();
        for _ in 0..PATIENCE.as_millis() / 100 {
            let ready = http::Request::get("/readyz").body(Vec::new()).unwrap();
            if client.request_text(ready).await.is_ok() {
                return client;
            }
            self.etcd.assert_running();
            self.apiserver.assert_running();
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the API server is not ready after {PATIENCE:?}; its log is {}", self.apiserver.log.display());
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.folder().join("audit.log")
    }

    /// Its folder, for what a test keeps with the logs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A kubeconfig for who has this token.
    pub(crate) fn kubeconfig(&self, token: &str) -> PathBuf {
        let path = self.folder().join("kubeconfig");
        let server = format!("https://127.0.0.1:{}", self.port);
        let config = serde_json::json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "clusters": [{"name": "lab", "cluster": {"server": server, "insecure-skip-tls-verify": true}}],
            "users": [{"name": "lab", "user": {"token": token}}],
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": "lab"}}],
        });
        fs::write(&path, config.to_string()).unwrap();
        path
    }
}

fn flags(pairs: &[(&str, String)]) -> Vec<String> {
    pairs.iter().map(|(flag, value)| format!("{flag}={value}")).collect()
}
