//! How often something happens and how long it takes (`MutableRate`).

use super::interval::IntervalMean;
use super::quantiles::{Intervals, QuantileFigures, QuantilesOverTime};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use zerohop_system::clock;

/// A count of operations with the mean of what each of them took lately, and percentiles where they are asked for. A value is
/// noted under a lock that is held for some nanoseconds: for what happens on many threads at once, count in parts.
#[derive(Debug, Default)]
pub struct Rate {
    mean: Mutex<IntervalMean>,
    quantiles: QuantilesOverTime,
}

/// A rate at one moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateFigures {
    /// Operations since the start.
    pub count: u64,
    /// The mean of the last whole interval of ten seconds with operations; 0 without any.
    pub mean: f64,
    /// The last interval of each length in seconds for which percentiles are kept.
    pub quantiles: Vec<(u32, QuantileFigures)>,
}

impl RateFigures {
    /// What a mean has at the moment, without percentiles.
    pub fn of(mean: &IntervalMean) -> Self {
        Self { count: mean.count(), mean: mean.mean(clock::now()), quantiles: Vec::new() }
    }
}

impl Rate {
    /// With percentiles over intervals.
    pub fn new(intervals: &Intervals) -> Self {
        Self { mean: Mutex::default(), quantiles: QuantilesOverTime::new(intervals) }
    }

    /// An operation ended, for which this was measured, in the unit that the metric's name promises.
    pub fn add(&self, value: u64) {
        let mut mean = self.mean.lock().unwrap_or_else(PoisonError::into_inner);
        mean.add(clock::now(), value as f64);
        drop(mean);
        self.quantiles.add(value);
    }

    /// An operation took so long; it is noted in milliseconds, with their fractions in the mean.
    pub fn add_ms(&self, took: Duration) {
        let mut mean = self.mean.lock().unwrap_or_else(PoisonError::into_inner);
        mean.add(clock::now(), took.as_secs_f64() * 1000.0);
        drop(mean);
        self.quantiles.add(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    }

    /// An operation took so long; it is noted in nanoseconds.
    pub fn add_ns(&self, took: Duration) {
        self.add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Operations since the start.
    pub fn count(&self) -> u64 {
        self.mean.lock().unwrap_or_else(PoisonError::into_inner).count()
    }

    /// The rate now.
    pub fn figures(&self) -> RateFigures {
        let mean = self.mean.lock().unwrap_or_else(PoisonError::into_inner);
        RateFigures {
            count: mean.count(),
            mean: mean.mean(clock::now()),
            quantiles: self.quantiles.figures(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_are_counted_and_their_mean_is_kept() {
        let rate = Rate::new(&Intervals::of([60]));
        rate.add_ms(Duration::from_millis(1));
        rate.add_ms(Duration::from_millis(3));
        let figures = rate.figures();
        assert_eq!((figures.count, figures.mean), (2, 2.0));
        assert_eq!(figures.quantiles, [(60, QuantileFigures::default())]);
    }
}
