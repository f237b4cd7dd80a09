//! Packets in: which bytes and sums are new, and when they go to the files.

use super::{LiveReplica, State};
use crate::error::{Error, ErrorKind, Result};
use crate::pool::Place;
use crate::write_at::write_runs_at;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;
use zerohop_wire::meta_header;

/// Data is written up to the last boundary of this many bytes: what the processor maps by one entry of
/// its page table. The page cache keeps a file in pieces as large as the calls that wrote it, and
/// readers map pieces of this length whole.
pub const WRITE_UNIT: u64 = 2 << 20;

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

/// The part of a packet that is new.
struct Plan<'a> {
    data: &'a [u8],
    /// The sums from the chunk on in which `data` begins.
    sums: Vec<u8>,
}

/// How much of what was received is to be in the files (the page cache) when a write returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlushExtent {
    /// Up to the last boundary of [`WRITE_UNIT`]; the rest waits in memory.
    Units,
    /// All of it.
    All,
}

impl LiveReplica {
    /// Takes a packet. Bytes that are there already are skipped; a packet beyond the end is an
    /// error. The data may stay in memory until [`flush`](Self::flush); call that when no further
    /// packet is waiting, so that a killed process loses little.
    pub fn write(&self, packet: &Packet<'_>) -> Result<()> {
        self.write_run(std::slice::from_ref(packet), FlushExtent::Units).map(|_| ())
    }

    /// Takes packets that follow each other, as [`write`](Self::write) does, and puts them into the
    /// file by one call. Returns how many bytes of the replica are in its file now. After an error
    /// the packets before the bad one were taken.
    pub fn write_run(&self, packets: &[Packet<'_>], extent: FlushExtent) -> Result<u64> {
        let mut state = self.lock();
        self.check_trusted(&state)?;
        if state.place == Place::Finalized {
            return Err(self.invalid(&state, "write to", "it is finalized".to_owned()));
        }
        let mut pieces = Vec::with_capacity(packets.len());
        let taken = packets.iter().try_for_each(|packet| {
            pieces.extend(self.take(&mut state, packet)?);
            Ok(())
        });
        let new_len: usize = pieces.iter().map(|piece: &&[u8]| piece.len()).sum();
        let keep = match extent {
            FlushExtent::Units => (state.block.len % WRITE_UNIT) as usize,
            FlushExtent::All => 0,
        };
        if new_len > keep || (keep == 0 && state.has_unwritten()) {
            let kept = cut_last(&mut pieces, keep);
            self.write_out(&mut state, &pieces, keep as u64)?;
            pieces = kept;
        }
        pieces.iter().for_each(|piece| state.buffer.extend_from_slice(piece));
        self.received.store(state.block.len, Ordering::Release);
        taken.map(|()| state.block.len - state.buffer.len() as u64)
    }

    /// Gives back the memory that waiting bytes took, where none wait now.
    pub fn release_memory(&self) {
        let mut state = self.lock();
        if !state.has_unwritten() {
            (state.buffer, state.sums) = (Vec::new(), Vec::new());
        }
    }

    /// Takes a packet's new sums; returns its new data, which is to be written or kept.
    pub(super) fn take<'a>(
        &self,
        state: &mut State,
        packet: &Packet<'a>,
    ) -> Result<Option<&'a [u8]>> {
        let Some(plan) = self.plan(state, packet)? else { return Ok(None) };
        let old_len = state.block.len;
        state.block.len += plan.data.len() as u64;
        if self.checksum.sum_len() != 0 {
            if old_len != self.checksum.chunk_start(old_len) {
                self.drop_last_sum(state);
            }
            state.sums.extend_from_slice(&plan.sums);
            if let [.., a, b, c, d] = *plan.sums {
                state.tail = u32::from_be_bytes([a, b, c, d]);
            }
        }
        Ok(Some(plan.data))
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
        let written = write_runs_at(&self.data, runs, at).and_then(|()| {
            if is_synced_chunk {
                self.data.sync_data()?;
            }
            let chunk_start = state.sums_from * self.checksum.bytes_per_checksum() as u64;
            let at = meta_header::sum_offset(self.checksum, chunk_start);
            self.meta.write_all_at(&state.sums, at)
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
}

impl LiveReplica {
    /// A write behind the first `written` bytes failed. On a full volume these are as good as before:
    /// the rest, which nobody was told is there, is taken back. After any other failure nothing is
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
}

/// Cuts the last `len` bytes off the pieces, and returns them: pieces again.
fn cut_last<'a>(pieces: &mut Vec<&'a [u8]>, mut len: usize) -> Vec<&'a [u8]> {
    let mut cut = Vec::new();
    while len > 0
        && let Some(last) = pieces.pop()
    {
        let (stays, goes) = last.split_at(last.len().saturating_sub(len));
        len -= goes.len();
        cut.push(goes);
        if !stays.is_empty() {
            pieces.push(stays);
        }
    }
    cut.reverse();
    cut
}
