//! `required`, enforced: a walk over the encoded bytes before prost decodes them.

use bytes::{Buf, Bytes};
use prost::encoding::{WireType, decode_key, decode_varint, skip_field};
use std::fmt;

/// What a message must hold, generated from its descriptor.
pub struct Shape {
    /// The message's name without its package.
    pub name: &'static str,
    /// Numbers and names of the required fields; at most 64 of them in any Hadoop message.
    pub required: &'static [(u32, &'static str)],
    /// The fields that are messages themselves.
    pub messages: &'static [(u32, &'static Shape)],
}

/// A message with a known [`Shape`]; every generated message is one.
pub trait Checked: prost::Message + Default {
    /// The shape of this message.
    fn shape() -> &'static Shape;
}

/// The bytes are not the message they should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidMessage {
    /// A required field is absent; the same wording as Java's protobuf.
    Missing {
        /// The message that lacks it.
        message: &'static str,
        /// The field that is absent.
        field: &'static str,
    },
    /// Not protobuf, or a field of the wrong type.
    Malformed {
        /// The message that was expected.
        message: &'static str,
        /// What prost said.
        reason: String,
    },
}

impl fmt::Display for InvalidMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { message, field } => {
                write!(f, "{message}: Message missing required fields: {field}")
            }
            Self::Malformed { message, reason } => write!(f, "{message}: {reason}"),
        }
    }
}

impl std::error::Error for InvalidMessage {}

/// Nesting beyond this is refused, as prost does while decoding.
const DEPTH_MAX: u32 = 100;

/// Decodes `bytes`, all of them, as one message; required fields are checked at every level.
pub fn decode<M: Checked>(bytes: Bytes) -> Result<M, InvalidMessage> {
    check(&mut bytes.clone(), M::shape(), DEPTH_MAX)?;
    M::decode(bytes).map_err(|e| malformed(M::shape(), &e))
}

/// Decodes one message preceded by its length as a varint, and advances `bytes` past it.
pub fn decode_delimited<M: Checked>(bytes: &mut Bytes) -> Result<M, InvalidMessage> {
    let len = decode_varint(bytes).map_err(|e| malformed(M::shape(), &e))?;
    if len > bytes.remaining() as u64 {
        return Err(InvalidMessage::Malformed {
            message: M::shape().name,
            reason: format!("{len} bytes announced, {} there", bytes.remaining()),
        });
    }
    decode(bytes.split_to(len as usize))
}

fn malformed(shape: &Shape, error: &prost::DecodeError) -> InvalidMessage {
    InvalidMessage::Malformed { message: shape.name, reason: error.to_string() }
}

fn check(bytes: &mut Bytes, shape: &Shape, depth: u32) -> Result<(), InvalidMessage> {
    if depth == 0 {
        return Err(InvalidMessage::Malformed {
            message: shape.name,
            reason: "nested too deeply".to_owned(),
        });
    }
    let mut seen = 0u64;
    while bytes.has_remaining() {
        let (number, wire_type) = decode_key(bytes).map_err(|e| malformed(shape, &e))?;
        if let Some(bit) = shape.required.iter().position(|(required, _)| *required == number) {
            seen |= 1 << bit;
        }
        let nested = shape.messages.iter().find(|(field, _)| *field == number);
        match (nested, wire_type) {
            (Some((_, inner)), WireType::LengthDelimited) => {
                let len = decode_varint(bytes).map_err(|e| malformed(shape, &e))?;
                if len > bytes.remaining() as u64 {
                    return Err(InvalidMessage::Malformed {
                        message: inner.name,
                        reason: "truncated".to_owned(),
                    });
                }
                check(&mut bytes.split_to(len as usize), inner, depth - 1)?;
            }
            _ => skip_field(wire_type, number, bytes, Default::default())
                .map_err(|e| malformed(shape, &e))?,
        }
    }
    match shape.required.iter().enumerate().find(|(bit, _)| seen & (1 << bit) == 0) {
        Some((_, (_, field))) => Err(InvalidMessage::Missing { message: shape.name, field }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hdfs::{ExtendedBlockProto, GetBlockLocationsRequestProto, LocatedBlockProto};
    use prost::Message;

    #[test]
    fn a_whole_message_decodes() {
        let sent = GetBlockLocationsRequestProto { src: "/a".into(), offset: 1, length: 2 };
        assert_eq!(decode(sent.encode_to_vec().into()), Ok(sent));
    }

    #[test]
    fn a_missing_required_field_is_named() {
        let error = decode::<ExtendedBlockProto>(Bytes::new()).unwrap_err();
        assert_eq!(
            error,
            InvalidMessage::Missing { message: "ExtendedBlockProto", field: "poolId" }
        );
    }

    #[test]
    fn a_missing_field_of_a_nested_message_is_named() {
        let bytes = Bytes::from_static(&[10, 0]); // field 1, an empty ExtendedBlockProto
        let error = decode::<LocatedBlockProto>(bytes).unwrap_err();
        assert!(error.to_string().starts_with("ExtendedBlockProto"), "{error}");
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        let mut bytes = Bytes::from_static(&[200, 1, 1]);
        assert!(decode_delimited::<ExtendedBlockProto>(&mut bytes).is_err());
    }
}
