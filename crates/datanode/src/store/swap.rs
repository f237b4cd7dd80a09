//! Volumes added and removed while the DataNode runs.

use super::start::open_volume;
use super::volume::{DataVolume, Location, VolumeOptions};
use super::{BlockPool, Store};
use crate::namenodes::PoolIdentity;
use std::path::Path;
use std::sync::Arc;
use zerohop_wire::Block;

impl Store {
    /// Opens a volume, with the replicas that are on it already, for those of `pools` that are open.
    pub(crate) fn add_volume(
        &self,
        location: Location,
        options: VolumeOptions,
        pools: &[PoolIdentity],
    ) -> Result<Arc<DataVolume>, zerohop_replica::Error> {
        let _no_pool_is_opened = self.opening.lock();
        let volume = Arc::new(open_volume(location, options)?);
        for identity in pools {
            let Ok(pool) = self.pool(&identity.pool_id) else { continue };
            for replicas in self.open_pool_on(std::slice::from_ref(&volume), identity) {
                for replica in replicas.inspect_err(|_| self.forget_replicas(&volume))? {
                    if let Err(known) = pool.add(&replica) {
                        self.drop_twin(&pool.id, &known, &replica);
                    }
                }
            }
        }
        self.volumes.add(Arc::clone(&volume));
        self.health.forget(volume.root());
        Ok(volume)
    }

    /// Takes a volume out of use, whether or not it has failed, and unlocks its directory; its files
    /// stay. Its writers are stopped. Gives the blocks whose replicas went with it.
    pub(crate) fn remove_volume(
        &self,
        volume: &Arc<DataVolume>,
    ) -> Vec<(Arc<BlockPool>, Vec<Block>)> {
        let _no_pool_is_opened = self.opening.lock();
        volume.fail();
        self.volumes.remove(volume);
        let pools: Vec<Arc<BlockPool>> = self.pools.read().values().cloned().collect();
        let blocks_of = |pool: &BlockPool| {
            let all = pool.all().into_iter();
            let here = all.filter(|replica| Arc::ptr_eq(&replica.volume, volume));
            // One whose lock is held is waiting for the disk: the next full report leaves it out.
            here.filter_map(|replica| Some(replica.try_lock()?.block())).collect()
        };
        let gone = pools.into_iter().map(|pool| (Arc::clone(&pool), blocks_of(&pool))).collect();
        self.forget_replicas(volume);
        self.health.forget(volume.root());
        volume.close();
        gone
    }

    /// Forgets that a directory, which is not configured any more, could not be used.
    pub(crate) fn forget_failure(&self, directory: &Path) {
        self.health.forget(directory);
    }

    /// So many directories are configured now.
    pub(crate) fn set_configured_volumes(&self, count: usize) {
        self.health.set_configured(count);
    }
}
