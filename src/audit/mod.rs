//! Audit log lines → observed calls → [`Usage`]: one pass, memory bounded by the distinct calls.
//! Readers are handed in by `input`; nothing here touches disk.

mod call;
mod collector;
mod event;
mod impersonation;
mod lines;
mod lookalike;
mod request_info;
#[cfg(test)]
mod tests;
mod usage;

pub use collector::Collector;
pub use event::{Event, ObjectRef, ResponseStatus, Text, User};
pub use lines::Lines;
pub use request_info::{RequestInfo, request_info};
pub use usage::{Decision, LogQuality, Observed, Origin, Sample, Skipped, Usage};
