//! A replica in memory made to follow its files, which another program has changed.

use super::Failure;
use super::local_readers::LocalReaders;
use super::pool::BlockPool;
use super::removal::{ReplicaRemoval, delete_duplicate};
use super::replica::Replica;
use super::status::Status;
use super::volume::DataVolume;
use super::volume_checks::VolumeChecks;
use std::sync::Arc;
use zerohop_replica::{ListedReplica, Place, Pool, StoredReplica};
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// What was done about a difference.
pub(crate) enum Reconciled {
    /// Nothing that the NameNode must hear of.
    Same,
    /// The files were not known: the replica is served now.
    Added(Arc<Replica>),
    /// The files are gone, and the replica is not served any more.
    Removed(Block),
    /// The data has another length than it had, or is no regular file.
    Corrupt(Block),
}

/// Borrows what hears of a replica whose files are different or gone.
#[derive(Clone, Copy)]
pub(crate) struct Reconciler<'a> {
    pub(super) local_readers: &'a LocalReaders,
    pub(super) checks: VolumeChecks<'a>,
    pub(super) removal: ReplicaRemoval<'a>,
}

impl Reconciler<'_> {
    /// Makes memory follow the files of a finalized replica in `volume`. A replica that is being written
    /// is left alone.
    pub(crate) fn reconcile(
        &self,
        pool: &Arc<BlockPool>,
        id: BlockId,
        volume: &Arc<DataVolume>,
    ) -> Result<Reconciled, Failure> {
        let Some(files) = volume.pool(&pool.id) else { return Ok(Reconciled::Same) };
        match pool.get(id) {
            None => self.reconcile_unknown(pool, id, volume, &files),
            Some(replica) if Arc::ptr_eq(&replica.volume, volume) => {
                self.reconcile_known(pool, &replica, &files)
            }
            Some(replica) => Ok(self.reconcile_second(pool, &replica, id, volume, &files)?),
        }
    }

    /// Files of a block that is not in memory.
    fn reconcile_unknown(
        &self,
        pool: &Arc<BlockPool>,
        id: BlockId,
        volume: &Arc<DataVolume>,
        files: &Pool,
    ) -> Result<Reconciled, Failure> {
        let found = files.list_one(id)?;
        let Some(stored) = stored(&found) else {
            if let Some((stamp, _)) = found.meta {
                tracing::warn!("deletes the meta file of blk_{id} in {volume}: there is no data");
                files.delete(&Block { id, stamp, len: 0 }, Place::Finalized)?;
            }
            return Ok(Reconciled::Same);
        };
        let replica = Replica::new(id, Arc::clone(volume), Status::stored(stored));
        if pool.add(&replica).is_err() {
            return Ok(Reconciled::Same);
        }
        volume.count(&pool.id, stored.block.len + stored.meta_len);
        Ok(Reconciled::Added(replica))
    }

    /// The replica of memory, whose files may be gone or different.
    fn reconcile_known(
        &self,
        pool: &Arc<BlockPool>,
        replica: &Arc<Replica>,
        files: &Pool,
    ) -> Result<Reconciled, Failure> {
        let mut status = replica.lock();
        let Some(known) = status.finalized().filter(|_| pool.holds(replica)) else {
            return Ok(Reconciled::Same);
        };
        let found = files.list_one(replica.id)?;
        let Some(mut now) = stored(&found) else {
            drop(status);
            // Nothing is found on a volume that is gone; its replicas are not lost one by one.
            self.checks.check(&replica.volume);
            if replica.volume.has_failed() {
                return Ok(Reconciled::Same);
            }
            return Ok(Reconciled::Removed(self.removal.remove(
                pool,
                replica,
                Some(known.block.stamp),
            )?));
        };
        // A meta file of the known stamp counts, also beside a newer one.
        if files.meta_path(&known.block, Place::Finalized).exists() {
            (now.block.stamp, now.meta_len) = (known.block.stamp, known.meta_len);
        }
        if now != known {
            tracing::warn!("{} in {} is {} on the disk", known.block, replica.volume, now.block);
            replica.volume.discount(&pool.id, known.block.len + known.meta_len);
            replica.volume.count(&pool.id, now.block.len + now.meta_len);
            status.set_stored(now);
        }
        drop(status);
        if now.block != known.block {
            self.local_readers.revoke(&pool.key(replica.id));
        }
        let is_corrupt = now.block.len != known.block.len || !found.is_regular;
        Ok(if is_corrupt { Reconciled::Corrupt(known.block) } else { Reconciled::Same })
    }

    /// Files of a block whose replica is on another volume: the better ones stay.
    fn reconcile_second(
        &self,
        pool: &Arc<BlockPool>,
        replica: &Arc<Replica>,
        id: BlockId,
        volume: &Arc<DataVolume>,
        files: &Pool,
    ) -> Result<Reconciled, Failure> {
        // A move holds this lock while both are there.
        let known = match replica.lock() {
            status if status.state() == ReplicaState::Finalized => status.block(),
            _ => return Ok(Reconciled::Same),
        };
        let found = files.list_one(id)?;
        let Some(stored) = stored(&found) else { return Ok(Reconciled::Same) };
        if found.meta.is_none() {
            tracing::warn!(
                "deletes the second data file of blk_{id} in {volume}: it has no checksums"
            );
            files.delete(&stored.block, Place::Finalized)?;
            return Ok(Reconciled::Same);
        }
        let second = Replica::new(id, Arc::clone(volume), Status::stored(stored));
        if (stored.block.stamp, stored.block.len) <= (known.stamp, known.len) {
            volume.count(&pool.id, stored.block.len + stored.meta_len);
            delete_duplicate(&pool.id, replica, &second);
            return Ok(Reconciled::Same);
        }
        self.removal.remove(pool, replica, Some(known.stamp))?;
        volume.count(&pool.id, stored.block.len + stored.meta_len);
        Ok(match pool.add(&second) {
            Ok(()) => Reconciled::Added(second),
            Err(_) => Reconciled::Same,
        })
    }
}

/// A finalized replica as its files say; one without a meta file has stamp 0, as Apache reports it.
fn stored(found: &ListedReplica) -> Option<StoredReplica> {
    let (stamp, meta_len) = found.meta.unwrap_or((GenerationStamp::GRANDFATHER, 0));
    let block = Block { id: found.id, stamp, len: found.data_len? };
    Some(StoredReplica { block, place: Place::Finalized, meta_len })
}
