//! A request: what a client or DataNode asks of a DataNode.
//!
//! ```text
//! +---------+------+--------+-----------------+
//! | version | op   | length | message of this |
//! | i16, 28 | u8   | varint | op              |
//! +---------+------+--------+-----------------+
//! ```
//! (`protocol/datatransfer/{Op,Sender,Receiver}`; the op codes are their facts.)

use super::VERSION;
use super::frame::{self, FrameError};
use bytes::Bytes;
use prost::Message;
use std::fmt;
use zerohop_proto::hdfs;

/// Bytes before the length: version and op code.
pub const PREFIX_LEN: usize = 3;

/// Why a request is not one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpError {
    /// Another version of the protocol.
    Version(i16),
    /// An op code that version 28 does not have.
    Code(u8),
    /// The message after the op code.
    Frame(FrameError),
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => {
                write!(f, "Version Mismatch (Expected: {VERSION}, Received: {version} )")
            }
            Self::Code(code) => write!(f, "Unknown op {code} in data stream"),
            Self::Frame(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for OpError {}

impl From<FrameError> for OpError {
    fn from(error: FrameError) -> Self {
        Self::Frame(error)
    }
}

macro_rules! ops {
    ($($name:ident = $code:literal, $text:literal, $message:ident;)*) => {
        /// What is asked.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum OpCode { $($name = $code),* }

        impl OpCode {
            /// The op with this code.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)*
                    _ => None,
                }
            }

            /// Hadoop's name of the op.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }
        }

        /// A request with its message.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs)]
        pub enum Request { $($name(Box<hdfs::$message>)),* }

        impl Request {
            /// What is asked.
            pub const fn code(&self) -> OpCode {
                match self { $(Self::$name(_) => OpCode::$name),* }
            }

            /// Decodes the message of an op, without its length.
            pub fn decode_message(code: OpCode, message: Bytes) -> Result<Self, FrameError> {
                Ok(match code {
                    $(OpCode::$name => Self::$name(Box::new(zerohop_proto::decode(message)?))),*
                })
            }

            /// The whole request as it is sent.
            pub fn encode(&self) -> Vec<u8> {
                match self { $(Self::$name(message) => encode(OpCode::$name, &**message)),* }
            }
        }
    };
}

ops! {
    WriteBlock = 80, "WRITE_BLOCK", OpWriteBlockProto;
    ReadBlock = 81, "READ_BLOCK", OpReadBlockProto;
    ReplaceBlock = 83, "REPLACE_BLOCK", OpReplaceBlockProto;
    CopyBlock = 84, "COPY_BLOCK", OpCopyBlockProto;
    BlockChecksum = 85, "BLOCK_CHECKSUM", OpBlockChecksumProto;
    TransferBlock = 86, "TRANSFER_BLOCK", OpTransferBlockProto;
    RequestShortCircuitFds = 87, "REQUEST_SHORT_CIRCUIT_FDS", OpRequestShortCircuitAccessProto;
    ReleaseShortCircuitFds = 88, "RELEASE_SHORT_CIRCUIT_FDS", ReleaseShortCircuitAccessRequestProto;
    RequestShortCircuitShm = 89, "REQUEST_SHORT_CIRCUIT_SHM", ShortCircuitShmRequestProto;
    BlockGroupChecksum = 90, "BLOCK_GROUP_CHECKSUM", OpBlockGroupChecksumProto;
}

impl Request {
    /// The header of a request that is about a block.
    pub fn base_header(&self) -> Option<&hdfs::BaseHeaderProto> {
        match self {
            Self::WriteBlock(op) => Some(&op.header.base_header),
            Self::ReadBlock(op) => Some(&op.header.base_header),
            Self::TransferBlock(op) => Some(&op.header.base_header),
            Self::ReplaceBlock(op) => Some(&op.header),
            Self::CopyBlock(op) => Some(&op.header),
            Self::BlockChecksum(op) => Some(&op.header),
            Self::BlockGroupChecksum(op) => Some(&op.header),
            Self::RequestShortCircuitFds(op) => Some(&op.header),
            Self::ReleaseShortCircuitFds(_) | Self::RequestShortCircuitShm(_) => None,
        }
    }

    /// The span of its sender that a request without such a header names.
    pub fn own_trace_info(&self) -> Option<&hdfs::DataTransferTraceInfoProto> {
        match self {
            Self::ReleaseShortCircuitFds(op) => op.trace_info.as_ref(),
            Self::RequestShortCircuitShm(op) => op.trace_info.as_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for OpCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The whole request from an op's message, without building a [`Request`].
pub fn encode<M: Message>(code: OpCode, message: &M) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(PREFIX_LEN + 5 + message.encoded_len());
    bytes.extend_from_slice(&VERSION.to_be_bytes());
    bytes.push(code as u8);
    bytes.extend_from_slice(&message.encode_length_delimited_to_vec());
    bytes
}

/// Checks version and op code.
pub fn decode_prefix(prefix: [u8; PREFIX_LEN]) -> Result<OpCode, OpError> {
    let [high, low, code] = prefix;
    match i16::from_be_bytes([high, low]) {
        VERSION => OpCode::from_code(code).ok_or(OpError::Code(code)),
        version => Err(OpError::Version(version)),
    }
}

/// Takes one request from the front of `bytes`, and returns how many bytes it is long; `None` if it
/// is not all there yet.
pub fn take(bytes: &[u8]) -> Result<Option<(Request, usize)>, OpError> {
    let Some((prefix, rest)) = bytes.split_first_chunk() else { return Ok(None) };
    let code = decode_prefix(*prefix)?;
    let Some(extent) = frame::extent(rest)? else { return Ok(None) };
    let Some(message) = rest.get(extent.prefix_len..extent.total()) else { return Ok(None) };
    let request = Request::decode_message(code, Bytes::copy_from_slice(message))?;
    Ok(Some((request, PREFIX_LEN + extent.total())))
}

/// Bytes that a request at the start of `bytes` needs at least, as far as they tell: more than
/// `bytes` has while the request is not all there. What is no request needs no more than is there:
/// its reader says what is wrong.
pub fn wanted(bytes: &[u8]) -> usize {
    let Some((prefix, rest)) = bytes.split_first_chunk() else { return PREFIX_LEN };
    match (decode_prefix(*prefix), frame::extent(rest)) {
        (Ok(_), Ok(Some(extent))) => PREFIX_LEN + extent.total(),
        (Ok(_), Ok(None)) => bytes.len() + 1,
        _ => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_goes_there_and_back() {
        let message = hdfs::ShortCircuitShmRequestProto {
            client_name: "DFSClient_1".to_owned(),
            ..Default::default()
        };
        let request = Request::RequestShortCircuitShm(Box::new(message));
        let bytes = request.encode();
        assert_eq!(bytes[..3], [0, 28, 89]);
        assert_eq!(take(&bytes[..bytes.len() - 1]), Ok(None));
        assert_eq!(take(&bytes), Ok(Some((request, bytes.len()))));
    }

    #[test]
    fn a_part_of_a_request_wants_more_and_a_whole_one_none() {
        let message = hdfs::ShortCircuitShmRequestProto {
            client_name: "x".repeat(300),
            ..Default::default()
        };
        let mut bytes = encode(OpCode::RequestShortCircuitShm, &message);
        for cut in 0..bytes.len() {
            let wanted = wanted(&bytes[..cut]);
            assert!(wanted > cut && wanted <= bytes.len(), "{cut}: {wanted}");
        }
        let len = bytes.len();
        assert_eq!(wanted(&bytes), len);
        bytes.extend([7; 9]);
        assert_eq!(wanted(&bytes), len);
        for wrong in [&b"GET "[..], &[0, 28, 1], &[0, 28, 81, 0x80, 0x80, 0x80, 0x80, 0x80]] {
            assert_eq!(wanted(wrong), wrong.len());
        }
    }

    #[test]
    fn a_stranger_is_told_what_is_wrong() {
        assert_eq!(decode_prefix(*b"GET"), Err(OpError::Version(0x4745)));
        assert_eq!(decode_prefix([0, 28, 1]), Err(OpError::Code(1)));
        let lacking = take(&[0, 28, 81, 0]).unwrap_err().to_string();
        assert!(lacking.contains("required"), "{lacking}");
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(code in 78u8..92, bytes: Vec<u8>) {
            let _ = take(&bytes);
            let mut framed = vec![0, 28, code, (bytes.len() & 0x7f) as u8];
            framed.extend_from_slice(&bytes);
            let _ = take(&framed);
        }
    }
}
