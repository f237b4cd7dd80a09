//! Whether packets follow each other so closely that it pays to wait for the next one.

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
    /// short one may be somebody's hflush.
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
