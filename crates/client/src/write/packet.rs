//! A packet being filled, sent, and kept until it is acknowledged.
//!
//! ```text
//! buffer: | room for lengths and header | room for checksums | data |
//! ```
//! Checksums are computed while the data is copied in. `0 <= summed_len <= data_len <= capacity`;
//! what lies between the first two is the part of a chunk that has no checksum yet.

use crate::settings::PACKET_DATA_OWN;
use std::io::{self, IoSlice, Write};
use zerohop_wire::checksum_type::DataChecksum;
use zerohop_wire::transfer::block_write::BlockPacket;
use zerohop_wire::transfer::packet::{PREFIX_LEN_MAX, PacketHeader};
use zerohop_wire::transfer::unacknowledged::Numbered;

/// How the data of a packet is cut into chunks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunks {
    pub(super) checksum: DataChecksum,
    /// Bytes of the packet's first chunk: fewer where it only fills up a chunk of the replica.
    pub(super) first_len: usize,
}

impl Chunks {
    pub(super) fn whole(checksum: DataChecksum) -> Self {
        Self { checksum, first_len: checksum.bytes_per_checksum() }
    }

    /// Bytes of data that fit a packet of `packet_len` bytes: whole chunks, at least one.
    pub(super) fn capacity(&self, packet_len: usize) -> usize {
        let chunk_len = self.checksum.bytes_per_checksum();
        if self.first_len < chunk_len {
            return self.first_len;
        }
        let body_len = packet_len.saturating_sub(PREFIX_LEN_MAX);
        (body_len / (chunk_len + self.checksum.sum_len())).max(1) * chunk_len
    }

    /// The same for a packet that begins at `offset` in the block. Large packets end where the
    /// DataNode's large writes to the block file end, so that they need not be put together again
    /// there; but never inside a chunk.
    pub(super) fn capacity_at(&self, offset: u64, packet_len: usize) -> usize {
        let capacity = self.capacity(packet_len);
        let behind = (offset % PACKET_DATA_OWN as u64) as usize;
        let left = PACKET_DATA_OWN - behind;
        let ends_chunk = left.is_multiple_of(self.checksum.bytes_per_checksum());
        if behind > 0 && capacity > left && ends_chunk { left } else { capacity }
    }
}

#[derive(Debug)]
pub(super) struct Packet {
    buffer: Vec<u8>,
    chunks: Chunks,
    data_start: usize,
    data_len: usize,
    summed_len: usize,
    capacity: usize,
    /// In the block, where the data begins.
    pub(super) offset: u64,
    pub(super) seqno: i64,
    pub(super) is_last: bool,
    pub(super) sync: bool,
}

impl Numbered for Packet {
    fn seqno(&self) -> i64 {
        self.seqno
    }
}

impl BlockPacket for Packet {
    fn end(&self) -> u64 {
        self.offset + self.data_len as u64
    }

    fn is_last(&self) -> bool {
        self.is_last
    }
}

impl Packet {
    /// A packet for at most `capacity` bytes; `buffer` is one that is no longer needed.
    pub(super) fn new(
        mut buffer: Vec<u8>,
        chunks: Chunks,
        capacity: usize,
        offset: u64,
        seqno: i64,
    ) -> Self {
        let data_start = PREFIX_LEN_MAX + chunks.checksum.sums_len(capacity);
        let needed = data_start + capacity;
        if buffer.len() < needed {
            // A fresh buffer of zeros is mapped and touched only as far as it is filled.
            buffer = vec![0; needed];
        }
        Self {
            buffer,
            chunks,
            data_start,
            data_len: 0,
            summed_len: 0,
            capacity,
            offset,
            seqno,
            is_last: false,
            sync: false,
        }
    }

    pub(super) fn data_len(&self) -> usize {
        self.data_len
    }

    pub(super) fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// Bytes that still fit.
    pub(super) fn room(&self) -> usize {
        self.capacity - self.data_len
    }

    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Takes from the front of `input` what fits, and returns how much that is.
    pub(super) fn fill(&mut self, input: &[u8]) -> usize {
        let len = input.len().min(self.capacity - self.data_len);
        let Some(mut rest) = input.get(..len) else { return 0 };
        rest = self.complete_chunk(rest);
        let chunk_len = self.chunk_len();
        let whole = rest.len() - rest.len() % chunk_len;
        let (chunks, tail) = rest.split_at(whole);
        self.append_summed(chunks);
        self.append_plain(tail);
        len
    }

    /// Lets `input` put bytes into the packet, at most `step` of them: it is given the room and tells
    /// how much of it is filled. They are summed where they are, at once, while they are in cache.
    pub(super) fn fill_with(
        &mut self,
        step: usize,
        input: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let begun = self.data_len - self.summed_len;
        let room_len = match begun {
            0 => step.max(self.chunk_len()),
            _ => self.chunk_len() - begun,
        };
        let from = self.data_start + self.data_len;
        let to = from + room_len.min(self.capacity - self.data_len);
        let room = self.buffer.get_mut(from..to).unwrap_or_default();
        let len = input(room)?.min(room.len());
        self.data_len += len;
        self.sum_whole_chunks();
        Ok(len)
    }

    /// Sums the chunks that have become whole in place.
    fn sum_whole_chunks(&mut self) {
        let chunk_len = self.chunk_len();
        let begun = self.data_len - self.summed_len;
        let whole = begun - begun % chunk_len;
        let sums_at = PREFIX_LEN_MAX + self.sums_len();
        let checksum = self.chunks.checksum;
        let (head, data) = self.buffer.split_at_mut(self.data_start);
        if let Some(algorithm) = checksum.kind().algorithm()
            && let Some(chunks) = data.get(self.summed_len..self.summed_len + whole)
            && let Some(sums) =
                head.get_mut(sums_at..sums_at + whole / chunk_len * checksum.sum_len())
            && whole > 0
        {
            zerohop_checksum::compute(algorithm, chunk_len, chunks, sums);
        }
        self.summed_len += whole;
    }

    /// Every chunk but a packet's first has the full length.
    fn chunk_len(&self) -> usize {
        if self.summed_len == 0 {
            self.chunks.first_len
        } else {
            self.chunks.checksum.bytes_per_checksum()
        }
    }

    /// Fills the chunk that was begun; returns what is left of `input`.
    fn complete_chunk<'a>(&mut self, input: &'a [u8]) -> &'a [u8] {
        let begun = self.data_len - self.summed_len;
        if begun == 0 {
            return input;
        }
        let missing = (self.chunk_len() - begun).min(input.len());
        let (now, rest) = input.split_at(missing);
        self.append_plain(now);
        if self.data_len - self.summed_len == self.chunk_len() {
            self.seal();
        }
        rest
    }

    fn append_plain(&mut self, input: &[u8]) {
        let from = self.data_start + self.data_len;
        if let Some(target) = self.buffer.get_mut(from..from + input.len()) {
            target.copy_from_slice(input);
            self.data_len += input.len();
        }
    }

    /// Appends whole chunks and their checksums in one pass.
    fn append_summed(&mut self, input: &[u8]) {
        if input.is_empty() {
            return;
        }
        let sums_at = self.sums_len();
        let checksum = self.chunks.checksum;
        let chunk_len = self.chunk_len();
        let sums_len = input.len().div_ceil(chunk_len) * checksum.sum_len();
        let (head, data) = self.buffer.split_at_mut(self.data_start);
        let target = data.get_mut(self.data_len..self.data_len + input.len()).unwrap_or_default();
        let sums = head.get_mut(PREFIX_LEN_MAX + sums_at..).unwrap_or_default();
        let sums = sums.get_mut(..sums_len).unwrap_or_default();
        match checksum.kind().algorithm() {
            Some(algorithm) => {
                zerohop_checksum::copy_and_compute(algorithm, chunk_len, input, target, sums);
            }
            None => target.copy_from_slice(input),
        }
        self.data_len += input.len();
        self.summed_len = self.data_len;
    }

    /// Bytes of the checksums there are.
    fn sums_len(&self) -> usize {
        if self.summed_len == 0 {
            return 0;
        }
        let chunk_len = self.chunks.checksum.bytes_per_checksum();
        let after_first = self.summed_len.saturating_sub(self.chunks.first_len);
        (1 + after_first.div_ceil(chunk_len)) * self.chunks.checksum.sum_len()
    }

    /// Computes the checksum of a chunk that is not full, or just became so.
    pub(super) fn seal(&mut self) {
        let begun = self.data_len - self.summed_len;
        if begun == 0 {
            return;
        }
        let sums_at = PREFIX_LEN_MAX + self.sums_len();
        let checksum = self.chunks.checksum;
        let (head, data) = self.buffer.split_at_mut(self.data_start);
        if let Some(algorithm) = checksum.kind().algorithm()
            && let Some(chunk) = data.get(self.summed_len..self.data_len)
            && let Some(sum) = head.get_mut(sums_at..sums_at + checksum.sum_len())
        {
            sum.copy_from_slice(&algorithm.crc(chunk).to_be_bytes());
        }
        self.summed_len = self.data_len;
    }

    /// The bytes of the last chunk, if that is not full; to be called before [`seal`](Self::seal).
    pub(super) fn begun_chunk(&self) -> &[u8] {
        let from = self.data_start + self.summed_len;
        self.buffer.get(from..self.data_start + self.data_len).unwrap_or_default()
    }

    /// Sends the packet, sealed before.
    pub(super) fn write_to(&mut self, mut out: impl Write) -> io::Result<()> {
        let header = PacketHeader {
            offset_in_block: self.offset as i64,
            seqno: self.seqno,
            last: self.is_last,
            data_len: self.data_len as u32,
            sync: self.sync,
        };
        let sums_len = self.sums_len();
        let (head, data) = self.buffer.split_at_mut(self.data_start);
        let prefix = head.get_mut(..PREFIX_LEN_MAX).unwrap_or_default();
        let start = header.encode_before(prefix, sums_len);
        let head = head.get(start..PREFIX_LEN_MAX + sums_len).unwrap_or_default();
        let data = data.get(..self.data_len).unwrap_or_default();
        debug_assert!(sums_len <= self.data_start - PREFIX_LEN_MAX);
        write_both(&mut out, head, data)
    }
}

/// Writes two slices with as few calls as the kernel takes.
fn write_both(out: &mut impl Write, first: &[u8], second: &[u8]) -> io::Result<()> {
    let mut sent = 0;
    while sent < first.len() {
        let head = first.get(sent..).unwrap_or_default();
        match out.write_vectored(&[IoSlice::new(head), IoSlice::new(second)]) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => sent += written,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    out.write_all(second.get(sent - first.len()..).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;
    use zerohop_wire::checksum_type::ChecksumType;
    use zerohop_wire::transfer::packet::{LENGTHS_LEN, PACKET_LEN_MAX, PacketLengths};

    fn parse(bytes: &[u8]) -> (PacketHeader, Vec<u8>, Vec<u8>) {
        let lengths =
            PacketLengths::decode(bytes[..LENGTHS_LEN].try_into().unwrap(), PACKET_LEN_MAX)
                .unwrap();
        let head_len = LENGTHS_LEN + lengths.header_len;
        let header = PacketHeader::decode(&bytes[LENGTHS_LEN..head_len]).unwrap();
        let sums_len = lengths.sums_len(&header).unwrap();
        let (sums, data) = bytes[head_len..].split_at(sums_len);
        (header, sums.to_vec(), data.to_vec())
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_same_packet(
            pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..1500), 0..8),
        ) {
            let checksum = DataChecksum::default();
            let mut packet = Packet::new(Vec::new(), Chunks::whole(checksum), 4096, 512, 3);
            let all: Vec<u8> = pieces.concat();
            for piece in &pieces {
                let room = packet.capacity - packet.data_len;
                prop_assert_eq!(packet.fill(piece), piece.len().min(room));
            }
            let kept = packet.begun_chunk().to_vec();
            packet.seal();
            let mut sent = Vec::new();
            packet.write_to(&mut sent).unwrap();
            let (header, sums, data) = parse(&sent);
            let expected_len = packet.data_len;
            prop_assert!(expected_len == 4096 || expected_len == all.len());
            prop_assert_eq!(header.data_len as usize, expected_len);
            prop_assert_eq!((header.offset_in_block, header.seqno), (512, 3));
            prop_assert!(checksum.verify(&data, &sums).is_ok());
            prop_assert_eq!(kept.len(), data.len() % 512);
            prop_assert!(data.ends_with(&kept));
        }
    }

    proptest! {
        #[test]
        fn bytes_put_in_place_give_the_same_packet_as_copied_ones(
            pieces in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..1500), any::<bool>()), 0..8),
            first_len in prop_oneof![Just(512), 1usize..512],
            step in 1usize..2000,
        ) {
            let chunks = Chunks { checksum: DataChecksum::default(), first_len };
            let capacity = chunks.capacity(3000);
            let mut copied = Packet::new(Vec::new(), chunks, capacity, 512, 3);
            let mut placed = Packet::new(Vec::new(), chunks, capacity, 512, 3);
            for (piece, in_place) in &pieces {
                let mut rest = &piece[..copied.fill(piece)];
                while !rest.is_empty() {
                    let taken = if *in_place {
                        placed.fill_with(step, |room| rest.read(room)).unwrap()
                    } else {
                        let taken = placed.fill(rest);
                        rest = &rest[taken..];
                        taken
                    };
                    prop_assert!(taken > 0);
                }
            }
            prop_assert_eq!(placed.begun_chunk(), copied.begun_chunk());
            placed.seal();
            copied.seal();
            let (mut sent, mut expected) = (Vec::new(), Vec::new());
            placed.write_to(&mut sent).unwrap();
            copied.write_to(&mut expected).unwrap();
            prop_assert_eq!(sent, expected);
        }
    }

    #[test]
    fn a_packet_that_fills_up_a_chunk_has_one_sum() {
        let chunks = Chunks { checksum: DataChecksum::default(), first_len: 100 };
        let mut packet = Packet::new(Vec::new(), chunks, chunks.capacity(65536), 412, 0);
        assert_eq!(packet.fill(&[7; 60]), 60);
        assert_eq!(packet.fill(&[7; 60]), 40);
        assert!(packet.is_full());
        let mut sent = Vec::new();
        packet.write_to(&mut sent).unwrap();
        let (_, sums, data) = parse(&sent);
        assert_eq!((sums.len(), data.len()), (4, 100));
        assert!(DataChecksum::default().verify(&data, &sums).is_ok());
    }

    #[test]
    fn capacities_are_hadoop_s() {
        let chunks = Chunks::whole(DataChecksum::default());
        assert_eq!(chunks.capacity(65536), 126 * 512);
        assert_eq!(chunks.capacity(0), 512);
        let null = DataChecksum::new(ChecksumType::Null, 512).unwrap();
        let mut packet = Packet::new(Vec::new(), Chunks::whole(null), 1024, 0, 0);
        packet.fill(&[1; 700]);
        packet.seal();
        let mut sent = Vec::new();
        packet.write_to(&mut sent).unwrap();
        let (_, sums, data) = parse(&sent);
        assert_eq!((sums.len(), data.len()), (0, 700));
    }

    /// Where packets of a block end, a small one first as a file has it.
    fn ends(chunk_len: u32, packet_len: usize) -> Vec<u64> {
        let checksum = DataChecksum::new(ChecksumType::Crc32c, chunk_len).unwrap();
        let chunks = Chunks::whole(checksum);
        let mut end = 0;
        let packets = (0..20).map(|at| {
            let packet_len = if at == 0 { 64 << 10 } else { packet_len };
            end += chunks.capacity_at(end, packet_len) as u64;
            end
        });
        packets.collect()
    }

    #[test]
    fn packets_end_with_a_chunk() {
        for chunk_len in [1, 512, 768, 1536, 3000, 4096, 1 << 20, 3 << 20] {
            for packet_len in [64 << 10, 300_000, 2 * PACKET_DATA_OWN] {
                let ends = ends(chunk_len, packet_len);
                let inside = ends.iter().find(|end| !end.is_multiple_of(u64::from(chunk_len)));
                assert_eq!(inside, None, "{chunk_len} {packet_len}");
            }
        }
        let unit = PACKET_DATA_OWN as u64;
        assert!(ends(512, 300_000).contains(&unit), "where it can be, with the unit too");
    }
}
