//! A replica that can still change: written, flushed, read, cut and finalized through one object.
//!
//! Data waits in a buffer until it reaches a boundary of [`WRITE_UNIT`](write::WRITE_UNIT) bytes, so the file is
//! written in large aligned calls: the page cache keeps a file in pieces as large as the calls that
//! made it, and reads twice as fast from large ones.
//!
//! ```text
//! 0 <= written <= received        written + buffer.len() == received
//! sums of chunks [0, sums_from) are in the meta file, those of [sums_from, end] wait in sums
//! ```
//! The sum of a chunk that is not full yet is rewritten as the chunk grows.

mod files;
#[cfg(test)]
mod full_test;
mod moves;
mod open;
mod state;
mod synced_chunk;
mod write;

pub use moves::Durability;
pub use state::Packet;
pub use write::{FlushExtent, WRITE_UNIT};

use crate::error::{Error, ErrorKind, Result};
use crate::io::IoCall;
use crate::pool::{Place, Pool};
use crate::reader::ReplicaReader;
use crate::sync::SyncHelper;
use files::LiveFiles;
use state::State;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zerohop_wire::{Block, DataChecksum};

/// A replica in `rbw` or `tmp`; share it in an `Arc`. One thread writes, any thread reads.
#[derive(Debug)]
pub struct LiveReplica {
    files: LiveFiles,
    sync: SyncHelper,
    /// The directory may not name the files on disk as it does in memory.
    directory_due: AtomicBool,
    state: Mutex<State>,
}

impl LiveReplica {
    /// A panic while the state was locked leaves it poisoned in our own sense or untouched.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The block, with the bytes received as length.
    pub fn block(&self) -> Block {
        self.lock().block
    }

    /// The pool it is in.
    pub fn pool(&self) -> &Pool {
        &self.files.pool
    }

    /// The directory it is in.
    pub fn place(&self) -> Place {
        self.lock().place
    }

    /// How its data is summed, which may be another way than a writer's.
    pub fn checksum(&self) -> DataChecksum {
        self.files.checksum
    }

    /// Bytes received; all of them can be read through [`open`](Self::open).
    pub fn received(&self) -> u64 {
        self.files.received.load(Ordering::Acquire)
    }

    /// Bytes that the whole pipeline downstream has acknowledged: what readers are promised.
    pub fn acked(&self) -> u64 {
        self.files.acked.load(Ordering::Acquire)
    }

    /// Raises the bytes acknowledged.
    pub fn set_acked(&self, len: u64) {
        self.files.acked.fetch_max(len, Ordering::AcqRel);
    }

    /// Writes everything received to the files (the page cache); returns how much that is. On a full
    /// volume that is an error, and what was not in the files yet is not there any more.
    pub fn flush(&self) -> Result<u64> {
        let mut state = self.lock();
        self.files.flush(&mut state)?;
        Ok(state.block.len)
    }

    /// As [`flush`](Self::flush), and forces both files to disk (hsync), with their names where these
    /// are new: files without names would be lost all the same. After a failure nothing on this
    /// replica is trusted any more.
    pub fn sync(&self) -> Result<u64> {
        let len = self.sync_files()?;
        if self.directory_due.swap(false, Ordering::AcqRel) {
            let (id, place) = (self.block().id, self.place());
            self.files.pool.sync_directory(id, place).inspect_err(|error| {
                let text = format!("its directory failed to sync before: {error}");
                self.lock().poison.get_or_insert(text);
            })?;
        }
        Ok(len)
    }

    fn sync_files(&self) -> Result<u64> {
        let len = {
            let mut state = self.lock();
            self.files.flush(&mut state)?;
            let len = state.block.len;
            state.synced_chunk.cover(self.files.checksum, len);
            len
        };
        // Not under the lock: readers and the next packets need not wait for the disk.
        let io = self.files.pool.io();
        let synced =
            io.time(IoCall::Sync, || self.sync.sync_both(&self.files.data, &self.files.meta));
        synced.map_err(|e| self.files.poison(&mut self.lock(), "sync", e))?;
        Ok(len)
    }

    /// Opens it for reading, with all bytes received until now.
    pub fn open(&self) -> Result<ReplicaReader> {
        let mut state = self.lock();
        match self.files.flush(&mut state) {
            Err(error) if error.kind() != ErrorKind::Full => return Err(error),
            // A full volume: what was in the files before can be read all the same.
            _ => {}
        }
        let block = state.block;
        let partial = self.files.checksum.chunk_start(block.len) != block.len;
        let tail =
            (partial && self.files.checksum.sum_len() != 0).then(|| state.tail.to_be_bytes());
        let path = self.files.path(&state);
        let files =
            self.files.data.try_clone().and_then(|data| Ok((data, self.files.meta.try_clone()?)));
        let files =
            files.map_err(|e| Error::io(format!("replica {block}"), "open again", &path, e))?;
        let io = self.files.pool.io().clone();
        Ok(ReplicaReader::of_live(block, path, files, self.files.checksum, tail, io))
    }

    /// Cuts it to `len` bytes, which may not be more than it has; the last chunk is summed anew.
    ///
    /// Damaged bytes in that chunk do not get a checksum that fits them: a reader will find them.
    pub fn truncate(&self, len: u64) -> Result<()> {
        let mut state = self.lock();
        self.files.flush(&mut state)?;
        match len.cmp(&state.block.len) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => {
                let is_intact = self.files.is_chunk_intact(&state, len)?;
                self.files.cut(&mut state, len, is_intact)
            }
            std::cmp::Ordering::Greater => {
                let text = format!("it has {} bytes, not {len}", state.block.len);
                Err(self.files.invalid(&state, "truncate", text))
            }
        }
    }
}

impl Drop for LiveReplica {
    /// A DataNode that stops in good order loses nothing of an open replica.
    fn drop(&mut self) {
        let mut state = self.lock();
        if state.poison.is_none()
            && let Err(error) = self.files.flush(&mut state)
        {
            tracing::error!("{error}");
        }
    }
}
