//! Tests on a real API server with RBAC, on loopback. Skipped with a printed reason where it was not built
//! (`tests/control-plane/build`; `KUBEBUILDER_ASSETS` names another folder).

mod cluster;
mod discovery;
mod operator;
mod review;
mod roles;

pub(crate) use cluster::AUDIT_POLICY;
use cluster::Cluster;

/// Runs the test against a new cluster.
fn on_a_cluster<T>(test: impl AsyncFnOnce(&Cluster, kube::Client) -> T) -> Option<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut cluster = Cluster::start()?;
    Some(runtime.block_on(async {
        let client = cluster.ready().await;
        test(&cluster, client).await
    }))
}
