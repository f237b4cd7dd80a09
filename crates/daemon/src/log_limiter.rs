//! Log lines about what may happen many times a second.

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use std::fmt;
use std::time::Duration;

/// From one line to the next.
const PERIOD: Duration = Duration::from_secs(10);

/// Lets the first line through, then one in ten seconds: what fails many times a second must not fill the disk.
pub struct LogLimiter<C: Clock = DefaultClock>(
    RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<C::Instant>>,
);

impl<C: Clock> LogLimiter<C> {
    fn with_clock(clock: C) -> Self {
        let quota = Quota::with_period(PERIOD).expect("the period is not zero");
        Self(RateLimiter::direct_with_clock(quota, clock))
    }

    /// Whether a line may be logged now. If so, the next may be after ten seconds.
    pub fn allow(&self) -> bool {
        self.0.check().is_ok()
    }
}

impl Default for LogLimiter {
    fn default() -> Self {
        Self::with_clock(DefaultClock::default())
    }
}

impl<C: Clock> fmt::Debug for LogLimiter<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogLimiter").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use governor::clock::FakeRelativeClock;

    #[test]
    fn one_line_in_ten_seconds() {
        let clock = FakeRelativeClock::default();
        let limiter = LogLimiter::with_clock(clock.clone());
        let after = |ms| {
            clock.advance(Duration::from_millis(ms));
            limiter.allow()
        };
        assert_eq!([0, 5, 9994, 1, 9000, 1001].map(after), [true, false, false, true, false, true]);
    }
}
