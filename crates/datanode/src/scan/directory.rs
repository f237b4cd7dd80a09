//! The directory scanner: now and then the files on the disks are compared with the replicas in memory
//! (`DirectoryScanner`).

use super::settings::DirectoryScannerSettings;
use parking_lot::{Condvar, Mutex};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};
use zerohop_system::clock;

/// What the last scan of a block pool found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ScanCounts {
    /// Finalized replicas on the disks.
    pub(crate) total: usize,
    /// Replicas without a meta file.
    pub(crate) missing_meta: usize,
    /// Replicas without a data file.
    pub(crate) missing_data: usize,
    /// Replicas that memory did not know.
    pub(crate) missing_in_memory: usize,
    /// Replicas of another length or generation stamp than memory knew.
    pub(crate) mismatched: usize,
    /// Second replicas of a block.
    pub(crate) duplicates: usize,
}

impl fmt::Display for ScanCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "total blocks: {}, missing metadata files: {}, missing block files: {}, missing blocks in \
             memory: {}, mismatched blocks: {}, duplicated blocks: {}",
            self.total,
            self.missing_meta,
            self.missing_data,
            self.missing_in_memory,
            self.mismatched,
            self.duplicates
        )
    }
}

/// The directory scanner.
pub(crate) struct DirectoryScanner {
    settings: Option<DirectoryScannerSettings>,
    stops: Mutex<bool>,
    stopped: Condvar,
    /// When the last scan ended, in ms since 1970; 0 for never.
    finished_ms: AtomicU64,
    counts: Mutex<HashMap<Arc<str>, ScanCounts>>,
}

impl DirectoryScanner {
    /// Without settings there is none.
    pub(crate) fn new(settings: Option<DirectoryScannerSettings>) -> Arc<Self> {
        Arc::new(Self {
            settings,
            stops: Mutex::new(false),
            stopped: Condvar::new(),
            finished_ms: AtomicU64::new(0),
            counts: Mutex::default(),
        })
    }

    /// How it works, if it does.
    pub(super) fn settings(&self) -> Option<DirectoryScannerSettings> {
        self.settings
    }

    /// Has the thread end after the directory it lists; does not wait.
    pub(crate) fn stop(&self) {
        *self.stops.lock() = true;
        self.stopped.notify_all();
    }

    /// When the last scan ended, in ms since 1970; 0 for never.
    pub(crate) fn finished_ms(&self) -> u64 {
        self.finished_ms.load(Ordering::Relaxed)
    }

    /// What the last scan found, by block pool.
    pub(crate) fn counts(&self) -> HashMap<Arc<str>, ScanCounts> {
        self.counts.lock().clone()
    }

    /// Waits; true if the scanner is to stop.
    pub(super) fn pause_until(&self, deadline: Instant) -> bool {
        let mut stops = self.stops.lock();
        while !*stops {
            if self.stopped.wait_until(&mut stops, deadline).timed_out() {
                break;
            }
        }
        *stops
    }

    /// Whether the scanner is to stop.
    pub(super) fn stops(&self) -> bool {
        *self.stops.lock()
    }

    /// What a scan found in a block pool.
    pub(super) fn note(&self, pool_id: Arc<str>, counts: ScanCounts) {
        self.counts.lock().insert(pool_id, counts);
    }

    /// A scan has ended.
    pub(super) fn finish(&self) {
        let now = clock::wall().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.finished_ms.store(now.as_millis() as u64, Ordering::Relaxed);
    }
}
