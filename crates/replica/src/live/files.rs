//! The files of a live replica: what was received goes into them, and is cut off again.

use super::state::State;
use crate::error::{Error, ErrorKind, Result};
use crate::io::IoCall;
use crate::pool::Pool;
use crate::write_at::write_runs_at;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use zerohop_checksum::Algorithm;
use zerohop_wire::{Block, DataChecksum, meta_header};

/// The open files of a replica. The state that methods take is the one that the replica has locked.
#[derive(Debug)]
pub(super) struct LiveFiles {
    pub(super) pool: Pool,
    pub(super) checksum: DataChecksum,
    pub(super) data: File,
    pub(super) meta: File,
    pub(super) received: AtomicU64,
    pub(super) acked: AtomicU64,
}

impl LiveFiles {
    /// Writes everything received to the files.
    pub(super) fn flush(&self, state: &mut State) -> Result<()> {
        self.check_trusted(state)?;
        if !state.has_unwritten() {
            return Ok(());
        }
        self.write_out(state, &[], 0)
    }

    /// Writes buffer, `pieces` behind it, and all sums; `rest_len` bytes received come after them.
    pub(super) fn write_out(
        &self,
        state: &mut State,
        pieces: &[&[u8]],
        rest_len: u64,
    ) -> Result<()> {
        let len = state.buffer.len() + pieces.iter().map(|piece| piece.len()).sum::<usize>();
        let at = state.block.len - rest_len - len as u64;
        let runs = std::iter::once(state.buffer.as_slice()).chain(pieces.iter().copied());
        let is_synced_chunk = state.synced_chunk.is_overwritten_by(self.checksum, state.sums_from);
        let io = self.pool.io();
        let written =
            io.time(IoCall::Write, || write_runs_at(&self.data, runs, at)).and_then(|()| {
                if is_synced_chunk {
                    io.time(IoCall::Sync, || self.data.sync_data())?;
                }
                let chunk_start = state.sums_from * self.checksum.bytes_per_checksum() as u64;
                let at = meta_header::sum_offset(self.checksum, chunk_start);
                io.time(IoCall::Write, || self.meta.write_all_at(&state.sums, at))
            });
        if let Err(e) = written {
            return Err(self.write_failed(state, at, e));
        }
        state.buffer.clear();
        if self.checksum.sum_len() != 0 {
            state.sums_from += (state.sums.len() / self.checksum.sum_len()) as u64;
        }
        state.sums.clear();
        state.synced_chunk.written(self.checksum, at + len as u64);
        Ok(())
    }

    /// A write behind the first `written` bytes failed. On a full volume these are as good as before:
    /// the rest, which no reader was promised, is taken back. After any other failure nothing is
    /// trusted.
    pub(super) fn write_failed(&self, state: &mut State, written: u64, e: io::Error) -> Error {
        let path = self.path(state);
        let error = Error::io(format!("replica {}", state.block), "write", &path, e);
        let taken_back = match error.kind() {
            ErrorKind::Full => self.take_back(state, written),
            _ => Err(()),
        };
        if taken_back.is_err() {
            state.poison.get_or_insert_with(|| format!("it failed to write before: {error}"));
        }
        error
    }

    fn take_back(&self, state: &mut State, written: u64) -> std::result::Result<(), ()> {
        state.buffer.clear();
        state.sums.clear();
        self.cut(state, written, true).map_err(|error| tracing::warn!("{error}"))
    }

    /// Whether the chunk that holds `len` matches its checksum; all is flushed.
    pub(super) fn is_chunk_intact(&self, state: &State, len: u64) -> Result<bool> {
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

    /// Cuts the replica to `len` bytes, of which all are in the files; the last chunk is summed anew. Where that chunk
    /// is not intact, it gets a checksum that does not fit it.
    pub(super) fn cut(&self, state: &mut State, len: u64, is_intact: bool) -> Result<()> {
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
                self.pool.io().time(IoCall::Sync, || self.meta.sync_data())?;
            }
            self.pool.io().time(IoCall::Metadata, || self.data.set_len(len))
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

    /// An error after a failure that made the files doubtful.
    pub(super) fn check_trusted(&self, state: &State) -> Result<()> {
        if let Some(poison) = &state.poison {
            let path = self.path(state);
            let subject = format!("replica {}", state.block);
            return Err(Error::new(ErrorKind::Poisoned, subject, "use", &path, poison.clone()));
        }
        Ok(())
    }

    /// From now on nothing on this replica is trusted.
    pub(super) fn poison(&self, state: &mut State, verb: &'static str, e: io::Error) -> Error {
        let path = self.path(state);
        state.poison.get_or_insert_with(|| format!("it failed to {verb} before: {e}"));
        Error::io(format!("replica {}", state.block), verb, &path, e)
    }

    /// The error for a request that the replica cannot fulfil.
    pub(super) fn invalid(&self, state: &State, verb: &'static str, text: String) -> Error {
        let subject = format!("replica {}", state.block);
        Error::new(ErrorKind::Invalid, subject, verb, &self.path(state), text)
    }

    /// Where the data is.
    pub(super) fn path(&self, state: &State) -> PathBuf {
        self.pool.data_path(state.block.id, state.place)
    }
}

/// The CRC of the partial chunk before `block.len`; 0 if there is none.
pub(super) fn read_tail(
    block: &Block,
    data: &File,
    path: &Path,
    checksum: DataChecksum,
) -> Result<u32> {
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
