//! A packet: a run of a block's bytes with their checksums, either direction.
//!
//! ```text
//! +-------------+------------+--------+-----------+------+
//! | payload_len | header_len | header | checksums | data |
//! | i32         | u16        | proto  | 4 a chunk |      |
//! +-------------+------------+--------+-----------+------+
//! payload_len = 4 + checksums + data (it counts itself, for historical reasons)
//! ```
//! The header is a `PacketHeaderProto` of fixed-width fields, so its length is known before its
//! values are:
//! ```text
//! 09 offset_in_block i64 le | 11 seqno i64 le | 18 last u8 | 25 data_len i32 le | 28 sync u8
//! ```
//! The sync field is absent unless it is true. (`protocol/datatransfer/{PacketHeader,PacketReceiver}`)

use bytes::Bytes;
use std::fmt;
use zerohop_proto::InvalidMessage;
use zerohop_proto::hdfs::PacketHeaderProto;

/// Bytes of the two lengths in front.
pub const LENGTHS_LEN: usize = 6;
/// The longest header that Hadoop writes.
pub const HEADER_LEN_MAX: usize = 27;
/// Room to leave in front of the checksums: lengths and longest header.
pub const PREFIX_LEN_MAX: usize = LENGTHS_LEN + HEADER_LEN_MAX;
/// The default of `dfs.data.transfer.max.packet.size`: header and payload of any packet.
pub const PACKET_LEN_MAX: usize = 16 * 1024 * 1024;
/// The sequence number of a heartbeat packet, which carries nothing and is acknowledged.
pub const HEARTBEAT_SEQNO: i64 = -1;

const SHORT_LEN: usize = 25;

/// Why bytes are not a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// The payload length is below 4 or, with the header, above the limit.
    PayloadLen(i32),
    /// The header says more data than the payload holds, or less than none.
    DataLen {
        /// What the header says.
        data_len: i32,
        /// Checksums and data together.
        body_len: usize,
    },
    /// The data would begin before the block.
    Offset(i64),
    /// The header is not a header.
    Header(InvalidMessage),
}

impl fmt::Display for PacketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PayloadLen(len) => write!(f, "Incorrect value for packet payload size: {len}"),
            Self::DataLen { data_len, body_len } => write!(
                f,
                "Invalid packet: {data_len} bytes of data in a packet of {body_len} bytes"
            ),
            Self::Offset(offset) => write!(f, "a packet at offset {offset}"),
            Self::Header(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for PacketError {}

/// The two lengths a packet begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketLengths {
    /// Bytes of the header.
    pub header_len: usize,
    /// Bytes of checksums and data together.
    pub body_len: usize,
}

impl PacketLengths {
    /// Reads the lengths; header and payload together may not pass `packet_len_max`.
    pub fn decode(bytes: [u8; LENGTHS_LEN], packet_len_max: usize) -> Result<Self, PacketError> {
        let [a, b, c, d, e, f] = bytes;
        let payload = i32::from_be_bytes([a, b, c, d]);
        let header_len = usize::from(u16::from_be_bytes([e, f]));
        let body_len = usize::try_from(payload).ok().and_then(|len| len.checked_sub(4));
        match body_len {
            Some(body_len) if body_len + 4 + header_len <= packet_len_max => {
                Ok(Self { header_len, body_len })
            }
            _ => Err(PacketError::PayloadLen(payload)),
        }
    }

    /// Bytes that follow the lengths.
    pub const fn rest_len(self) -> usize {
        self.header_len + self.body_len
    }

    /// Bytes of checksums, once the header has told the bytes of data.
    pub fn sums_len(self, header: &PacketHeader) -> Result<usize, PacketError> {
        let error = || PacketError::DataLen {
            data_len: i32::try_from(header.data_len).unwrap_or(i32::MAX),
            body_len: self.body_len,
        };
        self.body_len.checked_sub(header.data_len as usize).ok_or_else(error)
    }
}

/// The header of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketHeader {
    /// Where in the block the data begins.
    pub offset_in_block: i64,
    /// The packet's number in its stream, from 0, or [`HEARTBEAT_SEQNO`].
    pub seqno: i64,
    /// The last packet of the stream; it carries no data.
    pub last: bool,
    /// Bytes of data.
    pub data_len: u32,
    /// The data is to be on disk before it is acknowledged (hsync).
    pub sync: bool,
}

impl PacketHeader {
    /// Bytes of this header without the lengths.
    pub const fn encoded_len(&self) -> usize {
        if self.sync { HEADER_LEN_MAX } else { SHORT_LEN }
    }

    /// Lengths and header at the front of the returned array, and how many bytes of it they take.
    pub fn encode(&self, sums_len: usize) -> ([u8; PREFIX_LEN_MAX], usize) {
        let mut bytes = [0; PREFIX_LEN_MAX];
        let payload = (4 + sums_len + self.data_len as usize) as u32;
        bytes[0..4].copy_from_slice(&payload.to_be_bytes());
        bytes[4..6].copy_from_slice(&(self.encoded_len() as u16).to_be_bytes());
        bytes[6] = 0x09;
        bytes[7..15].copy_from_slice(&self.offset_in_block.to_le_bytes());
        bytes[15] = 0x11;
        bytes[16..24].copy_from_slice(&self.seqno.to_le_bytes());
        bytes[24] = 0x18;
        bytes[25] = u8::from(self.last);
        bytes[26] = 0x25;
        bytes[27..31].copy_from_slice(&self.data_len.to_le_bytes());
        bytes[31] = 0x28;
        bytes[32] = 1;
        (bytes, LENGTHS_LEN + self.encoded_len())
    }

    /// Lengths and header written so that they end where the checksums begin: at the end of
    /// `room`, which must be [`PREFIX_LEN_MAX`] bytes or more. Returns where they begin.
    ///
    /// # Panics
    /// If `room` is too short.
    pub fn encode_before(&self, room: &mut [u8], sums_len: usize) -> usize {
        let (bytes, len) = self.encode(sums_len);
        let start = room.len() - len;
        room[start..].copy_from_slice(&bytes[..len]);
        start
    }

    /// Decodes a header without the lengths.
    pub fn decode(bytes: &[u8]) -> Result<Self, PacketError> {
        match Self::decode_usual(bytes) {
            Some(header) => Ok(header),
            None => Self::decode_any(bytes),
        }
    }

    /// The byte layout that Hadoop and we write; `None` for another encoding of the message.
    fn decode_usual(bytes: &[u8]) -> Option<Self> {
        let (sync, bytes) = match bytes {
            [short @ .., 0x28, sync @ (0 | 1)] if short.len() == SHORT_LEN => (*sync == 1, short),
            short => (false, short),
        };
        let bytes: &[u8; SHORT_LEN] = bytes.try_into().ok()?;
        let (offset, rest) = bytes.split_first_chunk::<9>()?;
        let (seqno, rest) = rest.split_first_chunk::<9>()?;
        let (last, rest) = rest.split_first_chunk::<2>()?;
        let ([0x09, offset @ ..], [0x11, seqno @ ..], [0x18, last @ (0 | 1)], [0x25, len @ ..]) =
            (offset, seqno, last, rest)
        else {
            return None;
        };
        let data_len = i32::from_le_bytes(len.try_into().ok()?);
        Some(Self {
            offset_in_block: i64::from_le_bytes(*offset),
            seqno: i64::from_le_bytes(*seqno),
            last: *last == 1,
            data_len: u32::try_from(data_len).ok()?,
            sync,
        })
    }

    fn decode_any(bytes: &[u8]) -> Result<Self, PacketError> {
        let proto: PacketHeaderProto =
            zerohop_proto::decode(Bytes::copy_from_slice(bytes)).map_err(PacketError::Header)?;
        let data_len = u32::try_from(proto.data_len)
            .map_err(|_| PacketError::DataLen { data_len: proto.data_len, body_len: 0 })?;
        Ok(Self {
            offset_in_block: proto.offset_in_block,
            seqno: proto.seqno,
            last: proto.last_packet_in_block,
            data_len,
            sync: proto.sync_block.unwrap_or(false),
        })
    }

    /// Whether it carries nothing and only keeps the connection alive.
    pub const fn is_heartbeat(&self) -> bool {
        self.seqno == HEARTBEAT_SEQNO
    }

    /// Whether this may follow the packet numbered `before` when a block is read: the number is one
    /// higher, and exactly the last packet is empty.
    pub const fn follows(&self, before: i64) -> bool {
        (self.data_len == 0) == self.last && self.seqno == before.wrapping_add(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use prost::Message;

    fn headers() -> impl Strategy<Value = PacketHeader> {
        let fields =
            (any::<i64>(), any::<i64>(), any::<bool>(), 0..=i32::MAX as u32, any::<bool>());
        fields.prop_map(|(offset_in_block, seqno, last, data_len, sync)| PacketHeader {
            offset_in_block,
            seqno,
            last,
            data_len,
            sync,
        })
    }

    proptest! {
        #[test]
        fn the_layout_is_what_protobuf_writes(header in headers()) {
            let proto = PacketHeaderProto {
                offset_in_block: header.offset_in_block,
                seqno: header.seqno,
                last_packet_in_block: header.last,
                data_len: header.data_len as i32,
                sync_block: header.sync.then_some(true),
            };
            let (bytes, len) = header.encode(0);
            prop_assert_eq!(&bytes[LENGTHS_LEN..len], proto.encode_to_vec());
            prop_assert_eq!(PacketHeader::decode(&bytes[LENGTHS_LEN..len]), Ok(header));
            prop_assert_eq!(PacketHeader::decode_any(&bytes[LENGTHS_LEN..len]), Ok(header));
        }

        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>, lengths: [u8; LENGTHS_LEN]) {
            let header = PacketHeader::decode(&bytes).unwrap_or_default();
            if let Ok(lengths) = PacketLengths::decode(lengths, PACKET_LEN_MAX) {
                prop_assert!(lengths.rest_len() <= PACKET_LEN_MAX);
                let _ = lengths.sums_len(&header);
            }
        }
    }

    #[test]
    fn lengths_split_into_header_checksums_and_data() {
        let header = PacketHeader { data_len: 1000, ..Default::default() };
        let mut room = [0; PREFIX_LEN_MAX + 3];
        let start = header.encode_before(&mut room, 8);
        let lengths: [u8; LENGTHS_LEN] = room[start..start + LENGTHS_LEN].try_into().unwrap();
        let lengths = PacketLengths::decode(lengths, PACKET_LEN_MAX).unwrap();
        assert_eq!(lengths, PacketLengths { header_len: 25, body_len: 1008 });
        assert_eq!(lengths.sums_len(&header), Ok(8));
    }

    #[test]
    fn a_payload_shorter_than_its_own_length_is_refused() {
        let refused = PacketLengths::decode([0, 0, 0, 3, 0, 25], PACKET_LEN_MAX);
        assert_eq!(refused, Err(PacketError::PayloadLen(3)));
        let refused = PacketLengths::decode([0x7f, 0xff, 0xff, 0xff, 0, 25], PACKET_LEN_MAX);
        assert_eq!(refused, Err(PacketError::PayloadLen(i32::MAX)));
    }
}
