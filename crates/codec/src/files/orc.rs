//! What the footer of an ORC file says: schema, rows, stripes.
//!
//! ```text
//! "ORC" | stripes | metadata | footer | postscript | length of the postscript (u8)
//! ```
//!
//! The footer is compressed in chunks: length times two, plus one where the chunk is plain (3 bytes, little-endian).

use std::io::{self, Read, Seek, Write};

use prost::Message;

use super::orc_footer::{FORMAT, Footer};
use super::tail::Tail;

/// The first bytes of an ORC file.
pub const MAGIC: &[u8] = b"ORC";
/// Types within types, more than any schema has.
const DEPTH_MAX: usize = 100;
/// Most memory for the types of a schema, as decoded.
const TYPES_MAX: usize = 64 << 20;

/// Numbers of the footer's fields.
const STRIPES: u32 = 3;
const TYPES: u32 = 4;
const METADATA: u32 = 5;
const ROWS: u32 = 6;
const WRITER: u32 = 9;

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
///
/// The footer is unpacked several times: what it holds can be a thousand times as large as the file.
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
    let offset = tail.length - behind - packed.len() as u64;
    let footer = Footer { packed: &packed, compression: post.compression.unwrap_or(0), offset };
    let schema = Schema::read(&footer)?;
    let version: Vec<String> = post.version.iter().map(u32::to_string).collect();
    let name = |names: &[&'static str], at: u32| names.get(at as usize).copied().unwrap_or("other");
    writeln!(
        out,
        "ORC file, version {}, {} compression in chunks of {} bytes, written by {}",
        version.join("."),
        name(&COMPRESSIONS, post.compression.unwrap_or(0)),
        post.compression_block_size.unwrap_or(0),
        name(&WRITERS, schema.writer),
    )?;
    writeln!(out, "rows: {}", schema.rows)?;
    let mut text = String::new();
    show_type(&schema.types, 0, 0, &mut text);
    writeln!(out, "schema: {text}")?;
    footer.messages(METADATA, |entry: Metadata| {
        let value = entry.value.as_deref().unwrap_or_default();
        let value = String::from_utf8_lossy(value);
        writeln!(out, "metadata: {}={value}", entry.name.as_deref().unwrap_or_default())
    })?;
    let mut at = 0;
    footer.messages(STRIPES, |stripe: Stripe| {
        at += 1;
        writeln!(
            out,
            "stripe {}: offset {}, {} rows, index {}, data {}, footer {} bytes",
            at - 1,
            stripe.offset.unwrap_or(0),
            stripe.rows.unwrap_or(0),
            stripe.index_length.unwrap_or(0),
            stripe.data_length.unwrap_or(0),
            stripe.footer_length.unwrap_or(0),
        )
    })
}

/// The parts of a footer that are needed at once.
#[derive(Default)]
struct Schema {
    types: Vec<Type>,
    rows: u64,
    writer: u32,
}

impl Schema {
    fn read(footer: &Footer<'_>) -> io::Result<Schema> {
        let mut schema = Schema::default();
        footer.numbers(|field, number| match field {
            ROWS => schema.rows = number,
            WRITER => schema.writer = number as u32,
            _ => {}
        })?;
        let mut left = TYPES_MAX;
        footer.messages(TYPES, |kind: Type| {
            left = left.checked_sub(kind.memory()).ok_or_else(|| {
                let cause = format!("a schema of more than {TYPES_MAX} bytes");
                crate::damage::damaged(FORMAT, footer.offset, cause)
            })?;
            schema.types.push(kind);
            Ok(())
        })?;
        Ok(schema)
    }
}

impl Type {
    /// Returns the number of bytes that the type takes in memory, growth of the lists included.
    fn memory(&self) -> usize {
        let names = self.field_names.iter().map(String::capacity).sum::<usize>();
        let list = self.field_names.capacity() * size_of::<String>();
        2 * size_of::<Type>() + list + names + self.subtypes.capacity() * size_of::<u32>()
    }
}

/// Longest text of a schema; types that name each other may make it grow without end.
const SCHEMA_MAX: usize = 1 << 20;

fn show_type(types: &[Type], at: usize, depth: usize, out: &mut String) {
    let Some(kind) = types.get(at).filter(|_| depth < DEPTH_MAX) else {
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
                let field = kind.field_names.get(at).map_or("?", String::as_str);
                // Before each field: a type may have thousands, each of which has thousands.
                if out.len() + field.len() > SCHEMA_MAX {
                    out.push('?');
                    break;
                }
                if name == "struct" {
                    out.push_str(field);
                    out.push(':');
                }
                show_type(types, *sub as usize, depth + 1, out);
            }
            out.push('>');
        }
        _ => {}
    }
}
