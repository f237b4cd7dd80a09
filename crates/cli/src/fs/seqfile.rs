//! SequenceFiles as text: a line `key TAB value` a record, for the usual key and value types.
//!
//! ```text
//! "SEQ" version=6 | key class | value class | compressed? | by block? | [codec class]
//! count of metadata (i32), pairs | sync marker (16 bytes) | records or blocks
//! record: length i32 (-1: a sync marker follows), key length i32, key, value
//! block:  -1 i32, sync marker, records vint, then key lengths, keys, value lengths, values,
//!         each a vint length and compressed bytes
//! ```

use std::io::{self, Cursor, Read};

use super::codec::Codec;
use crate::failure::{Failure, Outcome};

const SYNC: usize = 16;
/// Largest record, name or buffer that is believed to be meant.
const LENGTH_MAX: i64 = 256 << 20;

fn damaged(problem: &str) -> Failure {
    Failure::io(format!("not a good SequenceFile: {problem}"))
}

fn byte(input: &mut dyn Read) -> Outcome<u8> {
    let mut one = [0];
    input.read_exact(&mut one).map_err(|_| damaged("it ends too early"))?;
    Ok(one[0])
}

fn bytes(input: &mut dyn Read, length: i64) -> Outcome<Vec<u8>> {
    if !(0..=LENGTH_MAX).contains(&length) {
        return Err(damaged(&format!("a length of {length}")));
    }
    let mut out = Vec::new();
    input.take(length.unsigned_abs()).read_to_end(&mut out)?;
    if (out.len() as u64) < length.unsigned_abs() {
        return Err(damaged("it ends too early"));
    }
    Ok(out)
}

/// A big-endian 32-bit number; `None` at the end of the file.
fn int(input: &mut dyn Read) -> Outcome<Option<i32>> {
    let mut four = [0; 4];
    match input.read_exact(&mut four) {
        Ok(()) => Ok(Some(i32::from_be_bytes(four))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn int_or_damaged(input: &mut dyn Read) -> Outcome<i32> {
    int(input)?.ok_or_else(|| damaged("it ends too early"))
}

/// Hadoop's number of variable length (WritableUtils.readVLong).
fn vlong(input: &mut dyn Read) -> Outcome<i64> {
    let first = byte(input)? as i8;
    let (count, negative) = match first {
        -112..=127 => return Ok(i64::from(first)),
        -120..=-113 => (-112 - i32::from(first), false),
        _ => (-120 - i32::from(first), true),
    };
    let mut value = 0_i64;
    for _ in 0..count {
        value = value << 8 | i64::from(byte(input)?);
    }
    Ok(if negative { !value } else { value })
}

fn text(input: &mut dyn Read) -> Outcome<String> {
    let length = vlong(input)?;
    Ok(String::from_utf8_lossy(&bytes(input, length)?).into_owned())
}

/// What the header says.
struct Header {
    key: Kind,
    value: Kind,
    codec: Option<Codec>,
    by_block: bool,
    sync: Vec<u8>,
}

impl Header {
    fn read(input: &mut dyn Read) -> Outcome<Header> {
        let magic = bytes(input, 4)?;
        if magic.first_chunk() != Some(b"SEQ") {
            return Err(damaged("it does not start with SEQ"));
        }
        if magic.last() != Some(&6) {
            return Err(Failure::unsupported("only version 6 of SequenceFiles is supported"));
        }
        let (key, value) = (Kind::of_class(&text(input)?)?, Kind::of_class(&text(input)?)?);
        let compressed = byte(input)? != 0;
        let by_block = byte(input)? != 0;
        let codec = if compressed { Some(Codec::of_class(&text(input)?)?) } else { None };
        for _ in 0..int_or_damaged(input)? {
            text(input)?;
            text(input)?;
        }
        let sync = bytes(input, SYNC as i64)?;
        Ok(Header { key, value, codec, by_block: compressed && by_block, sync })
    }
}

/// The Writable types that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Int,
    Long,
    VInt,
    Short,
    Byte,
    Boolean,
    Float,
    Double,
    Bytes,
    Null,
}

impl Kind {
    fn of_class(class: &str) -> Outcome<Kind> {
        let name = class.strip_prefix("org.apache.hadoop.io.").unwrap_or(class);
        Ok(match name {
            "Text" => Kind::Text,
            "IntWritable" => Kind::Int,
            "LongWritable" => Kind::Long,
            "VIntWritable" | "VLongWritable" => Kind::VInt,
            "ShortWritable" => Kind::Short,
            "ByteWritable" => Kind::Byte,
            "BooleanWritable" => Kind::Boolean,
            "FloatWritable" => Kind::Float,
            "DoubleWritable" => Kind::Double,
            "BytesWritable" => Kind::Bytes,
            "NullWritable" => Kind::Null,
            _ => {
                return Err(Failure::unsupported(format!(
                    "records of {class} cannot be shown; only the types of org.apache.hadoop.io can"
                )));
            }
        })
    }

    /// The value as Java's toString has it.
    fn show(self, data: &[u8]) -> Outcome<String> {
        let mut input = Cursor::new(data);
        let input: &mut dyn Read = &mut input;
        Ok(match self {
            Kind::Text => text(input)?,
            Kind::Int => int_or_damaged(input)?.to_string(),
            Kind::Long => number(input)?.to_string(),
            Kind::VInt => vlong(input)?.to_string(),
            Kind::Short => i16::from_be_bytes([byte(input)?, byte(input)?]).to_string(),
            Kind::Byte => (byte(input)? as i8).to_string(),
            Kind::Boolean => (byte(input)? != 0).to_string(),
            Kind::Float => java_number(f32::from_bits(int_or_damaged(input)? as u32).into(), true),
            Kind::Double => java_number(f64::from_bits(number(input)? as u64), false),
            Kind::Bytes => {
                let length = int_or_damaged(input)?.into();
                let pairs: Vec<String> =
                    bytes(input, length)?.iter().map(|b| hex::encode([*b])).collect();
                pairs.join(" ")
            }
            Kind::Null => "(null)".to_owned(),
        })
    }
}

fn number(input: &mut dyn Read) -> Outcome<i64> {
    let data = bytes(input, 8)?;
    Ok(data.iter().fold(0_i64, |value, byte| value << 8 | i64::from(*byte)))
}

/// Java writes 1.0 and 1.0E10 where Rust writes 1 and 10000000000.
fn java_number(value: f64, single: bool) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let plain = value == 0.0 || (1e-3..1e7).contains(&value.abs());
    match (plain, single) {
        (true, true) => format!("{:?}", value as f32),
        (true, false) => format!("{value:?}"),
        (false, _) => {
            let text = if single { format!("{:e}", value as f32) } else { format!("{value:e}") };
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let point = if digits.contains('.') { "" } else { ".0" };
            format!("{digits}{point}E{exponent}")
        }
    }
}

fn decode(codec: Option<Codec>, data: Vec<u8>) -> Outcome<Vec<u8>> {
    let Some(codec) = codec else { return Ok(data) };
    let mut out = Vec::new();
    codec.decode(Box::new(Cursor::new(data)))?.take(LENGTH_MAX as u64).read_to_end(&mut out)?;
    Ok(out)
}

/// Hands each record over as a line with its newline.
pub fn lines(input: &mut dyn Read, line: &mut dyn FnMut(String) -> Outcome) -> Outcome {
    let header = Header::read(input)?;
    let mut record = |key: &[u8], value: &[u8]| {
        line(format!("{}\t{}\n", header.key.show(key)?, header.value.show(value)?))
    };
    while let Some(length) = int(input)? {
        if length == -1 {
            if bytes(input, SYNC as i64)? != header.sync {
                return Err(damaged("a sync marker is wrong"));
            }
            if header.by_block {
                block(input, header.codec, &mut record)?;
            }
            continue;
        }
        let key_length = int_or_damaged(input)?;
        let rest = i64::from(length) - i64::from(key_length);
        let key = bytes(input, key_length.into())?;
        let value = decode(header.codec, bytes(input, rest)?)?;
        record(&key, &value)?;
    }
    Ok(())
}

fn block(
    input: &mut dyn Read,
    codec: Option<Codec>,
    record: &mut dyn FnMut(&[u8], &[u8]) -> Outcome,
) -> Outcome {
    let count = vlong(input)?;
    let mut part = || -> Outcome<Cursor<Vec<u8>>> {
        let length = vlong(input)?;
        Ok(Cursor::new(decode(codec, bytes(input, length)?)?))
    };
    let (mut key_lengths, mut keys, mut value_lengths, mut values) =
        (part()?, part()?, part()?, part()?);
    for _ in 0..count {
        let key_length = vlong(&mut key_lengths)?;
        let key = bytes(&mut keys, key_length)?;
        let value_length = vlong(&mut value_lengths)?;
        let value = bytes(&mut values, value_length)?;
        record(&key, &value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(data: &[u8]) -> Outcome<String> {
        let mut out = String::new();
        lines(&mut Cursor::new(data), &mut |line| {
            out.push_str(&line);
            Ok(())
        })?;
        Ok(out)
    }

    fn string(text: &str) -> Vec<u8> {
        [&[text.len() as u8], text.as_bytes()].concat()
    }

    fn plain_file() -> Vec<u8> {
        let mut data = b"SEQ\x06".to_vec();
        data.extend(string("org.apache.hadoop.io.IntWritable"));
        data.extend(string("org.apache.hadoop.io.Text"));
        data.extend([0, 0, 0, 0, 0, 0]);
        data.extend([7; SYNC]);
        data.extend([0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 42]);
        data.extend(string("hi"));
        data.extend([0xff; 4]);
        data.extend([7; SYNC]);
        data.extend([0, 0, 0, 5, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff, 0]);
        data
    }

    #[test]
    fn records_become_lines() {
        assert_eq!(all(&plain_file()).unwrap(), "42\thi\n-1\t\n");
        assert_eq!(java_number(1e10, false), "1.0E10");
        assert_eq!(java_number(0.5, true), "0.5");
        assert_eq!(java_number(1.0, false), "1.0");
    }

    proptest! {
        #[test]
        fn damage_never_panics(at in 0_usize..120, byte in any::<u8>(), cut in 0_usize..120) {
            let mut data = plain_file();
            if let Some(place) = data.get_mut(at) {
                *place = byte;
            }
            data.truncate(cut.max(4));
            let _ = all(&data);
        }

        #[test]
        fn random_bytes_never_panic(rest in prop::collection::vec(any::<u8>(), 0..100)) {
            let _ = all(&[b"SEQ\x06", rest.as_slice()].concat());
            let _ = vlong(&mut Cursor::new(&rest));
        }
    }
}
