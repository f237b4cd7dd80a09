//! What the edit logs of a process do, over all changes from standby to active.

use std::time::Duration;
use zerohop_daemon::metrics::{Counter, Intervals, QuantilesOverTime, Rate};

/// Counts of transactions and syncs.
#[derive(Debug, Default)]
pub struct EditLogMetrics {
    /// Transactions that are durable.
    pub transactions: Counter,
    /// Writes and syncs of a batch, in milliseconds.
    pub syncs: Rate,
    /// Time spent with them, in microseconds.
    pub sync_us: Counter,
    /// Transactions that shared the sync of another one.
    pub batched: Counter,
    /// The same for each sync.
    pub batched_each: QuantilesOverTime,
}

impl EditLogMetrics {
    /// With percentiles over intervals.
    pub fn new(intervals: &Intervals) -> Self {
        Self {
            syncs: Rate::new(intervals),
            batched_each: QuantilesOverTime::new(intervals),
            ..Self::default()
        }
    }

    /// A batch of `transactions` became durable.
    pub(super) fn synced(&self, transactions: u64, took: Duration) {
        self.transactions.add(transactions);
        self.syncs.add_ms(took);
        self.sync_us.add(u64::try_from(took.as_micros()).unwrap_or(u64::MAX));
        let batched = transactions.saturating_sub(1);
        self.batched.add(batched);
        self.batched_each.add(batched);
    }
}
