//! Percentiles over fixed intervals (`MutableQuantiles`).

use hdrhistogram::Histogram;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use zerohop_system::clock;

/// The percentiles that are kept, as Hadoop's.
pub(super) const PERCENTILES: [u8; 5] = [50, 75, 90, 95, 99];
/// A value is told from another where they differ by one in a hundred.
const DIGITS: u8 = 2;

/// The lengths of intervals, in seconds, from a key such as `dfs.metrics.percentiles.intervals`; none: nothing is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Intervals(Vec<u32>);

impl Intervals {
    /// What [`parse`](Self::parse) takes.
    pub const EXPECTED: &'static str = "a list of seconds, each above 0";

    /// The lengths of a list of texts; None if one of them is no number above 0.
    pub fn parse(list: &[String]) -> Option<Self> {
        let seconds = list.iter().map(|text| text.parse().ok().filter(|seconds| *seconds > 0));
        seconds.collect::<Option<Vec<u32>>>().map(Self)
    }

    /// These lengths; 0 is left out.
    pub fn of(seconds: impl IntoIterator<Item = u32>) -> Self {
        Self(seconds.into_iter().filter(|seconds| *seconds > 0).collect())
    }

    /// The lengths.
    pub fn seconds(&self) -> &[u32] {
        &self.0
    }
}

/// The percentiles of one quantity over intervals of one length.
#[derive(Debug)]
pub struct Quantiles {
    seconds: u32,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    began: Instant,
    current: Histogram<u32>,
    last: QuantileFigures,
}

/// What the last whole interval had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuantileFigures {
    /// How many values.
    pub count: u64,
    /// The 50th, 75th, 90th, 95th and 99th percentile; 0 without values.
    pub values: [u64; PERCENTILES.len()],
}

impl Quantiles {
    /// Of intervals of so many seconds.
    pub fn new(seconds: u32) -> Self {
        // A precision of two digits is always allowed.
        let histogram = Histogram::new(DIGITS).or_else(|_| Histogram::new(1));
        let current = histogram.unwrap_or_else(|_| unreachable!("hdrhistogram refuses one digit"));
        let state = State { began: clock::now(), current, last: QuantileFigures::default() };
        Self { seconds, state: Mutex::new(state) }
    }

    /// The length of an interval.
    pub fn seconds(&self) -> u32 {
        self.seconds
    }

    /// A value was measured.
    pub fn add(&self, value: u64) {
        self.add_at(clock::now(), value);
    }

    /// The last whole interval.
    pub fn figures(&self) -> QuantileFigures {
        self.figures_at(clock::now())
    }

    fn add_at(&self, now: Instant, value: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.roll(now, self.length());
        // Grows for it; what is larger than a signed number counts as the largest one.
        let recorded = state.current.record(value.min(i64::MAX as u64));
        debug_assert!(recorded.is_ok(), "{recorded:?}");
    }

    fn figures_at(&self, now: Instant) -> QuantileFigures {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.roll(now, self.length());
        state.last
    }

    fn length(&self) -> Duration {
        Duration::from_secs(u64::from(self.seconds))
    }
}

impl State {
    /// Ends the interval if it is over. Values before a pause of a whole interval are forgotten.
    fn roll(&mut self, now: Instant, length: Duration) {
        let passed = now.saturating_duration_since(self.began);
        if passed < length {
            return;
        }
        self.last = match passed < 2 * length {
            true => figures(&self.current),
            false => QuantileFigures::default(),
        };
        self.current.reset();
        let whole = u32::try_from(passed.as_nanos() / length.as_nanos().max(1)).unwrap_or(1);
        self.began = self.began.checked_add(length * whole).unwrap_or(now);
    }
}

fn figures(histogram: &Histogram<u32>) -> QuantileFigures {
    let value = |percentile: u8| match histogram.is_empty() {
        true => 0,
        false => histogram.value_at_quantile(f64::from(percentile) / 100.0),
    };
    QuantileFigures { count: histogram.len(), values: PERCENTILES.map(value) }
}

/// The percentiles of one quantity over intervals of several lengths.
#[derive(Debug, Default)]
pub struct QuantilesOverTime(Vec<Quantiles>);

impl QuantilesOverTime {
    /// Over these intervals.
    pub fn new(intervals: &Intervals) -> Self {
        Self(intervals.seconds().iter().map(|seconds| Quantiles::new(*seconds)).collect())
    }

    /// Whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A value was measured.
    pub fn add(&self, value: u64) {
        self.0.iter().for_each(|quantiles| quantiles.add(value));
    }

    /// The last whole interval of each length, in seconds.
    pub fn figures(&self) -> Vec<(u32, QuantileFigures)> {
        self.0.iter().map(|quantiles| (quantiles.seconds(), quantiles.figures())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_last_whole_interval() {
        let quantiles = Quantiles::new(60);
        let start = quantiles.state.lock().unwrap().began;
        let at = |seconds| start + Duration::from_secs(seconds);
        (1..=1000).for_each(|value| quantiles.add_at(at(1), value));
        assert_eq!(quantiles.figures_at(at(59)), QuantileFigures::default(), "not over yet");
        let QuantileFigures { count, values } = quantiles.figures_at(at(61));
        assert_eq!(count, 1000);
        for (value, wanted) in values.iter().zip([500, 750, 900, 950, 990_u64]) {
            assert!(value.abs_diff(wanted) * 100 <= wanted, "{value} for {wanted}");
        }
        quantiles.add_at(at(70), 7);
        assert_eq!(quantiles.figures_at(at(119)).count, 1000);
        assert_eq!(quantiles.figures_at(at(121)).values, [7; 5]);
        assert_eq!(quantiles.figures_at(at(500)), QuantileFigures::default(), "nothing came");
    }

    #[test]
    fn every_value_can_be_kept() {
        let quantiles = Quantiles::new(60);
        let start = quantiles.state.lock().unwrap().began;
        [0, 1, u64::MAX].into_iter().for_each(|value| quantiles.add_at(start, value));
        assert_eq!(quantiles.figures_at(start + Duration::from_secs(60)).count, 3);
        assert_eq!(Intervals::of([60, 0, 300]).seconds(), [60, 300]);
        let parse = |list: &[&str]| {
            Intervals::parse(&list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(parse(&["60", "300"]), Some(Intervals::of([60, 300])));
        assert_eq!(
            (parse(&[]), parse(&["0"]), parse(&["1m"])),
            (Some(Intervals::default()), None, None)
        );
    }
}
