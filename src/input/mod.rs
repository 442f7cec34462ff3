//! Files, directories and standard input → texts and log readers: the only place that reads disk.

mod error;
pub mod log;

pub use error::Error;
