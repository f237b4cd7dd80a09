//! The packets that a writer makes: their numbers, and the buffers that are used again.

use super::packet::{Chunks, Packet};

/// Buffers kept for the next packets.
const SPARE_MAX: usize = 8;

/// Numbers packets, and gives each a buffer that an acknowledged one has left.
#[derive(Default)]
pub(super) struct PacketBuffers {
    next_seqno: i64,
    spare: Vec<Vec<u8>>,
}

impl PacketBuffers {
    /// A packet for at most `capacity` bytes at `offset` of the block.
    pub(super) fn packet(&mut self, chunks: Chunks, capacity: usize, offset: u64) -> Packet {
        let seqno = self.next_seqno;
        self.next_seqno += 1;
        let buffer = if capacity == 0 { Vec::new() } else { self.spare.pop().unwrap_or_default() };
        Packet::new(buffer, chunks, capacity, offset, seqno)
    }

    /// Takes the packet back that was made last, with its number.
    pub(super) fn put_back(&mut self, packet: Packet) {
        self.next_seqno = packet.seqno;
        self.keep(packet);
    }

    /// Keeps the buffer of a packet that is not needed any more.
    pub(super) fn keep(&mut self, packet: Packet) {
        let buffer = packet.into_buffer();
        if self.spare.len() < SPARE_MAX && !buffer.is_empty() {
            self.spare.push(buffer);
        }
    }

    /// The number of the packet that was made last.
    pub(super) fn last_seqno(&self) -> i64 {
        self.next_seqno - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::checksum_type::DataChecksum;

    #[test]
    fn a_packet_that_was_put_back_leaves_its_number_and_its_buffer() {
        let mut buffers = PacketBuffers::default();
        let chunks = || Chunks::whole(DataChecksum::default());
        assert_eq!(buffers.packet(chunks(), 512, 0).seqno, 0);
        let second = buffers.packet(chunks(), 512, 0);
        assert_eq!((second.seqno, buffers.last_seqno()), (1, 1));
        buffers.put_back(second);
        assert_eq!((buffers.last_seqno(), buffers.spare.len()), (0, 1));
        assert_eq!((buffers.packet(chunks(), 512, 0).seqno, buffers.spare.len()), (1, 0));
    }

    #[test]
    fn buffers_beyond_a_few_are_given_back() {
        let mut buffers = PacketBuffers::default();
        let chunks = || Chunks::whole(DataChecksum::default());
        let packets: Vec<_> =
            (0..2 * SPARE_MAX).map(|_| buffers.packet(chunks(), 512, 0)).collect();
        packets.into_iter().for_each(|packet| buffers.keep(packet));
        assert_eq!(buffers.spare.len(), SPARE_MAX);
    }
}
