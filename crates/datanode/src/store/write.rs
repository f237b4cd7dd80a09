//! Replicas that begin to be written, go on, and become final.
//!
//! Each entry point sets the writer under the replica's lock, after any former writer has left.

use super::Failure;
use super::local_readers::LocalReaders;
use super::pool::BlockPool;
use super::pools::BlockPools;
use super::removal::ReplicaRemoval;
use super::replica::Replica;
use super::status::{Files, Status};
use super::volume::DataVolume;
use super::volume_checks::VolumeChecks;
use super::volumes::Volumes;
use super::writer::Writer;
use crate::outliers::DiskCall;
use crate::short_circuit::BlockKey;
use parking_lot::MutexGuard;
use std::sync::Arc;
use std::time::Duration;
use zerohop_replica::{Durability, LiveReplica, Place};
use zerohop_wire::StorageType;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, DataChecksum, ExtendedBlock, GenerationStamp};

/// A replica with the files its writer writes to.
pub(crate) struct Writable {
    pub(crate) replica: Arc<Replica>,
    pub(crate) live: Arc<LiveReplica>,
}

/// Where a new replica shall go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pub(crate) storage_type: StorageType,
    pub(crate) checksum: DataChecksum,
    /// Space to set aside: the block's size as far as it is known.
    pub(crate) room: u64,
}

/// Borrows what is needed to write replicas.
#[derive(Clone, Copy)]
pub(crate) struct ReplicaWrites<'a> {
    pub(super) volumes: &'a Volumes,
    pub(super) pools: &'a BlockPools,
    pub(super) local_readers: &'a LocalReaders,
    pub(super) checks: VolumeChecks<'a>,
    pub(super) removal: ReplicaRemoval<'a>,
    /// How long a writer that has to make room may take to leave.
    pub(super) writer_patience: Duration,
}

impl ReplicaWrites<'_> {
    /// Creates a replica that a client writes. With a stamp other than 0, the client tries again: the unfinished replica that
    /// its earlier attempt left is replaced.
    ///
    /// # Errors
    /// Fails if another replica of the block exists: a finalized one, one under recovery, or one that is not older.
    pub(crate) fn create_rbw(
        &self,
        block: &ExtendedBlock,
        new_stamp: GenerationStamp,
        placement: Placement,
        writer: &Arc<Writer>,
    ) -> Result<Writable, Failure> {
        let pool = self.pools.get(&block.pool)?;
        let mut wanted = block.block;
        if let Some(known) = pool.get(wanted.id) {
            if new_stamp.0 == 0 {
                return Err(already_exists(block, known.state()));
            }
            // Before its writer is stopped, which may be a newer one.
            let stamp = check_left_behind(block, &known.lock(), new_stamp)?;
            let status = known.lock_without_writer(self.writer_patience)?;
            check_left_behind(block, &status, new_stamp)?;
            drop(status);
            self.removal.remove(&pool, &known, Some(stamp))?;
        }
        if new_stamp.0 != 0 {
            wanted.stamp = new_stamp;
        }
        self.create(&pool, wanted, ReplicaState::Rbw, placement, writer)
    }

    /// A new replica that is copied from another DataNode. Older ones under way make room.
    pub(crate) fn create_temporary(
        &self,
        block: &ExtendedBlock,
        for_client: bool,
        placement: Placement,
        writer: &Arc<Writer>,
    ) -> Result<Writable, Failure> {
        let pool = self.pools.get(&block.pool)?;
        if let Some(known) = pool.get(block.block.id) {
            let (state, stamp) = {
                let status = known.lock();
                (status.state(), status.block().stamp)
            };
            let unfinished = matches!(state, ReplicaState::Temporary | ReplicaState::Rbw);
            if stamp >= block.block.stamp || (!for_client && !unfinished) {
                return Err(already_exists(block, state));
            }
            drop(known.lock_without_writer(self.writer_patience)?);
            self.removal.remove(&pool, &known, Some(stamp))?;
        }
        self.create(&pool, block.block, ReplicaState::Temporary, placement, writer)
    }

    fn create(
        &self,
        pool: &Arc<BlockPool>,
        block: Block,
        state: ReplicaState,
        placement: Placement,
        writer: &Arc<Writer>,
    ) -> Result<Writable, Failure> {
        let volume = self.volumes.choose(placement.storage_type, placement.room)?;
        let files = volume
            .pool(&pool.id)
            .ok_or_else(|| Failure::io(format!("{volume} does not hold block pool {}", pool.id)))?;
        let place = if state == ReplicaState::Temporary { Place::Tmp } else { Place::Rbw };
        let create = || files.create(block, place, placement.checksum);
        let live = volume.times.time(DiskCall::Metadata, create);
        let live = Arc::new(live.inspect_err(|error| {
            if error.is_volume_fault() {
                self.checks.check(&volume);
            }
        })?);
        let (by, live_too) = (Arc::clone(writer), Arc::clone(&live));
        let status = Status::written_by(by, state, live_too, placement.room);
        volume.promise(placement.room);
        let replica = Replica::new(block.id, Arc::clone(&volume), status);
        if let Err(known) = pool.add(&replica) {
            volume.release(placement.room);
            drop(live.delete());
            return Err(Failure::exists(format!(
                "Block {block} already exists in state {} and thus cannot be created.",
                known.state()
            )));
        }
        Ok(Writable { replica, live })
    }

    /// Reopens a finalized replica of exactly `expected_len` bytes to append to it.
    pub(crate) fn append(
        &self,
        block: &ExtendedBlock,
        new_stamp: GenerationStamp,
        expected_len: u64,
        writer: &Arc<Writer>,
    ) -> Result<Writable, Failure> {
        if new_stamp < block.block.stamp {
            return Err(Failure::io(format!(
                "The new generation stamp {new_stamp} should be greater than the replica \
                 {block}'s generation stamp"
            )));
        }
        self.pools.with_current(block, Replica::lock_now, |replica, mut status| {
            let known = status.block();
            if known.stamp != block.block.stamp {
                return Err(Failure::not_found(format_args!(
                    "Cannot append to a replica with unexpected generation stamp {}:{known}",
                    block.pool
                )));
            }
            if status.state() != ReplicaState::Finalized {
                return Err(Failure::not_found(format_args!(
                    "Cannot append to an unfinalized replica {block}"
                )));
            }
            check_len(&status, &replica.volume, expected_len)?;
            let live = self.reopen(block, replica, &mut status, new_stamp)?;
            status.set_writer(writer);
            Ok(Writable { replica: Arc::clone(replica), live })
        })
    }

    fn reopen(
        &self,
        block: &ExtendedBlock,
        replica: &Arc<Replica>,
        status: &mut MutexGuard<'_, Status>,
        new_stamp: GenerationStamp,
    ) -> Result<Arc<LiveReplica>, Failure> {
        let files = replica
            .volume
            .pool(&block.pool)
            .ok_or_else(|| Failure::io(format!("{} lost {}", replica.volume, block.pool)))?;
        let Files::Stored(stored) = status.files() else {
            return Err(Failure::io(format!("{block} is being written")));
        };
        let stored = *stored;
        let live = match stored.place {
            Place::Finalized => files.append(stored.block, new_stamp)?,
            place => {
                let live = files.adopt(stored.block, place)?;
                live.restamp(new_stamp)?;
                live
            }
        };
        let live = Arc::new(live);
        replica.volume.discount(&block.pool, stored.block.len + stored.meta_len);
        let reserved = block.block.len.saturating_sub(stored.block.len);
        status.reopen(Arc::clone(&live), reserved);
        replica.volume.promise(reserved);
        // Local readers know the old stamp and checksums.
        self.local_readers.revoke(&BlockKey::from(block));
        Ok(live)
    }

    /// The files of a replica to be written on, with the new stamp, whether or not it was finalized.
    fn live_again(
        &self,
        block: &ExtendedBlock,
        replica: &Arc<Replica>,
        status: &mut MutexGuard<'_, Status>,
        new_stamp: GenerationStamp,
    ) -> Result<Arc<LiveReplica>, Failure> {
        let Files::Live(live) = status.files() else {
            return self.reopen(block, replica, status, new_stamp);
        };
        live.restamp(new_stamp)?;
        Ok(Arc::clone(live))
    }

    /// Goes on with an append whose pipeline broke.
    pub(crate) fn recover_append(
        &self,
        block: &ExtendedBlock,
        new_stamp: GenerationStamp,
        expected_len: u64,
        writer: &Arc<Writer>,
    ) -> Result<Writable, Failure> {
        self.recover(block, new_stamp, expected_len, |_, status, _| {
            status.set_writer(writer);
            Ok(())
        })
    }

    /// Completes a replica whose pipeline broke after the last packet.
    pub(crate) fn recover_close(
        &self,
        block: &ExtendedBlock,
        new_stamp: GenerationStamp,
        expected_len: u64,
    ) -> Result<Arc<Replica>, Failure> {
        let finish = |replica: &Arc<Replica>, status: &mut MutexGuard<'_, Status>, live: &_| {
            finish(replica, status, live, Durability::PageCache)
        };
        Ok(self.recover(block, new_stamp, expected_len, finish)?.replica)
    }

    /// Opens a replica of exactly this length again, gives it its new stamp and does `then` under its lock.
    fn recover(
        &self,
        block: &ExtendedBlock,
        new_stamp: GenerationStamp,
        expected_len: u64,
        then: impl FnOnce(
            &Arc<Replica>,
            &mut MutexGuard<'_, Status>,
            &LiveReplica,
        ) -> Result<(), Failure>,
    ) -> Result<Writable, Failure> {
        let patience = self.writer_patience;
        self.pools.with_current(
            block,
            |replica| Ok(replica.lock_without_writer(patience)?),
            |replica, mut status| {
                check_recoverable(&status, &replica.volume, block, new_stamp, expected_len)?;
                let live = self.live_again(block, replica, &mut status, new_stamp)?;
                then(replica, &mut status, &live)?;
                Ok(Writable { replica: Arc::clone(replica), live })
            },
        )
    }

    /// Goes on with a block whose pipeline broke; bytes that were not acknowledged are dropped.
    pub(crate) fn recover_rbw(
        &self,
        block: &ExtendedBlock,
        new_stamp: GenerationStamp,
        least: u64,
        most: u64,
        writer: &Arc<Writer>,
    ) -> Result<Writable, Failure> {
        let replica = self.pools.replica(block)?;
        let mut status = replica.lock_without_writer(self.writer_patience)?;
        let live = match status.files() {
            Files::Live(live) if status.state() == ReplicaState::Rbw => Arc::clone(live),
            _ => {
                return Err(Failure::not_found(format_args!(
                    "Cannot recover a non-RBW replica {}",
                    status.text(&replica.volume)
                )));
            }
        };
        check_stamp(&status, block, new_stamp)?;
        // Before bytes are cut off under their maps.
        self.local_readers.revoke(&BlockKey::from(block));
        let (acked, received) = (live.acked(), live.received());
        if acked < least || received > most {
            return Err(Failure::not_found(format_args!(
                "Unmatched length replica {}: BytesAcked = {acked} BytesRcvd = {received} are not \
                 in the range of [{least}, {most}].",
                status.text(&replica.volume)
            )));
        }
        if received > acked {
            live.truncate(acked)?;
        }
        live.restamp(new_stamp)?;
        status.set_writer(writer);
        drop(status);
        Ok(Writable { replica, live })
    }

    /// Makes a copy that was received for a client's pipeline one that is being written.
    pub(crate) fn convert_temporary_to_rbw(
        &self,
        block: &ExtendedBlock,
        replica: &Arc<Replica>,
    ) -> Result<(), Failure> {
        let mut status = replica.lock();
        let Files::Live(live) = status.files() else {
            return Err(Failure::exists(format!("{block} is not temporary")));
        };
        if live.received() < block.block.len {
            return Err(Failure::io(format!(
                "{} = numBytes < visible = {}, temp={}",
                live.received(),
                block.block.len,
                status.text(&replica.volume)
            )));
        }
        live.convert_to_rbw()?;
        // The source sends whole chunks; what goes beyond the block's length the pipeline before
        // did not acknowledge.
        live.set_acked(block.block.len);
        status.convert_to_rbw();
        Ok(())
    }

    /// Makes a replica final; once it is, a second call does nothing.
    pub(crate) fn finalize(
        &self,
        replica: &Arc<Replica>,
        durability: Durability,
    ) -> Result<Block, Failure> {
        let mut status = replica.lock();
        if let Files::Live(live) = status.files() {
            let live = Arc::clone(live);
            let finished = finish(replica, &mut status, &live, durability);
            if let Err(Failure::Files(error)) = &finished
                && error.is_volume_fault()
            {
                drop(status);
                self.checks.check(&replica.volume);
                return Err(Failure::io(error.to_string()));
            }
            finished?;
        }
        Ok(status.block())
    }

    /// Deletes a copy that did not become whole.
    pub(crate) fn drop_temporary(&self, pool_id: &str, replica: &Arc<Replica>) {
        if replica.state() != ReplicaState::Temporary {
            return;
        }
        let removed =
            self.pools.get(pool_id).and_then(|pool| self.removal.remove(&pool, replica, None));
        if let Err(error) = removed {
            tracing::warn!("blk_{}: {error}", replica.id);
        }
    }
}

/// Moves the files to the finalized ones and counts them.
pub(super) fn finish(
    replica: &Replica,
    status: &mut MutexGuard<'_, Status>,
    live: &LiveReplica,
    durability: Durability,
) -> Result<(), Failure> {
    let stored = live.finalize(durability)?;
    replica.volume.count(live.pool().id(), stored.block.len + stored.meta_len);
    replica.volume.release(status.take_reserved(u64::MAX));
    status.finalize(stored);
    replica.grown();
    Ok(())
}

fn already_exists(block: &ExtendedBlock, state: ReplicaState) -> Failure {
    Failure::exists(format!(
        "Block {block} already exists in state {state} and thus cannot be created."
    ))
}

/// Returns the stamp of a replica that an attempt before `new_stamp` left unfinished; fails for any other replica.
fn check_left_behind(
    block: &ExtendedBlock,
    status: &Status,
    new_stamp: GenerationStamp,
) -> Result<GenerationStamp, Failure> {
    let (state, stamp) = (status.state(), status.block().stamp);
    match state {
        ReplicaState::Rbw | ReplicaState::Rwr | ReplicaState::Temporary if stamp < new_stamp => {
            Ok(stamp)
        }
        _ => Err(already_exists(block, state)),
    }
}

fn check_len(status: &Status, volume: &DataVolume, expected: u64) -> Result<(), Failure> {
    let len = status.block().len;
    if len == expected {
        return Ok(());
    }
    Err(Failure::io(format!(
        "Corrupted replica {} with a length of {len} expected length is {expected}",
        status.text(volume)
    )))
}

fn check_stamp(
    status: &Status,
    block: &ExtendedBlock,
    new_stamp: GenerationStamp,
) -> Result<(), Failure> {
    let stamp = status.block().stamp;
    if (block.block.stamp..=new_stamp).contains(&stamp) {
        return Ok(());
    }
    Err(Failure::not_found(format_args!(
        "Cannot append to a replica with unexpected generation stamp {stamp}. Expected GS range \
         is [{}, {new_stamp}].",
        block.block.stamp
    )))
}

fn check_recoverable(
    status: &Status,
    volume: &DataVolume,
    block: &ExtendedBlock,
    new_stamp: GenerationStamp,
    expected_len: u64,
) -> Result<(), Failure> {
    if !matches!(status.state(), ReplicaState::Finalized | ReplicaState::Rbw) {
        return Err(Failure::not_found(format_args!(
            "Cannot recover append/close to a replica that's not FINALIZED and not RBW {}",
            status.text(volume)
        )));
    }
    check_stamp(status, block, new_stamp)?;
    if status.state() == ReplicaState::Rbw && status.acked() != status.block().len {
        return Err(Failure::exists(format!(
            "RBW replica {}bytesRcvd({}), bytesOnDisk({}), and bytesAcked({}) are not the same.",
            status.text(volume),
            status.block().len,
            status.block().len,
            status.acked()
        )));
    }
    check_len(status, volume, expected_len)
}
