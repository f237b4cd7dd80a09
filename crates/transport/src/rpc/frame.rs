//! Length-prefixed frames and the delimited messages inside.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;
use prost::encoding::{decode_varint, encode_varint, encoded_len_varint};
use std::fmt;

/// Bytes of the length before a frame.
pub const PREFIX: usize = 4;
/// How a web server's answer begins.
const HTTP: &[u8; 4] = b"HTTP";
/// A frame larger than what has arrived is given room in steps of this size, so that a length
/// without data behind it costs nothing.
const GROWTH: usize = 1 << 20;

/// A frame whose length cannot be right; the connection is of no more use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadLength {
    /// What the prefix says.
    pub length: i32,
    /// The largest that is accepted.
    pub length_max: usize,
}

impl fmt::Display for BadLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, length_max } = self;
        if length.to_be_bytes() == *HTTP {
            return f.write_str(
                "a web server answers there: this is a web port, and the RPC port is needed \
                 (fs.defaultFS, 8020 by default)",
            );
        }
        if *length < 0 {
            return write!(f, "Unexpected data length {length}!!");
        }
        write!(
            f,
            "Requested data length {length} is longer than maximum configured RPC length {length_max}"
        )
    }
}

impl std::error::Error for BadLength {}

/// Returns the length of the next frame with its prefix, or `None` until the prefix has arrived.
///
/// # Errors
/// Fails if the length is negative or exceeds `length_max`.
pub fn whole_len(buffer: &[u8], length_max: usize) -> Result<Option<usize>, BadLength> {
    let Some(prefix) = buffer.first_chunk::<PREFIX>() else {
        return Ok(None);
    };
    let length = i32::from_be_bytes(*prefix);
    match usize::try_from(length) {
        Ok(bytes) if bytes <= length_max => Ok(Some(PREFIX + bytes)),
        _ => Err(BadLength { length, length_max }),
    }
}

/// Takes the next whole frame off `buffer`; `None` until it has arrived, and then `buffer` has room
/// for more of it.
pub fn take(buffer: &mut BytesMut, length_max: usize) -> Result<Option<Bytes>, BadLength> {
    let Some(whole) = whole_len(buffer, length_max)? else { return Ok(None) };
    if buffer.len() < whole {
        buffer.reserve((whole - buffer.len()).min(GROWTH));
        return Ok(None);
    }
    let mut frame = buffer.split_to(whole);
    frame.advance(PREFIX);
    Ok(Some(frame.freeze()))
}

/// Takes one delimited message's bytes off the front; `None` if they are not all there.
pub fn take_delimited(frame: &mut Bytes) -> Option<Bytes> {
    let length = usize::try_from(decode_varint(frame).ok()?).ok()?;
    (length <= frame.len()).then(|| frame.split_to(length))
}

/// Appends a frame of two delimited messages, the second given as bytes; `None` leaves it out.
pub fn put(out: &mut BytesMut, header: &impl Message, body: Option<&[u8]>) {
    let header_len = header.encoded_len();
    let body_len = body.map_or(0, |b| encoded_len_varint(b.len() as u64) + b.len());
    let length = encoded_len_varint(header_len as u64) + header_len + body_len;
    out.reserve(PREFIX + length);
    out.put_u32(length as u32);
    put_delimited(out, header);
    if let Some(body) = body {
        encode_varint(body.len() as u64, out);
        out.put_slice(body);
    }
}

/// Appends one delimited message.
pub fn put_delimited(out: &mut BytesMut, message: &impl Message) {
    encode_varint(message.encoded_len() as u64, out);
    message.encode_raw(out);
}

/// Bytes of a message with its delimiter.
pub fn delimited_len(message: &impl Message) -> usize {
    let length = message.encoded_len();
    encoded_len_varint(length as u64) + length
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn frames_survive_any_cut(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..8),
            step in 1usize..97,
        ) {
            let mut stream = Vec::new();
            for body in &bodies {
                stream.extend_from_slice(&(body.len() as u32).to_be_bytes());
                stream.extend_from_slice(body);
            }
            let mut buffer = BytesMut::new();
            let mut seen = Vec::new();
            for piece in stream.chunks(step) {
                buffer.extend_from_slice(piece);
                while let Some(frame) = take(&mut buffer, 1000).unwrap() {
                    seen.push(frame.to_vec());
                }
            }
            prop_assert_eq!(seen, bodies);
            prop_assert!(buffer.is_empty());
        }

        #[test]
        fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut buffer = BytesMut::from(bytes.as_slice());
            while let Ok(Some(mut frame)) = take(&mut buffer, 100) {
                while take_delimited(&mut frame).is_some() && !frame.is_empty() {}
            }
        }
    }

    #[test]
    fn a_large_length_reserves_little() {
        let mut buffer = BytesMut::from(&(128i32 << 20).to_be_bytes()[..]);
        assert_eq!(take(&mut buffer, 128 << 20), Ok(None));
        assert!(buffer.capacity() <= 4 * GROWTH);
    }

    #[test]
    fn lengths_out_of_range_are_refused() {
        for (length, words) in [(-1, "Unexpected data length -1!!"), (101, "length 101 is longer")]
        {
            let mut buffer = BytesMut::from(&i32::to_be_bytes(length)[..]);
            let refused = take(&mut buffer, 100).unwrap_err();
            assert!(refused.to_string().contains(words));
        }
    }
}
