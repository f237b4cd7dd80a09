//! The times of the next heartbeat and reports to a NameNode.

use std::time::Duration;
use tokio::time::Instant;
use zerohop_system::{clock, random};

/// Least time between two heartbeats.
const HEARTBEAT_GAP_MIN: Duration = Duration::from_millis(100);
/// A full report that is not urgent waits for a random time of up to this for each replica in it.
const SPREAD_PER_REPLICA: Duration = Duration::from_millis(1);

/// The times at which messages to a NameNode are due.
pub(super) struct Schedule {
    last_heartbeat: Instant,
    pub(super) heartbeat: Instant,
    pub(super) full_report: Instant,
    pub(super) cache_report: Instant,
    pub(super) lease: Option<u64>,
}

impl Schedule {
    /// Begins with a heartbeat; a full report is due after `delay`.
    pub(super) fn new(now: Instant, delay: Duration) -> Self {
        Self {
            last_heartbeat: now,
            heartbeat: now,
            full_report: now + delay,
            cache_report: now,
            lease: None,
        }
    }

    /// Brings the next full report forward by a random delay in proportion to `replicas`. Every DataNode reports to a NameNode
    /// that became active, and the delays spread these reports.
    pub(super) fn bring_full_report_forward(&mut self, replicas: u64) {
        let delay = SPREAD_PER_REPLICA.mul_f64(replicas as f64 * random::f64());
        self.full_report = self.full_report.min(clock::runtime_now() + delay);
    }

    /// Notes that a heartbeat is sent at `now`.
    pub(super) fn beats(&mut self, now: Instant, interval: Duration) {
        (self.last_heartbeat, self.heartbeat) = (now, now + interval);
    }

    /// Brings the next heartbeat forward.
    pub(super) fn bring_heartbeat_forward(&mut self) {
        self.heartbeat = self.heartbeat.min(self.last_heartbeat + HEARTBEAT_GAP_MIN);
    }

    /// Makes a heartbeat and a full report due after this DataNode has registered again.
    pub(super) fn restart(&mut self) {
        self.full_report = clock::runtime_now();
        self.heartbeat = clock::runtime_now();
        self.lease = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The NameNode gives out the next copies when the last are done: a heartbeat is due then, but not one for
    /// each of many small blocks.
    #[tokio::test]
    async fn heartbeats_that_are_asked_for_come_early_but_not_all_at_once() {
        let now = Instant::now();
        let interval = Duration::from_secs(3);
        let mut schedule = Schedule::new(now, Duration::ZERO);
        schedule.beats(now, interval);
        assert_eq!(schedule.heartbeat, now + interval);
        for _ in 0..3 {
            schedule.bring_heartbeat_forward();
            assert_eq!(schedule.heartbeat, now + HEARTBEAT_GAP_MIN);
        }
        let later = now + Duration::from_millis(2950);
        schedule.beats(later, interval);
        schedule.bring_heartbeat_forward();
        assert_eq!(schedule.heartbeat, later + HEARTBEAT_GAP_MIN);
    }
}
