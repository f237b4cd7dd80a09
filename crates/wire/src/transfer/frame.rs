//! A message behind its length: responses, acks and status messages of the data-transfer protocol.
//!
//! ```text
//! +--------------+----------------+
//! | length       | message        |
//! | varint, 1..5 | length bytes   |
//! +--------------+----------------+
//! ```

use bytes::Bytes;
use std::fmt;
use zerohop_proto::{Checked, InvalidMessage};

/// No message but a packet is longer: a request that names ten targets takes a few kilobytes.
pub const MESSAGE_LEN_MAX: usize = 1 << 20;

/// The message that was expected is not what the bytes are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameError {
    /// The length is not a varint of at most five bytes.
    Length,
    /// The length is beyond [`MESSAGE_LEN_MAX`].
    TooLong(u64),
    /// The message itself is malformed or lacks a required field.
    Message(InvalidMessage),
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("the length before a message is not a varint"),
            Self::TooLong(len) => {
                write!(
                    f,
                    "a message of {len} bytes is announced, at most {MESSAGE_LEN_MAX} are taken"
                )
            }
            Self::Message(invalid) => invalid.fmt(f),
        }
    }
}

impl std::error::Error for FrameError {}

impl From<InvalidMessage> for FrameError {
    fn from(invalid: InvalidMessage) -> Self {
        Self::Message(invalid)
    }
}

/// Where a message lies in the bytes that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes of the length in front of it.
    pub prefix_len: usize,
    /// Bytes of the message.
    pub len: usize,
}

impl Extent {
    /// Bytes of both.
    pub const fn total(self) -> usize {
        self.prefix_len + self.len
    }
}

/// Reads the length at the start of `bytes`; `None` if more bytes are needed to know it.
pub fn extent(bytes: &[u8]) -> Result<Option<Extent>, FrameError> {
    let mut len = 0u64;
    for (i, byte) in bytes.iter().take(5).enumerate() {
        len |= u64::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return match len <= MESSAGE_LEN_MAX as u64 {
                true => Ok(Some(Extent { prefix_len: i + 1, len: len as usize })),
                false => Err(FrameError::TooLong(len)),
            };
        }
    }
    if bytes.len() >= 5 { Err(FrameError::Length) } else { Ok(None) }
}

/// Takes one message from the front of `bytes`; `None` if it is not all there yet.
pub fn take<M: Checked>(bytes: &[u8]) -> Result<Option<(M, usize)>, FrameError> {
    let Some(extent) = extent(bytes)? else { return Ok(None) };
    let Some(body) = bytes.get(extent.prefix_len..extent.total()) else { return Ok(None) };
    let message = zerohop_proto::decode(Bytes::copy_from_slice(body))?;
    Ok(Some((message, extent.total())))
}

/// The message with its length in front.
pub fn encode<M: prost::Message>(message: &M) -> Vec<u8> {
    message.encode_length_delimited_to_vec()
}

/// Appends the message with its length in front.
pub fn encode_to<M: prost::Message>(message: &M, bytes: &mut Vec<u8>) {
    let len = message.encoded_len();
    bytes.reserve(len + prost::length_delimiter_len(len));
    prost::encoding::encode_varint(len as u64, bytes);
    message.encode_raw(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use zerohop_proto::hdfs::{BlockOpResponseProto, Status};

    #[test]
    fn a_message_in_parts_is_taken_when_whole() {
        let message = BlockOpResponseProto {
            status: Status::Error.into(),
            message: Some("x".repeat(300)),
            ..Default::default()
        };
        let bytes = encode(&message);
        for cut in 0..bytes.len() {
            assert_eq!(take::<BlockOpResponseProto>(&bytes[..cut]), Ok(None), "{cut}");
        }
        assert_eq!(take(&bytes), Ok(Some((message, bytes.len()))));
    }

    #[test]
    fn an_absurd_length_is_refused_before_its_bytes_arrive() {
        let announced = extent(&[0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(announced, Err(FrameError::TooLong((1 << 28) - 1)));
        assert_eq!(extent(&[0x80; 5]), Err(FrameError::Length));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes: Vec<u8>) {
            let _ = take::<BlockOpResponseProto>(&bytes);
        }
    }
}
