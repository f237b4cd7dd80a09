//! A speed limit shared by several transfers.

use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// How much may be sent at once after a pause, as time at full speed.
const BURST: Duration = Duration::from_millis(100);

/// A limit in bytes a second; 0 means none.
pub(crate) struct Throttle {
    bytes_per_second: AtomicU64,
    /// When everything taken so far would have been sent at the limit.
    paid_until: Mutex<Instant>,
}

impl Throttle {
    /// A limit of `bytes_per_second`.
    pub(crate) fn new(bytes_per_second: u64) -> Self {
        Self {
            bytes_per_second: AtomicU64::new(bytes_per_second),
            paid_until: Mutex::new(clock::now()),
        }
    }

    /// The limit.
    pub(crate) fn limit(&self) -> u64 {
        self.bytes_per_second.load(Ordering::Relaxed)
    }

    /// Changes the limit.
    pub(crate) fn set_limit(&self, bytes_per_second: u64) {
        self.bytes_per_second.store(bytes_per_second, Ordering::Relaxed);
    }

    /// Accounts for `len` bytes and waits until they fit the limit.
    pub(crate) fn take(&self, len: u64) {
        if let Some(wait) = self.owed(len, clock::now()) {
            std::thread::park_timeout(wait);
        }
    }

    fn owed(&self, len: u64, now: Instant) -> Option<Duration> {
        let limit = self.limit();
        if limit == 0 {
            return None;
        }
        let mut paid_until = self.paid_until.lock();
        let start = (*paid_until).max(now.checked_sub(BURST).unwrap_or(now));
        *paid_until = start + Duration::from_secs_f64(len as f64 / limit as f64);
        paid_until.checked_duration_since(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_bytes_is_owed_after_the_burst() {
        let throttle = Throttle::new(1000);
        let now = Instant::now() + Duration::from_secs(1);
        assert_eq!(throttle.owed(100, now), Some(Duration::ZERO));
        assert_eq!(throttle.owed(1000, now), Some(Duration::from_secs(1)));
        throttle.set_limit(0);
        assert_eq!(throttle.owed(1 << 40, now), None);
    }
}
