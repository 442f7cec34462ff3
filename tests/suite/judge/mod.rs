//! Kubernetes' own code as the judge: generated policies, requests and rules, and everything that rolecall writes, are
//! put to the functions of a real Kubernetes release (`tests/control-plane/oracle`). Skipped with a printed reason
//! where the oracle was not built (`tests/control-plane/build`).

mod algebra;
mod attributes;
mod audit_policy;
pub(crate) mod authorize;
mod builtin;
pub(crate) mod generate;
pub(crate) mod narrowing;
pub(crate) mod oracle;
mod risk;
mod written;

use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// A runner of so many cases whose seed is printed: `ROLECALL_SEED` (hexadecimal) runs the same cases again.
pub(crate) fn runner(cases: u32) -> TestRunner {
    let seed = std::env::var("ROLECALL_SEED").ok().and_then(|text| u64::from_str_radix(&text, 16).ok());
    let seed = seed.unwrap_or(0x00c0_ffee);
    println!("ROLECALL_SEED={seed:x}");
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 2_000, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}
