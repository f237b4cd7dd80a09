//! A replica copied within this DataNode: to a volume of another storage type
//! (`FsDatasetImpl.moveBlockAcrossStorage`), or cut short under another id.

use super::Failure;
use super::local_readers::LocalReaders;
use super::open::ReplicaReads;
use super::pools::BlockPools;
use super::replica::Replica;
use super::status::Status;
use super::volume::DataVolume;
use super::volume_checks::VolumeChecks;
use super::volumes::Volumes;
use crate::short_circuit::BlockKey;
use std::sync::Arc;
use zerohop_replica::{Durability, LiveReplica, Packet, Place, Pool, ReplicaReader};
use zerohop_wire::StorageType;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, ExtendedBlock};

/// Bytes copied at a time.
const COPY_LEN: u64 = 1 << 20;

/// A replica that has moved. Its old files are still there: the NameNode hears of the new ones first.
pub(crate) struct Relocated {
    /// The replica where it is now.
    pub(crate) replica: Arc<Replica>,
    /// The block.
    pub(crate) block: Block,
    from: Arc<DataVolume>,
}

/// Borrows what is needed to move replicas between the volumes of this DataNode.
#[derive(Clone, Copy)]
pub(crate) struct ReplicaMoves<'a> {
    pub(super) volumes: &'a Volumes,
    pub(super) pools: &'a BlockPools,
    pub(super) local_readers: &'a LocalReaders,
    pub(super) checks: VolumeChecks<'a>,
    pub(super) reads: ReplicaReads<'a>,
}

impl ReplicaMoves<'_> {
    /// Copies a finalized replica to a volume of `storage_type`, verifies it on the way and forces it to
    /// disk; from then on it is the one that is served, and local readers of the old one are told off.
    pub(crate) fn move_to_type(
        &self,
        block: &ExtendedBlock,
        storage_type: StorageType,
    ) -> Result<Relocated, Failure> {
        let replica = self.pools.replica(block)?;
        let reader = self.open_to_move(block, &replica, storage_type)?;
        let len = reader.len();
        let volume = self.volumes.choose(storage_type, len)?;
        volume.promise(len);
        let moved = self.copy_and_switch(block, &replica, &reader, &volume);
        volume.release(len);
        if let Err(Failure::Files(error)) = &moved
            && error.is_volume_fault()
        {
            self.checks.check(&volume);
            self.checks.check(&replica.volume);
        }
        moved
    }

    fn open_to_move(
        &self,
        block: &ExtendedBlock,
        replica: &Arc<Replica>,
        storage_type: StorageType,
    ) -> Result<ReplicaReader, Failure> {
        let (status, text) = {
            let status = replica.lock();
            (status.clone(), status.text(&replica.volume).to_string())
        };
        if status.state() != ReplicaState::Finalized || status.block().stamp != block.block.stamp {
            return Err(Failure::not_found(format_args!("Cannot move {block}, which is {text}")));
        }
        let len = status.block().len;
        if len != block.block.len {
            return Err(Failure::io(format!(
                "Corrupted replica {text} with a length of {len} expected length is {}",
                block.block.len
            )));
        }
        if replica.volume.location.storage_type == storage_type {
            return Err(Failure::exists(format!(
                "Replica {text} already exists on storage {}",
                storage_type.as_str_name()
            )));
        }
        if replica.volume.location.storage_type == StorageType::RamDisk {
            return Err(Failure::io(format!(
                "Replica {text} cannot be moved from storageType : RAM_DISK"
            )));
        }
        Ok(self.reads.open_replica(block, 0)?.reader)
    }

    fn copy_and_switch(
        &self,
        block: &ExtendedBlock,
        replica: &Arc<Replica>,
        reader: &ReplicaReader,
        volume: &Arc<DataVolume>,
    ) -> Result<Relocated, Failure> {
        let pool = self.pools.get(&block.pool)?;
        let files = volume
            .pool(&pool.id)
            .ok_or_else(|| Failure::io(format!("{volume} does not hold block pool {}", pool.id)))?;
        let copy = copy(&files, reader, *reader.block(), Place::Tmp)?;
        // The old files will be deleted, which may have been forced to disk. Long before the lock.
        let synced = copy.sync();
        let status = replica.lock();
        let unchanged = pool.holds(replica)
            && status.state() == ReplicaState::Finalized
            && status.block() == *reader.block();
        let switched = match synced {
            Ok(_) if unchanged => copy.finalize(Durability::Disk).map_err(Failure::from),
            Ok(_) => Err(Failure::io(format!("{block} changed while it was moved"))),
            Err(error) => Err(error.into()),
        };
        let stored = switched.inspect_err(|_| drop(copy.delete()))?;
        volume.count(&pool.id, stored.block.len + stored.meta_len);
        let moved = Replica::new(stored.block.id, Arc::clone(volume), Status::stored(stored));
        pool.replace(&moved);
        drop(status);
        self.local_readers.revoke(&BlockKey::from(block));
        Ok(Relocated { replica: moved, block: stored.block, from: Arc::clone(&replica.volume) })
    }

    /// Deletes the files that a moved replica left behind.
    pub(crate) fn clean_up(&self, pool_id: &str, moved: &Relocated) {
        let Some(files) = moved.from.pool(pool_id) else { return };
        match files.delete(&moved.block, Place::Finalized) {
            Ok(freed) => moved.from.discount(pool_id, freed),
            Err(error) => {
                tracing::warn!("{error}");
                self.checks.check(&moved.from);
            }
        }
    }
}

/// A copy of the first `block.len` bytes, verified, all of it in the files.
pub(super) fn copy(
    files: &Pool,
    reader: &ReplicaReader,
    block: Block,
    place: Place,
) -> Result<LiveReplica, zerohop_replica::Error> {
    let live = files.create(block, place, reader.checksum())?;
    let copied = copy_bytes(reader, &live, block.len);
    copied.inspect_err(|_| drop(live.delete()))?;
    live.set_acked(block.len);
    Ok(live)
}

fn copy_bytes(
    reader: &ReplicaReader,
    live: &LiveReplica,
    len: u64,
) -> Result<(), zerohop_replica::Error> {
    // Whole chunks are read, so that they can be verified.
    let step = reader.checksum().chunk_end(COPY_LEN).min(reader.len());
    let mut buffer = vec![0; usize::try_from(step).unwrap_or_default()];
    let mut offset = 0;
    while offset < len {
        let take = (reader.len() - offset).min(step) as usize;
        let part = buffer.get_mut(..take).unwrap_or_default();
        reader.read_verified(offset, part)?;
        let wanted = (len - offset).min(take as u64) as usize;
        let data = part.get(..wanted).unwrap_or_default();
        live.write(&Packet { offset, data, sums: &[] })?;
        offset += wanted as u64;
    }
    live.flush()?;
    Ok(())
}
