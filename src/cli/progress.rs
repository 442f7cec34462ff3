//! A progress bar on standard error for long logs, on a terminal only.

use indicatif::{ProgressBar, ProgressStyle};

use super::output::Terminal;

/// A bar of bytes read, and their rate.
#[derive(Debug)]
pub(super) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// `total` where it is known how much there is.
    pub(super) fn new(terminal: &Terminal, wanted: bool, total: Option<u64>) -> Self {
        let bar = (wanted && terminal.shows_progress()).then(|| {
            let template = match total {
                Some(_) => "{bar:30} {bytes} of {total_bytes}, {binary_bytes_per_sec}, {eta} left",
                None => "{spinner} {bytes} read, {binary_bytes_per_sec}",
            };
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
            total.map_or_else(ProgressBar::new_spinner, ProgressBar::new).with_style(style)
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
