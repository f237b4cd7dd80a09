//! Whether packets follow each other so closely that it pays to wait for the next one, and how much
//! of them may wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use zerohop_replica::{FlushExtent, WRITE_UNIT};

/// Where there is no room to hold a [`WRITE_UNIT`], a file is written in calls of this many bytes.
const SHORT_UNIT: u64 = 512 << 10;
/// Writers of this process that hold a whole unit at the same time: 256 MiB.
static UNIT_PERMITS: UnitPermits = UnitPermits::new(128);

/// Counts the writers that hold a whole [`WRITE_UNIT`] in memory.
struct UnitPermits {
    free: AtomicUsize,
}

/// The right to do so.
struct UnitPermit(&'static UnitPermits);

impl UnitPermits {
    const fn new(free: usize) -> Self {
        Self { free: AtomicUsize::new(free) }
    }

    fn take(&'static self) -> Option<UnitPermit> {
        let less = |free: usize| free.checked_sub(1);
        let taken = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        taken.ok().map(|_| UnitPermit(self))
    }
}

impl Drop for UnitPermit {
    fn drop(&mut self) {
        self.0.free.fetch_add(1, Ordering::Relaxed);
    }
}

/// How much a writer holds before it is written.
pub(super) struct FlushPolicy {
    permit: Option<UnitPermit>,
    permits: &'static UnitPermits,
}

impl FlushPolicy {
    pub(super) fn new() -> Self {
        Self { permit: None, permits: &UNIT_PERMITS }
    }

    /// How much of `held` bytes to write: nothing yet, whole units, or all of it because many other writers
    /// hold a unit.
    pub(super) fn flush_extent(&mut self, held: u64) -> Option<FlushExtent> {
        if held < SHORT_UNIT {
            return None;
        }
        self.permit = self.permit.take().or_else(|| self.permits.take());
        match &self.permit {
            Some(_) => (held >= WRITE_UNIT).then_some(FlushExtent::Units),
            None => Some(FlushExtent::All),
        }
    }

    /// Bytes of buffer for packets, of which the next one ends at `end`.
    pub(super) fn buffer_len(end: usize, is_small: bool) -> usize {
        match is_small {
            true => end.max(SMALL_BUFFER_LEN),
            false if end <= BUFFER_LEN => BUFFER_LEN,
            false => end.max(LONG_BUFFER_LEN),
        }
    }
}

/// Least room for packets on their way; a larger packet gets as much as it needs.
const BUFFER_LEN: usize = 768 << 10;
/// The same for the packets of a small file.
pub(super) const SMALL_BUFFER_LEN: usize = 16 << 10;
/// UnitPermit for a unit, its checksums and the beginning of the next packet.
const LONG_BUFFER_LEN: usize = WRITE_UNIT as usize + (256 << 10);

/// Packets with less data than this do not wait for others.
const HELD_PACKET_MIN: u32 = 32 << 10;
/// A writer that let packets wait in vain so often, without a run of close ones in between, is slow:
/// its packets wait no longer.
const MISSES_MAX: u8 = 3;

/// What was seen of a writer's packets.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// The most data that a packet brought, and how many more brought as much.
    longest: u32,
    repeats: u32,
    misses: u8,
}

impl Pace {
    /// A packet with so much data came.
    pub(super) fn note(&mut self, len: u32) {
        if len > self.longest {
            (self.longest, self.repeats) = (len, 0);
        } else if len == self.longest {
            self.repeats = self.repeats.saturating_add(1);
        }
    }

    /// Whether a long packet came.
    pub(super) fn has_long(&self) -> bool {
        self.longest >= HELD_PACKET_MIN
    }

    /// Whether others will follow this packet soon: it is long, and as long as those before it. A
    /// short one may be a client's hflush.
    pub(super) fn goes_on(&self, len: u32) -> bool {
        let is_full = self.repeats > 0 && len == self.longest;
        is_full && len >= HELD_PACKET_MIN && self.misses < MISSES_MAX
    }

    /// Packets waited for the next ones, which came.
    pub(super) fn kept(&mut self) {
        self.misses = 0;
    }

    /// Packets waited in vain.
    pub(super) fn missed(&mut self) {
        self.misses = self.misses.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_runs_of_long_packets_wait() {
        let mut pace = Pace::default();
        pace.note(64512);
        assert!(!pace.goes_on(64512), "the first one may be all there is");
        pace.note(64512);
        assert!(pace.goes_on(64512));
        pace.note(4096);
        assert!(!pace.goes_on(4096));
        let mut short = Pace::default();
        (0..5).for_each(|_| short.note(4096));
        assert!(!short.goes_on(4096));
    }

    #[test]
    fn many_writers_hold_less_each() {
        let permits: &UnitPermits = Box::leak(Box::new(UnitPermits::new(2)));
        let new = || FlushPolicy { permit: None, permits };
        let mut holds = [new(), new()];
        assert!(holds.iter_mut().all(|hold| hold.flush_extent(SHORT_UNIT).is_none()));
        assert_eq!(holds[0].flush_extent(WRITE_UNIT), Some(FlushExtent::Units));
        let mut one_more = new();
        assert_eq!(one_more.flush_extent(SHORT_UNIT - 1), None);
        assert_eq!(one_more.flush_extent(SHORT_UNIT), Some(FlushExtent::All));
        drop(holds);
        assert_eq!(one_more.flush_extent(SHORT_UNIT), None);
    }

    #[test]
    fn a_slow_writer_is_not_waited_for() {
        let mut pace = Pace::default();
        (0..2).for_each(|_| pace.note(64512));
        (0..MISSES_MAX - 1).for_each(|_| pace.missed());
        pace.kept();
        (0..MISSES_MAX).for_each(|_| pace.missed());
        assert!(!pace.goes_on(64512));
        pace.kept();
        assert!(pace.goes_on(64512));
    }
}
