//! How long calls took: a count for each class of latencies and second of the last hour.

use super::buckets::{BUCKETS, bucket_of};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// Seconds that are kept.
pub const SECONDS_KEPT: u64 = 3600;

/// The latencies of one kind of call. Noting one takes no lock, but for the first in a second.
///
/// At most 8 bytes for each of the 54 classes and 3600 seconds are kept, 1.6 MB; a second has only the classes that occur in it,
/// and none if there was no call.
pub struct LatencyHistory {
    started: Instant,
    /// The second that `counts` belong to.
    second: AtomicU64,
    counts: [AtomicU32; BUCKETS],
    past: Mutex<VecDeque<Second>>,
}

/// The calls that ended in one second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Second {
    /// Seconds since the history began.
    pub index: u64,
    /// Classes that occurred and how often, in the order of the classes.
    pub counts: Box<[(u8, u32)]>,
}

impl Default for LatencyHistory {
    fn default() -> Self {
        Self {
            started: clock::now(),
            second: AtomicU64::new(0),
            counts: [const { AtomicU32::new(0) }; BUCKETS],
            past: Mutex::default(),
        }
    }
}

impl LatencyHistory {
    /// A call that ended now took so long.
    pub fn note(&self, took: Duration) {
        self.note_at(self.now(), took);
    }

    /// Seconds since the history began.
    pub fn now(&self) -> u64 {
        clock::since(self.started).as_secs()
    }

    fn note_at(&self, now: u64, took: Duration) {
        if self.second.load(Ordering::Relaxed) != now {
            self.close_second(now);
        }
        if let Some(count) = self.counts.get(bucket_of(took)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Puts the counts away. What another thread notes at this moment may count for the next second.
    fn close_second(&self, now: u64) {
        let mut past = self.past.lock();
        let index = self.second.load(Ordering::Relaxed);
        if index >= now {
            return;
        }
        let counts = self.counts.iter().enumerate().filter_map(|(bucket, count)| {
            let count = count.swap(0, Ordering::Relaxed);
            (count > 0).then_some((u8::try_from(bucket).unwrap_or(u8::MAX), count))
        });
        let counts: Box<[(u8, u32)]> = counts.collect();
        if !counts.is_empty() {
            past.push_back(Second { index, counts });
        }
        self.second.store(now, Ordering::Relaxed);
        while past.front().is_some_and(|second| second.index + SECONDS_KEPT <= now) {
            past.pop_front();
        }
    }

    /// The seconds from `from` on in which there were calls, the one that is not over among them.
    pub fn seconds(&self, from: u64) -> Vec<Second> {
        let now = self.now();
        if self.second.load(Ordering::Relaxed) != now {
            self.close_second(now);
        }
        let past = self.past.lock();
        let mut found: Vec<Second> =
            past.iter().filter(|second| second.index >= from).cloned().collect();
        let counts = self.counts.iter().enumerate().filter_map(|(bucket, count)| {
            let count = count.load(Ordering::Relaxed);
            (count > 0).then_some((u8::try_from(bucket).unwrap_or(u8::MAX), count))
        });
        let counts: Box<[(u8, u32)]> = counts.collect();
        if !counts.is_empty() {
            found.push(Second { index: self.second.load(Ordering::Relaxed), counts });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn calls_are_kept_by_second_for_an_hour() {
        let history = LatencyHistory::default();
        let start = SECONDS_KEPT;
        for (second, took) in [(0, MS), (1, MS), (1, MS), (1, 50 * MS), (start, MS)] {
            history.note_at(second, took);
        }
        let past = history.past.lock().clone();
        let first = past.front().unwrap();
        assert_eq!((first.index, first.counts.len(), first.counts[0].1), (1, 2, 2), "{past:?}");
        assert_eq!(past.len(), 1);
    }

    #[test]
    fn no_call_is_lost_between_threads() {
        let history = LatencyHistory::default();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let history = &history;
                scope.spawn(move || {
                    (0..30_000).for_each(|turn| history.note_at(turn / 1000, MS * (thread + 1)));
                });
            }
        });
        history.close_second(1000);
        let past = history.past.lock();
        let count =
            |second: &Second| second.counts.iter().map(|(_, count)| u64::from(*count)).sum::<u64>();
        assert_eq!(past.iter().map(count).sum::<u64>(), 120_000);
    }
}
