//! Calls that take far longer than others (`ipc.server.log.slow.rpc`), and where their time went.

use std::fmt;
use std::time::{Duration, Instant};
use zerohop_conf::{Conf, ConfError, keys};

/// Calls that are needed to know what is usual, as Hadoop's server has it.
const COUNT_MIN: u64 = 1024;

/// What counts as slow.
#[derive(Clone, Copy, Debug, Default)]
pub struct SlowCallSettings {
    is_logged: bool,
    threshold: Duration,
}

impl SlowCallSettings {
    /// By `ipc.server.log.slow.rpc` and `ipc.server.log.slow.rpc.threshold.ms`.
    ///
    /// # Errors
    /// If one of them is malformed.
    pub(super) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        Ok(Self {
            is_logged: conf.get(&keys::IPC_SERVER_LOG_SLOW_RPC)?,
            threshold: conf.get(&keys::IPC_SERVER_LOG_SLOW_RPC_THRESHOLD_MS)?,
        })
    }

    /// More than three standard deviations above the mean of the others, and above the threshold.
    pub(super) fn is_slow(self, took: Duration, count: u64, sum_ms: f64, squares_ms: f64) -> bool {
        if !self.is_logged || took <= self.threshold || count <= COUNT_MIN {
            return false;
        }
        let mean = sum_ms / count as f64;
        let deviation = (squares_ms / count as f64 - mean * mean).max(0.0).sqrt();
        took.as_secs_f64() * 1000.0 > mean + 3.0 * deviation
    }
}

/// When what happened to a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallTimes {
    received: Instant,
    /// A thread took it.
    pub(super) started: Instant,
    /// Waited for locks.
    pub(super) locked: Duration,
    /// The service returned an answer or the promise of one.
    pub(super) served: Option<Instant>,
}

impl CallTimes {
    pub(super) fn begin(received: Instant) -> Self {
        Self { received, started: received, locked: Duration::ZERO, served: None }
    }

    pub(super) fn queued(&self) -> Duration {
        self.started.saturating_duration_since(self.received)
    }

    pub(super) fn spent_until(&self, end: Instant) -> Spent {
        let served = self.served.unwrap_or(end);
        Spent {
            queue: self.queued(),
            lock: self.locked,
            work: served.saturating_duration_since(self.started).saturating_sub(self.locked),
            wait: end.saturating_duration_since(served),
        }
    }
}

/// Where the time of a call went.
pub(super) struct Spent {
    queue: Duration,
    lock: Duration,
    work: Duration,
    wait: Duration,
}

impl fmt::Display for Spent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, lock, work, wait } = self;
        let total = *queue + *lock + *work + *wait;
        write!(
            out,
            "{} ms: {} in the queue, {} for locks, {} at work, {} for the sync of the edit log, reports of DataNodes or \
             other NameNodes",
            total.as_millis(),
            queue.as_millis(),
            lock.as_millis(),
            work.as_millis(),
            wait.as_millis()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_system::clock;

    #[test]
    fn slow_is_far_above_the_mean_and_above_the_threshold() {
        let mut conf = Conf::new();
        let ask = |conf: &Conf, ms, count: u64| {
            let settings = SlowCallSettings::from_conf(conf).unwrap();
            // Half of the calls took 1 ms, half 3 ms: mean 2, deviation 1.
            let count_f = count as f64;
            settings.is_slow(Duration::from_millis(ms), count, 2.0 * count_f, 5.0 * count_f)
        };
        assert!(!ask(&conf, 100, 2000), "off by default");
        conf.set("ipc.server.log.slow.rpc", "true");
        assert!(ask(&conf, 6, 2000) && !ask(&conf, 5, 2000));
        assert!(!ask(&conf, 100, 1024), "too few to compare with");
        conf.set("ipc.server.log.slow.rpc.threshold.ms", "50");
        assert!(!ask(&conf, 50, 2000) && ask(&conf, 51, 2000));
    }

    #[test]
    fn the_times_of_a_call_add_up() {
        let begun = clock::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let mut times = CallTimes::begin(begun);
        times.started = at(5);
        times.locked = Duration::from_millis(10);
        times.served = Some(at(20));
        let text = times.spent_until(at(120)).to_string();
        assert!(
            text.starts_with("120 ms: 5 in the queue, 10 for locks, 5 at work, 100 for"),
            "{text}"
        );
    }
}
