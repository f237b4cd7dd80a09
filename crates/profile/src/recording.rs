//! What was recorded: how often each stack was found.

use crate::options::{Clock, Options};
use crate::symbols::Function;
use std::collections::HashMap;

/// A recording of a process.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What was asked for.
    pub options: Options,
    /// How often each thread was looked at in a second: less than was asked for where a process has very many threads.
    pub hz: f64,
    /// The process: its executable and number.
    pub process: String,
    /// Whether the frames of the kernel are there.
    pub has_kernel: bool,
    /// Samples that found no room.
    pub dropped: u64,
    /// How often a thread was not sampled because the system gives no more timers or signals.
    pub refused: u64,
    /// How often each stack was found; the outermost function first, behind the role of the thread.
    pub stacks: HashMap<Vec<Function>, u64>,
}

impl Recording {
    /// All samples.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// What this is, for people.
    pub fn title(&self) -> String {
        let what = match self.options.clock {
            Clock::Cpu => "CPU",
            Clock::Wall => "CPU and waits",
        };
        format!("{what} of {}", self.process)
    }

    /// How it was made and what it lacks, for people.
    pub fn subtitle(&self) -> String {
        let seconds = self.options.duration.as_secs_f64();
        let mut text =
            format!("{} samples in {seconds} s at {:.0} Hz a thread", self.samples(), self.hz);
        if !self.has_kernel {
            text.push_str("; without frames of the kernel");
        }
        if self.dropped + self.refused > 0 {
            text.push_str(&format!(
                "; {} samples lost, {} threads refused",
                self.dropped, self.refused
            ));
        }
        text
    }
}
