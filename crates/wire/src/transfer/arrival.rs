//! Packets in bytes that have arrived from a connection, of which the last may be there in part.
//!
//! ```text
//! +---------+--------+-----------+------+---------+--
//! | lengths | header | checksums | data | lengths | ...
//! +---------+--------+-----------+------+---------+--
//! |<-- head_len ---->|<-sums_len>|
//! ```

use super::packet::{LENGTHS_LEN, PacketError, PacketHeader, PacketLengths};
use std::ops::Range;

/// What parsing found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parsed<T> {
    /// It is all there.
    Whole(T),
    /// So many bytes are needed, counted from where it begins.
    Needs(usize),
}

/// What stands in front of a packet's checksums and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketHead {
    /// The header.
    pub header: PacketHeader,
    /// Bytes of lengths and header.
    pub head_len: usize,
    /// Bytes of the checksums behind them.
    pub sums_len: usize,
}

impl PacketHead {
    /// Reads the head of the packet that begins with `bytes`.
    ///
    /// # Errors
    /// The bytes are not a packet, it is longer than `packet_len_max`, or its offset is negative.
    pub fn parse(bytes: &[u8], packet_len_max: usize) -> Result<Parsed<Self>, PacketError> {
        let Some(lengths) = bytes.first_chunk::<LENGTHS_LEN>() else {
            return Ok(Parsed::Needs(LENGTHS_LEN));
        };
        let lengths = PacketLengths::decode(*lengths, packet_len_max)?;
        let head_len = LENGTHS_LEN + lengths.header_len;
        let Some(header) = bytes.get(LENGTHS_LEN..head_len) else {
            return Ok(Parsed::Needs(head_len));
        };
        let header = PacketHeader::decode(header)?;
        if header.offset_in_block < 0 {
            return Err(PacketError::Offset(header.offset_in_block));
        }
        let sums_len = lengths.sums_len(&header)?;
        Ok(Parsed::Whole(Self { header, head_len, sums_len }))
    }

    /// Where in the block the data begins.
    pub const fn start(&self) -> u64 {
        self.header.offset_in_block.unsigned_abs()
    }

    /// Bytes of the whole packet.
    pub const fn packet_len(&self) -> usize {
        self.head_len + self.sums_len + self.header.data_len as usize
    }
}

/// A packet that lies whole in a buffer; the ranges are places in that buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivedPacket {
    /// The header.
    pub header: PacketHeader,
    /// All of it, lengths and header included: what is passed on as it is.
    pub frame: Range<usize>,
    /// The checksums.
    pub sums: Range<usize>,
    /// The data.
    pub data: Range<usize>,
}

impl ArrivedPacket {
    /// Looks for a packet at place `at` of a buffer.
    ///
    /// # Errors
    /// As [`PacketHead::parse`].
    pub fn find(
        buffer: &[u8],
        at: usize,
        packet_len_max: usize,
    ) -> Result<Parsed<Self>, PacketError> {
        let bytes = buffer.get(at..).unwrap_or_default();
        let head = match PacketHead::parse(bytes, packet_len_max)? {
            Parsed::Whole(head) => head,
            Parsed::Needs(len) => return Ok(Parsed::Needs(whole_len(bytes, len))),
        };
        let frame = at..at + head.packet_len();
        if buffer.len() < frame.end {
            return Ok(Parsed::Needs(frame.len()));
        }
        let sums = at + head.head_len..at + head.head_len + head.sums_len;
        let data = sums.end..frame.end;
        Ok(Parsed::Whole(Self { header: head.header, frame, sums, data }))
    }

    /// Where in the block its data begins.
    pub const fn start(&self) -> u64 {
        self.header.offset_in_block.unsigned_abs()
    }

    /// Where in the block its data ends.
    pub fn end(&self) -> u64 {
        self.start() + u64::from(self.header.data_len)
    }
}

/// The length of the packet that begins with `bytes`, if its header has arrived; else `least`.
fn whole_len(bytes: &[u8], least: usize) -> usize {
    let lengths = bytes.first_chunk::<LENGTHS_LEN>();
    let decoded = lengths.and_then(|bytes| PacketLengths::decode(*bytes, usize::MAX).ok());
    decoded.map_or(least, |lengths| LENGTHS_LEN + lengths.rest_len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transfer::packet::PACKET_LEN_MAX;
    use proptest::prelude::*;

    fn packet(header: PacketHeader, sums: &[u8], data: &[u8]) -> Vec<u8> {
        let header = PacketHeader { data_len: data.len() as u32, ..header };
        let (prefix, len) = header.encode(sums.len());
        [&prefix[..len], sums, data].concat()
    }

    #[test]
    fn packets_are_found_one_after_the_other() {
        let header = PacketHeader { seqno: 3, ..Default::default() };
        let mut bytes = packet(header, b"sums", b"bytes");
        let one = bytes.len();
        bytes.extend_from_within(..);
        for at in [0, one] {
            let Parsed::Whole(packet) = ArrivedPacket::find(&bytes, at, PACKET_LEN_MAX).unwrap()
            else {
                panic!("no packet")
            };
            assert_eq!(packet.header, PacketHeader { data_len: 5, ..header });
            assert_eq!((&bytes[packet.sums], &bytes[packet.data]), (&b"sums"[..], &b"bytes"[..]));
            assert_eq!(packet.frame, at..at + one);
        }
    }

    /// At any time, enough bytes are requested to complete the packet in at most two steps: its lengths,
    /// then all of it.
    #[test]
    fn a_packet_cut_at_any_byte_tells_how_many_it_has() {
        for sync in [false, true] {
            let bytes = packet(PacketHeader { sync, ..Default::default() }, b"sums", b"bytes");
            for cut in 0..bytes.len() {
                let needs = if cut < LENGTHS_LEN { LENGTHS_LEN } else { bytes.len() };
                let found = ArrivedPacket::find(&bytes[..cut], 0, PACKET_LEN_MAX);
                assert_eq!(found, Ok(Parsed::Needs(needs)), "{cut}");
                let head_len = LENGTHS_LEN + if sync { 27 } else { 25 };
                let head = PacketHead::parse(&bytes[..cut], PACKET_LEN_MAX).unwrap();
                match head {
                    Parsed::Needs(len) => {
                        assert_eq!(len, if cut < LENGTHS_LEN { LENGTHS_LEN } else { head_len });
                    }
                    Parsed::Whole(head) => {
                        assert!(cut >= head_len);
                        assert_eq!((head.sums_len, head.packet_len()), (4, bytes.len()));
                    }
                }
            }
        }
    }

    #[test]
    fn a_packet_before_the_block_is_refused() {
        let header = PacketHeader { offset_in_block: -1, ..Default::default() };
        let found = ArrivedPacket::find(&packet(header, b"", b""), 0, PACKET_LEN_MAX);
        assert_eq!(found, Err(PacketError::Offset(-1)));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, at in 0usize..64) {
            drop(ArrivedPacket::find(&bytes, at, PACKET_LEN_MAX));
            drop(PacketHead::parse(&bytes, PACKET_LEN_MAX));
        }
    }
}
