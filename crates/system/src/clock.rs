//! Both clocks of the machine, and sleeping.
#![expect(clippy::disallowed_methods, reason = "this is the one place")]

use std::time::{Duration, Instant, SystemTime};

/// The steady clock.
#[inline]
pub fn now() -> Instant {
    Instant::now()
}

/// The time since a moment of the steady clock; zero for one that is yet to come.
#[inline]
pub fn since(moment: Instant) -> Duration {
    Instant::now().saturating_duration_since(moment)
}

/// The calendar's clock, which an administrator or NTP may set back.
#[inline]
pub fn wall() -> SystemTime {
    SystemTime::now()
}

/// The steady clock as timers of the async runtime see it: a test may stop it.
#[inline]
pub fn runtime_now() -> tokio::time::Instant {
    tokio::time::Instant::now()
}

/// Lets a task sleep.
pub fn sleep(time: Duration) -> tokio::time::Sleep {
    tokio::time::sleep(time)
}

/// Lets a task sleep until a moment.
pub fn sleep_until(moment: tokio::time::Instant) -> tokio::time::Sleep {
    tokio::time::sleep_until(moment)
}

/// Lets the calling thread sleep.
pub fn sleep_thread(time: Duration) {
    std::thread::sleep(time);
}
