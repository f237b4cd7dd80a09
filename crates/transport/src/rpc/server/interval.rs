//! Means of what was measured lately.

use std::time::{Duration, Instant};

/// As long as Hadoop's period of metrics.
const INTERVAL: Duration = Duration::from_secs(10);

/// The mean of the last whole interval in which something was measured, and how much was measured in all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IntervalMean {
    count: u64,
    began: Option<Instant>,
    current: (u64, Duration),
    last: (u64, Duration),
}

impl IntervalMean {
    pub(super) fn add(&mut self, now: Instant, measured: Duration) {
        self.count += 1;
        let is_over =
            self.began.is_none_or(|began| now.saturating_duration_since(began) >= INTERVAL);
        if is_over {
            self.last = self.current;
            self.current = (0, Duration::ZERO);
            self.began = Some(now);
        }
        self.current.0 += 1;
        self.current.1 += measured;
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    fn shown(&self, now: Instant) -> (u64, Duration) {
        let is_over =
            self.began.is_some_and(|began| now.saturating_duration_since(began) >= INTERVAL);
        if is_over || self.last.0 == 0 { self.current } else { self.last }
    }

    /// In milliseconds; 0 where nothing was measured.
    pub(super) fn mean_ms(&self, now: Instant) -> f64 {
        let (count, total) = self.shown(now);
        if count == 0 { 0.0 } else { total.as_secs_f64() * 1000.0 / count as f64 }
    }

    /// Adds what another one shows now.
    pub(super) fn merge(&mut self, other: &Self, now: Instant) {
        let (count, total) = other.shown(now);
        self.count += other.count;
        self.began = Some(now);
        self.current.0 += count;
        self.current.1 += total;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_system::clock;

    #[test]
    fn a_mean_is_that_of_the_last_whole_interval() {
        let (mut mean, start) = (IntervalMean::default(), clock::now());
        assert_eq!(mean.mean_ms(start), 0.0);
        mean.add(start, Duration::from_millis(10));
        mean.add(start, Duration::from_millis(30));
        assert_eq!(mean.mean_ms(start), 20.0);
        let later = start + INTERVAL;
        mean.add(later, Duration::from_millis(500));
        assert_eq!(mean.mean_ms(later), 20.0);
        assert_eq!(mean.mean_ms(later + INTERVAL), 500.0);
        assert_eq!(mean.count(), 3);
    }
}
