//! Audit log lines → observed calls → [`Usage`]: one pass, memory bounded by the distinct calls.
//! Readers are handed in by `input`; nothing here touches disk.

mod behind;
mod block;
mod cause;
mod clients;
mod decision;
pub mod event;
mod follow;
mod framing;
mod impersonation;
mod key;
mod level;
mod limits;
mod line_parser;
mod merge;
mod parallel;
mod pieces;
pub mod policy;
mod prefilter;
mod profile;
mod reader;
mod reason;
mod records;
mod request_info;
mod select;
mod shape;
mod sighting;
mod stages;
mod tally;
mod time;
mod url;
mod usage;

pub use behind::{Behind, What};
pub use clients::Clients;
pub use follow::Following;
pub use limits::Limit;
pub use profile::{Profile, Said};
pub use reader::Collector;
pub use reason::Through;
pub use select::{Attribution, Select};
pub use shape::{Known, Loss, Shape};
pub use usage::{Decision, LogQuality, MOST_IMPERSONATORS, Observed, Origin, Sample, Skipped, Usage};
