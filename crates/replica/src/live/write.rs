//! Packets in: when their bytes go to the files.

use super::LiveReplica;
use super::state::Packet;
use crate::error::Result;
use crate::pool::Place;
use std::sync::atomic::Ordering;

/// Data is written up to the last boundary of this many bytes: what the processor maps by one entry of
/// its page table. The page cache keeps a file in pieces as large as the calls that wrote it, and
/// readers map pieces of this length whole.
pub const WRITE_UNIT: u64 = 2 << 20;

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
        self.files.check_trusted(&state)?;
        if state.place == Place::Finalized {
            return Err(self.files.invalid(&state, "write to", "it is finalized".to_owned()));
        }
        let mut pieces = Vec::with_capacity(packets.len());
        let taken = packets.iter().try_for_each(|packet| {
            let new = state.take(self.files.checksum, packet);
            pieces.extend(new.map_err(|text| self.files.invalid(&state, "write to", text))?);
            Ok(())
        });
        let new_len: usize = pieces.iter().map(|piece: &&[u8]| piece.len()).sum();
        let keep = match extent {
            FlushExtent::Units => (state.block.len % WRITE_UNIT) as usize,
            FlushExtent::All => 0,
        };
        if new_len > keep || (keep == 0 && state.has_unwritten()) {
            let kept = cut_last(&mut pieces, keep);
            self.files.write_out(&mut state, &pieces, keep as u64)?;
            pieces = kept;
        }
        pieces.iter().for_each(|piece| state.buffer.extend_from_slice(piece));
        self.files.received.store(state.block.len, Ordering::Release);
        taken.map(|()| state.block.len - state.buffer.len() as u64)
    }

    /// Gives back the memory that waiting bytes took, where none wait now.
    pub fn release_memory(&self) {
        let mut state = self.lock();
        if !state.has_unwritten() {
            (state.buffer, state.sums) = (Vec::new(), Vec::new());
        }
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
