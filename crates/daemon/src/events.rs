//! The newest events that an operator wants to know in the morning, such as a corrupt replica or a failed disk.
//!
//! Each event is logged once, at warn, counted for `/jmx` and `/prom`, and kept for the daemon's page of events. A daemon
//! has a record of its own, because several daemons may run in one process. Of a flood, such as a damaged disk with a
//! million replicas, the log has the first thousand lines a minute.

use crate::metrics::Record;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use zerohop_system::clock;

/// Number of events that a record keeps.
pub const EVENTS_MAX: usize = 500;
/// Length in bytes to which a text of an event is cut: a path, or what another daemon said.
const TEXT_LEN_MAX: usize = 1024;

/// Number of lines that are logged in a [`PERIOD`].
const LINES_MAX: u64 = 1000;
const PERIOD: Duration = Duration::from_secs(60);

/// A kind of event.
#[derive(Debug, PartialEq, Eq)]
pub struct EventKind {
    /// The words with which its log line begins, such as `corrupt replica`.
    pub name: &'static str,
    /// The name of its counter in `/jmx`.
    pub counter: &'static str,
    /// True if the event ends an earlier one: a replica was repaired, a disk is back.
    pub is_good: bool,
}

/// An event: its kind, what it is about, and the cause.
#[derive(Clone, Debug)]
pub struct Event {
    kind: &'static EventKind,
    about: Vec<(&'static str, String)>,
    cause: String,
}

impl Event {
    /// Creates an event that is about nothing yet.
    pub fn new(kind: &'static EventKind, cause: impl Into<String>) -> Self {
        Self { kind, about: Vec::new(), cause: cut(cause.into()) }
    }

    /// Adds what the event is about: `name` is a column of the page, such as `block`.
    pub fn about(mut self, name: &'static str, value: impl ToString) -> Self {
        self.about.push((name, cut(value.to_string())));
        self
    }

    /// Returns the kind.
    pub fn kind(&self) -> &'static EventKind {
        self.kind
    }

    /// Returns the value of a column, or nothing.
    pub fn value(&self, name: &str) -> &str {
        let found = self.about.iter().find(|(known, _)| *known == name);
        found.map_or("", |(_, value)| value)
    }

    /// Returns the cause.
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// Returns the text of the log line: `corrupt replica: block B, disk D: cause`.
    fn line(&self) -> String {
        let mut line = self.kind.name.to_owned();
        for (at, (name, value)) in self.about.iter().enumerate() {
            let separator = if at == 0 { ":" } else { "," };
            let _ = write!(line, "{separator} {name} {value}");
        }
        if !self.cause.is_empty() {
            let _ = write!(line, ": {}", self.cause);
        }
        line
    }
}

/// An event that a record keeps, with how often it happened.
#[derive(Clone, Debug)]
pub struct RecordedEvent {
    /// The event as it happened first.
    pub event: Event,
    /// Time at which it happened first.
    pub first: SystemTime,
    /// Time at which it happened last.
    pub last: SystemTime,
    /// Number of times.
    pub times: u64,
}

/// The events of one daemon. Invariant: at most [`EVENTS_MAX`] are kept, the newest ones.
#[derive(Debug)]
pub struct EventRecord {
    kinds: &'static [EventKind],
    counts: Vec<AtomicU64>,
    kept: Mutex<VecDeque<RecordedEvent>>,
    lines: Mutex<Lines>,
}

/// The lines of the present period.
#[derive(Debug, Default)]
struct Lines {
    begun: Option<Instant>,
    logged: u64,
    left_out: u64,
}

impl Lines {
    /// Returns `None` if a line may not be logged at `now`, or the number of lines that were left out in the last period.
    fn admit(&mut self, now: Instant) -> Option<u64> {
        let is_over =
            |begun: Instant| now.checked_duration_since(begun).is_some_and(|past| past >= PERIOD);
        let mut left_out = 0;
        if self.begun.is_none_or(is_over) {
            left_out = std::mem::take(self).left_out;
            self.begun = Some(now);
        }
        if self.logged == LINES_MAX {
            self.left_out += 1;
            return None;
        }
        self.logged += 1;
        Some(left_out)
    }
}

impl EventRecord {
    /// Creates an empty record of events of these kinds.
    pub fn new(kinds: &'static [EventKind]) -> Self {
        let counts = kinds.iter().map(|_| AtomicU64::new(0)).collect();
        Self { kinds, counts, kept: Mutex::default(), lines: Mutex::default() }
    }

    /// Logs, counts and keeps an event. A repetition of the newest event about the same thing
    /// only counts up, so that a replica which every scan finds corrupt is one line.
    pub fn record(&self, event: Event) {
        let Some(line) = self.keep(event) else { return };
        let admitted = locked(&self.lines).admit(clock::now());
        let Some(left_out) = admitted else { return };
        if left_out > 0 {
            tracing::warn!(
                "{left_out} more events were not logged; /jmx counts them, /events lists the newest"
            );
        }
        tracing::warn!("{line}");
    }

    /// Like [`record`](Self::record), but logs nothing: for an event that the part to which it happened has logged. Returns
    /// the line, or `None` if the event repeats the newest one.
    pub fn keep(&self, event: Event) -> Option<String> {
        let now = clock::wall();
        let mut kept = locked(&self.kept);
        if let Some(known) = kept.iter_mut().rev().find(|known| known.event.about == event.about)
            && known.event.kind == event.kind
        {
            (known.last, known.times) = (now, known.times + 1);
            return None;
        }
        let line = event.line();
        if kept.len() == EVENTS_MAX {
            kept.pop_front();
        }
        let place = self.kinds.iter().position(|kind| kind == event.kind);
        kept.push_back(RecordedEvent { event, first: now, last: now, times: 1 });
        drop(kept);
        if let Some(count) = place.and_then(|place| self.counts.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        Some(line)
    }

    /// Returns the newest event for which `is_wanted` holds.
    pub fn newest_of(&self, is_wanted: impl Fn(&Event) -> bool) -> Option<Event> {
        let kept = locked(&self.kept);
        kept.iter().rev().map(|known| &known.event).find(|event| is_wanted(event)).cloned()
    }

    /// Returns the events that are kept, the newest first.
    pub fn newest(&self) -> Vec<RecordedEvent> {
        locked(&self.kept).iter().rev().cloned().collect()
    }

    /// Returns the number of events of a kind since the start, without repeated ones.
    pub fn count(&self, kind: &EventKind) -> u64 {
        let place = self.kinds.iter().position(|known| known == kind);
        let count = place.and_then(|place| self.counts.get(place));
        count.map_or(0, |count| count.load(Ordering::Relaxed))
    }

    /// Returns the counters of all kinds, for `/jmx` and `/prom`.
    pub fn metrics(&self) -> Record {
        let mut record = Record::new("Events", "events", "dfs");
        for kind in self.kinds {
            record.counter(kind.counter, kind.name, self.count(kind));
        }
        record
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_LEN_MAX));
    text
}

/// Locks a mutex even if another thread panicked: each change is one push, which leaves the list whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    static KINDS: [EventKind; 2] = [
        EventKind { name: "corrupt replica", counter: "CorruptReplicas", is_good: false },
        EventKind { name: "replica repaired", counter: "ReplicasRepaired", is_good: true },
    ];

    fn event(kind: usize, block: u64) -> Event {
        Event::new(&KINDS[kind], "cause").about("block", block).about("disk", "/d")
    }

    #[test]
    fn an_event_that_every_scan_repeats_is_one_until_it_was_mended() {
        let record = EventRecord::new(&KINDS);
        for (kind, block) in [(0, 1), (0, 1), (0, 2), (0, 1), (1, 1), (0, 1)] {
            record.record(event(kind, block));
        }
        assert_eq!(KINDS.each_ref().map(|kind| record.count(kind)), [3, 1]);
        let shown: Vec<_> = record.newest().iter().map(|e| (e.event.line(), e.times)).collect();
        let corrupt = |block| format!("corrupt replica: block {block}, disk /d: cause");
        assert_eq!(
            shown,
            [
                (corrupt(1), 1),
                ("replica repaired: block 1, disk /d: cause".to_owned(), 1),
                (corrupt(2), 1),
                (corrupt(1), 3),
            ]
        );
    }

    #[test]
    fn a_flood_does_not_fill_the_log() {
        let (mut lines, now) = (Lines::default(), clock::now());
        let admitted = (0..LINES_MAX + 5).filter(|_| lines.admit(now).is_some()).count();
        assert_eq!(admitted as u64, LINES_MAX);
        assert_eq!(lines.admit(now + PERIOD), Some(5));
        assert_eq!(lines.admit(now + PERIOD), Some(0));
    }

    #[test]
    fn a_record_stays_small_whatever_happens() {
        let record = EventRecord::new(&KINDS);
        for block in 0..2 * EVENTS_MAX as u64 {
            record.record(event(0, block).about("file", "é".repeat(5000)));
        }
        let kept = record.newest();
        assert_eq!(kept.len(), EVENTS_MAX);
        assert_eq!(kept[0].event.value("block"), (2 * EVENTS_MAX - 1).to_string());
        assert!(kept.iter().all(|known| known.event.value("file").len() <= TEXT_LEN_MAX));
        assert_eq!(record.count(&KINDS[0]), 2 * EVENTS_MAX as u64);
    }
}
