//! Reports of namespace locks that were held for long (`FSNamesystemLock`): by what, and for how long.

use parking_lot::Mutex;
use std::backtrace::Backtrace;
use std::fmt::{self, Display};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use zerohop_conf::{Conf, ConfError, keys};
use zerohop_system::clock;

/// Looks at how long calls hold the namespace's lock.
#[derive(Debug)]
pub(crate) struct LockHolds {
    pub(crate) read: HoldReports,
    pub(crate) write: HoldReports,
}

/// The reports of one kind of lock.
#[derive(Debug)]
pub(crate) struct HoldReports {
    kind: &'static str,
    threshold: Duration,
    /// `dfs.lock.suppress.warning.interval`: from one report to the next.
    interval: Duration,
    long_holds: AtomicU64,
    pending: Mutex<Pending>,
}

/// What the next report says.
#[derive(Debug, Default)]
struct Pending {
    last_report: Option<Instant>,
    /// Holds since then, and how long they were together.
    suppressed: u64,
    suppressed_time: Duration,
    longest: Option<(Duration, Place)>,
}

/// What held the lock. As text only where it is told: finding the names of a stack takes milliseconds.
struct Place(Box<dyn Display + Send>);

impl fmt::Debug for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Place")
    }
}

/// From how long on a hold is reported, and how often.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HoldThresholds {
    read: Duration,
    write: Duration,
    interval: Duration,
}

impl HoldThresholds {
    /// By `dfs.namenode.read-lock-reporting-threshold-ms`, `dfs.namenode.write-lock-reporting-threshold-ms` and
    /// `dfs.lock.suppress.warning.interval`.
    ///
    /// # Errors
    /// If one of them is malformed.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        Ok(Self {
            read: conf.get(&keys::DFS_NAMENODE_READ_LOCK_REPORTING_THRESHOLD_MS)?,
            write: conf.get(&keys::DFS_NAMENODE_WRITE_LOCK_REPORTING_THRESHOLD_MS)?,
            interval: conf.get(&keys::DFS_LOCK_SUPPRESS_WARNING_INTERVAL)?,
        })
    }
}

impl LockHolds {
    /// None was held yet.
    pub(crate) fn new(thresholds: HoldThresholds) -> Self {
        let HoldThresholds { read, write, interval } = thresholds;
        Self {
            read: HoldReports::new("read", read, interval),
            write: HoldReports::new("write", write, interval),
        }
    }
}

impl HoldReports {
    fn new(kind: &'static str, threshold: Duration, interval: Duration) -> Self {
        let (long_holds, pending) = Default::default();
        Self { kind, threshold, interval, long_holds, pending }
    }

    /// How often the lock was held for longer than the threshold (`ReadLockLongHoldCount`, `WriteLockLongHoldCount`).
    pub(crate) fn long_holds(&self) -> u64 {
        self.long_holds.load(Ordering::Relaxed)
    }

    /// The lock was held from `since` until now, by the caller. It must have been given back: a report takes time.
    pub(crate) fn note(&self, since: Instant) {
        let now = clock::now();
        let held = now.saturating_duration_since(since);
        if held >= self.threshold {
            let place = Place(Box::new(Backtrace::force_capture()));
            if let Some(report) = self.report(held, now, place) {
                tracing::warn!("{report}");
            }
        }
    }

    /// The text, unless one was reported a short while ago.
    fn report(&self, held: Duration, now: Instant, place: Place) -> Option<String> {
        self.long_holds.fetch_add(1, Ordering::Relaxed);
        let mut pending = self.pending.lock();
        pending.suppressed += 1;
        pending.suppressed_time += held;
        if pending.longest.as_ref().is_none_or(|(longest, _)| *longest <= held) {
            pending.longest = Some((held, place));
        }
        if pending
            .last_report
            .is_some_and(|last| now.saturating_duration_since(last) < self.interval)
        {
            return None;
        }
        let told = std::mem::replace(
            &mut *pending,
            Pending { last_report: Some(now), ..Pending::default() },
        );
        drop(pending);
        let (longest, Place(place)) = told.longest?;
        let others = told.suppressed_time.saturating_sub(longest);
        Some(format!(
            "\tNumber of suppressed {kind}-lock reports: {}\n\tLongest {kind}-lock held for {} ms (threshold {} ms) via\n{place}\
             \tTotal suppressed {kind}-lock held time: {} ms",
            told.suppressed.saturating_sub(1),
            longest.as_millis(),
            self.threshold.as_millis(),
            others.as_millis(),
            kind = self.kind,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// A place that counts how often it is shown.
    struct Counted(Arc<AtomicU64>);

    impl Display for Counted {
        fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.fetch_add(1, Ordering::Relaxed);
            out.write_str("here\n")
        }
    }

    #[test]
    fn the_stack_of_a_hold_that_is_not_told_of_was_made_text() {
        let second = Duration::from_secs(1);
        let holds = HoldReports::new("write", second, 10 * second);
        let (begun, shown) = (clock::now(), Arc::new(AtomicU64::new(0)));
        let report = |at: u32| {
            let place = Place(Box::new(Counted(Arc::clone(&shown))));
            holds.report(second, begun + at * second, place).is_some()
        };
        assert_eq!([0, 1, 2, 3, 11].map(report), [true, false, false, false, true]);
        assert_eq!(shown.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_report_tells_of_those_that_were_suppressed_before_it() {
        let mut conf = Conf::new();
        conf.set("dfs.namenode.write-lock-reporting-threshold-ms", "100");
        let holds = LockHolds::new(HoldThresholds::from_conf(&conf).unwrap());
        let ms = Duration::from_millis;
        let begun = clock::now();
        let report = |held, at, place: &str| {
            holds.write.report(ms(held), begun + ms(at), Place(Box::new(format!("{place}\n"))))
        };
        let first = report(150, 0, "first").unwrap();
        assert!(first.contains("suppressed write-lock reports: 0"), "{first}");
        assert!(first.contains("held for 150 ms (threshold 100 ms) via\nfirst\n"), "{first}");
        assert_eq!(report(400, 5_000, "second"), None);
        assert_eq!(report(200, 9_999, "third"), None);
        let next = report(300, 10_000, "fourth").unwrap();
        assert!(next.contains("reports: 2") && next.contains("held for 400 ms"), "{next}");
        assert!(next.contains("second") && next.ends_with("held time: 500 ms"), "{next}");
        assert_eq!((holds.write.long_holds(), holds.read.long_holds()), (4, 0));
    }

    #[test]
    fn only_long_holds_count_and_the_report_names_the_holder() {
        let mut conf = Conf::new();
        let holds = LockHolds::new(HoldThresholds::from_conf(&conf).unwrap());
        holds.read.note(clock::now());
        assert_eq!(holds.read.long_holds(), 0);
        conf.set("dfs.namenode.read-lock-reporting-threshold-ms", "0");
        let holds = LockHolds::new(HoldThresholds::from_conf(&conf).unwrap());
        holds.read.note(clock::now());
        assert_eq!(holds.read.long_holds(), 1);
        let place = Backtrace::force_capture().to_string();
        assert!(place.contains("only_long_holds_count"), "{place}");
    }
}
