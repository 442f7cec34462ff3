//! Lines of a log → events → the collector: streaming, a bad line costs that line.

use std::io::Read;

use super::Usage;

/// Collects the distinct calls of one or more logs.
#[derive(Debug, Default)]
pub struct Collector {}

impl Collector {
    /// An empty collector.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads one log (already decompressed) to its end. Never fails: what cannot be read, an I/O error
    /// included, becomes a diagnostic with `path` and line.
    pub fn read(&mut self, path: &str, input: &mut dyn Read) {
        let _ = (path, input);
        unimplemented!()
    }

    /// The profile of everything read.
    pub fn finish(self) -> Usage {
        unimplemented!()
    }
}
