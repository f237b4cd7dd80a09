//! What the footer of an ORC file says: schema, rows, stripes.
//!
//! ```text
//! "ORC" | stripes | metadata | footer | postscript | length of the postscript (u8)
//! ```
//!
//! The footer is compressed in chunks: length times two, plus one where the chunk is plain (3 bytes, little-endian).

use std::io::{self, Read, Seek, Write};

use prost::Message;

use super::inflate::Inflate;
use super::tail::Tail;
use super::unsupported;
use crate::codec::Codec;
use crate::raw::RawCodec;

/// The first bytes of an ORC file.
pub const MAGIC: &[u8] = b"ORC";
const FORMAT: &str = "ORC";
/// Types within types, more than any schema has.
const DEPTH_MAX: usize = 100;
/// Plain bytes of a footer that are believed to be meant.
const FOOTER_MAX: usize = 256 << 20;

#[derive(Clone, PartialEq, Message)]
struct PostScript {
    #[prost(uint64, optional, tag = "1")]
    footer_length: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    compression: Option<u32>,
    #[prost(uint64, optional, tag = "3")]
    compression_block_size: Option<u64>,
    #[prost(uint32, repeated, tag = "4")]
    version: Vec<u32>,
    #[prost(string, optional, tag = "8000")]
    magic: Option<String>,
}

#[derive(Clone, PartialEq, Message)]
struct Footer {
    #[prost(message, repeated, tag = "3")]
    stripes: Vec<Stripe>,
    #[prost(message, repeated, tag = "4")]
    types: Vec<Type>,
    #[prost(message, repeated, tag = "5")]
    metadata: Vec<Metadata>,
    #[prost(uint64, optional, tag = "6")]
    rows: Option<u64>,
    #[prost(uint32, optional, tag = "9")]
    writer: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
struct Stripe {
    #[prost(uint64, optional, tag = "1")]
    offset: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    index_length: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    data_length: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    footer_length: Option<u64>,
    #[prost(uint64, optional, tag = "5")]
    rows: Option<u64>,
}

#[derive(Clone, PartialEq, Message)]
struct Type {
    #[prost(uint32, optional, tag = "1")]
    kind: Option<u32>,
    #[prost(uint32, repeated, tag = "2")]
    subtypes: Vec<u32>,
    #[prost(string, repeated, tag = "3")]
    field_names: Vec<String>,
    #[prost(uint32, optional, tag = "4")]
    length: Option<u32>,
    #[prost(uint32, optional, tag = "5")]
    precision: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    scale: Option<u32>,
}

#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(string, optional, tag = "1")]
    name: Option<String>,
    #[prost(bytes = "vec", optional, tag = "2")]
    value: Option<Vec<u8>>,
}

const COMPRESSIONS: [&str; 7] = ["no", "zlib", "snappy", "lzo", "lz4", "zstd", "brotli"];
const WRITERS: [&str; 8] =
    ["ORC Java", "ORC C++", "Presto", "Scritchley Go", "Trino", "CUDF", "CUDF", "orc-rust"];
/// Names of the simple kinds, by number; those with types within are spelt out below.
const KINDS: [&str; 19] = [
    "boolean",
    "tinyint",
    "smallint",
    "int",
    "bigint",
    "float",
    "double",
    "string",
    "binary",
    "timestamp",
    "array",
    "map",
    "struct",
    "uniontype",
    "decimal",
    "date",
    "varchar",
    "char",
    "timestamp with local time zone",
];

/// Writes what the footer says, for people.
pub fn write_summary(input: impl Read + Seek, out: &mut dyn Write) -> io::Result<()> {
    let mut tail = Tail::new(input, FORMAT)?;
    let length = tail.bytes(1, 0)?.first().copied().map_or(0, u64::from);
    let post = tail.bytes(length, 1)?;
    let post = match PostScript::decode(post.as_slice()) {
        Ok(post) if post.magic.as_deref() == Some("ORC") => post,
        Ok(_) => return tail.wrong(length + 1, "the postscript does not say ORC"),
        Err(error) => return tail.wrong(length + 1, error),
    };
    let behind = length + 1;
    let packed = tail.bytes(post.footer_length.unwrap_or(0), behind)?;
    let start = behind + packed.len() as u64;
    let offset = tail.length - start;
    let plain = unpack(&packed, post.compression.unwrap_or(0), offset)?;
    let footer = match Footer::decode(plain.as_slice()) {
        Ok(footer) => footer,
        Err(error) => return tail.wrong(start, error),
    };
    let version: Vec<String> = post.version.iter().map(u32::to_string).collect();
    let name = |names: &[&'static str], at: u32| names.get(at as usize).copied().unwrap_or("other");
    writeln!(
        out,
        "ORC file, version {}, {} compression in chunks of {} bytes, written by {}",
        version.join("."),
        name(&COMPRESSIONS, post.compression.unwrap_or(0)),
        post.compression_block_size.unwrap_or(0),
        name(&WRITERS, footer.writer.unwrap_or(0)),
    )?;
    writeln!(out, "rows: {}", footer.rows.unwrap_or(0))?;
    let mut schema = String::new();
    show_type(&footer.types, 0, 0, &mut schema);
    writeln!(out, "schema: {schema}")?;
    for entry in &footer.metadata {
        let value = entry.value.as_deref().unwrap_or_default();
        let value = String::from_utf8_lossy(value);
        writeln!(out, "metadata: {}={value}", entry.name.as_deref().unwrap_or_default())?;
    }
    for (at, stripe) in footer.stripes.iter().enumerate() {
        writeln!(
            out,
            "stripe {at}: offset {}, {} rows, index {}, data {}, footer {} bytes",
            stripe.offset.unwrap_or(0),
            stripe.rows.unwrap_or(0),
            stripe.index_length.unwrap_or(0),
            stripe.data_length.unwrap_or(0),
            stripe.footer_length.unwrap_or(0),
        )?;
    }
    Ok(())
}

/// Longest text of a schema; types that name each other may make it grow without end.
const SCHEMA_MAX: usize = 1 << 20;

fn show_type(types: &[Type], at: usize, depth: usize, out: &mut String) {
    let Some(kind) = types.get(at).filter(|_| depth < DEPTH_MAX && out.len() < SCHEMA_MAX) else {
        out.push('?');
        return;
    };
    let number = kind.kind.unwrap_or(0) as usize;
    let name = KINDS.get(number).copied().unwrap_or("?");
    out.push_str(name);
    match name {
        "decimal" => {
            let (precision, scale) = (kind.precision.unwrap_or(0), kind.scale.unwrap_or(0));
            out.push_str(&format!("({precision},{scale})"));
        }
        "varchar" | "char" => out.push_str(&format!("({})", kind.length.unwrap_or(0))),
        "array" | "map" | "struct" | "uniontype" => {
            out.push('<');
            for (at, sub) in kind.subtypes.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                if name == "struct" {
                    out.push_str(kind.field_names.get(at).map_or("?", String::as_str));
                    out.push(':');
                }
                show_type(types, *sub as usize, depth + 1, out);
            }
            out.push('>');
        }
        _ => {}
    }
}

fn unpack(packed: &[u8], compression: u32, offset: u64) -> io::Result<Vec<u8>> {
    if compression == 0 {
        return Ok(packed.to_vec());
    }
    let mut plain = Vec::new();
    let mut rest = packed;
    while !rest.is_empty() {
        let at = offset + (packed.len() - rest.len()) as u64;
        let cut = || crate::damage::cut(FORMAT, at);
        let (head, behind) = rest.split_first_chunk::<3>().ok_or_else(cut)?;
        let head = u32::from_le_bytes([head[0], head[1], head[2], 0]);
        let (chunk, behind) = behind.split_at_checked((head >> 1) as usize).ok_or_else(cut)?;
        rest = behind;
        let limit = FOOTER_MAX - plain.len().min(FOOTER_MAX);
        match head & 1 {
            1 => plain.extend_from_slice(chunk),
            _ => unpack_chunk(chunk, compression, at, limit, &mut plain)?,
        }
    }
    Ok(plain)
}

fn unpack_chunk(
    chunk: &[u8],
    compression: u32,
    at: u64,
    limit: usize,
    plain: &mut Vec<u8>,
) -> io::Result<()> {
    let raw = match compression {
        1 => {
            Inflate::new(chunk, FORMAT, at).take(limit as u64).read_to_end(plain)?;
            return Ok(());
        }
        5 => {
            let decoder = Codec::Zstandard.buffered_decoder(chunk)?;
            decoder.take(limit as u64).read_to_end(plain)?;
            return Ok(());
        }
        2 => RawCodec::Snappy,
        3 => RawCodec::Lzo,
        4 => RawCodec::Lz4,
        _ => return Err(unsupported(format!("ORC's compression {compression} is not supported"))),
    };
    let mut unpacked = Vec::new();
    let made = raw.unpack(chunk, &mut unpacked, limit);
    let made = made.map_err(|cause| crate::damage::damaged(FORMAT, at, cause))?;
    plain.extend_from_slice(&unpacked[..made]);
    Ok(())
}
