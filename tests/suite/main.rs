//! Everything that is tested from outside of the library, one topic a module. One binary: it links once.

#![allow(
    clippy::allow_attributes,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::format_push_string,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    unreachable_pub,
    reason = "tests read files, say what they counted or skipped, and fail loudly"
)]

mod architecture;
mod audit;
mod cli;
mod common;
mod corpus;
mod evidence;
mod extensions;
mod formats;
mod generated;
mod judge;
mod lab;
mod markers;
mod patched;
mod recorded;
mod rules;
mod without_log;
