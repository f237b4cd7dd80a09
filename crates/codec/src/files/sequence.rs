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

use super::fields::{FORMAT, Fields};
use super::unsupported;
use super::writable::Shower;
use super::writable_kind::Writable;
use crate::codec::Codec;
use crate::damage::{Damage, cut};
use crate::decode::Decoded;

/// The first bytes of a SequenceFile.
pub const MAGIC: &[u8] = b"SEQ";
const SYNC: i64 = 16;

/// What the header says.
struct Header {
    key: Shower,
    value: Shower,
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
        let (key, value) = (Shower::new(key), Shower::new(value));
        Ok(Header { key, value, codec, by_block: compressed && by_block, sync })
    }
}

fn codec_of(class: &str) -> io::Result<Codec> {
    Codec::of_class(class)
        .ok_or_else(|| unsupported(format!("compression {class} is not supported")))
}

/// The plain bytes of a record or of a part of a block.
type Part = Fields<BufReader<Unpacked>>;

/// Unpacks `data`, which ended at `offset` of the file. The plain bytes can be a thousand times as many and are never held.
fn unpack(codec: Option<Codec>, data: Vec<u8>, offset: u64) -> io::Result<Part> {
    let start = offset - data.len() as u64;
    let data = Cursor::new(data);
    let plain: Decoded<'static> = match codec {
        None => Box::new(data),
        Some(codec) => codec.buffered_decoder(data).map_err(|error| within_file(error, start))?,
    };
    Ok(Fields::starting_at(BufReader::new(Unpacked { plain, start }), start))
}

/// A decoder whose errors name places of the file.
struct Unpacked {
    plain: Decoded<'static>,
    start: u64,
}

impl Read for Unpacked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.plain.read(buffer).map_err(|error| within_file(error, self.start))
    }
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

/// Writes the value in the next `length` bytes. Fails if the input ends before them; bytes after the value are skipped.
fn show<R: BufRead>(
    shower: &mut Shower,
    input: &mut Fields<R>,
    length: i64,
    output: &mut dyn Write,
) -> io::Result<()> {
    let Ok(length) = u64::try_from(length) else {
        return input.wrong(format!("a length of {length}"));
    };
    let start = input.source.offset();
    let mut value = Fields::starting_at((&mut input.source).take(length), start);
    shower.show(&mut value, output)?;
    io::copy(&mut value.source, &mut io::sink())?;
    match value.source.offset() - start {
        taken if taken < length => Err(cut(FORMAT, value.source.offset())),
        _ => Ok(()),
    }
}

/// Writes each record as a line.
pub fn write_lines(input: impl Read, output: &mut dyn Write) -> io::Result<()> {
    let mut input = Fields::new(BufReader::with_capacity(1 << 18, input));
    let mut header = Header::read(&mut input)?;
    while let Some(length) = input.int_or_end()? {
        if length == -1 {
            if input.bytes(SYNC)? != header.sync {
                return input.wrong("a sync marker is wrong");
            }
            if header.by_block {
                block(&mut input, &mut header, output)?;
            }
            continue;
        }
        let key_length = input.int()?;
        let value_length = i64::from(length) - i64::from(key_length);
        show(&mut header.key, &mut input, key_length.into(), output)?;
        output.write_all(b"\t")?;
        match header.codec {
            None => show(&mut header.value, &mut input, value_length, output)?,
            codec => {
                let packed = input.bytes(value_length)?;
                let mut value = unpack(codec, packed, input.source.offset())?;
                header.value.show(&mut value, output)?;
                // The checksum is behind the value.
                io::copy(&mut value.source, &mut io::sink())?;
            }
        }
        output.write_all(b"\n")?;
    }
    Ok(())
}

fn block<R: BufRead>(
    input: &mut Fields<R>,
    header: &mut Header,
    output: &mut dyn Write,
) -> io::Result<()> {
    let (count, codec) = (input.vlong()?, header.codec);
    let mut part = || -> io::Result<Part> {
        let length = input.vlong()?;
        let data = input.bytes(length)?;
        unpack(codec, data, input.source.offset())
    };
    let (mut key_lengths, mut keys, mut value_lengths, mut values) =
        (part()?, part()?, part()?, part()?);
    for _ in 0..count {
        let key_length = key_lengths.vlong()?;
        show(&mut header.key, &mut keys, key_length, output)?;
        output.write_all(b"\t")?;
        let value_length = value_lengths.vlong()?;
        show(&mut header.value, &mut values, value_length, output)?;
        output.write_all(b"\n")?;
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

    /// Returns a file with one record, whose key is NullWritable.
    fn record(class: &str, value: &[u8]) -> Vec<u8> {
        let mut data = b"SEQ\x06".to_vec();
        data.extend(string("org.apache.hadoop.io.NullWritable"));
        data.extend(string(&format!("org.apache.hadoop.io.{class}")));
        data.extend([0, 0, 0, 0, 0, 0]);
        data.extend([7; SYNC as usize]);
        data.extend((value.len() as u32).to_be_bytes());
        data.extend([0; 4]);
        [data, value.to_vec()].concat()
    }

    fn shown(class: &str, value: &[u8]) -> String {
        let line = all(&record(class, value)).unwrap();
        line.strip_prefix("(null)\t").unwrap().trim_end().to_owned()
    }

    /// Java shows these by a hash code or an address; the values are shown here.
    #[test]
    fn types_without_a_text_show_their_values() {
        let short = |text: &str| [&[0, text.len() as u8], text.as_bytes()].concat();
        let ints = [short("int"), vec![0, 0, 0, 2, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff]].concat();
        assert_eq!(shown("ArrayPrimitiveWritable", &ints), "[1, -1]");
        // A class of its own (1), Text (-116) and VIntWritable (-114).
        let mut map = [vec![1, 1], short("org.apache.hadoop.io.ShortWritable")].concat();
        map.extend([0, 0, 0, 2, 0x8c, 1, b'a', 1, 0, 5, 0x8c, 1, b'b', 0x8e, 7]);
        assert_eq!(shown("SortedMapWritable", &map), "{a=5, b=7}");
        let array = [short("[I"), vec![0, 0, 0, 1], short("int"), vec![0, 0, 0, 9]].concat();
        assert_eq!(shown("ObjectWritable", &array), "OW[class=class [I,value=[9]]");
        assert_eq!(shown("UTF8", &short("old")), "old");
    }

    #[test]
    fn values_of_unknown_classes_and_endless_nesting_are_refused() {
        let short = |text: &str| [&[0, text.len() as u8], text.as_bytes()].concat();
        let map = [vec![1, 1], short("a.B"), vec![0, 0, 0, 1, 1]].concat();
        let error = all(&record("MapWritable", &map)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported, "{error}");
        // Each array holds one array.
        let nested = [short("[[I"), vec![0, 0, 0, 1]].concat().repeat(1000);
        let error = all(&record("ObjectWritable", &nested)).unwrap_err().to_string();
        assert!(error.contains("nested too deeply"), "{error}");
        // Each MapWritable holds one MapWritable.
        let nested = [0, 0, 0, 0, 1, 0x89, 0x87].repeat(1000);
        let error = all(&record("MapWritable", &nested)).unwrap_err().to_string();
        assert!(error.contains("nested too deeply"), "{error}");
    }

    proptest! {
        #[test]
        fn values_of_all_types_never_panic(
            at in 0_usize..5,
            value in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let classes = ["MapWritable", "SortedMapWritable", "ObjectWritable", "EnumSetWritable", "MD5Hash"];
            let _ = all(&record(classes[at], &value));
        }

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
