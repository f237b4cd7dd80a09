//! A progress bar on standard error, when that is a terminal and the work takes a while.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};
use zerohop_system::clock;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work shows nothing.
const DELAY: Duration = Duration::from_millis(400);

/// Bytes done of bytes to do.
pub struct Progress {
    bar: Option<ProgressBar>,
    start: Instant,
    shown: OnceLock<()>,
}

impl Progress {
    pub fn new() -> Progress {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
            let style =
                "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}";
            if let Ok(style) = ProgressStyle::with_template(style) {
                bar.set_style(style);
            }
            bar
        });
        Progress { bar, start: clock::now(), shown: OnceLock::new() }
    }

    pub fn expect(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc_length(bytes);
        }
    }

    /// Names the file that is under way.
    pub fn show(&self, file: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(file.to_owned());
        }
    }

    pub fn done(&self, bytes: u64) {
        let Some(bar) = &self.bar else { return };
        if clock::since(self.start) > DELAY {
            self.shown.get_or_init(|| bar.set_draw_target(ProgressDrawTarget::stderr()));
        }
        bar.inc(bytes);
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
