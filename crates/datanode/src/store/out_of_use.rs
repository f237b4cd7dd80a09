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

    /// Whether all volumes are where they were. Costs a small read each, so it can be asked often: local
    /// readers would not notice a failure for us.
    pub(crate) fn look_at_volumes(&self) {
        for volume in &self.volumes {
            if let Some(reason) = volume.look() {
                self.take_out(volume, reason);
            }
        }
    }

    pub(super) fn take_out(&self, volume: &Arc<DataVolume>, reason: String) {
        tracing::error!("volume {volume} failed and is out of use: {reason}");
        self.health.note(volume.root(), reason, volume.capacity());
        let pools: Vec<Arc<BlockPool>> = self.pools.read().values().cloned().collect();
        for pool in pools {
            for replica in pool.all().iter().filter(|held| Arc::ptr_eq(&held.volume, volume)) {
                pool.forget(replica);
                self.revoke(&pool.key(replica.id));
                let writer = replica.lock().writer.clone();
                if let Some(writer) = writer {
                    writer.stop();
                }
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
