//! All replicas of this DataNode: volumes below, an index in memory above.

pub(crate) mod choose;
mod damage;
mod disk_check;
mod failure;
mod health;
mod on_disks;
mod open;
mod out_of_use;
mod pool;
mod reconcile;
mod recovery;
mod relocate;
pub(crate) mod replica;
mod report;
mod start;
mod swap;
mod upgrade;
pub(crate) mod volume;
mod volume_list;
pub(crate) mod write;

use crate::outliers::DiskCall;
use crate::short_circuit::{BlockCache, BlockKey, Registry};
use choose::VolumeChooser;
use health::Health;
use parking_lot::{Condvar, Mutex, MutexGuard, RwLock};
use replica::{Files, Replica, Status};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use volume::DataVolume;
use volume_list::VolumeList;
use zerohop_system::clock;
use zerohop_wire::{Block, ExtendedBlock, GenerationStamp};

#[cfg(test)]
mod start_test;
#[cfg(test)]
pub(crate) mod store_test;
#[cfg(test)]
mod volumes_test;

pub(crate) use damage::Suspicion;
pub(crate) use failure::Failure;
pub(crate) use open::{Opened, ReplicaFiles};
pub(crate) use pool::BlockPool;
pub(crate) use reconcile::Reconciled;
pub(crate) use recovery::RecoveryInfo;
pub(crate) use report::StorageBlocks;
pub(crate) use upgrade::apply_upgrade_phase;

/// All replicas.
pub(crate) struct Store {
    /// This DataNode's id.
    pub(crate) datanode_uuid: String,
    volumes: VolumeList,
    /// Held while a pool is opened, and while a volume is added or removed.
    opening: Mutex<()>,
    chooser: VolumeChooser,
    pools: RwLock<HashMap<Arc<str>, Arc<BlockPool>>>,
    /// Requests that came before their pool was open wait here.
    pool_opened: (Mutex<()>, Condvar),
    health: Health,
    /// Who reads replicas through descriptors of their own, and must hear when they change.
    pub(crate) slots: Arc<Registry>,
    /// Replicas locked in memory.
    pub(crate) cache: Arc<BlockCache>,
    /// How long a disk may take to answer while a volume is opened.
    disk_check_timeout: Duration,
    /// How long a writer that has to make room may take to leave.
    writer_patience: Duration,
}

impl Store {
    /// The volumes.
    pub(crate) fn volumes(&self) -> Arc<[Arc<DataVolume>]> {
        self.volumes.all()
    }

    /// The volumes that have not failed.
    pub(crate) fn volumes_in_use(&self) -> Vec<Arc<DataVolume>> {
        self.volumes.in_use()
    }

    /// The ids of the open block pools.
    pub(crate) fn pool_ids(&self) -> Vec<Arc<str>> {
        self.pools.read().keys().cloned().collect()
    }

    fn has_pool(&self, id: &str) -> bool {
        self.pools.read().contains_key(id)
    }

    /// Waits until a pool is open; false when it is not in time.
    pub(crate) fn wait_for_pool(&self, id: &str, patience: Duration) -> bool {
        if self.has_pool(id) {
            return true;
        }
        let deadline = clock::now() + patience;
        let mut waiting = self.pool_opened.0.lock();
        while !self.has_pool(id) {
            if self.pool_opened.1.wait_until(&mut waiting, deadline).timed_out() {
                return self.has_pool(id);
            }
        }
        true
    }

    /// A block pool.
    pub(crate) fn pool(&self, id: &str) -> Result<Arc<BlockPool>, Failure> {
        let pool = self.pools.read().get(id).cloned();
        pool.ok_or_else(|| Failure::io(format!("Not ready to serve the block pool, {id}.")))
    }

    /// A replica by its block id.
    pub(crate) fn replica(&self, block: &ExtendedBlock) -> Result<Arc<Replica>, Failure> {
        let pool = self.pool(&block.pool)?;
        pool.get(block.block.id).ok_or_else(|| {
            Failure::not_found(format_args!(
                "Cannot append to a non-existent replica {}:{}",
                block.pool, block.block.id
            ))
        })
    }

    /// Works with the replica of a block under its lock. That is taken again where the replica moved to
    /// another volume while it was waited for: what is written to the old files would be lost.
    fn with_current<T>(
        &self,
        block: &ExtendedBlock,
        lock: impl Fn(&Replica) -> Result<MutexGuard<'_, Status>, Failure>,
        work: impl FnOnce(&Arc<Replica>, MutexGuard<'_, Status>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let pool = self.pool(&block.pool)?;
        loop {
            let replica = self.replica(block)?;
            let status = lock(&replica)?;
            if pool.holds(&replica) {
                return work(&replica, status);
            }
        }
    }

    /// Deletes a replica of this block with this stamp; the block as it was, with its volume.
    pub(crate) fn delete(
        &self,
        pool: &BlockPool,
        block: Block,
    ) -> Result<(Block, Arc<DataVolume>), Failure> {
        let Some(replica) = pool.get(block.id) else {
            return Err(Failure::io(format!(
                "Failed to delete replica {block}: ReplicaInfo not found."
            )));
        };
        {
            let status = replica.lock();
            check_stamp(&status.block(), block.stamp)?;
            if let Some(writer) = &status.writer {
                writer.stop();
            }
        }
        // An append or a recovery may have come in between.
        let known = self.remove_by(Removal::Discard, pool, &replica, Some(block.stamp))?;
        Ok((known, Arc::clone(&replica.volume)))
    }

    /// Tells local readers not to use their descriptors of a block any more. Comes after the change
    /// that keeps new ones from being opened, so that no reader slips through.
    pub(super) fn revoke(&self, block: &BlockKey) {
        self.slots.revoke(block);
        self.cache.unlock(block);
    }

    /// Deletes a replica's files and forgets it, if its stamp is `expected` or it does not matter.
    fn remove(
        &self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        expected: Option<GenerationStamp>,
    ) -> Result<Block, Failure> {
        self.remove_by(Removal::Delete, pool, replica, expected)
    }

    fn remove_by(
        &self,
        removal: Removal,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        expected: Option<GenerationStamp>,
    ) -> Result<Block, Failure> {
        let mut status = replica.lock();
        let block = status.block();
        if !pool.holds(replica) {
            return Err(Failure::not_found(format_args!("Replica not found for {block}")));
        }
        expected.map_or(Ok(()), |stamp| check_stamp(&block, stamp))?;
        let reserved = std::mem::take(&mut status.reserved);
        let files = replica.volume.pool(&pool.id);
        let delete = || match (&status.files, removal) {
            (Files::Live(live), Removal::Delete) => live.delete(),
            (Files::Live(live), Removal::Discard) => live.discard(),
            (Files::Stored(stored), removal) => files.map_or(Ok(0), |files| match removal {
                Removal::Delete => files.delete(&stored.block, stored.place),
                Removal::Discard => files.discard(&stored.block, stored.place),
            }),
        };
        let deleted = replica.volume.times.time(DiskCall::Metadata, delete);
        // What was counted, also where somebody else has deleted a file.
        let counted = match &status.files {
            Files::Stored(stored) => Some(stored.block.len + stored.meta_len),
            Files::Live(_) => None,
        };
        drop(status);
        pool.forget(replica);
        self.revoke(&pool.key(replica.id));
        replica.volume.release(reserved);
        deleted.inspect_err(|error| self.file_trouble(pool, replica, error))?;
        if let Some(bytes) = counted {
            replica.volume.discount(&pool.id, bytes);
        }
        Ok(block)
    }

    /// Tells all writers to say good-bye: this DataNode is about to stop.
    pub(crate) fn stop_writers(&self) {
        for pool in self.pools.read().values() {
            for replica in pool.all() {
                let writer = replica.lock().writer.clone();
                if let Some(writer) = writer {
                    writer.stop_receiving();
                }
            }
        }
    }
}

/// What becomes of the files of a replica that is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// They are deleted: they are of no use to anybody.
    Delete,
    /// The NameNode wants them deleted, and a rollback of a rolling upgrade may want them back.
    Discard,
}

fn check_stamp(known: &Block, expected: GenerationStamp) -> Result<(), Failure> {
    if known.stamp == expected {
        return Ok(());
    }
    let asked = Block { stamp: expected, ..*known };
    Err(Failure::io(format!(
        "Failed to delete replica {asked}: GenerationStamp not matched, existing replica is {known}"
    )))
}
