//! Rates from counters that are read now and then.
//!
//! Apache's daemons refresh the counters of a bean every ten seconds, however often they are asked
//! (`MetricsSourceAdapter`, `jmxCacheTTL`). A difference between the last two readings would be zero most of the time and
//! five times too much once. Rates are therefore taken between the last two readings at which the bean had changed. Ours
//! change at each reading, since DataNodes' heartbeats are calls, too.

use std::collections::BTreeMap;

/// How long a bean that does not change may be a copy that is to be refreshed.
pub(crate) const REFRESH_MS: u64 = 10_000;

/// Counters of one bean, by name.
pub(crate) type Counters = BTreeMap<String, u64>;

/// The counters of one bean over time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    /// The reading before the last change, and that with it.
    before: Option<(u64, Counters)>,
    changed: Option<(u64, Counters)>,
    /// Time of the last two readings.
    last_ms: u64,
    step_ms: u64,
}

impl Meter {
    /// Takes a reading of a steady clock's time. Counters that went back are those of a daemon that was started again: rates
    /// begin anew.
    pub(crate) fn read(&mut self, at_ms: u64, counters: Counters) {
        self.step_ms = at_ms.saturating_sub(self.last_ms);
        self.last_ms = at_ms;
        let Some((_, known)) = &self.changed else {
            self.changed = Some((at_ms, counters));
            return;
        };
        if *known == counters {
            return;
        }
        let went_back =
            |(name, count): (&String, &u64)| counters.get(name).is_none_or(|now| now < count);
        self.before = match known.iter().any(went_back) {
            true => None,
            false => self.changed.take(),
        };
        self.changed = Some((at_ms, counters));
    }

    /// Seconds that the rates are over; none while there are none.
    pub(crate) fn seconds(&self) -> Option<f64> {
        let (from, to) = (self.before.as_ref()?.0, self.changed.as_ref()?.0);
        Some(to.saturating_sub(from) as f64 / 1000.0).filter(|seconds| *seconds > 0.0)
    }

    /// How much a counter grew in a second: none before the bean has changed twice, zero when nothing has changed for so long
    /// that it is no matter of refreshing.
    pub(crate) fn per_second(&self, name: &str) -> Option<f64> {
        let (_, counters) = self.changed.as_ref()?;
        let now = *counters.get(name)?;
        if self.is_idle() {
            return Some(0.0);
        }
        let (_, before) = self.before.as_ref()?;
        // A counter that was not there before had not counted anything.
        let grown = now.saturating_sub(before.get(name).copied().unwrap_or(0));
        Some(grown as f64 / self.seconds()?)
    }

    /// Whether more readings make rates known that are not; a meter that was never read has none to be known.
    pub(crate) fn is_settled(&self) -> bool {
        self.changed.is_none() || self.before.is_some() || self.is_idle()
    }

    fn is_idle(&self) -> bool {
        let changed_ms = self.changed.as_ref().map_or(self.last_ms, |(at_ms, _)| *at_ms);
        self.last_ms.saturating_sub(changed_ms) > REFRESH_MS + 2 * self.step_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(readings: &[(u64, u64)]) -> Meter {
        let mut meter = Meter::default();
        for (at_ms, count) in readings {
            meter.read(*at_ms, Counters::from([("calls".to_owned(), *count)]));
        }
        meter
    }

    fn rate(readings: &[(u64, u64)]) -> Option<f64> {
        meter(readings).per_second("calls")
    }

    #[test]
    fn a_rate_takes_two_readings() {
        assert_eq!(rate(&[]), None);
        assert_eq!(rate(&[(1_000, 5)]), None);
        assert_eq!(rate(&[(1_000, 5), (3_000, 25)]), Some(10.0));
        assert_eq!(rate(&[(1_000, 5), (3_000, 25), (4_000, 26)]), Some(1.0));
        assert_eq!(meter(&[(1_000, 5), (3_000, 25)]).per_second("others"), None);
    }

    #[test]
    fn a_copy_that_is_refreshed_every_ten_seconds_gives_the_rate_of_ten_seconds() {
        let mut readings = vec![(0, 100)];
        readings.extend((1..=5).map(|second| (second * 2_000, 100)));
        readings.push((10_500, 205));
        assert_eq!(rate(&readings), Some(10.0));
        // What stays the same until the next refreshing does not make it nothing.
        readings.extend((6..10).map(|second| (second * 2_000, 205)));
        assert_eq!(rate(&readings), Some(10.0));
        readings.extend((10..14).map(|second| (second * 2_000, 205)));
        assert_eq!(rate(&readings), Some(0.0));
    }

    #[test]
    fn what_never_changes_is_idle() {
        let readings: Vec<(u64, u64)> = (0..9).map(|second| (second * 2_000, 7)).collect();
        assert_eq!((rate(&readings[..8]), rate(&readings)), (None, Some(0.0)));
        assert!(!meter(&readings[..8]).is_settled() && meter(&readings).is_settled());
        assert!(Meter::default().is_settled());
    }

    #[test]
    fn a_daemon_that_was_started_again_counts_anew() {
        assert_eq!(rate(&[(0, 100), (1_000, 110), (2_000, 3)]), None);
        assert_eq!(rate(&[(0, 100), (1_000, 110), (2_000, 3), (3_000, 5)]), Some(2.0));
    }

    #[test]
    fn a_counter_that_appears_has_counted_from_zero() {
        let mut meter = Meter::default();
        meter.read(0, Counters::from([("a".to_owned(), 1)]));
        meter.read(1_000, Counters::from([("a".to_owned(), 1), ("b".to_owned(), 4)]));
        assert_eq!(meter.per_second("b"), Some(4.0));
        assert_eq!(meter.per_second("a"), Some(0.0));
    }
}
