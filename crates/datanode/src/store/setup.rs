//! Block pools opened on the volumes, and volumes added and removed while the DataNode runs.

use super::pool::BlockPool;
use super::pools::BlockPools;
use super::removal::delete_duplicate;
use super::replica::Replica;
use super::start::{Listed, check_storage_id, keep_better, list_on, open_volume};
use super::volume::{DataVolume, Location, VolumeOptions};
use super::volume_checks::VolumeChecks;
use super::volumes::Volumes;
use crate::namenodes::PoolIdentity;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use zerohop_wire::{Block, BlockId};

/// What all volumes and pools are opened with; one is opened, added or removed at a time.
pub(super) struct SetupState {
    /// This DataNode's id.
    pub(super) datanode_uuid: String,
    /// How long a disk may take to answer while a volume is opened.
    pub(super) disk_check_timeout: Duration,
    /// Held while a pool is opened, and while a volume is added or removed.
    pub(super) opening: Mutex<()>,
}

/// Borrows what is needed to open pools, and to add and remove volumes.
#[derive(Clone, Copy)]
pub(crate) struct VolumeSetup<'a> {
    pub(super) state: &'a SetupState,
    pub(super) volumes: &'a Volumes,
    pub(super) pools: &'a BlockPools,
    pub(super) checks: VolumeChecks<'a>,
}

impl VolumeSetup<'_> {
    /// Opens a block pool on all volumes and lists its replicas.
    pub(crate) fn open_pool(self, identity: &PoolIdentity) -> Result<(), zerohop_replica::Error> {
        let _no_volume_is_changed = self.state.opening.lock();
        if self.pools.is_open(&identity.pool_id) {
            return Ok(());
        }
        let mut replicas: HashMap<BlockId, Arc<Replica>> = HashMap::new();
        let volumes = self.volumes.in_use();
        let found = self.open_pool_on(&volumes, identity);
        for (volume, found) in volumes.iter().zip(found) {
            let found = match found {
                Ok(found) => found,
                Err(error) if error.is_volume_fault() => {
                    if volume.fail() {
                        self.checks.take_out(volume, error.to_string());
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            for replica in found {
                if let Some([kept, other]) = keep_better(&mut replicas, replica) {
                    delete_duplicate(&identity.pool_id, &kept, &other);
                }
            }
        }
        tracing::info!("block pool {}: {} replicas", identity.pool_id, replicas.len());
        self.pools.add(BlockPool::new(Arc::clone(&identity.pool_id), replicas));
        Ok(())
    }

    /// Opens a block pool on each of the volumes at once; gives the replicas that are there. A disk that hangs is an
    /// error of its volume after `dfs.datanode.disk.check.timeout`.
    fn open_pool_on(
        self,
        volumes: &[Arc<DataVolume>],
        identity: &PoolIdentity,
    ) -> Vec<Result<Vec<Arc<Replica>>, zerohop_replica::Error>> {
        let (uuid, timeout) = (&self.state.datanode_uuid, self.state.disk_check_timeout);
        let listed = list_on(volumes, identity, uuid, timeout);
        let checked = |(volume, listed): (&Arc<DataVolume>, Result<Listed, _>)| {
            let listed = listed?;
            if listed.has_volume_fault() {
                self.checks.check(volume);
            }
            Ok(if volume.has_failed() { Vec::new() } else { listed.replicas })
        };
        volumes.iter().zip(listed).map(checked).collect()
    }

    /// Opens a volume, with the replicas that are on it already, for those of `pools` that are open.
    pub(crate) fn add_volume(
        self,
        location: Location,
        options: VolumeOptions,
        pools: &[PoolIdentity],
    ) -> Result<Arc<DataVolume>, zerohop_replica::Error> {
        let _no_pool_is_opened = self.state.opening.lock();
        let volume = Arc::new(open_volume(location, options)?);
        check_storage_id(&volume, &self.volumes.in_use())?;
        for identity in pools {
            let Ok(pool) = self.pools.get(&identity.pool_id) else { continue };
            for replicas in self.open_pool_on(std::slice::from_ref(&volume), identity) {
                for replica in replicas.inspect_err(|_| self.checks.forget_replicas(&volume))? {
                    if let Err(known) = pool.add(&replica) {
                        delete_duplicate(&pool.id, &known, &replica);
                    }
                }
            }
        }
        self.volumes.add(&volume);
        Ok(volume)
    }

    /// Takes a volume out of use, whether or not it has failed, and unlocks its directory; its files
    /// stay. Its writers are stopped. Gives the blocks whose replicas went with it.
    pub(crate) fn remove_volume(
        self,
        volume: &Arc<DataVolume>,
    ) -> Vec<(Arc<BlockPool>, Vec<Block>)> {
        let _no_pool_is_opened = self.state.opening.lock();
        volume.fail();
        self.volumes.remove(volume);
        let blocks_of = |pool: &BlockPool| {
            let all = pool.all().into_iter();
            let here = all.filter(|replica| Arc::ptr_eq(&replica.volume, volume));
            // One whose lock is held is waiting for the disk: the next full report leaves it out.
            here.filter_map(|replica| Some(replica.try_lock()?.block())).collect()
        };
        let pools = self.pools.all().into_iter();
        let gone = pools.map(|pool| (Arc::clone(&pool), blocks_of(&pool))).collect();
        self.checks.forget_replicas(volume);
        self.volumes.failures().forget(volume.root());
        volume.close();
        gone
    }
}
