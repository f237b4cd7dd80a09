//! Medians, percentiles, and the CPU time of a thread.

use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The middle of some values, 0 of none.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        len if len % 2 == 1 => sorted[len / 2],
        len => (sorted[len / 2 - 1] + sorted[len / 2]) / 2.0,
    }
}

/// How long single operations took, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// Half of them were faster.
    pub p50_us: f64,
    /// One in a hundred was slower.
    pub p99_us: f64,
    /// One in a thousand was slower.
    pub p999_us: f64,
}

/// Collects the times of single operations.
#[derive(Debug)]
pub struct Latencies(Histogram<u64>);

impl Default for Latencies {
    fn default() -> Self {
        Self(Histogram::new(3).unwrap_or_else(|_| unreachable!("three digits are valid")))
    }
}

impl Latencies {
    /// Adds one operation.
    pub fn add(&mut self, took: Duration) {
        // It grows by itself; only a time of years would not fit.
        let _ = self.0.record(took.as_nanos().min(u128::from(u64::MAX >> 8)) as u64);
    }

    /// Runs one operation and adds it.
    pub fn time<T>(&mut self, operation: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = operation();
        self.add(start.elapsed());
        result
    }

    /// Adds those of another collection.
    pub fn merge(&mut self, other: &Latencies) {
        // Fails only if the other one has larger bounds, and all of them resize themselves.
        let _ = self.0.add(&other.0);
    }

    /// The usual percentiles.
    pub fn percentiles(&self) -> Percentiles {
        let us = |quantile| self.0.value_at_quantile(quantile) as f64 / 1e3;
        Percentiles { p50_us: us(0.5), p99_us: us(0.99), p999_us: us(0.999) }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.0.len()
    }
}

/// CPU seconds this thread has used.
pub fn thread_cpu_s() -> f64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_ignores_one_bad_run() {
        assert_eq!(median(&[3.0, 1000.0, 1.0]), 3.0);
        assert_eq!(median(&[1.0, 2.0]), 1.5);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn percentiles_come_in_microseconds() {
        let mut all = Latencies::default();
        (1..=100).for_each(|ms| all.add(Duration::from_millis(ms)));
        let p50 = all.percentiles().p50_us;
        assert!((49_000.0..51_500.0).contains(&p50), "{p50}");
    }
}
