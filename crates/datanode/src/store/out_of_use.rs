//! Volumes that fail while the DataNode runs: each is taken out with all that is on it.

use super::Store;
use super::health::VolumeFailure;
use super::pool::BlockPool;
use super::volume::DataVolume;
use crate::error::Error;
use std::sync::Arc;

impl Store {
    /// After an error with a replica's files: is its volume still good? One that is not is taken out of
    /// use with all its replicas; their writers are stopped and their local readers told off.
    pub(crate) fn suspect(&self, volume: &Arc<DataVolume>) {
        if let Some(reason) = volume.check() {
            self.take_out(volume, reason);
        }
    }

    /// Starts to look whether all volumes are where they were, and how much space they have; takes those
    /// out whose disks do not answer. Does not wait for any disk. A look costs a small read, so it can be
    /// asked often: local readers would not notice a failure for us.
    pub(crate) fn look_at_volumes(self: &Arc<Self>) {
        for volume in self.volumes.in_use() {
            if let Some(reason) = volume.check_hung() {
                self.take_out(&volume, reason);
                continue;
            }
            let store = Arc::downgrade(self);
            volume.start_look(move |volume, reason| {
                if let Some(store) = store.upgrade() {
                    store.take_out(volume, reason);
                }
            });
        }
    }

    pub(super) fn take_out(&self, volume: &Arc<DataVolume>, reason: String) {
        tracing::error!("volume {volume} failed and is out of use: {reason}");
        self.forget_replicas(volume);
        self.health.note(volume.root(), reason, volume.capacity());
    }

    /// Forgets all replicas on a volume; their writers are stopped and their local readers told off.
    pub(super) fn forget_replicas(&self, volume: &Arc<DataVolume>) {
        let pools: Vec<Arc<BlockPool>> = self.pools.read().values().cloned().collect();
        let mut locked = Vec::new();
        for pool in pools {
            for replica in pool.all() {
                if !Arc::ptr_eq(&replica.volume, volume) {
                    continue;
                }
                pool.forget(&replica);
                self.revoke(&pool.key(replica.id));
                if !replica.try_stop_writer() {
                    locked.push(replica);
                }
            }
        }
        // Whoever holds these locks may be waiting for the disk, perhaps for ever.
        if !locked.is_empty() {
            let stop = move || locked.iter().for_each(|replica| replica.stop_writer());
            let started = std::thread::Builder::new().name("stop writers".to_owned()).spawn(stop);
            if let Err(error) = started {
                tracing::warn!("some writers of volume {volume} are not told to stop: {error}");
            }
        }
    }

    /// Waits until a volume has failed since the last time this returned.
    pub(crate) async fn volume_failed(&self) {
        self.health.failed().await;
    }

    /// Failures that this did not return before.
    pub(crate) fn untold_failures(&self) -> Vec<VolumeFailure> {
        self.health.untold()
    }

    /// An error when more volumes failed than `dfs.datanode.failed.volumes.tolerated` allows.
    pub(crate) fn check_health(&self) -> Result<(), Error> {
        self.health.check()
    }
}
