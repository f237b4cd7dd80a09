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

#[cfg(test)]
mod full_test;
mod moves;
mod open;
mod synced_chunk;
mod write;

pub use moves::Durability;
pub use write::{FlushExtent, Packet, WRITE_UNIT};

use crate::error::{Error, ErrorKind, Result};
use crate::pool::{Place, Pool};
use crate::reader::ReplicaReader;
use crate::sync::SyncHelper;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use synced_chunk::SyncedChunk;
use zerohop_checksum::Algorithm;
use zerohop_wire::{Block, DataChecksum, meta_header};

/// A replica in `rbw` or `tmp`; share it in an `Arc`. One thread writes, any thread reads.
#[derive(Debug)]
pub struct LiveReplica {
    pool: Pool,
    checksum: DataChecksum,
    data: File,
    meta: File,
    received: AtomicU64,
    acked: AtomicU64,
    sync: SyncHelper,
    /// The directory may not name the files on disk as it does in memory.
    directory_due: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Its `len` is the bytes received.
    block: Block,
    place: Place,
    buffer: Vec<u8>,
    sums: Vec<u8>,
    sums_from: u64,
    /// The CRC of the partial chunk at the end; without meaning if there is none.
    tail: u32,
    synced_chunk: SyncedChunk,
    poison: Option<String>,
}

impl State {
    fn has_unwritten(&self) -> bool {
        !self.buffer.is_empty() || !self.sums.is_empty()
    }
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
        &self.pool
    }

    /// The directory it is in.
    pub fn place(&self) -> Place {
        self.lock().place
    }

    /// How its data is summed, which may be another way than a writer's.
    pub fn checksum(&self) -> DataChecksum {
        self.checksum
    }

    /// Bytes received; all of them can be read through [`open`](Self::open).
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Acquire)
    }

    /// Bytes that the whole pipeline below has acknowledged: what readers are promised.
    pub fn acked(&self) -> u64 {
        self.acked.load(Ordering::Acquire)
    }

    /// Raises the bytes acknowledged.
    pub fn set_acked(&self, len: u64) {
        self.acked.fetch_max(len, Ordering::AcqRel);
    }

    fn flush_locked(&self, state: &mut State) -> Result<()> {
        self.check_trusted(state)?;
        if !state.has_unwritten() {
            return Ok(());
        }
        self.write_out(state, &[], 0)
    }

    /// Writes everything received to the files (the page cache); returns how much that is. On a full
    /// volume that is an error, and what was not in the files yet is not there any more.
    pub fn flush(&self) -> Result<u64> {
        let mut state = self.lock();
        self.flush_locked(&mut state)?;
        Ok(state.block.len)
    }

    /// As [`flush`](Self::flush), and forces both files to disk (hsync), with their names where these
    /// are new: files without names would be lost all the same. After a failure nothing on this
    /// replica is trusted any more.
    pub fn sync(&self) -> Result<u64> {
        let len = self.sync_files()?;
        if self.directory_due.swap(false, Ordering::AcqRel) {
            let (id, place) = (self.block().id, self.place());
            self.pool.sync_directory(id, place).inspect_err(|error| {
                let text = format!("its directory failed to sync before: {error}");
                self.lock().poison.get_or_insert(text);
            })?;
        }
        Ok(len)
    }

    fn sync_files(&self) -> Result<u64> {
        let len = {
            let mut state = self.lock();
            self.flush_locked(&mut state)?;
            let len = state.block.len;
            state.synced_chunk.cover(self.checksum, len);
            len
        };
        // Not under the lock: readers and the next packets need not wait for the disk.
        let synced = self.sync.sync_both(&self.data, &self.meta);
        synced.map_err(|e| self.poison(&mut self.lock(), "sync", e))?;
        Ok(len)
    }

    /// Opens it for reading, with all bytes received until now.
    pub fn open(&self) -> Result<ReplicaReader> {
        let mut state = self.lock();
        match self.flush_locked(&mut state) {
            Err(error) if error.kind() != ErrorKind::Full => return Err(error),
            // A full volume: what was in the files before can be read all the same.
            _ => {}
        }
        let block = state.block;
        let partial = self.checksum.chunk_start(block.len) != block.len;
        let tail = (partial && self.checksum.sum_len() != 0).then(|| state.tail.to_be_bytes());
        let path = self.pool.data_path(block.id, state.place);
        let files = self.data.try_clone().and_then(|data| Ok((data, self.meta.try_clone()?)));
        let files =
            files.map_err(|e| Error::io(format!("replica {block}"), "open again", &path, e))?;
        Ok(ReplicaReader::of_live(block, path, files, self.checksum, tail))
    }

    /// Cuts it to `len` bytes, which may not be more than it has; the last chunk is summed anew.
    ///
    /// Damaged bytes in that chunk do not get a checksum that fits them: a reader will find them.
    pub fn truncate(&self, len: u64) -> Result<()> {
        let mut state = self.lock();
        self.flush_locked(&mut state)?;
        match len.cmp(&state.block.len) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => {
                let is_intact = self.is_chunk_intact(&state, len)?;
                self.cut(&mut state, len, is_intact)
            }
            std::cmp::Ordering::Greater => {
                let text = format!("it has {} bytes, not {len}", state.block.len);
                Err(self.invalid(&state, "truncate", text))
            }
        }
    }

    /// Whether the chunk that holds `len` matches its checksum; all is flushed.
    fn is_chunk_intact(&self, state: &State, len: u64) -> Result<bool> {
        let (start, full) = (self.checksum.chunk_start(len), self.checksum.chunk_end(len));
        let Some(algorithm) = self.checksum.kind().algorithm().filter(|_| start != len) else {
            return Ok(true);
        };
        let path = self.path(state);
        let end = full.min(state.block.len);
        let found = read_crc(&state.block, &self.data, &path, algorithm, start..end)?;
        let expected = if end == full {
            let mut stored = [0; 4];
            let at = meta_header::sum_offset(self.checksum, start);
            let read = self.meta.read_exact_at(&mut stored, at);
            let subject = || format!("replica {}", state.block);
            read.map_err(|e| Error::io(subject(), "read the checksums of", &path, e))?;
            u32::from_be_bytes(stored)
        } else {
            state.tail
        };
        Ok(found == expected)
    }

    fn cut(&self, state: &mut State, len: u64, is_intact: bool) -> Result<()> {
        let block = Block { len, ..state.block };
        let path = self.pool.data_path(block.id, state.place);
        let tail = read_tail(&block, &self.data, &path, self.checksum)?;
        let tail = if is_intact { tail } else { !tail };
        let chunk = self.checksum.chunk_start(len);
        // The data last: a kill in between leaves more data than checksums, of which a restart keeps
        // what the last checksum covers.
        let cut = self.meta.set_len(meta_header::file_len(self.checksum, len)).and_then(|()| {
            if chunk != len && self.checksum.sum_len() != 0 {
                let at = meta_header::sum_offset(self.checksum, chunk);
                self.meta.write_all_at(&tail.to_be_bytes(), at)?;
                // In this order after a power cut, too.
                self.meta.sync_data()?;
            }
            self.data.set_len(len)
        });
        if let Err(e) = cut {
            return Err(self.poison(state, "truncate", e));
        }
        (state.block, state.tail) = (block, tail);
        state.sums_from = len.div_ceil(self.checksum.bytes_per_checksum() as u64);
        state.synced_chunk.cover(self.checksum, len);
        self.received.store(len, Ordering::Release);
        self.acked.fetch_min(len, Ordering::AcqRel);
        Ok(())
    }

    fn check_trusted(&self, state: &State) -> Result<()> {
        if let Some(poison) = &state.poison {
            let path = self.path(state);
            let subject = format!("replica {}", state.block);
            return Err(Error::new(ErrorKind::Poisoned, subject, "use", &path, poison.clone()));
        }
        Ok(())
    }

    fn poison(&self, state: &mut State, verb: &'static str, e: std::io::Error) -> Error {
        let path = self.path(state);
        state.poison.get_or_insert_with(|| format!("it failed to {verb} before: {e}"));
        Error::io(format!("replica {}", state.block), verb, &path, e)
    }

    fn invalid(&self, state: &State, verb: &'static str, text: String) -> Error {
        let subject = format!("replica {}", state.block);
        Error::new(ErrorKind::Invalid, subject, verb, &self.path(state), text)
    }

    fn path(&self, state: &State) -> PathBuf {
        self.pool.data_path(state.block.id, state.place)
    }
}

impl Drop for LiveReplica {
    /// A DataNode that stops in good order loses nothing of an open replica.
    fn drop(&mut self) {
        let mut state = self.lock();
        if state.poison.is_none()
            && let Err(error) = self.flush_locked(&mut state)
        {
            tracing::error!("{error}");
        }
    }
}

/// The CRC of the partial chunk before `block.len`; 0 if there is none.
fn read_tail(block: &Block, data: &File, path: &Path, checksum: DataChecksum) -> Result<u32> {
    let Some(algorithm) = checksum.kind().algorithm() else { return Ok(0) };
    read_crc(block, data, path, algorithm, checksum.chunk_start(block.len)..block.len)
}

fn read_crc(
    block: &Block,
    data: &File,
    path: &Path,
    algorithm: Algorithm,
    range: Range<u64>,
) -> Result<u32> {
    let mut left = (range.end - range.start) as usize;
    let mut buffer = vec![0; left.min(1 << 20)];
    let (mut crc, mut at) = (0, range.start);
    while left > 0 {
        let part_len = left.min(buffer.len());
        let part = buffer.get_mut(..part_len).unwrap_or_default();
        let read = data.read_exact_at(part, at);
        read.map_err(|e| Error::io(format!("replica {block}"), "read", path, e))?;
        crc = algorithm.update(crc, part);
        left -= part_len;
        at += part_len as u64;
    }
    Ok(crc)
}
