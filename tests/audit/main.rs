//! Audit logs recorded on a real API server, and small ones with known answers, read through the public
//! interface. The data lie beside the repository; without them these tests say so and pass.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::format_push_string,
    reason = "tests read files, say what they counted, and fail loudly"
)]

#[path = "../common/mod.rs"]
mod common;
mod inputs;
mod micro;
mod recorded;
