//! What the binaries of the fuzzer call.

mod check;

pub use check::{aks, eks, framing, gke, native};
