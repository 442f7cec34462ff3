//! A control plane of its own: etcd and kube-apiserver in a folder, on free ports, with throw-away keys. It ends when
//! it is dropped, also by a panic, which leaves the folder with the logs.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kube::{Client, Config};

use super::process::Process;
use crate::judge::oracle::assets;

pub(super) const TOKEN: &str = "lab-admin-token";
/// How long the API server may take to become ready.
const PATIENCE: Duration = Duration::from_secs(90);
/// How often other ports are tried.
const ATTEMPTS: usize = 3;

/// Bodies where they decide what else is checked, as `rolecall audit-policy` would have it.
pub(crate) const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: RequestResponse
  verbs: [create, update, patch]
  resources: [{group: rbac.authorization.k8s.io}, {group: authorization.k8s.io}]
- level: Metadata
";

pub(crate) struct Cluster {
    // Before the folder, so that the processes end first; those that need others stand before them.
    processes: Vec<Process>,
    port: u16,
    folder: Folder,
}

/// A folder that stays when its test fails.
struct Folder {
    path: PathBuf,
    /// `None` where it is another's.
    own: Option<tempfile::TempDir>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking()
            && let Some(folder) = self.own.take()
        {
            println!("the logs of the control plane are kept in {}", folder.keep().display());
        }
    }
}

/// Ports that are free now. Held together while they are chosen, so that they differ.
pub(super) fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

/// Whether the lab can run here; says why not.
pub(crate) fn is_built() -> bool {
    let missing =
        ["etcd", "kube-apiserver", "kube-controller-manager"].iter().find(|name| !assets().join(name).exists());
    if let Some(missing) = missing {
        println!("skipped: no {missing} in {} (tests/control-plane/build)", assets().display());
    }
    missing.is_none()
}

impl Cluster {
    /// A running control plane that records what the audit policy says, with more admission plugins than by default, and
    /// a client of its administrator.
    pub(crate) async fn start(policy: &str, admission: &[&str]) -> (Self, Client) {
        // A free port can be taken by somebody else before the program listens on it.
        for _ in 0..ATTEMPTS {
            match Self::start_on(free_ports(), policy, admission).await {
                Ok(running) => return running,
                Err(why) if why.contains("address already in use") => println!("once more on other ports: {why}"),
                Err(why) => panic!("{why}"),
            }
        }
        panic!("no free ports after {ATTEMPTS} attempts");
    }

    /// As `start`, on these ports; the error says which program ended and how its log does.
    pub(crate) async fn start_on(
        [clients, peers, port]: [u16; 3],
        policy: &str,
        admission: &[&str],
    ) -> Result<(Self, Client), String> {
        let folder = tempfile::tempdir().unwrap();
        let program = |name: &str, flags: &[(&str, String)]| {
            let args: Vec<String> = flags.iter().map(|(flag, value)| format!("{flag}={value}")).collect();
            Process::start(&assets().join(name), &args, &[], folder.path())
        };
        let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (clients, peers) = (format!("http://127.0.0.1:{clients}"), format!("http://127.0.0.1:{peers}"));
        let etcd = program(
            "etcd",
            &[
                ("--data-dir", at("etcd")),
                ("--listen-client-urls", clients.clone()),
                ("--advertise-client-urls", clients.clone()),
                ("--listen-peer-urls", peers.clone()),
                ("--initial-advertise-peer-urls", peers.clone()),
                ("--initial-cluster", format!("default={peers}")),
                ("--unsafe-no-fsync", "true".to_owned()),
            ],
        );
        fs::write(at("tokens.csv"), format!("{TOKEN},admin,1,\"system:masters\"\n")).unwrap();
        fs::write(at("policy.yaml"), policy).unwrap();
        let accounts = rcgen::KeyPair::generate().unwrap();
        fs::write(at("accounts.key"), accounts.serialize_pem()).unwrap();
        fs::write(at("accounts.pub"), accounts.public_key_pem()).unwrap();
        let apiserver = program(
            "kube-apiserver",
            &[
                ("--etcd-servers", clients),
                ("--secure-port", port.to_string()),
                ("--bind-address", "127.0.0.1".to_owned()),
                ("--advertise-address", "127.0.0.1".to_owned()),
                ("--cert-dir", at("certificates")),
                ("--authorization-mode", "RBAC".to_owned()),
                ("--enable-admission-plugins", admission.join(",")),
                ("--token-auth-file", at("tokens.csv")),
                ("--service-account-key-file", at("accounts.pub")),
                ("--service-account-signing-key-file", at("accounts.key")),
                ("--service-account-issuer", "https://lab.invalid".to_owned()),
                ("--service-cluster-ip-range", "10.0.0.0/24".to_owned()),
                ("--audit-policy-file", at("policy.yaml")),
                ("--audit-log-path", at("audit.log")),
                ("--audit-log-maxsize", "0".to_owned()),
            ],
        );
        let mut cluster = Self {
            processes: vec![apiserver, etcd],
            port,
            folder: Folder { path: folder.path().to_owned(), own: Some(folder) },
        };
        let client = cluster.ready().await?;
        Ok((cluster, client))
    }

    /// The cluster of another process, by its folder and port.
    pub(crate) async fn attached(folder: &Path, port: u16) -> (Self, Client) {
        let mut cluster = Self { processes: Vec::new(), port, folder: Folder { path: folder.to_owned(), own: None } };
        let client = cluster.ready().await.unwrap();
        (cluster, client)
    }

    async fn ready(&mut self) -> Result<Client, String> {
        let mut config = Config::new(format!("https://127.0.0.1:{}", self.port).parse().unwrap());
        config.accept_invalid_certs = true;
        config.auth_info.token = Some(TOKEN.to_owned().into());
        // No answer takes longer; without etcd some never come.
        config.read_timeout = Some(Duration::from_secs(60));
        let client = Client::try_from(config).unwrap();
        for _ in 0..PATIENCE.as_millis() / 100 {
            let ready = http::Request::get("/readyz").body(Vec::new()).unwrap();
            if client.request_text(ready).await.is_ok() {
                return Ok(client);
            }
            if let Some(why) = self.obituary() {
                return Err(why);
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        Err(format!("the API server is not ready after {PATIENCE:?}"))
    }

    /// Adds the controllers that this test needs, such as `clusterrole-aggregation-controller`.
    pub(crate) fn add_controllers(&mut self, names: &str) {
        let args = [
            format!("--kubeconfig={}", self.kubeconfig(TOKEN).display()),
            format!("--controllers={names}"),
            "--leader-elect=false".to_owned(),
            // It serves nothing.
            "--secure-port=0".to_owned(),
        ];
        let program = assets().join("kube-controller-manager");
        self.processes.insert(0, Process::start(&program, &args, &[], self.folder()));
    }

    /// What has ended although nobody ended it; `None` when all runs.
    pub(crate) fn obituary(&mut self) -> Option<String> {
        self.processes.iter_mut().find_map(Process::obituary)
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.folder().join("audit.log")
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Its folder, for what a test keeps with the logs.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder.path
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

impl Drop for Cluster {
    fn drop(&mut self) {
        // Else the reader of a failed test would look for the fault in the test.
        if std::thread::panicking()
            && let Some(why) = self.obituary()
        {
            println!("{why}");
        }
    }
}
