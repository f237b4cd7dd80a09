//! Avro's object container files as text: a line of JSON a record, as Java's JsonEncoder writes it. Only the
//! order within maps may differ: here it is the file's.
//!
//! ```text
//! "Obj" 1 | metadata (a map of bytes: avro.schema, avro.codec) | sync marker (16 bytes) | blocks
//! block: records (long) | length (long) | bytes | sync marker
//! ```

use std::io::{self, BufRead, BufReader, Cursor, Read, Write};

use super::avro_schema::Schema;
use super::avro_value::{FORMAT, Values};
use super::inflate::Inflate;
use super::unsupported;
use crate::codec::Codec;
use crate::damage::damaged;
use crate::source::Source;

/// The first bytes of a container file.
pub const MAGIC: &[u8] = b"Obj";
const SYNC: i64 = 16;
/// Entries of the metadata, more than any file has.
const METADATA_MAX: usize = 10_000;

/// Records that take no bytes.
const EMPTY_MAX: u64 = 1 << 16;

/// How blocks are compressed.
enum Compression {
    None,
    Deflate,
    /// With a CRC-32 of the plain bytes behind it.
    Snappy,
    Of(Codec),
}

struct Header {
    schema: Schema,
    compression: Compression,
    sync: Vec<u8>,
}

impl Header {
    fn read<R: BufRead>(input: &mut Values<R>) -> io::Result<Header> {
        if input.bytes(4)? != b"Obj\x01" {
            return Err(damaged(FORMAT, 0, "it does not start with Obj and 1"));
        }
        let (mut schema, mut compression) = (None, Compression::None);
        let mut entries = 0;
        loop {
            let count = input.long()?;
            if count < 0 {
                input.long()?;
            }
            for _ in 0..count.unsigned_abs() {
                entries += 1;
                if entries > METADATA_MAX {
                    return Err(damaged(FORMAT, input.source.offset(), "too much metadata"));
                }
                let name = input.string()?;
                let length = input.long()?;
                let offset = input.source.offset();
                let value = input.bytes(length)?;
                match name.as_str() {
                    "avro.schema" => {
                        let parsed = Schema::parse(value);
                        schema = Some(parsed.map_err(|cause| damaged(FORMAT, offset, cause))?);
                    }
                    "avro.codec" => compression = Header::compression(value)?,
                    _ => {}
                }
            }
            if count == 0 {
                break;
            }
        }
        let offset = input.source.offset();
        let sync = input.bytes(SYNC)?.to_vec();
        let schema = schema.ok_or_else(|| damaged(FORMAT, offset, "there is no schema"))?;
        Ok(Header { schema, compression, sync })
    }

    fn compression(name: &[u8]) -> io::Result<Compression> {
        Ok(match name {
            b"null" => Compression::None,
            b"deflate" => Compression::Deflate,
            b"snappy" => Compression::Snappy,
            b"bzip2" => Compression::Of(Codec::Bzip2),
            b"zstandard" => Compression::Of(Codec::Zstandard),
            _ => {
                let name = String::from_utf8_lossy(name);
                return Err(unsupported(format!("Avro's compression {name} is not supported")));
            }
        })
    }
}

/// Writes each record as a line.
pub fn write_lines(input: impl Read, output: &mut dyn Write) -> io::Result<()> {
    let source = Source::new(BufReader::with_capacity(1 << 18, input));
    let mut input = Values::new(source);
    let header = Header::read(&mut input)?;
    while !input.source.fill_buf()?.is_empty() {
        let count = input.long()?;
        let length = input.long()?;
        let offset = input.source.offset();
        write_block(&header, count, offset, input.bytes(length)?, output)?;
        let offset = input.source.offset();
        if input.bytes(SYNC)? != header.sync {
            return Err(damaged(FORMAT, offset, "a sync marker is wrong"));
        }
    }
    Ok(())
}

/// Writes the records of one block, which begins at `offset`.
fn write_block(
    header: &Header,
    count: i64,
    offset: u64,
    packed: &[u8],
    output: &mut dyn Write,
) -> io::Result<()> {
    let plain = decoder(&header.compression, packed, offset)?;
    let mut values = Values::new(Source::starting_at(BufReader::new(plain), offset));
    let (mut last, mut empty) = (offset, 0);
    for _ in 0..count {
        values.show(&header.schema, header.schema.root, output)?;
        output.write_all(b"\n")?;
        empty += u64::from(values.source.offset() == last);
        last = values.source.offset();
        if empty > EMPTY_MAX {
            return Err(damaged(FORMAT, offset, "too many records without bytes"));
        }
    }
    Ok(())
}

fn decoder<'a>(
    compression: &Compression,
    packed: &'a [u8],
    offset: u64,
) -> io::Result<Box<dyn Read + 'a>> {
    Ok(match compression {
        Compression::None => Box::new(packed),
        Compression::Deflate => Box::new(Inflate::new(packed, FORMAT, offset)),
        Compression::Snappy => Box::new(Cursor::new(snappy(packed, offset)?)),
        Compression::Of(codec) => codec.buffered_decoder(packed)?,
    })
}

fn snappy(packed: &[u8], offset: u64) -> io::Result<Vec<u8>> {
    let wrong = |cause: String| Err(damaged(FORMAT, offset, cause));
    let Some((packed, sum)) = packed.split_last_chunk::<4>() else {
        return wrong("a block without checksum".to_owned());
    };
    let mut plain = Vec::new();
    let unpacked = crate::raw::RawCodec::Snappy.unpack(packed, &mut plain, usize::MAX);
    let length = match unpacked {
        Ok(length) => length,
        Err(cause) => return wrong(cause),
    };
    plain.truncate(length);
    let found = crc32fast::hash(&plain);
    if found != u32::from_be_bytes(*sum) {
        return wrong(format!("the crc32 of a block is {found:08x} and should be another"));
    }
    Ok(plain)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SCHEMA: &str = r#"{"type":"record","name":"R","namespace":"n","fields":[
        {"name":"i","type":"int"}, {"name":"s","type":["null","string"]},
        {"name":"b","type":{"type":"bytes","logicalType":"decimal"}},
        {"name":"e","type":{"type":"enum","name":"E","symbols":["X","Y"]}},
        {"name":"a","type":{"type":"array","items":"double"}},
        {"name":"m","type":{"type":"map","values":"boolean"}},
        {"name":"next","type":["null","R"]}]}"#;

    fn long(value: i64) -> Vec<u8> {
        let mut rest = (value << 1 ^ value >> 63).cast_unsigned();
        let mut out = Vec::new();
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
        out
    }

    fn text(value: &str) -> Vec<u8> {
        [long(value.len() as i64), value.as_bytes().to_vec()].concat()
    }

    fn record() -> Vec<u8> {
        let mut out = [long(-7), long(1), text("a\"\u{1}é")].concat();
        out.extend([long(2), vec![0xff, b'z'], long(1)].concat());
        out.extend([long(1), 1.5_f64.to_le_bytes().to_vec(), long(0)].concat());
        out.extend([long(-1), long(3), text("k"), vec![1], long(0)].concat());
        [out, long(1), long(3), long(0), long(0), long(0), long(0), long(0), long(0)].concat()
    }

    fn file(codec: &str, pack: impl Fn(&[u8]) -> Vec<u8>) -> Vec<u8> {
        let mut out = b"Obj\x01".to_vec();
        out.extend([long(2), text("avro.schema"), text(SCHEMA)].concat());
        out.extend([text("avro.codec"), text(codec), long(0), vec![9; 16]].concat());
        for _ in 0..2 {
            let packed = pack(&record());
            out.extend([long(1), long(packed.len() as i64), packed, vec![9; 16]].concat());
        }
        out
    }

    fn lines(bytes: &[u8]) -> io::Result<String> {
        let mut out = Vec::new();
        write_lines(bytes, &mut out)?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn records_become_lines_of_json() {
        let last = r#"{"i":3,"s":null,"b":"","e":"X","a":[],"m":{},"next":null}"#;
        let one = format!(
            "{}{last}}}}}\n",
            r#"{"i":-7,"s":{"string":"a\"\u0001é"},"b":"ÿz","e":"Y","a":[1.5],"m":{"k":true},"next":{"n.R":"#
        );
        let wanted = one.repeat(2);
        assert_eq!(lines(&file("null", <[u8]>::to_vec)).unwrap(), wanted);
        let deflate = |plain: &[u8]| {
            let level = flate2::Compression::default();
            let mut out = flate2::write::DeflateEncoder::new(Vec::new(), level);
            out.write_all(plain).unwrap();
            out.finish().unwrap()
        };
        assert_eq!(lines(&file("deflate", deflate)).unwrap(), wanted);
        let snappy = |plain: &[u8]| {
            let mut out = snap::raw::Encoder::new().compress_vec(plain).unwrap();
            out.extend(crc32fast::hash(plain).to_be_bytes());
            out
        };
        assert_eq!(lines(&file("snappy", snappy)).unwrap(), wanted);
        let zstd = |plain: &[u8]| zstd::encode_all(plain, 3).unwrap();
        assert_eq!(lines(&file("zstandard", zstd)).unwrap(), wanted);
        let error = lines(&file("xz", zstd)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn schemas_that_have_no_end_are_refused() {
        let endless = r#"{"type":"record","name":"R","fields":[{"name":"r","type":"R"}]}"#;
        let nulls = r#"{"type":"array","items":"null"}"#;
        for (schema, cause) in [(endless, "nested too deeply"), (nulls, "items without bytes")] {
            let mut out = b"Obj\x01".to_vec();
            out.extend([long(1), text("avro.schema"), text(schema), long(0), vec![9; 16]].concat());
            let data = long(i64::MAX >> 1);
            out.extend([long(1), long(data.len() as i64), data, vec![9; 16]].concat());
            let error = lines(&out).unwrap_err().to_string();
            assert!(error.contains(cause), "{error}");
        }
    }

    proptest! {
        #[test]
        fn damage_never_panics(at in any::<prop::sample::Index>(), to in any::<u8>(), cut in any::<prop::sample::Index>()) {
            let mut bytes = file("null", <[u8]>::to_vec);
            let place = at.index(bytes.len());
            bytes[place] = to;
            let _ = lines(&bytes);
            bytes.truncate(cut.index(bytes.len()));
            let _ = lines(&bytes);
        }
    }
}
