//! Files, directories and standard input → texts and log readers: the only place that reads disk.

mod archive;
mod audit_policy;
mod discover;
mod error;
mod follow;
pub mod log;
mod render;
mod same;
mod select;
#[cfg(test)]
mod tests;

pub use audit_policy::audit_policy;
pub use discover::{Discovered, File, manifests};
pub use error::Error;
pub use follow::{Tail, follow};
pub use log::{Logs, STDIN, is_packed, read_logs, read_selected};
pub use render::render;
pub use same::is_same_file;
pub use select::{Select, expand};
