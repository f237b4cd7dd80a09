//! How a live replica comes to be: made empty, continued after a restart, or taken back to append.

use super::LiveReplica;
use super::files::{LiveFiles, read_tail};
use super::state::State;
use super::synced_chunk::SyncedChunk;
use crate::error::{Error, Result};
use crate::io::IoCall;
use crate::pool::{Place, Pool};
use crate::reader::{corrupt, file_len, read_header};
use crate::sync::SyncHelper;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64};
use zerohop_wire::{Block, DataChecksum, GenerationStamp, meta_header};

impl Pool {
    /// Makes an empty replica in `rbw` or `tmp`; its files must not be there yet.
    pub fn create(
        &self,
        block: Block,
        place: Place,
        checksum: DataChecksum,
    ) -> Result<LiveReplica> {
        LiveReplica::create(self.clone(), block, place, checksum)
    }

    /// Opens a replica found in `rbw` or `tmp` to continue it, cut to `block.len`.
    pub fn adopt(&self, block: Block, place: Place) -> Result<LiveReplica> {
        LiveReplica::open_existing(self.clone(), block, place)
    }

    /// Moves a finalized replica to `rbw` with a new generation stamp, to append to it, truncate it
    /// or recover it. The sum of its last partial chunk is checked.
    pub fn append(&self, block: Block, stamp: GenerationStamp) -> Result<LiveReplica> {
        let live = LiveReplica::open_existing(self.clone(), block, Place::Finalized)?;
        live.reopen(stamp)?;
        Ok(live)
    }
}

impl LiveReplica {
    fn create(pool: Pool, block: Block, place: Place, checksum: DataChecksum) -> Result<Self> {
        let block = Block { len: 0, ..block };
        let data_path = pool.data_path(block.id, place);
        let create = |path| {
            let create = || create_file(&block, path, pool.file_mode());
            pool.io().time(IoCall::Metadata, create)
        };
        let data = create(&data_path)?;
        let meta_path = pool.meta_path(&block, place);
        let meta = create(&meta_path).and_then(|meta| {
            let header = meta_header::encode(checksum);
            let written = pool.io().time(IoCall::Write, || meta.write_all_at(&header, 0));
            written.map_err(|e| Error::io(format!("replica {block}"), "write", &meta_path, e))?;
            Ok(meta)
        });
        let meta = meta.inspect_err(|_| {
            let _ = std::fs::remove_file(&data_path);
        })?;
        Ok(Self::new(pool, block, place, checksum, (data, meta), 0))
    }

    /// Opens a replica in any place, to change it: a file that has other names (Apache's upgrade keeps
    /// the state before it as hard links) becomes one of its own. What lies beyond `block.len` is cut off, unless it is a
    /// finalized one, which must have exactly this length.
    fn open_existing(pool: Pool, block: Block, place: Place) -> Result<Self> {
        let data_path = pool.data_path(block.id, place);
        pool.break_link(&block, &data_path)?;
        let data = open_file(&block, &data_path)?;
        let meta_path = pool.meta_path(&block, place);
        pool.break_link(&block, &meta_path)?;
        let meta = open_file(&block, &meta_path)?;
        let checksum = read_header(&block, &meta, &meta_path)?;
        let data_len = file_len(&block, &data, &data_path)?;
        let covered = meta_header::covered_len(checksum, file_len(&block, &meta, &meta_path)?);
        if data_len < block.len || covered < block.len {
            let text = format!("{data_len} bytes are there, with checksums for {covered}");
            return Err(corrupt(&block, &data_path, text));
        }
        if place == Place::Finalized && data_len != block.len {
            let text = format!("{data_len} bytes are there, {} were expected", block.len);
            return Err(corrupt(&block, &data_path, text));
        }
        let tail = read_tail(&block, &data, &data_path, checksum)?;
        let replica = Self::new(pool, block, place, checksum, (data, meta), tail);
        if data_len == block.len {
            replica.check_tail(&meta_path)?;
        } else {
            replica.files.cut(&mut replica.lock(), block.len, true)?;
        }
        Ok(replica)
    }

    fn new(
        pool: Pool,
        block: Block,
        place: Place,
        checksum: DataChecksum,
        (data, meta): (File, File),
        tail: u32,
    ) -> Self {
        let sums_from = block.len.div_ceil(checksum.bytes_per_checksum() as u64);
        let (buffer, sums) = (Vec::new(), Vec::new());
        // What is found on disk may have been forced there.
        let mut synced_chunk = SyncedChunk::default();
        synced_chunk.cover(checksum, block.len);
        let state =
            State { block, place, buffer, sums, sums_from, tail, synced_chunk, poison: None };
        let (received, acked) = (AtomicU64::new(block.len), AtomicU64::new(block.len));
        let (sync, state) = (SyncHelper::default(), Mutex::new(state));
        // One found on disk may have been made just before the crash.
        let directory_due = AtomicBool::new(true);
        let files = LiveFiles { pool, checksum, data, meta, received, acked };
        Self { files, sync, directory_due, state }
    }

    /// Compares the sum of the partial chunk at the end with the stored one.
    fn check_tail(&self, meta_path: &Path) -> Result<()> {
        let state = self.lock();
        let chunk = self.files.checksum.chunk_start(state.block.len);
        if chunk == state.block.len || self.files.checksum.sum_len() == 0 {
            return Ok(());
        }
        let mut stored = [0; 4];
        let at = meta_header::sum_offset(self.files.checksum, chunk);
        let read = self.files.meta.read_exact_at(&mut stored, at);
        read.map_err(|e| Error::io(format!("replica {}", state.block), "read", meta_path, e))?;
        if u32::from_be_bytes(stored) != state.tail {
            let text = "the checksum of its last chunk does not match".to_owned();
            return Err(corrupt(&state.block, meta_path, text));
        }
        Ok(())
    }
}

fn create_file(block: &Block, path: &Path, mode: u32) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(path);
    opened.map_err(|e| Error::io(format!("replica {block}"), "create", path, e))
}

fn open_file(block: &Block, path: &Path) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.map_err(|e| Error::io(format!("replica {block}"), "open", path, e))
}
