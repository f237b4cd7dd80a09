//! What was received of a live replica and is not in its files yet: which bytes and sums of a packet are new.

use super::synced_chunk::SyncedChunk;
use crate::pool::Place;
use zerohop_wire::{Block, DataChecksum};

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

/// What changes under the lock of a live replica.
#[derive(Debug)]
pub(super) struct State {
    /// Its `len` is the bytes received.
    pub(super) block: Block,
    pub(super) place: Place,
    pub(super) buffer: Vec<u8>,
    pub(super) sums: Vec<u8>,
    pub(super) sums_from: u64,
    /// The CRC of the partial chunk at the end; without meaning if there is none.
    pub(super) tail: u32,
    pub(super) synced_chunk: SyncedChunk,
    pub(super) poison: Option<String>,
}

impl State {
    /// Whether bytes or sums wait in memory.
    pub(super) fn has_unwritten(&self) -> bool {
        !self.buffer.is_empty() || !self.sums.is_empty()
    }

    /// Takes a packet's new sums; returns its new data, which is to be written or kept.
    ///
    /// # Errors
    /// Why it cannot follow what was received.
    pub(super) fn take<'a>(
        &mut self,
        checksum: DataChecksum,
        packet: &Packet<'a>,
    ) -> Result<Option<&'a [u8]>, String> {
        let Some(plan) = self.plan(checksum, packet)? else { return Ok(None) };
        let old_len = self.block.len;
        self.block.len += plan.data.len() as u64;
        if checksum.sum_len() != 0 {
            if old_len != checksum.chunk_start(old_len) {
                self.drop_last_sum(checksum);
            }
            self.sums.extend_from_slice(&plan.sums);
            if let [.., a, b, c, d] = *plan.sums {
                self.tail = u32::from_be_bytes([a, b, c, d]);
            }
        }
        Ok(Some(plan.data))
    }

    /// Which bytes and sums of a packet are new; `None` if none are.
    fn plan<'a>(
        &self,
        checksum: DataChecksum,
        packet: &Packet<'a>,
    ) -> Result<Option<Plan<'a>>, String> {
        let len = self.block.len;
        let end = packet.offset.saturating_add(packet.data.len() as u64);
        if packet.offset > len {
            return Err(format!(
                "a packet at offset {} follows {len} bytes received",
                packet.offset
            ));
        }
        if end <= len {
            return Ok(None);
        }
        let aligned = packet.offset == checksum.chunk_start(packet.offset);
        if !aligned && end > checksum.chunk_end(packet.offset) {
            return Err("a packet that starts within a chunk must end with it".to_owned());
        }
        let expected = checksum.sums_len(packet.data.len());
        if !packet.sums.is_empty() && packet.sums.len() != expected {
            return Err(format!(
                "{} bytes of checksums came where {expected} were expected",
                packet.sums.len()
            ));
        }
        let data = packet.data.get((len - packet.offset) as usize..).unwrap_or_default();
        let sums = self.new_sums(checksum, packet, data, aligned);
        Ok(Some(Plan { data, sums }))
    }

    /// The sums from the chunk on that holds the end of what is there.
    fn new_sums(
        &self,
        checksum: DataChecksum,
        packet: &Packet<'_>,
        data: &[u8],
        aligned: bool,
    ) -> Vec<u8> {
        let Some(algorithm) = checksum.kind().algorithm() else { return Vec::new() };
        let chunk = checksum.chunk_start(self.block.len);
        if aligned && packet.offset <= chunk && !packet.sums.is_empty() {
            let skip = checksum.sums_len((chunk - packet.offset) as usize);
            return packet.sums.get(skip..).unwrap_or_default().to_vec();
        }
        // A partial chunk's CRC goes on from its value so far; the rest is computed anew.
        let room = (checksum.chunk_end(self.block.len) - self.block.len) as usize;
        let (first, rest) = data.split_at(room.min(data.len()));
        let mut sums = Vec::with_capacity(checksum.sums_len(data.len()) + 4);
        if !first.is_empty() {
            sums.extend_from_slice(&algorithm.update(self.tail, first).to_be_bytes());
        }
        let start = sums.len();
        sums.resize(start + checksum.sums_len(rest.len()), 0);
        let chunk_len = checksum.bytes_per_checksum();
        zerohop_checksum::compute(algorithm, chunk_len, rest, &mut sums[start..]);
        sums
    }

    /// Takes back the sum of the partial chunk at the end, wherever it is.
    fn drop_last_sum(&mut self, checksum: DataChecksum) {
        if self.sums.is_empty() {
            self.sums_from -= 1;
        } else {
            self.sums.truncate(self.sums.len() - checksum.sum_len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::{BlockId, GenerationStamp};

    fn state(len: u64) -> State {
        State {
            block: Block { id: BlockId(1), stamp: GenerationStamp(1001), len },
            place: Place::Rbw,
            buffer: Vec::new(),
            sums: Vec::new(),
            sums_from: len.div_ceil(512),
            tail: 0,
            synced_chunk: SyncedChunk::default(),
            poison: None,
        }
    }

    #[test]
    fn only_what_is_new_of_a_packet_is_taken() {
        let (checksum, data) = (DataChecksum::default(), [7; 1024]);
        let mut state = state(700);
        let packet = |offset, data| Packet { offset, data, sums: &[] };
        assert_eq!(state.take(checksum, &packet(512, &data[..188])), Ok(None));
        assert!(state.take(checksum, &packet(1024, &data)).unwrap_err().contains("at offset 1024"));
        let within = state.take(checksum, &packet(600, &data));
        assert!(within.unwrap_err().contains("starts within a chunk"));
        assert_eq!(state.take(checksum, &packet(512, &data)), Ok(Some(&data[188..])));
        // The sum of the partial chunk is written anew, from that chunk on.
        assert_eq!((state.block.len, state.sums_from, state.sums.len()), (1536, 1, 8));
    }
}
