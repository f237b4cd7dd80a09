//! Volumes that fail while the DataNode runs: each is taken out with all that is on it.

use super::local_readers::LocalReaders;
use super::pools::BlockPools;
use super::volume::DataVolume;
use super::volumes::Volumes;
use std::sync::Arc;

/// Borrows what a volume takes with it when it goes out of use.
#[derive(Clone, Copy)]
pub(crate) struct VolumeChecks<'a> {
    pub(super) volumes: &'a Volumes,
    pub(super) pools: &'a BlockPools,
    pub(super) local_readers: &'a LocalReaders,
}

impl VolumeChecks<'_> {
    /// After an error with a replica's files: is its volume still good? One that is not is taken out of
    /// use with all its replicas; their writers are stopped and their local readers notified.
    pub(crate) fn check(self, volume: &Arc<DataVolume>) {
        if let Some(reason) = volume.check() {
            self.take_out(volume, reason);
        }
    }

    /// Takes a volume out of use whose disk has not answered for too long; true when that is so.
    pub(super) fn take_out_hung(self, volume: &Arc<DataVolume>) -> bool {
        let reason = volume.check_hung();
        reason.map(|reason| self.take_out(volume, reason)).is_some()
    }

    /// Forgets the replicas on a volume that failed, and remembers why it did.
    pub(super) fn take_out(self, volume: &Arc<DataVolume>, reason: String) {
        self.forget_replicas(volume);
        self.volumes.failures().note(volume.root(), reason, volume.capacity());
    }

    /// Forgets all replicas on a volume; their writers are stopped and their local readers notified.
    pub(super) fn forget_replicas(self, volume: &Arc<DataVolume>) {
        let mut locked = Vec::new();
        for pool in self.pools.all() {
            for replica in pool.all() {
                if !Arc::ptr_eq(&replica.volume, volume) {
                    continue;
                }
                pool.forget(&replica);
                self.local_readers.revoke(&pool.key(replica.id));
                if !replica.try_stop_writer() {
                    locked.push(replica);
                }
            }
        }
        // The threads that hold these locks may be waiting for the disk, perhaps for ever.
        if !locked.is_empty() {
            let stop = move || locked.iter().for_each(|replica| replica.stop_writer());
            let started = std::thread::Builder::new().name("stop writers".to_owned()).spawn(stop);
            if let Err(error) = started {
                tracing::warn!("some writers of volume {volume} are not told to stop: {error}");
            }
        }
    }
}
