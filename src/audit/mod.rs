//! Audit log lines → observed calls → [`Usage`]: one pass, memory bounded by the distinct calls.
//! Readers are handed in by `input`; nothing here touches disk.

mod event;
mod reader;
mod request_info;
mod usage;

pub use event::{Event, ObjectRef, ResponseStatus, User};
pub use reader::read_log;
pub use request_info::{RequestInfo, request_info};
pub use usage::{Decision, LogQuality, Observed, Origin, Sample, Skipped, Usage};
