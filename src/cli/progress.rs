//! A progress bar on standard error for long logs, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};

use super::output::Terminal;

/// A bar of bytes read, and their rate.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    pub(super) fn new(terminal: &Terminal, wanted: bool) -> Self {
        let bar = (wanted && terminal.shows_progress()).then(|| {
            let style = ProgressStyle::with_template("{spinner} {bytes} read, {binary_bytes_per_sec}");
            ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
        });
        Self { bar }
    }

    /// More bytes were read.
    pub(super) fn add(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }

    /// Takes the bar away.
    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
