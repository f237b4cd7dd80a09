//! The scanner of one volume, as other threads reach it.

use super::statistics::Statistics;
use super::suspects::SuspectBlocks;
use crate::store::volume::DataVolume;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;

/// One volume's scanner, as others reach it.
pub(super) struct VolumeScanner {
    pub(super) volume: Arc<DataVolume>,
    shared: Mutex<Shared>,
    /// There is a request for the thread, or it has ended.
    changed: Condvar,
}

#[derive(Default)]
struct Shared {
    suspects: SuspectBlocks,
    statistics: Statistics,
    /// Block pools may have come or gone.
    pools_changed: bool,
    stops: bool,
    has_ended: bool,
}

impl VolumeScanner {
    pub(super) fn new(volume: Arc<DataVolume>) -> Self {
        Self { volume, shared: Mutex::default(), changed: Condvar::new() }
    }

    /// Has a replica verified soon.
    pub(super) fn suspect(&self, block: &ExtendedBlock) {
        if self.shared.lock().suspects.add(block, clock::now()) {
            tracing::info!("{block} on volume {} is verified first", self.volume);
            self.changed.notify_all();
        }
    }

    /// Has the thread look for new block pools.
    pub(super) fn look_for_pools(&self) {
        self.shared.lock().pools_changed = true;
        self.changed.notify_all();
    }

    /// Has the thread end.
    pub(super) fn stop(&self) {
        self.shared.lock().stops = true;
        self.changed.notify_all();
    }

    /// Waits until the thread has ended; false if it takes longer.
    pub(super) fn wait_until_ended(&self, deadline: Instant) -> bool {
        let mut shared = self.shared.lock();
        while !shared.has_ended {
            if self.changed.wait_until(&mut shared, deadline).timed_out() {
                return shared.has_ended;
            }
        }
        true
    }

    /// What it has done.
    pub(super) fn statistics(&self) -> Statistics {
        self.shared.lock().statistics.clone()
    }

    /// Whether the thread is to end.
    pub(super) fn stops(&self) -> bool {
        self.shared.lock().stops || self.volume.has_failed()
    }

    /// The thread has ended.
    pub(super) fn end(&self) {
        self.shared.lock().has_ended = true;
        self.changed.notify_all();
    }

    /// The replica that is verified next, before all others.
    pub(super) fn next_suspect(&self) -> Option<ExtendedBlock> {
        self.shared.lock().suspects.take()
    }

    /// Changes what the thread has done.
    pub(super) fn count(&self, change: impl FnOnce(&mut Statistics)) {
        change(&mut self.shared.lock().statistics);
    }

    /// Waits for a while, or until something is wanted; true if the thread is to end.
    pub(super) fn pause(&self, time: Duration) -> bool {
        let deadline = clock::now() + time;
        let mut shared = self.shared.lock();
        while !shared.stops && !shared.pools_changed && shared.suspects.is_empty() {
            if self.changed.wait_until(&mut shared, deadline).timed_out() {
                break;
            }
        }
        shared.pools_changed = false;
        shared.stops
    }
}
