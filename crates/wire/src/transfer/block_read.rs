//! The reader's side of READ_BLOCK, without a socket: what the next bytes of the connection are, and whether they
//! are what they should be.
//!
//! ```text
//! +--------+----------------------------------+--     --+--------------+
//! | answer | head | checksums | data          |   ...   | empty packet |
//! +--------+----------------------------------+--     --+--------------+
//!          |<-- take_head --->|<- checked ---->|
//! ```
//! The data of a packet goes to the caller in steps of any number of whole chunks, and to a buffer of one chunk where the
//! caller wants only a part of that. `first chunk <= pos <= end`: the DataNode sends whole chunks.

use super::arrival::{PacketHead, Parsed};
use super::packet::{PacketError, PacketHeader};
use crate::checksum_type::{ChecksumError, DataChecksum};
use std::fmt;
use std::ops::Range;
use zerohop_proto::hdfs::{BlockOpResponseProto, Status};

/// Why a range cannot be read from a DataNode's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFailure {
    /// The DataNode refuses the request.
    Refused {
        /// Why, as a code.
        status: Status,
        /// Why, in words.
        message: String,
    },
    /// The answer does not say how the data is summed.
    NoChecksum,
    /// The response names an unknown checksum type.
    UnknownChecksum(ChecksumError),
    /// The data does not begin with the chunk in which the range begins.
    FirstChunk {
        /// Where it begins.
        found: u64,
        /// Where the range begins.
        wanted: u64,
    },
    /// The bytes are not a packet.
    Packet(PacketError),
    /// A packet that does not follow the one before it, or brings another number of checksums than chunks.
    OutOfOrder {
        /// Its header.
        header: PacketHeader,
        /// The bytes of its checksums.
        sums_len: usize,
    },
    /// The last packet came before the range's end.
    EndedEarly,
    /// The data does not have its checksum.
    Corrupt {
        /// Where in the block.
        at: u64,
        /// What does not match.
        error: ChecksumError,
    },
}

impl fmt::Display for ReadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { status, message } => {
                write!(f, "status={}, status message {message}", status.as_str_name())
            }
            Self::NoChecksum => f.write_str("no checksum in the answer"),
            Self::UnknownChecksum(error) => error.fmt(f),
            Self::FirstChunk { found, wanted } => write!(
                f,
                "BlockReader: error in first chunk offset ({found}) startOffset is {wanted}"
            ),
            Self::Packet(error) => error.fmt(f),
            Self::OutOfOrder { header, sums_len } => write!(
                f,
                "BlockReader: error in packet header {header:?}, {sums_len} bytes of sums"
            ),
            Self::EndedEarly => f.write_str("the DataNode ended the block too early"),
            Self::Corrupt { at, error } => {
                write!(f, "Checksum error at {at} in the block: {error}")
            }
        }
    }
}

impl std::error::Error for ReadFailure {}

impl From<PacketError> for ReadFailure {
    fn from(error: PacketError) -> Self {
        Self::Packet(error)
    }
}

/// What the next bytes of the connection are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The head of a packet: [`BlockRead::take_head`].
    Head,
    /// So many bytes of data for the caller, of whole chunks: [`BlockRead::check`].
    Data(usize),
    /// A chunk of so many bytes, of which the caller wants those from `skip` on: [`BlockRead::check`].
    Chunk {
        /// Bytes of the chunk.
        len: usize,
        /// Bytes before those that are wanted.
        skip: usize,
    },
    /// The head of the empty packet behind the data, or nothing if that was taken.
    End,
}

/// How a range is read.
#[derive(Clone, Debug)]
pub struct ReadOptions {
    /// The range in the block.
    pub range: Range<u64>,
    /// Whether the data is compared with its checksums.
    pub verify: bool,
    /// The longest packet that is taken.
    pub packet_len_max: usize,
}

/// A range being read.
#[derive(Debug)]
pub struct BlockRead {
    checksum: DataChecksum,
    verify: bool,
    packet_len_max: usize,
    end: u64,
    /// The wanted part of the range that did not arrive yet begins here.
    wanted_from: u64,
    /// In the block, the next byte of data on the connection.
    at: u64,
    /// Bytes of the packet's data still on the connection.
    left: usize,
    sums: Vec<u8>,
    /// Bytes of `sums` whose data has arrived.
    sums_taken: usize,
    next_seqno: i64,
    is_last: bool,
}

impl BlockRead {
    /// Begins to read what a DataNode answers.
    ///
    /// # Errors
    /// It refuses, or the answer does not fit the request.
    pub fn begin(
        answer: &BlockOpResponseProto,
        options: &ReadOptions,
    ) -> Result<Self, ReadFailure> {
        if answer.status() != Status::Success {
            let message = answer.message().to_owned();
            return Err(ReadFailure::Refused { status: answer.status(), message });
        }
        let info = answer.read_op_checksum_info.as_ref().ok_or(ReadFailure::NoChecksum)?;
        let checksum =
            DataChecksum::try_from(&info.checksum).map_err(ReadFailure::UnknownChecksum)?;
        let (found, wanted) = (info.chunk_offset, options.range.start);
        if found > wanted || wanted - found >= checksum.bytes_per_checksum() as u64 {
            return Err(ReadFailure::FirstChunk { found, wanted });
        }
        Ok(Self {
            checksum,
            verify: options.verify,
            packet_len_max: options.packet_len_max,
            end: options.range.end,
            wanted_from: wanted,
            at: found,
            left: 0,
            sums: Vec::new(),
            sums_taken: 0,
            next_seqno: 0,
            is_last: false,
        })
    }

    /// What comes next, for a caller with room for `room` bytes.
    pub fn next(&self, room: usize) -> Next {
        if self.wanted_from >= self.end && self.left == 0 {
            return Next::End;
        }
        if self.left == 0 {
            return Next::Head;
        }
        let wanted = self.end.saturating_sub(self.wanted_from);
        let wanted = room.min(usize::try_from(wanted).unwrap_or(usize::MAX));
        let chunk_len = self.checksum.bytes_per_checksum();
        let whole = if wanted >= self.left { self.left } else { wanted - wanted % chunk_len };
        let skip = self.wanted_from.saturating_sub(self.at);
        if skip > 0 || whole == 0 {
            let len = chunk_len.min(self.left);
            let skip = usize::try_from(skip).unwrap_or(usize::MAX).min(len);
            return Next::Chunk { len, skip };
        }
        Next::Data(whole)
    }

    /// Takes lengths, header and checksums of the next packet from the front of `bytes`; gives how many bytes they are.
    ///
    /// # Errors
    /// They are not a packet, or not the one that comes next.
    pub fn take_head(&mut self, bytes: &[u8]) -> Result<Parsed<usize>, ReadFailure> {
        if self.is_last {
            return Err(ReadFailure::EndedEarly);
        }
        let head = match PacketHead::parse(bytes, self.packet_len_max)? {
            Parsed::Whole(head) => head,
            Parsed::Needs(len) => return Ok(Parsed::Needs(len)),
        };
        self.check_head(&head)?;
        let taken = head.head_len + head.sums_len;
        let Some(sums) = bytes.get(head.head_len..taken) else {
            return Ok(Parsed::Needs(taken));
        };
        self.sums.clear();
        self.sums.extend_from_slice(sums);
        self.sums_taken = 0;
        (self.at, self.left) = (head.start(), head.header.data_len as usize);
        self.next_seqno = head.header.seqno.wrapping_add(1);
        self.is_last = head.header.last;
        Ok(Parsed::Whole(taken))
    }

    fn check_head(&self, head: &PacketHead) -> Result<(), ReadFailure> {
        let header = &head.header;
        let data_len = header.data_len as usize;
        let in_order = header.seqno == self.next_seqno
            && header.last == (data_len == 0)
            && (header.last || head.start() == self.at);
        let has_sums = !self.verify || head.sums_len == self.checksum.sums_len(data_len);
        if in_order && has_sums {
            return Ok(());
        }
        Err(ReadFailure::OutOfOrder { header: *header, sums_len: head.sums_len })
    }

    /// Compares data that has just arrived with the packet's next checksums. It is as long as [`next`](Self::next) said,
    /// or shorter by whole chunks.
    ///
    /// # Errors
    /// The data is corrupt.
    pub fn check(&mut self, data: &[u8]) -> Result<(), ReadFailure> {
        let at = self.at;
        self.at += data.len() as u64;
        self.left = self.left.saturating_sub(data.len());
        let before = self.wanted_from;
        self.wanted_from = before.max(self.at);
        if !self.verify {
            return Ok(());
        }
        let sums_len = self.checksum.sums_len(data.len());
        let from = self.sums_taken;
        self.sums_taken += sums_len;
        let sums = self.sums.get(from..from + sums_len).unwrap_or_default();
        self.checksum.verify(data, sums).map_err(|error| {
            self.wanted_from = before;
            let chunk_len = self.checksum.bytes_per_checksum();
            let bad = match error {
                ChecksumError::Mismatch(chunk) => (chunk.index * chunk_len) as u64,
                _ => 0,
            };
            ReadFailure::Corrupt { at: at + bad, error }
        })
    }

    /// Bytes of a chunk.
    pub fn chunk_len(&self) -> usize {
        self.checksum.bytes_per_checksum()
    }

    /// Whether the data is compared with its checksums.
    pub fn verifies(&self) -> bool {
        self.verify
    }

    /// Bytes of the packet's data still on the connection.
    pub fn left_in_packet(&self) -> usize {
        self.left
    }

    /// Bytes of the range that are certain to follow on the connection.
    pub fn left_in_range(&self) -> u64 {
        self.end.saturating_sub(self.at)
    }

    /// Bytes of checksums that the last packet had: the next one probably has as many.
    pub fn last_sums_len(&self) -> usize {
        self.sums.len()
    }

    /// Whether the empty packet at the end was taken.
    pub fn is_complete(&self) -> bool {
        self.is_last
    }

    /// The status that the reader sends to the DataNode at the end.
    pub fn status(&self) -> Status {
        if self.verify { Status::ChecksumOk } else { Status::Success }
    }
}

#[cfg(test)]
#[path = "block_read_test.rs"]
mod tests;
