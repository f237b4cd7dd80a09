//! Replicas that are removed, with their files.

use super::Failure;
use super::local_readers::LocalReaders;
use super::pool::BlockPool;
use super::replica::Replica;
use super::status::Files;
use super::volume::DataVolume;
use super::volume_checks::VolumeChecks;
use crate::outliers::DiskCall;
use std::sync::Arc;
use zerohop_replica::ErrorKind;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, GenerationStamp};

/// Borrows what hears of a replica that is removed.
#[derive(Clone, Copy)]
pub(crate) struct ReplicaRemoval<'a> {
    pub(super) checks: VolumeChecks<'a>,
    pub(super) local_readers: &'a LocalReaders,
}

impl ReplicaRemoval<'_> {
    /// Deletes a replica of this block with this stamp, as the NameNode wants it; the block as it was,
    /// with its volume.
    pub(crate) fn delete(
        self,
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
            if let Some(writer) = status.writer() {
                writer.stop();
            }
        }
        // An append or a recovery may have come in between.
        let known = self.remove_by(Removal::Discard, pool, &replica, Some(block.stamp))?;
        Ok((known, Arc::clone(&replica.volume)))
    }

    /// Deletes a replica's files and forgets it, if its stamp is `expected` or it does not matter.
    pub(super) fn remove(
        self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        expected: Option<GenerationStamp>,
    ) -> Result<Block, Failure> {
        self.remove_by(Removal::Delete, pool, replica, expected)
    }

    fn remove_by(
        self,
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
        let reserved = status.take_reserved(u64::MAX);
        let files = replica.volume.pool(&pool.id);
        let delete = || match (status.files(), removal) {
            (Files::Live(live), Removal::Delete) => live.delete(),
            (Files::Live(live), Removal::Discard) => live.discard(),
            (Files::Stored(stored), removal) => files.map_or(Ok(0), |files| match removal {
                Removal::Delete => files.delete(&stored.block, stored.place),
                Removal::Discard => files.discard(&stored.block, stored.place),
            }),
        };
        let deleted = replica.volume.times.time(DiskCall::Metadata, delete);
        // What was counted, also where another program has deleted a file.
        let counted = match status.files() {
            Files::Stored(stored) => Some(stored.block.len + stored.meta_len),
            Files::Live(_) => None,
        };
        drop(status);
        pool.forget(replica);
        self.local_readers.revoke(&pool.key(replica.id));
        replica.volume.release(reserved);
        deleted.inspect_err(|error| self.file_error(pool, replica, error))?;
        if let Some(bytes) = counted {
            replica.volume.discount(&pool.id, bytes);
        }
        Ok(block)
    }

    /// After an error with a replica's files: the replica is forgotten if they are gone, and its volume is
    /// checked if that may be the cause.
    pub(super) fn file_error(
        self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        error: &zerohop_replica::Error,
    ) {
        tracing::warn!("{error}");
        if error.kind() == ErrorKind::NotFound {
            pool.forget(replica);
        }
        if error.is_volume_fault() {
            self.checks.check(&replica.volume);
        }
    }
}

/// What becomes of the files of a replica that is removed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Removal {
    /// They are deleted for good.
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

/// Of two replicas of one block the better one serves; the files of the other, which a move or a crash
/// left behind, are deleted if they cannot be of use any more.
pub(super) fn delete_duplicate(pool_id: &str, kept: &Replica, other: &Replica) {
    let (kept_state, kept_block) = {
        let status = kept.lock();
        (status.state(), status.block())
    };
    let status = other.lock();
    let (block, Files::Stored(stored)) = (status.block(), status.files()) else { return };
    let is_superseded = kept_state == ReplicaState::Finalized
        && block.stamp <= kept_block.stamp
        && block.len <= kept_block.len;
    let Some(files) = other.volume.pool(pool_id).filter(|_| is_superseded) else { return };
    tracing::warn!("deletes the second replica of {block} in {}", other.volume);
    match files.delete(&stored.block, stored.place) {
        Ok(freed) => other.volume.discount(pool_id, freed),
        Err(error) => tracing::warn!("{error}"),
    }
}
