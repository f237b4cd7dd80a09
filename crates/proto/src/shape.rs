//! `required`, enforced: a walk over the encoded bytes before prost decodes them.

use bytes::{Buf, Bytes};
use prost::encoding::{WireType, decode_key, decode_varint, skip_field};
use std::fmt;
use std::marker::PhantomData;

/// What a message must hold, generated from its descriptor.
pub struct Shape {
    /// The message's name without its package.
    pub name: &'static str,
    /// Numbers and names of the required fields; at most 64 of them in any Hadoop message.
    pub required: &'static [(u32, &'static str)],
    /// The fields that are messages themselves.
    pub messages: &'static [(u32, &'static Shape)],
    /// Bytes of the decoded message, without what its fields point to.
    pub size: usize,
    /// The repeated fields, and what they repeat.
    pub repeated: &'static [(u32, Element)],
}

/// The element of a repeated field, as far as it decides about memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// A message.
    Message,
    /// A string.
    Text,
    /// Bytes, which share the memory of the encoded message.
    Bytes,
    /// A number of variable length.
    Varint,
    /// A number of four bytes.
    Fixed4,
    /// A number of eight bytes.
    Fixed8,
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
    check::<false>(&mut bytes.clone(), M::shape(), DEPTH_MAX)?;
    M::decode(bytes).map_err(|e| malformed(M::shape(), &e))
}

/// An encoded message that has its required fields, and the memory that it takes once it is decoded.
pub struct Measured<M> {
    bytes: Bytes,
    memory: usize,
    message: PhantomData<M>,
}

/// Checks a message like [`decode`], and measures it instead of decoding it: a few bytes can stand for a large message.
///
/// # Errors
/// Returns the same errors as [`decode`].
pub fn measure<M: Checked>(bytes: Bytes) -> Result<Measured<M>, InvalidMessage> {
    let shape = M::shape();
    let memory = shape.size + check::<true>(&mut bytes.clone(), shape, DEPTH_MAX)?;
    Ok(Measured { bytes, memory, message: PhantomData })
}

impl<M: Checked> Measured<M> {
    /// Returns the most bytes that the decoded message takes, those that it shares with the encoded one left out.
    pub fn memory(&self) -> usize {
        self.memory
    }

    /// Decodes the message.
    ///
    /// # Errors
    /// Returns the same errors as [`decode`].
    pub fn decode(self) -> Result<M, InvalidMessage> {
        M::decode(self.bytes).map_err(|e| malformed(M::shape(), &e))
    }
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

/// Walks over the encoded message. Returns the bytes that its fields point to once they are decoded, or 0 if not `MEASURED`.
fn check<const MEASURED: bool>(
    bytes: &mut Bytes,
    shape: &Shape,
    depth: u32,
) -> Result<usize, InvalidMessage> {
    if depth == 0 {
        return Err(InvalidMessage::Malformed {
            message: shape.name,
            reason: "nested too deeply".to_owned(),
        });
    }
    let (mut seen, mut memory) = (0u64, 0);
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
                let mut body = bytes.split_to(len as usize);
                memory += check::<MEASURED>(&mut body, inner, depth - 1)?;
                if MEASURED {
                    memory += inner.size * copies(shape, number);
                }
            }
            _ => {
                let before = MEASURED.then(|| bytes.clone());
                skip_field(wire_type, number, bytes, Default::default())
                    .map_err(|e| malformed(shape, &e))?;
                if let Some(before) = before {
                    let field = before.get(..before.len() - bytes.len()).unwrap_or_default();
                    memory += memory_of_field(shape, number, wire_type, field);
                }
            }
        }
    }
    match shape.required.iter().enumerate().find(|(bit, _)| seen & (1 << bit) == 0) {
        Some((_, (_, field))) => Err(InvalidMessage::Missing { message: shape.name, field }),
        None => Ok(memory),
    }
}

/// A vector that grows has room for twice its elements.
const GROWTH: usize = 2;

fn element(shape: &Shape, number: u32) -> Option<Element> {
    shape.repeated.iter().find(|(field, _)| *field == number).map(|(_, element)| *element)
}

/// Returns how often a nested message is counted: a repeated one lies in a vector, another one may be in a box.
fn copies(shape: &Shape, number: u32) -> usize {
    element(shape, number).map_or(1, |_| GROWTH)
}

/// Returns the memory of a field that is not a message. `encoded` is the field without its key.
fn memory_of_field(shape: &Shape, number: u32, wire_type: WireType, encoded: &[u8]) -> usize {
    let is_packed = wire_type == WireType::LengthDelimited;
    let count = |size: usize| if is_packed { encoded.len() / size } else { 1 };
    match element(shape, number) {
        // Text is copied; bytes and unknown fields, which this counts too, are not.
        None if is_packed => encoded.len(),
        None | Some(Element::Message) => 0,
        Some(Element::Text) => GROWTH * size_of::<String>() + encoded.len(),
        Some(Element::Bytes) => GROWTH * size_of::<Bytes>(),
        Some(Element::Fixed4) => GROWTH * 4 * count(4),
        Some(Element::Fixed8) => GROWTH * 8 * count(8),
        // The last byte of each number has its highest bit clear. The length before them counts as one more.
        Some(Element::Varint) if is_packed => {
            GROWTH * 8 * encoded.iter().filter(|byte| **byte < 0x80).count()
        }
        Some(Element::Varint) => GROWTH * 8,
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

    /// 60 MB of empty messages decoded to 2.7 GB.
    #[test]
    fn a_message_of_empty_messages_is_measured_before_it_is_decoded() {
        use crate::hdfs::datanode::{HeartbeatRequestProto, SlowPeerReportProto};
        const COUNT: usize = 1000;
        let slow_peers = vec![SlowPeerReportProto::default(); COUNT];
        let beat = HeartbeatRequestProto { slow_peers, ..Default::default() };
        let bytes = Bytes::from(beat.encode_to_vec());
        assert!(bytes.len() < 3 * COUNT);
        let measured = measure::<HeartbeatRequestProto>(bytes).unwrap();
        let decoded = COUNT * size_of::<SlowPeerReportProto>();
        assert!(decoded > 80 * COUNT && measured.memory() > decoded);
        assert!(measured.memory() < 3 * decoded);
        assert_eq!(measured.decode(), Ok(beat));
    }

    #[test]
    fn numbers_are_measured_as_they_are_kept() {
        use crate::hdfs::datanode::{BlockReportRequestProto, StorageBlockReportProto};
        const COUNT: usize = 1000;
        let memory = |blocks: Vec<u64>, blocks_buffers: Vec<Bytes>| {
            let report = StorageBlockReportProto { blocks, blocks_buffers, ..Default::default() };
            let message = BlockReportRequestProto { reports: vec![report], ..Default::default() };
            measure::<BlockReportRequestProto>(message.encode_to_vec().into()).unwrap().memory()
        };
        let none = memory(vec![], vec![]);
        let numbers = memory(vec![1 << 40; COUNT], vec![]) - none;
        assert!((COUNT * 8..COUNT * 17).contains(&numbers), "{numbers}");
        let shared = memory(vec![], vec![Bytes::from(vec![7; 1 << 20])]) - none;
        assert!(shared < 100, "{shared}: the bytes are those of the request");
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        let mut bytes = Bytes::from_static(&[200, 1, 1]);
        assert!(decode_delimited::<ExtendedBlockProto>(&mut bytes).is_err());
    }
}
