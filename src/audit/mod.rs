//! Audit log lines → observed calls → [`Usage`]: one pass, memory bounded by the distinct calls.
//! Readers are handed in by `input`; nothing here touches disk.

mod block;
mod cause;
mod decision;
pub mod event;
mod framing;
mod impersonation;
mod key;
mod level;
mod parallel;
mod reader;
mod records;
mod request_info;
mod shape;
mod sighting;
mod stages;
mod tally;
mod time;
mod url;
mod usage;

pub use reader::Collector;
pub use usage::{Decision, LogQuality, Observed, Origin, Sample, Skipped, Usage};
