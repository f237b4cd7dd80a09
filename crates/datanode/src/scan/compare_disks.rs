//! The thread of the directory scanner.

use super::directory::DirectoryScanner;
use super::reconcile::{Differences, compare};
use super::settings::DirectoryScannerSettings;
use crate::node::Node;
use crate::store::volume::DataVolume;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::Duration;
use zerohop_replica::ListedReplica;
use zerohop_system::{clock, random};

/// Starts the thread that scans from time to time, first after a random part of the interval.
pub(crate) fn scan_directories(node: &Arc<Node>) {
    let scanner = Arc::clone(&node.directory_scanner);
    let Some(settings) = scanner.settings() else { return };
    let first = settings.interval.mul_f64(random::f64());
    tracing::info!("the first directory scan starts in {} s", first.as_secs());
    let node = Arc::downgrade(node);
    let run = move || Run { scanner: &scanner, settings }.run(&node, first);
    // The kernel keeps 15 letters.
    if let Err(error) = thread::Builder::new().name("directory scan".to_owned()).spawn(run) {
        tracing::error!("disks and memory are not compared: {error}");
    }
}

/// One scan now.
#[cfg(test)]
pub(super) fn scan_now(node: &Arc<Node>) {
    let scanner = &node.directory_scanner;
    if let Some(settings) = scanner.settings() {
        Run { scanner, settings }.scan(node);
    }
}

struct Run<'a> {
    scanner: &'a DirectoryScanner,
    settings: DirectoryScannerSettings,
}

impl Run<'_> {
    fn run(&self, node: &Weak<Node>, first: Duration) {
        let mut next = clock::now() + first;
        loop {
            if self.scanner.pause_until(next) {
                return;
            }
            next = clock::now() + self.settings.interval;
            let Some(node) = node.upgrade() else { return };
            self.scan(&node);
        }
    }

    /// Compares all pools, and resolves the differences.
    fn scan(&self, node: &Arc<Node>) {
        let notifications = AtomicUsize::new(self.settings.notifications_max);
        for pool_id in node.store.pools().ids() {
            let Ok(pool) = node.store.pools().get(&pool_id) else { continue };
            let Some(on_disk) = self.list(node, &pool_id) else { return };
            let Differences { counts, blocks } = compare(&pool, &on_disk);
            tracing::info!("directory scan of block pool {pool_id}: {counts}");
            self.scanner.note(Arc::clone(&pool_id), counts);
            for (index, difference) in blocks.into_iter().enumerate() {
                let batch_is_done = index > 0 && index % self.settings.batch == 0;
                if batch_is_done
                    && self.scanner.pause_until(clock::now() + self.settings.batch_pause)
                {
                    return;
                }
                difference.resolve(node, &pool, &notifications);
            }
        }
        self.scanner.finish();
    }

    /// The replicas of a pool on the disks of all volumes that can be listed; `None` if the scanner is to
    /// stop.
    fn list(
        &self,
        node: &Arc<Node>,
        pool_id: &str,
    ) -> Option<Vec<(Arc<DataVolume>, Vec<ListedReplica>)>> {
        let volumes = node.store.volumes().in_use();
        let (next, listed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..self.settings.threads.min(volumes.len()) {
                scope.spawn(|| {
                    while let Some(volume) = volumes.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if let Some(found) = self.list_volume(node, volume, pool_id) {
                            listed.lock().push((Arc::clone(volume), found));
                        }
                    }
                });
            }
        });
        (!self.scanner.stops()).then(|| listed.into_inner())
    }

    fn list_volume(
        &self,
        node: &Arc<Node>,
        volume: &Arc<DataVolume>,
        pool_id: &str,
    ) -> Option<Vec<ListedReplica>> {
        let files = volume.pool(pool_id)?;
        let mut began = clock::now();
        let mut pause = || {
            let Some(limit) = self.settings.throttle.filter(|limit| clock::since(began) >= *limit)
            else {
                return;
            };
            let over = clock::since(began) - limit;
            let rest = Duration::from_secs(1).saturating_sub(limit) + over;
            self.scanner.pause_until(clock::now() + rest.min(Duration::from_secs(1)));
            began = clock::now();
        };
        match files.list_finalized(&mut pause) {
            Ok(found) => Some(found),
            Err(error) => {
                tracing::warn!("directory scan: {error}");
                node.store.volume_checks().check(volume);
                None
            }
        }
    }
}
