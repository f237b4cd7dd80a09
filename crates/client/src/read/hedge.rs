//! How often a client may hedge its reads, and how often it did.

use crate::settings::HedgeSettings;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The hedged reads of a client, or of all files opened by it: `dfs.client.hedged.read.threadpool.size` turns them on
/// (`DFSHedgedReadMetrics`, HDFS-5776).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HedgedReads {
    /// Blocks that a second DataNode was asked for, because the first one took longer than
    /// `dfs.client.hedged.read.threshold.millis`.
    pub ops: u64,
    /// How many of them the second DataNode gave first. (Java counts those that the first one gave after all, too.)
    pub wins: u64,
    /// Attempts made without a place in the pool, because all were taken. A read whose first attempt has none
    /// waits for one DataNode at a time.
    pub ops_in_current_thread: u64,
}

/// The pool and the counts behind [`HedgedReads`].
pub(crate) struct Hedge {
    threshold: Duration,
    permits: Arc<Semaphore>,
    ops: AtomicU64,
    wins: AtomicU64,
    ops_in_current_thread: AtomicU64,
}

impl Hedge {
    /// `None` where hedged reads are off.
    pub(crate) fn new(settings: &HedgeSettings) -> Option<Self> {
        let size = settings.pool_size.min(Semaphore::MAX_PERMITS);
        (size > 0).then(|| Self {
            threshold: settings.threshold,
            permits: Arc::new(Semaphore::new(size)),
            ops: AtomicU64::default(),
            wins: AtomicU64::default(),
            ops_in_current_thread: AtomicU64::default(),
        })
    }

    /// How long the first DataNode may take before a second one is asked.
    pub(super) fn threshold(&self) -> Duration {
        self.threshold
    }

    /// A place in the pool for one attempt; counts where there is none.
    pub(super) fn permit(&self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.permits).try_acquire_owned().ok();
        if permit.is_none() {
            self.ops_in_current_thread.fetch_add(1, Ordering::Relaxed);
        }
        permit
    }

    /// Counts a second attempt that begins.
    pub(super) fn begins(&self) {
        self.ops.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts a second attempt that was the faster one.
    pub(super) fn wins(&self) {
        self.wins.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> HedgedReads {
        let load = |n: &AtomicU64| n.load(Ordering::Relaxed);
        HedgedReads {
            ops: load(&self.ops),
            wins: load(&self.wins),
            ops_in_current_thread: load(&self.ops_in_current_thread),
        }
    }

    /// How many places in the pool are free.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.permits.available_permits()
    }
}
