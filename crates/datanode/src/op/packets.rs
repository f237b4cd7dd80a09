//! Finds the packets in what a connection has received.

use crate::transfer::conn::invalid;
use std::io;
use std::ops::Range;
use zerohop_wire::transfer::packet::{LENGTHS_LEN, PACKET_LEN_MAX, PacketHeader, PacketLengths};

/// A packet that lies whole in a receive buffer; the ranges are places in that buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) header: PacketHeader,
    /// All of it, lengths and header included: what is passed on as it is.
    pub(crate) frame: Range<usize>,
    pub(crate) sums: Range<usize>,
    pub(crate) data: Range<usize>,
}

impl Packet {
    /// Where in the block its data begins.
    pub(crate) fn start(&self) -> u64 {
        self.header.offset_in_block as u64
    }

    /// Where in the block its data ends.
    pub(crate) fn end(&self) -> u64 {
        self.start() + u64::from(self.header.data_len)
    }
}

/// What lies at a place of the buffer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// A whole packet.
    Packet(Packet),
    /// The start of one; so many bytes are needed from its start on.
    Needs(usize),
}

/// Looks for a packet at `at`.
pub(crate) fn find(bytes: &[u8], at: usize) -> io::Result<Found> {
    let Some(lengths) = bytes.get(at..).and_then(|rest| rest.first_chunk::<LENGTHS_LEN>()) else {
        return Ok(Found::Needs(LENGTHS_LEN));
    };
    let lengths = PacketLengths::decode(*lengths, PACKET_LEN_MAX).map_err(invalid)?;
    let frame = at..at + LENGTHS_LEN + lengths.rest_len();
    if bytes.len() < frame.end {
        return Ok(Found::Needs(frame.len()));
    }
    let header_at = at + LENGTHS_LEN..at + LENGTHS_LEN + lengths.header_len;
    let header =
        PacketHeader::decode(bytes.get(header_at.clone()).unwrap_or_default()).map_err(invalid)?;
    if header.offset_in_block < 0 {
        return Err(invalid(format!("a packet at offset {}", header.offset_in_block)));
    }
    let data_at = header_at.end + lengths.sums_len(&header).map_err(invalid)?;
    Ok(Found::Packet(Packet {
        header,
        sums: header_at.end..data_at,
        data: data_at..frame.end,
        frame,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn packets_are_found_one_after_the_other() {
        let header = PacketHeader { data_len: 5, seqno: 3, ..Default::default() };
        let (prefix, len) = header.encode(4);
        let mut bytes = prefix[..len].to_vec();
        bytes.extend_from_slice(b"sumsbytes");
        let one = bytes.len();
        bytes.extend_from_within(..);
        for at in [0, one] {
            let Found::Packet(packet) = find(&bytes, at).unwrap() else { panic!("no packet") };
            assert_eq!(packet.header, header);
            assert_eq!((&bytes[packet.sums], &bytes[packet.data]), (&b"sums"[..], &b"bytes"[..]));
            assert_eq!(packet.frame.len(), one);
        }
        assert_eq!(find(&bytes[..one - 1], 0).unwrap(), Found::Needs(one));
        assert_eq!(find(&bytes, 2 * one).unwrap(), Found::Needs(LENGTHS_LEN));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, at in 0usize..64) {
            drop(find(&bytes, at));
        }
    }
}
