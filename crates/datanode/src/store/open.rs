//! Replicas opened for reading, and what a failure to open one means for it.

use super::Failure;
use super::local_readers::LocalReaders;
use super::pool::BlockPool;
use super::pools::BlockPools;
use super::removal::ReplicaRemoval;
use super::replica::Replica;
use super::status::Files;
use super::volume::DataVolume;
use super::volume_checks::VolumeChecks;
use crate::outliers::DiskCall;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use zerohop_replica::{ErrorKind, ReplicaReader, StoredReplica};
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId, ExtendedBlock, JavaException};

/// How long a reader waits for bytes that a writer was told of but has not written yet.
const WAIT_FOR_WRITER: Duration = Duration::from_secs(3);

/// A replica opened for reading.
pub(crate) struct Opened {
    pub(crate) reader: ReplicaReader,
    /// What readers may see; at most the reader's length.
    pub(crate) visible: u64,
    /// The data file has fewer bytes than its finalized replica.
    pub(crate) is_short: bool,
    /// Where it is.
    pub(crate) volume: Arc<DataVolume>,
}

/// The files of a replica, opened for reading only, to be passed to a client.
#[derive(Debug)]
pub(crate) struct ReplicaFiles {
    pub(crate) data: File,
    pub(crate) meta: File,
}

/// Borrows what is needed to open replicas, and what hears of one that cannot be opened.
#[derive(Clone, Copy)]
pub(crate) struct ReplicaReads<'a> {
    pub(super) pools: &'a BlockPools,
    pub(super) local_readers: &'a LocalReaders,
    pub(super) checks: VolumeChecks<'a>,
    pub(super) removal: ReplicaRemoval<'a>,
}

impl ReplicaReads<'_> {
    /// Opens the files of exactly this replica (the stamp counts) for a local reader. Bytes that a
    /// writer still has in memory are in them then.
    pub(crate) fn open_files(&self, block: &ExtendedBlock) -> Result<ReplicaFiles, Failure> {
        let pool = self.pools.get(&block.pool)?;
        loop {
            let replica = pool
                .get(block.block.id)
                .ok_or_else(|| Failure::io(format!("No data exists for block {block}")))?;
            let opened = self.open_these_files(&pool, &replica, block);
            if opened.is_ok() || !pool.has_moved(&replica) {
                return opened;
            }
        }
    }

    fn open_these_files(
        &self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        block: &ExtendedBlock,
    ) -> Result<ReplicaFiles, Failure> {
        let none = || Failure::io(format!("No data exists for block {block}"));
        let status = replica.lock();
        let is_copy = status.original_state() == ReplicaState::Temporary;
        if status.block().stamp != block.block.stamp || is_copy {
            return Err(none());
        }
        let files = replica.volume.pool(&pool.id).ok_or_else(none)?;
        let stored = match status.files() {
            Files::Stored(stored) => *stored,
            Files::Live(live) => {
                live.flush()?;
                // Not the writer's own descriptors: those can write.
                let known = live.block();
                let paths = [
                    files.data_path(known.id, live.place()),
                    files.meta_path(&known, live.place()),
                ];
                let [data, meta] = paths.map(File::open);
                return Ok(ReplicaFiles { data: data?, meta: meta? });
            }
        };
        let opened = files.open(&stored.block, stored.place);
        let opened = opened.and_then(|reader| {
            reader.check_len(stored.block.len)?;
            Ok(reader)
        });
        drop(status);
        match opened {
            Ok(reader) => {
                let (data, meta) = reader.into_files();
                Ok(ReplicaFiles { data, meta })
            }
            Err(error) => Err(self.cannot_open(pool, replica, Some(stored), error)),
        }
    }

    /// Opens a replica for reading up to `needed` bytes.
    pub(crate) fn open_replica(
        &self,
        block: &ExtendedBlock,
        needed: u64,
    ) -> Result<Opened, Failure> {
        let pool = self.pools.get(&block.pool)?;
        loop {
            let replica = pool
                .get(block.block.id)
                .ok_or_else(|| Failure::not_found(format_args!("Replica not found for {block}")))?;
            let opened = self.open_this(&pool, &replica, block, needed);
            if opened.is_ok() || !pool.has_moved(&replica) {
                return opened;
            }
        }
    }

    fn open_this(
        &self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        block: &ExtendedBlock,
        needed: u64,
    ) -> Result<Opened, Failure> {
        if replica.state() == ReplicaState::Rbw && !replica.wait_for(needed, WAIT_FOR_WRITER) {
            return Err(Failure::io(format!(
                "Need {needed} bytes, but only {} bytes available",
                replica.block().len
            )));
        }
        let status = replica.lock();
        let stored = status.block();
        if stored.stamp < block.block.stamp {
            return Err(Failure::io(format!(
                "Replica gen stamp < block genstamp, block={block}, replica={}",
                status.text(&replica.volume)
            )));
        }
        let Some(visible) = status.visible() else {
            return Err(Failure::io(format!(
                "Replica is not readable, block={block}, replica={}",
                status.text(&replica.volume)
            )));
        };
        let reader = match status.files() {
            Files::Live(live) => live.open(),
            Files::Stored(stored) => match replica.volume.pool(&block.pool) {
                Some(files) => replica
                    .volume
                    .times
                    .time(DiskCall::Metadata, || files.open(&stored.block, stored.place)),
                None => return Err(Failure::not_found(format_args!("{block}"))),
            },
        };
        let stored = match status.files() {
            Files::Stored(stored) => Some(*stored),
            Files::Live(_) => None,
        };
        drop(status);
        match reader {
            Ok(reader) => {
                let expected = stored.map_or(0, |stored| stored.block.len);
                let is_short = reader.check_len(expected).is_err();
                let volume = Arc::clone(&replica.volume);
                Ok(Opened { visible: visible.min(reader.len()), reader, is_short, volume })
            }
            Err(error) => Err(self.cannot_open(pool, replica, stored, error)),
        }
    }

    /// Verifies a finalized replica and locks it in memory.
    pub(crate) fn cache_block(&self, pool: &BlockPool, id: BlockId) -> Result<(), String> {
        let replica = pool.get(id).ok_or("there is no such replica")?;
        let (block, state) = {
            let status = replica.lock();
            (status.block(), status.state())
        };
        if state != ReplicaState::Finalized {
            return Err(format!("it is not finalized, but {state}"));
        }
        let block = ExtendedBlock { pool: Arc::clone(&pool.id), block };
        let opened = self.open_replica(&block, 0).map_err(|failure| failure.to_string())?;
        let key = pool.key(id);
        self.local_readers.cache().lock(&key, &opened.reader)?;
        // It may have changed, or gone, before the cache knew it.
        let same = pool.get(id).is_some_and(|now| {
            let status = now.lock();
            status.block().stamp == block.block.stamp && status.state() == ReplicaState::Finalized
        });
        if !same {
            self.local_readers.cache().unlock(&key);
            return Err("it changed meanwhile".to_owned());
        }
        Ok(())
    }

    /// Where the files of a replica are, and the block with the stamp it has.
    pub(crate) fn paths(
        &self,
        block: &ExtendedBlock,
    ) -> Result<(ExtendedBlock, [PathBuf; 2]), Failure> {
        let pool = self.pools.get(&block.pool)?;
        let replica = pool
            .get(block.block.id)
            .ok_or_else(|| Failure::not_found(format_args!("Replica not found for {block}")))?;
        let status = replica.lock();
        let known = status.block();
        if known.stamp < block.block.stamp {
            return Err(Failure::io(format!(
                "Replica generation stamp < block generation stamp, block={block}, replica={}",
                status.text(&replica.volume)
            )));
        }
        let place = match status.files() {
            Files::Stored(stored) => stored.place,
            Files::Live(live) => live.place(),
        };
        let files = replica
            .volume
            .pool(&pool.id)
            .ok_or_else(|| Failure::io(format!("{} lost {}", replica.volume, pool.id)))?;
        let paths = [files.data_path(known.id, place), files.meta_path(&known, place)];
        let block = Block { stamp: known.stamp, ..block.block };
        Ok((ExtendedBlock { pool: Arc::clone(&pool.id), block }, paths))
    }

    /// What the failure to open a replica means for it.
    fn cannot_open(
        &self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        stored: Option<StoredReplica>,
        error: zerohop_replica::Error,
    ) -> Failure {
        // Nothing is found on a volume that is gone; its replicas are not lost one by one.
        if error.kind() == ErrorKind::NotFound {
            self.checks.check(&replica.volume);
            if replica.volume.has_failed() {
                return error.into();
            }
        }
        let files = replica.volume.pool(&pool.id);
        let has_data = stored
            .zip(files)
            .is_some_and(|(stored, files)| files.data_path(stored.block.id, stored.place).exists());
        let is_incomplete = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Corrupt);
        match stored {
            Some(_) if is_incomplete && has_data => {
                tracing::warn!("{error}");
                Failure::Unsummed(Box::new(error), Arc::clone(&replica.volume))
            }
            Some(_) if error.kind() == ErrorKind::NotFound => self.give_up(pool, replica, error),
            _ => {
                self.removal.file_error(pool, replica, &error);
                error.into()
            }
        }
    }

    /// Opens the data of a finalized replica without checksums.
    pub(crate) fn open_unsummed(&self, block: &ExtendedBlock) -> Result<Opened, Failure> {
        let replica = self.pools.replica(block)?;
        let status = replica.lock();
        let (Files::Stored(stored), Some(files)) =
            (status.files(), replica.volume.pool(&block.pool))
        else {
            return Err(Failure::not_found(format_args!("{block}")));
        };
        let reader = files.open_unsummed(&stored.block, stored.place)?;
        let is_short = reader.check_len(stored.block.len).is_err();
        let visible = stored.block.len.min(reader.len());
        Ok(Opened { visible, reader, is_short, volume: Arc::clone(&replica.volume) })
    }

    /// Deletes what is left of a replica that lacks its data.
    fn give_up(
        &self,
        pool: &BlockPool,
        replica: &Arc<Replica>,
        error: zerohop_replica::Error,
    ) -> Failure {
        tracing::warn!("{error}; the replica is given up");
        match self.removal.remove(pool, replica, None) {
            Ok(block) => {
                Failure::Lost(Box::new(error), Box::new((block, Arc::clone(&replica.volume))))
            }
            Err(failure) => failure,
        }
    }

    /// How many bytes of a replica readers may see.
    pub(crate) fn visible_len(&self, block: &ExtendedBlock) -> Result<u64, Failure> {
        if !self.pools.is_open(&block.pool) {
            let text = "Datanode not registered. Try again later.";
            return Err(Failure::Refused(JavaException::Retriable.with(text)));
        }
        let replica = self.pools.replica(block)?;
        let status = replica.lock();
        if status.block().stamp < block.block.stamp {
            return Err(Failure::io(format!(
                "replica.getGenerationStamp() < block.getGenerationStamp(), block={block}, \
                 replica={}",
                status.text(&replica.volume)
            )));
        }
        status.visible().ok_or_else(|| Failure::io(format!("{block} is not readable")))
    }
}
