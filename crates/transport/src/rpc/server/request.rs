//! One request: header, method, parameter.

use crate::rpc::frame::take_delimited;
use bytes::Bytes;
use prost::encoding::{WireType, decode_key, decode_varint, skip_field};
use zerohop_proto::common::RpcRequestHeaderProto;
use zerohop_proto::{InvalidMessage, decode_delimited};

/// `RequestHeaderProto` without copies: it comes with every call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MethodHeader {
    method: Bytes,
    protocol: Bytes,
    /// The version the client speaks.
    pub(super) version: u64,
}

impl MethodHeader {
    /// The method's name; empty if it is not UTF-8.
    pub(super) fn method(&self) -> &str {
        std::str::from_utf8(&self.method).unwrap_or_default()
    }

    /// The protocol's name; empty if it is not UTF-8.
    pub(super) fn protocol(&self) -> &str {
        std::str::from_utf8(&self.protocol).unwrap_or_default()
    }
}

/// Largest header of a request. Its strings are copied, which is not charged; ids and a caller context take some hundred bytes.
const HEADER_LEN_MAX: u64 = 64 << 10;

/// Reads the header that begins every frame.
pub(super) fn header(frame: &mut Bytes) -> Result<RpcRequestHeaderProto, InvalidMessage> {
    let len = decode_varint(&mut &frame[..]).unwrap_or(0);
    if len > HEADER_LEN_MAX {
        let reason = format!("a header of {len} bytes, and {HEADER_LEN_MAX} are allowed");
        return Err(InvalidMessage::Malformed { message: "RpcRequestHeaderProto", reason });
    }
    decode_delimited(frame)
}

/// Reads method and parameter, which follow the header of a call. A parameter that is absent is an
/// empty message.
pub(super) fn method_and_param(frame: &mut Bytes) -> Result<(MethodHeader, Bytes), InvalidMessage> {
    let header = take_delimited(frame).ok_or_else(|| malformed("truncated"))?;
    let header = method_header(header)?;
    if frame.is_empty() {
        return Ok((header, Bytes::new()));
    }
    let param = take_delimited(frame).ok_or_else(|| malformed("truncated"))?;
    Ok((header, param))
}

fn malformed(reason: &str) -> InvalidMessage {
    InvalidMessage::Malformed { message: "RequestHeaderProto", reason: reason.to_owned() }
}

fn method_header(mut bytes: Bytes) -> Result<MethodHeader, InvalidMessage> {
    let (mut method, mut protocol, mut version) = (None, None, None);
    while !bytes.is_empty() {
        let (number, wire) = decode_key(&mut bytes).map_err(|e| malformed(&e.to_string()))?;
        match (number, wire) {
            (1, WireType::LengthDelimited) => method = take_delimited(&mut bytes),
            (2, WireType::LengthDelimited) => protocol = take_delimited(&mut bytes),
            (3, WireType::Varint) => version = decode_varint(&mut bytes).ok(),
            _ => skip_field(wire, number, &mut bytes, Default::default())
                .map_err(|e| malformed(&e.to_string()))?,
        }
    }
    let missing = |field| InvalidMessage::Missing { message: "RequestHeaderProto", field };
    Ok(MethodHeader {
        method: method.ok_or_else(|| missing("methodName"))?,
        protocol: protocol.ok_or_else(|| missing("declaringClassProtocolName"))?,
        version: version.ok_or_else(|| missing("clientProtocolVersion"))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use prost::Message;
    use zerohop_proto::common::RequestHeaderProto;

    #[test]
    fn a_method_header_reads_as_prost_wrote_it() {
        let sent = RequestHeaderProto {
            method_name: "mkdirs".into(),
            declaring_class_protocol_name: "p".into(),
            client_protocol_version: 300,
        };
        let read = method_header(sent.encode_to_vec().into()).unwrap();
        assert_eq!((read.method(), read.protocol(), read.version), ("mkdirs", "p", 300));
    }

    /// A caller context as long as a frame was copied before it was cut.
    #[test]
    fn headers_were_as_long_as_frames() {
        let context = |len| zerohop_proto::common::RpcCallerContextProto {
            context: "x".repeat(len),
            signature: None,
        };
        let of = |len| {
            let sent =
                RpcRequestHeaderProto { caller_context: Some(context(len)), ..Default::default() };
            header(&mut sent.encode_length_delimited_to_vec().into())
        };
        assert!(of(60_000).is_ok());
        assert!(of(70_000).unwrap_err().to_string().contains("a header of 70"));
    }

    proptest! {
        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let mut frame = Bytes::from(bytes);
            let _ = header(&mut frame.clone());
            let _ = method_and_param(&mut frame);
        }
    }
}
