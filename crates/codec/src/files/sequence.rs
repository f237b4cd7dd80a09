//! SequenceFiles as text: a line `key TAB value` a record, for the usual key and value types.
//!
//! ```text
//! "SEQ" version=6 | key class | value class | compressed? | by block? | [codec class]
//! count of metadata (i32), pairs | sync marker (16 bytes) | records or blocks
//! record: length i32 (-1: a sync marker follows), key length i32, key, value
//! block:  -1 i32, sync marker, records vint, then key lengths, keys, value lengths, values,
//!         each a vint length and compressed bytes
//! ```

use std::io::{self, BufRead, BufReader, Cursor, Read, Write};

use super::unsupported;
use super::writable::{Fields, Writable, all_of};
use crate::codec::Codec;
use crate::damage::Damage;

/// The first bytes of a SequenceFile.
pub const MAGIC: &[u8] = b"SEQ";
const SYNC: i64 = 16;

/// What the header says.
struct Header {
    key: Writable,
    value: Writable,
    codec: Option<Codec>,
    by_block: bool,
    sync: Vec<u8>,
}

impl Header {
    fn read<R: BufRead>(input: &mut Fields<R>) -> io::Result<Header> {
        let magic = input.bytes(4)?;
        if !magic.starts_with(MAGIC) {
            return input.wrong("it does not start with SEQ");
        }
        if magic.last() != Some(&6) {
            return Err(unsupported("only version 6 of SequenceFiles is supported"));
        }
        let (key, value) =
            (Writable::of_class(&input.text()?)?, Writable::of_class(&input.text()?)?);
        let compressed = input.byte()? != 0;
        let by_block = input.byte()? != 0;
        let codec = match compressed {
            true => Some(codec_of(&input.text()?)?),
            false => None,
        };
        for _ in 0..input.int()? {
            input.text()?;
            input.text()?;
        }
        let sync = input.bytes(SYNC)?;
        Ok(Header { key, value, codec, by_block: compressed && by_block, sync })
    }
}

fn codec_of(class: &str) -> io::Result<Codec> {
    Codec::of_class(class)
        .ok_or_else(|| unsupported(format!("compression {class} is not supported")))
}

/// The plain bytes of a record or of a part of a block, which ended at `offset` of the file.
fn unpack(codec: Option<Codec>, data: Vec<u8>, offset: u64) -> io::Result<Vec<u8>> {
    let Some(codec) = codec else { return Ok(data) };
    let start = offset - data.len() as u64;
    let plain = codec.buffered_decoder(Cursor::new(data)).and_then(all_of);
    plain.map_err(|error| within_file(error, start))
}

/// Offsets of damage count from the file's start.
fn within_file(error: io::Error, start: u64) -> io::Error {
    let kind = error.kind();
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Damage>()) {
        Some(damage) => {
            io::Error::new(kind, Damage { offset: damage.offset + start, ..damage.clone() })
        }
        None => error,
    }
}

/// Writes each record as a line.
pub fn write_lines(input: impl Read, output: &mut dyn Write) -> io::Result<()> {
    let mut input = Fields::new(BufReader::with_capacity(1 << 18, input));
    let header = Header::read(&mut input)?;
    let mut record = |key: &[u8], value: &[u8]| {
        writeln!(output, "{}\t{}", header.key.show(key)?, header.value.show(value)?)
    };
    while let Some(length) = input.int_or_end()? {
        if length == -1 {
            if input.bytes(SYNC)? != header.sync {
                return input.wrong("a sync marker is wrong");
            }
            if header.by_block {
                block(&mut input, header.codec, &mut record)?;
            }
            continue;
        }
        let key_length = input.int()?;
        let rest = i64::from(length) - i64::from(key_length);
        let key = input.bytes(key_length.into())?;
        let value = input.bytes(rest)?;
        let value = unpack(header.codec, value, input.source.offset())?;
        record(&key, &value)?;
    }
    Ok(())
}

/// Takes the key and the value of each record.
type RecordSink<'a> = dyn FnMut(&[u8], &[u8]) -> io::Result<()> + 'a;

fn block<R: BufRead>(
    input: &mut Fields<R>,
    codec: Option<Codec>,
    record: &mut RecordSink<'_>,
) -> io::Result<()> {
    let count = input.vlong()?;
    let mut part = || -> io::Result<Fields<Cursor<Vec<u8>>>> {
        let length = input.vlong()?;
        let data = input.bytes(length)?;
        Ok(Fields::new(Cursor::new(unpack(codec, data, input.source.offset())?)))
    };
    let (mut key_lengths, mut keys, mut value_lengths, mut values) =
        (part()?, part()?, part()?, part()?);
    for _ in 0..count {
        let key_length = key_lengths.vlong()?;
        let key = keys.bytes(key_length)?;
        let value_length = value_lengths.vlong()?;
        let value = values.bytes(value_length)?;
        record(&key, &value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(data: &[u8]) -> io::Result<String> {
        let mut out = Vec::new();
        write_lines(data, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn string(text: &str) -> Vec<u8> {
        [&[text.len() as u8], text.as_bytes()].concat()
    }

    fn plain_file() -> Vec<u8> {
        let mut data = b"SEQ\x06".to_vec();
        data.extend(string("org.apache.hadoop.io.IntWritable"));
        data.extend(string("org.apache.hadoop.io.Text"));
        data.extend([0, 0, 0, 0, 0, 0]);
        data.extend([7; SYNC as usize]);
        data.extend([0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 42]);
        data.extend(string("hi"));
        data.extend([0xff; 4]);
        data.extend([7; SYNC as usize]);
        data.extend([0, 0, 0, 5, 0, 0, 0, 4, 0xff, 0xff, 0xff, 0xff, 0]);
        data
    }

    #[test]
    fn records_become_lines() {
        assert_eq!(all(&plain_file()).unwrap(), "42\thi\n-1\t\n");
        let error = all(&plain_file()[..90]).unwrap_err().to_string();
        assert!(error.contains("at byte 90: the stream ends in the middle"), "{error}");
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
            let _ = Fields::new(rest.as_slice()).vlong();
        }
    }
}
