//! Means of what was measured lately.

use std::time::{Duration, Instant};

/// As long as Hadoop's period of metrics.
const INTERVAL: Duration = Duration::from_secs(10);

/// The mean of the last whole interval in which something was measured, and how much was measured in all. The unit is the
/// caller's.
#[derive(Clone, Copy, Debug, Default)]
pub struct IntervalMean {
    count: u64,
    began: Option<Instant>,
    current: (u64, f64),
    last: (u64, f64),
}

impl IntervalMean {
    /// Something was measured.
    pub fn add(&mut self, now: Instant, measured: f64) {
        self.add_many(now, 1, measured);
    }

    /// So many things were measured, `sum` in all.
    pub fn add_many(&mut self, now: Instant, count: u64, sum: f64) {
        self.count += count;
        let is_over =
            self.began.is_none_or(|began| now.saturating_duration_since(began) >= INTERVAL);
        if is_over {
            self.last = self.current;
            self.current = (0, 0.0);
            self.began = Some(now);
        }
        self.current.0 += count;
        self.current.1 += sum;
    }

    /// How often something was measured, ever.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn shown(&self, now: Instant) -> (u64, f64) {
        let is_over =
            self.began.is_some_and(|began| now.saturating_duration_since(began) >= INTERVAL);
        if is_over || self.last.0 == 0 { self.current } else { self.last }
    }

    /// The mean; 0 where nothing was measured.
    pub fn mean(&self, now: Instant) -> f64 {
        let (count, total) = self.shown(now);
        if count == 0 { 0.0 } else { total / count as f64 }
    }

    /// Adds what another one shows now.
    pub fn merge(&mut self, other: &Self, now: Instant) {
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
        assert_eq!(mean.mean(start), 0.0);
        mean.add(start, 10.0);
        mean.add(start, 30.0);
        assert_eq!(mean.mean(start), 20.0);
        let later = start + INTERVAL;
        mean.add(later, 500.0);
        assert_eq!(mean.mean(later), 20.0);
        assert_eq!(mean.mean(later + INTERVAL), 500.0);
        assert_eq!(mean.count(), 3);
    }
}
