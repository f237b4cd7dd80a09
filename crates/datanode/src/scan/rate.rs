//! How many bytes were verified in each minute of the last hour (`VolumeScanner.scannedBytes`).

use std::time::Duration;

const MINUTES: u64 = 60;

/// Bytes verified in each minute of the last hour. Times are measured from the scanner's start.
pub(super) struct HourlyBytes {
    /// By minute, in a ring.
    minutes: [u64; MINUTES as usize],
    /// The latest minute counted.
    now: u64,
}

impl Default for HourlyBytes {
    fn default() -> Self {
        Self { minutes: [0; MINUTES as usize], now: 0 }
    }
}

impl HourlyBytes {
    /// Counts bytes.
    pub(super) fn add(&mut self, at: Duration, bytes: u64) {
        self.forget_old(at);
        if let Some(minute) = self.minutes.get_mut((self.now % MINUTES) as usize) {
            *minute += bytes;
        }
    }

    /// Bytes of the last hour.
    pub(super) fn sum(&mut self, at: Duration) -> u64 {
        self.forget_old(at);
        self.minutes.iter().sum()
    }

    /// Whether the mean rate of the last hour is not above `bytes_per_second`.
    pub(super) fn is_within(&mut self, at: Duration, bytes_per_second: u64) -> bool {
        let bytes = self.sum(at);
        // The first minute counts as one second, as Apache has it.
        let seconds = if self.now == 0 { 1 } else { self.now.min(MINUTES) * 60 };
        bytes / seconds <= bytes_per_second
    }

    fn forget_old(&mut self, at: Duration) {
        let now = at.as_secs() / 60;
        for minute in self.now + 1..=now.min(self.now + MINUTES) {
            if let Some(old) = self.minutes.get_mut((minute % MINUTES) as usize) {
                *old = 0;
            }
        }
        self.now = now.max(self.now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_for_an_hour() {
        let at = |minute: u64| Duration::from_secs(minute * 60);
        let mut bytes = HourlyBytes::default();
        bytes.add(at(0), 500);
        assert!(bytes.is_within(at(0), 500) && !bytes.is_within(at(0), 499));
        assert!(bytes.is_within(at(1), 9));
        bytes.add(at(30), 7);
        assert_eq!(bytes.sum(at(59)), 507);
        assert_eq!(bytes.sum(at(60)), 7);
        assert_eq!(bytes.sum(at(10_000)), 0);
    }
}
