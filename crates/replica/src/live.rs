//! A replica that can still change: written, flushed, read, cut and finalized through one object.
//!
//! Data waits in a buffer until it reaches a boundary of [`WRITE_UNIT`] bytes, so the file is
//! written in large aligned calls: the page cache keeps a file in pieces as large as the calls that
//! made it, and reads twice as fast from large ones.
//!
//! ```text
//! 0 <= written <= received        written + buffer.len() == received
//! sums of chunks [0, sums_from) are in the meta file, those of [sums_from, end] wait in sums
//! ```
//! The sum of a chunk that is not full yet is rewritten as the chunk grows.

use crate::error::{Error, ErrorKind, Result};
use crate::pool::{Place, Pool, StoredReplica};
use crate::reader::{ReplicaReader, corrupt, file_len, read_header};
use crate::write_at::write_two_at;
use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use zerohop_wire::{Block, DataChecksum, GenerationStamp, meta_header};

/// Data is written up to the last boundary of this many bytes.
pub const WRITE_UNIT: u64 = 512 * 1024;

/// A run of data with its checksums.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Where in the block the data begins.
    pub offset: u64,
    /// The data.
    pub data: &'a [u8],
    /// Its sums of the replica's own checksum type, one for each chunk from `offset` on; empty if
    /// they are to be computed (none were sent, or of another type).
    pub sums: &'a [u8],
}

/// What is to survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is forced to disk.
    PageCache,
    /// Both files and the folders that name them.
    Disk,
}

/// A replica in `rbw` or `tmp`; share it in an `Arc`. One thread writes, any thread reads.
#[derive(Debug)]
pub struct LiveReplica {
    pool: Pool,
    checksum: DataChecksum,
    data: File,
    meta: File,
    received: AtomicU64,
    acked: AtomicU64,
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
    poison: Option<String>,
}

impl LiveReplica {
    pub(crate) fn create(
        pool: Pool,
        block: Block,
        place: Place,
        checksum: DataChecksum,
    ) -> Result<Self> {
        let block = Block { len: 0, ..block };
        let data_path = pool.data_path(block.id, place);
        let data = create_file(&block, &data_path)?;
        let meta_path = pool.meta_path(&block, place);
        let meta = create_file(&block, &meta_path).and_then(|meta| {
            let written = meta.write_all_at(&meta_header::encode(checksum), 0);
            written.map_err(|e| Error::io(format!("replica {block}"), "write", &meta_path, e))?;
            Ok(meta)
        });
        let meta = meta.inspect_err(|_| {
            let _ = std::fs::remove_file(&data_path);
        })?;
        Ok(Self::new(pool, block, place, checksum, (data, meta), 0))
    }

    /// Opens a replica in any place; what lies beyond `block.len` is cut off, unless it is a
    /// finalized one, which must have exactly this length.
    pub(crate) fn open_existing(pool: Pool, block: Block, place: Place) -> Result<Self> {
        let data_path = pool.data_path(block.id, place);
        let data = open_file(&block, &data_path)?;
        let meta_path = pool.meta_path(&block, place);
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
            replica.cut(&mut replica.lock(), block.len)?;
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
        let state = State { block, place, buffer, sums, sums_from, tail, poison: None };
        let (received, acked) = (AtomicU64::new(block.len), AtomicU64::new(block.len));
        Self { pool, checksum, data, meta, received, acked, state: Mutex::new(state) }
    }

    /// Compares the sum of the partial chunk at the end with the stored one.
    fn check_tail(&self, meta_path: &Path) -> Result<()> {
        let state = self.lock();
        let chunk = self.checksum.chunk_start(state.block.len);
        if chunk == state.block.len || self.checksum.sum_len() == 0 {
            return Ok(());
        }
        let mut stored = [0; 4];
        let at = meta_header::sum_offset(self.checksum, chunk);
        let read = self.meta.read_exact_at(&mut stored, at);
        read.map_err(|e| Error::io(format!("replica {}", state.block), "read", meta_path, e))?;
        if u32::from_be_bytes(stored) != state.tail {
            let text = "the checksum of its last chunk does not match".to_owned();
            return Err(corrupt(&state.block, meta_path, text));
        }
        Ok(())
    }

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

    /// The folder it is in.
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

    /// Takes a packet. Bytes that are there already are skipped; a packet beyond the end is an
    /// error. The data may stay in memory until [`flush`](Self::flush); call that when no further
    /// packet is waiting, so that a killed process loses little.
    pub fn write(&self, packet: &Packet<'_>) -> Result<()> {
        let mut state = self.lock();
        self.check_trusted(&state)?;
        if state.place == Place::Finalized {
            return Err(self.invalid(&state, "write to", "it is finalized".to_owned()));
        }
        let Some(plan) = self.plan(&state, packet)? else { return Ok(()) };
        let old_len = state.block.len;
        state.block.len += plan.data.len() as u64;
        if self.checksum.sum_len() != 0 {
            if old_len != self.checksum.chunk_start(old_len) {
                self.drop_last_sum(&mut state);
            }
            state.sums.extend_from_slice(&plan.sums);
            if let [.., a, b, c, d] = *plan.sums {
                state.tail = u32::from_be_bytes([a, b, c, d]);
            }
        }
        let boundary = state.block.len - state.block.len % WRITE_UNIT;
        let direct = boundary.saturating_sub(old_len) as usize;
        let (direct, rest) = plan.data.split_at(direct.min(plan.data.len()));
        if !direct.is_empty() {
            self.write_out(&mut state, direct, rest.len() as u64)?;
        }
        state.buffer.extend_from_slice(rest);
        self.received.store(state.block.len, Ordering::Release);
        Ok(())
    }

    /// Which bytes and sums of a packet are new; `None` if none are.
    fn plan<'a>(&self, state: &State, packet: &Packet<'a>) -> Result<Option<Plan<'a>>> {
        let len = state.block.len;
        let end = packet.offset.saturating_add(packet.data.len() as u64);
        let invalid = |text: String| Err(self.invalid(state, "write to", text));
        if packet.offset > len {
            return invalid(format!(
                "a packet at offset {} follows {len} bytes received",
                packet.offset
            ));
        }
        if end <= len {
            return Ok(None);
        }
        let aligned = packet.offset == self.checksum.chunk_start(packet.offset);
        if !aligned && end > self.checksum.chunk_end(packet.offset) {
            return invalid("a packet that starts within a chunk must end with it".to_owned());
        }
        let expected = self.checksum.sums_len(packet.data.len());
        if !packet.sums.is_empty() && packet.sums.len() != expected {
            return invalid(format!(
                "{} bytes of checksums came where {expected} were expected",
                packet.sums.len()
            ));
        }
        let data = packet.data.get((len - packet.offset) as usize..).unwrap_or_default();
        let sums = self.new_sums(state, packet, data, aligned);
        Ok(Some(Plan { data, sums }))
    }

    /// The sums from the chunk on that holds the end of what is there.
    fn new_sums(&self, state: &State, packet: &Packet<'_>, data: &[u8], aligned: bool) -> Vec<u8> {
        let Some(algorithm) = self.checksum.kind().algorithm() else { return Vec::new() };
        let chunk = self.checksum.chunk_start(state.block.len);
        if aligned && packet.offset <= chunk && !packet.sums.is_empty() {
            let skip = self.checksum.sums_len((chunk - packet.offset) as usize);
            return packet.sums.get(skip..).unwrap_or_default().to_vec();
        }
        // A partial chunk's CRC goes on from its value so far; the rest is computed anew.
        let room = (self.checksum.chunk_end(state.block.len) - state.block.len) as usize;
        let (first, rest) = data.split_at(room.min(data.len()));
        let mut sums = Vec::with_capacity(self.checksum.sums_len(data.len()) + 4);
        if !first.is_empty() {
            sums.extend_from_slice(&algorithm.update(state.tail, first).to_be_bytes());
        }
        let start = sums.len();
        sums.resize(start + self.checksum.sums_len(rest.len()), 0);
        let chunk_len = self.checksum.bytes_per_checksum();
        zerohop_checksum::compute(algorithm, chunk_len, rest, &mut sums[start..]);
        sums
    }

    /// Takes back the sum of the partial chunk at the end, wherever it is.
    fn drop_last_sum(&self, state: &mut State) {
        if state.sums.is_empty() {
            state.sums_from -= 1;
        } else {
            state.sums.truncate(state.sums.len() - self.checksum.sum_len());
        }
    }

    /// Writes buffer, `direct` behind it, and all sums; `rest_len` bytes received come after them.
    fn write_out(&self, state: &mut State, direct: &[u8], rest_len: u64) -> Result<()> {
        let at = state.block.len - rest_len - direct.len() as u64 - state.buffer.len() as u64;
        let written = write_two_at(&self.data, &state.buffer, direct, at).and_then(|()| {
            let chunk_start = state.sums_from * self.checksum.bytes_per_checksum() as u64;
            let at = meta_header::sum_offset(self.checksum, chunk_start);
            self.meta.write_all_at(&state.sums, at)
        });
        if let Err(e) = written {
            return Err(self.poison(state, "write", e));
        }
        state.buffer.clear();
        if self.checksum.sum_len() != 0 {
            state.sums_from += (state.sums.len() / self.checksum.sum_len()) as u64;
        }
        state.sums.clear();
        Ok(())
    }

    fn flush_locked(&self, state: &mut State) -> Result<()> {
        self.check_trusted(state)?;
        if state.buffer.is_empty() && state.sums.is_empty() {
            return Ok(());
        }
        self.write_out(state, &[], 0)
    }

    /// Writes everything received to the files (the page cache); returns how much that is.
    pub fn flush(&self) -> Result<u64> {
        let mut state = self.lock();
        self.flush_locked(&mut state)?;
        Ok(state.block.len)
    }

    /// As [`flush`](Self::flush), and forces both files to disk (hsync). After a failure nothing on
    /// this replica is trusted any more.
    pub fn sync(&self) -> Result<u64> {
        let len = self.flush()?;
        // Not under the lock: readers and the next packets need not wait for the disk.
        let synced = self.meta.sync_data().and_then(|()| self.data.sync_data());
        synced.map_err(|e| self.poison(&mut self.lock(), "sync", e))?;
        Ok(len)
    }

    /// Opens it for reading, with all bytes received until now.
    pub fn open(&self) -> Result<ReplicaReader> {
        let mut state = self.lock();
        self.flush_locked(&mut state)?;
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
    pub fn truncate(&self, len: u64) -> Result<()> {
        let mut state = self.lock();
        self.flush_locked(&mut state)?;
        match len.cmp(&state.block.len) {
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less => self.cut(&mut state, len),
            std::cmp::Ordering::Greater => {
                let text = format!("it has {} bytes, not {len}", state.block.len);
                Err(self.invalid(&state, "truncate", text))
            }
        }
    }

    fn cut(&self, state: &mut State, len: u64) -> Result<()> {
        let block = Block { len, ..state.block };
        let path = self.pool.data_path(block.id, state.place);
        let tail = read_tail(&block, &self.data, &path, self.checksum)?;
        let chunk = self.checksum.chunk_start(len);
        let cut = self.data.set_len(len).and_then(|()| {
            self.meta.set_len(meta_header::file_len(self.checksum, len))?;
            if chunk == len || self.checksum.sum_len() == 0 {
                return Ok(());
            }
            let at = meta_header::sum_offset(self.checksum, chunk);
            self.meta.write_all_at(&tail.to_be_bytes(), at)
        });
        if let Err(e) = cut {
            return Err(self.poison(state, "truncate", e));
        }
        (state.block, state.tail) = (block, tail);
        state.sums_from = len.div_ceil(self.checksum.bytes_per_checksum() as u64);
        self.received.store(len, Ordering::Release);
        self.acked.fetch_min(len, Ordering::AcqRel);
        Ok(())
    }

    /// Gives it a new generation stamp, which is part of the meta file's name.
    pub fn restamp(&self, stamp: GenerationStamp) -> Result<()> {
        let mut state = self.lock();
        let place = state.place;
        self.shift(&mut state, stamp, place)
    }

    /// Moves a finalized one back to `rbw`.
    pub(crate) fn reopen(&self, stamp: GenerationStamp) -> Result<()> {
        self.shift(&mut self.lock(), stamp, Place::Rbw)
    }

    /// Makes a received copy a replica being written (a client's transfer of an open block).
    pub fn convert_to_rbw(&self) -> Result<()> {
        let mut state = self.lock();
        let stamp = state.block.stamp;
        self.shift(&mut state, stamp, Place::Rbw)
    }

    fn shift(&self, state: &mut State, stamp: GenerationStamp, place: Place) -> Result<()> {
        let block = Block { stamp, ..state.block };
        if (block.stamp, place) != (state.block.stamp, state.place) {
            self.pool.shift((&state.block, state.place), (&block, place))?;
            (state.block, state.place) = (block, place);
        }
        Ok(())
    }

    /// Writes everything and moves it to the finalized replicas. It takes no more packets then.
    pub fn finalize(&self, durability: Durability) -> Result<StoredReplica> {
        if durability == Durability::Disk {
            self.sync()?;
        }
        let mut state = self.lock();
        self.flush_locked(&mut state)?;
        let stamp = state.block.stamp;
        self.shift(&mut state, stamp, Place::Finalized)?;
        if durability == Durability::Disk {
            self.pool.sync_folder(state.block.id, Place::Finalized)?;
        }
        state.buffer = Vec::new();
        let meta_len = meta_header::file_len(self.checksum, state.block.len);
        Ok(StoredReplica { block: state.block, place: state.place, meta_len })
    }

    /// Deletes its files; it takes no more packets then. Returns the bytes freed.
    pub fn delete(&self) -> Result<u64> {
        let mut state = self.lock();
        state.poison = Some("the replica was deleted".to_owned());
        state.buffer = Vec::new();
        self.pool.delete(&state.block, state.place)
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

/// The part of a packet that is new.
struct Plan<'a> {
    data: &'a [u8],
    /// The sums from the chunk on in which `data` begins.
    sums: Vec<u8>,
}

/// The CRC of the partial chunk before `block.len`; 0 if there is none.
fn read_tail(block: &Block, data: &File, path: &Path, checksum: DataChecksum) -> Result<u32> {
    let start = checksum.chunk_start(block.len);
    let Some(algorithm) = checksum.kind().algorithm() else { return Ok(0) };
    let mut left = (block.len - start) as usize;
    let mut buffer = vec![0; left.min(1 << 20)];
    let (mut crc, mut at) = (0, start);
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

fn create_file(block: &Block, path: &Path) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create_new(true).open(path);
    opened.map_err(|e| Error::io(format!("replica {block}"), "create", path, e))
}

fn open_file(block: &Block, path: &Path) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    opened.map_err(|e| Error::io(format!("replica {block}"), "open", path, e))
}
