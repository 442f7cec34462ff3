//! Tests on a real API server with RBAC, on loopback. Skipped with a printed reason where it was not built
//! (`tests/control-plane/build`; `KUBEBUILDER_ASSETS` names another folder).

mod aggregation;
mod cluster;
mod dead;
mod demo;
mod discovery;
mod evidence;
mod minimal;
mod operator;
mod process;
mod prove;
mod review;
mod roles;
mod scenario;
mod trouble;

pub(crate) use cluster::AUDIT_POLICY;
use cluster::{Cluster, is_built};

/// Runs the test against a new cluster.
fn on_a_cluster<T>(test: impl AsyncFnOnce(&mut Cluster, kube::Client) -> T) -> Option<T> {
    on_a_cluster_that_records(AUDIT_POLICY, &[], test)
}

/// The same under another audit policy, with more admission plugins.
fn on_a_cluster_that_records<T>(
    policy: &str,
    admission: &[&str],
    test: impl AsyncFnOnce(&mut Cluster, kube::Client) -> T,
) -> Option<T> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    is_built().then(|| {
        runtime.block_on(async {
            let (mut cluster, client) = Cluster::start(policy, admission).await;
            test(&mut cluster, client).await
        })
    })
}
