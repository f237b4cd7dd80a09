//! Log lines about corrupt replicas and their repair.

use crate::events::of_repair;
use parking_lot::Mutex;
use std::time::{Duration, Instant};
use zerohop_daemon::events::Event;
use zerohop_namespace::Namespace;
use zerohop_system::clock;

/// Most lines in a [`PERIOD`]: a DataNode whose disk was damaged may report a million corrupt replicas.
const LINES_MAX: usize = 1000;
const PERIOD: Duration = Duration::from_secs(60);

/// Log lines about blocks with corrupt replicas, one for each event.
#[derive(Default)]
pub(crate) struct RepairLines {
    lines: Vec<String>,
    /// The events of the lines, for the page of events.
    events: Vec<Event>,
    /// Events without a line.
    left_out: u64,
}

impl RepairLines {
    /// Takes the events since the last call, and adds the names of their files.
    pub(crate) fn take(namespace: &mut Namespace) -> Self {
        let (events, left_out) = namespace.blocks_mut().take_repairs();
        let mut repairs = Self { left_out, ..Self::default() };
        for event in events {
            let path = namespace.path_of(event.file);
            let path = path.as_deref().unwrap_or("a deleted file");
            repairs.lines.push(format!("BLOCK* {} of {path}: {}", event.block, event.step));
            repairs.events.extend(of_repair(&event, path));
        }
        repairs
    }

    /// Takes the events of the lines.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }
}

/// The lines of the present period.
#[derive(Debug, Default)]
struct Period {
    begun: Option<Instant>,
    written: usize,
    left_out: u64,
}

/// Writes the lines, at most a thousand a minute.
#[derive(Debug, Default)]
pub(crate) struct RepairLog(Mutex<Period>);

impl RepairLog {
    /// Writes lines, and how many were left out in the last period.
    pub(crate) fn write(&self, repairs: RepairLines) {
        if repairs.lines.is_empty() && repairs.left_out == 0 {
            return;
        }
        let (lines, left_out) = self.0.lock().admit(repairs, clock::now());
        if left_out > 0 {
            tracing::warn!(
                "BLOCK* {left_out} more events of corrupt replicas were not logged: \"zerohop fsck -list-corruptfileblocks\" \
                 and CorruptBlocks in /jmx have what is left"
            );
        }
        lines.iter().for_each(|line| tracing::warn!("{line}"));
    }
}

impl Period {
    /// Returns the lines that may be written at `now`, and how many were left out in a period that is over.
    fn admit(&mut self, mut repairs: RepairLines, now: Instant) -> (Vec<String>, u64) {
        let mut left_out = 0;
        let is_over =
            |begun: Instant| now.checked_duration_since(begun).is_some_and(|past| past >= PERIOD);
        if self.begun.is_none_or(is_over) {
            left_out = std::mem::take(self).left_out;
            self.begun = Some(now);
        }
        let room = LINES_MAX.saturating_sub(self.written).min(repairs.lines.len());
        self.left_out += repairs.left_out + (repairs.lines.len() - room) as u64;
        repairs.lines.truncate(room);
        self.written += room;
        (repairs.lines, left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_corrupt_replicas_does_not_fill_the_log() {
        let lines = |count: usize| RepairLines {
            lines: (0..count).map(|at| at.to_string()).collect(),
            left_out: 1,
            ..RepairLines::default()
        };
        let (mut period, now) = (Period::default(), clock::now());
        assert_eq!(period.admit(lines(900), now).0.len(), 900);
        assert_eq!(period.admit(lines(200), now).0.len(), 100);
        assert_eq!(period.admit(lines(5), now).0.len(), 0);
        let (later, left_out) = period.admit(lines(5), now + PERIOD);
        assert_eq!((later.len(), left_out), (5, 108));
    }
}
