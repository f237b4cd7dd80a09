//! The replica's side of block recovery (`FsDatasetImpl.initReplicaRecovery` and following).

use super::Failure;
use super::local_readers::LocalReaders;
use super::moves;
use super::pool::BlockPool;
use super::pools::BlockPools;
use super::removal::ReplicaRemoval;
use super::replica::Replica;
use super::status::{Files, Status};
use super::write::finish;
use crate::short_circuit::BlockKey;
use parking_lot::MutexGuard;
use std::sync::Arc;
use std::time::Duration;
use zerohop_replica::{Durability, LiveReplica, Place, Pool};
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId, ExtendedBlock, GenerationStamp, JavaException};

/// What a recovery wants to know of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecoveryInfo {
    pub(crate) block: Block,
    /// The state before the recovery.
    pub(crate) original: ReplicaState,
}

/// Borrows what is needed to recover replicas.
#[derive(Clone, Copy)]
pub(crate) struct ReplicaRecovery<'a> {
    pub(super) pools: &'a BlockPools,
    pub(super) local_readers: &'a LocalReaders,
    pub(super) removal: ReplicaRemoval<'a>,
    /// How long a writer that has to make room may take to leave.
    pub(super) writer_patience: Duration,
}

impl ReplicaRecovery<'_> {
    /// Stops the writer and reserves the replica for the recovery; `None` without such a replica. A
    /// copy that is still coming in is none: it makes room, so that it can come again when the
    /// recovery is over.
    pub(crate) fn init_recovery(
        &self,
        block: &ExtendedBlock,
        id: GenerationStamp,
    ) -> Result<Option<RecoveryInfo>, Failure> {
        let pool = self.pools.get(&block.pool)?;
        let Some(replica) = pool.get(block.block.id) else { return Ok(None) };
        {
            let status = replica.lock();
            if status.state() == ReplicaState::Temporary && status.block().stamp >= id {
                // Of the block as a later recovery left it.
                return Ok(None);
            }
        }
        let patience = self.writer_patience;
        let begun = self.pools.with_current(
            block,
            |replica| Ok(replica.lock_without_writer(patience)?),
            |replica, status| self.begin_recovery(&pool, replica, status, block, id),
        );
        match begun {
            // Its writer may have removed it when it was stopped.
            Err(_) if pool.get(block.block.id).is_none() => Ok(None),
            begun => begun,
        }
    }

    fn begin_recovery(
        &self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        mut status: MutexGuard<'_, Status>,
        block: &ExtendedBlock,
        id: GenerationStamp,
    ) -> Result<Option<RecoveryInfo>, Failure> {
        if status.state() == ReplicaState::Temporary {
            let stamp = status.block().stamp;
            drop(status);
            return match self.removal.remove(pool, replica, Some(stamp)) {
                Err(failure) if pool.holds(replica) => Err(failure),
                // Its writer may have removed it when it was stopped.
                _ => Ok(None),
            };
        }
        tracing::info!(
            "initReplicaRecovery: {block}, recoveryId={id}, replica={}",
            status.text(&replica.volume)
        );
        let known = status.block();
        let text = status.text(&replica.volume).to_string();
        if known.stamp < block.block.stamp {
            return Err(Failure::io(format!(
                "replica.getGenerationStamp() < block.getGenerationStamp(), block={block}, \
                 replica={text}"
            )));
        }
        if known.stamp >= id {
            return Err(Failure::io(format!(
                "THIS IS NOT SUPPOSED TO HAPPEN: replica.getGenerationStamp() >= recoveryId = \
                 {id}, block={block}, replica={text}"
            )));
        }
        if status.recovery().is_some_and(|before| before.id >= id) {
            return Err(Failure::Refused(JavaException::RecoveryInProgress.with(format!(
                "rur.getRecoveryID() >= recoveryId = {id}, block={block}, rur={text}"
            ))));
        }
        if let Files::Live(live) = status.files() {
            live.flush()?;
        }
        let original = status.begin_recovery(id).original;
        replica.volume.release(status.take_reserved(u64::MAX));
        Ok(Some(RecoveryInfo { block: known, original }))
    }

    /// Ends a recovery: the replica gets the recovery's stamp and `new_len` bytes and is final.
    /// With another `new_id` a copy of so many bytes is made and this one stays as it was.
    pub(crate) fn update_recovered(
        &self,
        old: &ExtendedBlock,
        id: GenerationStamp,
        new_id: BlockId,
        new_len: u64,
    ) -> Result<(Arc<Replica>, Block), Failure> {
        let pool = self.pools.get(&old.pool)?;
        if pool.get(old.block.id).is_none() {
            return Err(Failure::not_found(format_args!("Replica not found for {old}")));
        }
        self.pools.with_current(old, Replica::lock_now, |replica, mut status| {
            check_update(replica, &status, old, id, new_len)?;
            let files = replica
                .volume
                .pool(&old.pool)
                .ok_or_else(|| Failure::io(format!("{} lost {}", replica.volume, old.pool)))?;
            if new_id.0 > 0 && new_id != old.block.id {
                let copy = Block { id: new_id, stamp: id, len: new_len };
                let made = self.copy_recovered(&pool, &files, replica, &mut status, copy)?;
                let block = made.block();
                return Ok((made, block));
            }
            let live = recovered_files(&files, &mut status, replica, id)?;
            // The stamp is new and bytes may be cut off: no reader opens the files meanwhile, the
            // replica is locked.
            self.local_readers.revoke(&BlockKey::from(old));
            live.truncate(new_len)?;
            finish(replica, &mut status, &live, Durability::PageCache)?;
            Ok((Arc::clone(replica), status.block()))
        })
    }

    /// Makes a copy of the first `copy.len` bytes, and leaves the replica as it was.
    fn copy_recovered(
        &self,
        pool: &BlockPool,
        files: &Pool,
        replica: &Arc<Replica>,
        status: &mut MutexGuard<'_, Status>,
        copy: Block,
    ) -> Result<Arc<Replica>, Failure> {
        if let Some(left) = pool.get(copy.id) {
            self.remove_older(pool, &left, copy)?;
        }
        let reader = match status.files() {
            Files::Live(live) => live.open()?,
            Files::Stored(stored) => files.open(&stored.block, stored.place)?,
        };
        let live = Arc::new(moves::copy(files, &reader, copy, Place::Rbw)?);
        let open = Status::open(ReplicaState::Rbw, Arc::clone(&live));
        let made = Replica::new(copy.id, Arc::clone(&replica.volume), open);
        let finished = finish(&made, &mut made.lock(), &live, Durability::PageCache);
        finished.inspect_err(|_| drop(live.delete()))?;
        pool.replace(&made);
        self.end_untouched(files, replica, status)?;
        Ok(made)
    }

    /// Removes what an earlier try of a recovery left of `copy`.
    fn remove_older(
        &self,
        pool: &BlockPool,
        left: &Arc<Replica>,
        copy: Block,
    ) -> Result<(), Failure> {
        let stamp = left.block().stamp;
        if stamp >= copy.stamp {
            return Err(Failure::exists(format!("{copy} cannot be made: stamp {stamp} is there")));
        }
        self.removal.remove(pool, left, Some(stamp)).map(drop)
    }

    /// Makes the original of a truncated copy final, with its own stamp.
    fn end_untouched(
        &self,
        files: &Pool,
        replica: &Arc<Replica>,
        status: &mut MutexGuard<'_, Status>,
    ) -> Result<(), Failure> {
        if let Files::Stored(stored) = status.files()
            && stored.place == Place::Finalized
        {
            let stored = *stored;
            status.finalize(stored);
            return Ok(());
        }
        let stamp = status.block().stamp;
        let live = recovered_files(files, status, replica, stamp)?;
        finish(replica, status, &live, Durability::PageCache)
    }
}

fn check_update(
    replica: &Replica,
    status: &Status,
    old: &ExtendedBlock,
    id: GenerationStamp,
    new_len: u64,
) -> Result<(), Failure> {
    let text = status.text(&replica.volume);
    let Some(recovery) = status.recovery() else {
        return Err(Failure::io(format!("replica.getState() != RUR, replica={text}")));
    };
    if recovery.id != id {
        return Err(Failure::io(format!("rur.getRecoveryID() != recoveryId = {id}, rur={text}")));
    }
    let len = status.block().len;
    if len != old.block.len {
        return Err(Failure::io(format!(
            "THIS IS NOT SUPPOSED TO HAPPEN: replica.getBytesOnDisk() != block.getNumBytes(), \
             block={old}, replica={text}"
        )));
    }
    if len < new_len {
        return Err(Failure::io(format!("rur.getNumBytes() < newlength = {new_len}, rur={text}")));
    }
    Ok(())
}

/// The files of a replica under recovery, open, with their new stamp.
fn recovered_files(
    files: &Pool,
    status: &mut MutexGuard<'_, Status>,
    replica: &Replica,
    stamp: GenerationStamp,
) -> Result<Arc<LiveReplica>, Failure> {
    let live = match status.files() {
        Files::Live(live) => {
            live.restamp(stamp)?;
            return Ok(Arc::clone(live));
        }
        Files::Stored(stored) => {
            let live = match stored.place {
                Place::Finalized => files.append(stored.block, stamp)?,
                place => {
                    let live = files.adopt(stored.block, place)?;
                    live.restamp(stamp)?;
                    live
                }
            };
            replica.volume.discount(files.id(), stored.block.len + stored.meta_len);
            Arc::new(live)
        }
    };
    status.set_live(Arc::clone(&live));
    Ok(live)
}
