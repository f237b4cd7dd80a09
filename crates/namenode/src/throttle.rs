//! A limit on how fast images go from one NameNode to another.

use std::time::{Duration, Instant};
use zerohop_system::clock;

/// Bytes per second of one transfer.
#[derive(Debug)]
pub(crate) struct TransferThrottle {
    /// 0: no limit.
    bytes_per_s: u64,
    begun: Instant,
    passed: u64,
}

impl TransferThrottle {
    /// A transfer that begins now.
    pub(crate) fn new(bytes_per_s: u64) -> Self {
        Self { bytes_per_s, begun: clock::now(), passed: 0 }
    }

    /// Notes bytes that pass, and waits until the limit allows the next ones. Blocks.
    pub(crate) fn pass(&mut self, bytes: usize) {
        self.passed += bytes as u64;
        if let Some(wait) = self.early_by(clock::since(self.begun)) {
            clock::sleep_thread(wait);
        }
    }

    /// How much earlier than allowed the bytes have passed.
    fn early_by(&self, elapsed: Duration) -> Option<Duration> {
        if self.bytes_per_s == 0 {
            return None;
        }
        let allowed = Duration::from_secs_f64(self.passed as f64 / self.bytes_per_s as f64);
        allowed.checked_sub(elapsed).filter(|wait| !wait.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_waits_as_long_as_its_bytes_may_take() {
        let throttle =
            |bytes_per_s| TransferThrottle { passed: 500, ..TransferThrottle::new(bytes_per_s) };
        let ms = Duration::from_millis;
        assert_eq!(throttle(1000).early_by(ms(200)), Some(ms(300)));
        assert_eq!(throttle(1000).early_by(ms(500)), None);
        assert_eq!(throttle(0).early_by(ms(0)), None);
    }
}
