//! What the footer of a Parquet file says: schema, rows, row groups.
//!
//! ```text
//! "PAR1" | row groups | footer (Thrift, compact) | length of the footer (u32, little-endian) | "PAR1"
//! ```

use std::io::{self, Read, Seek, Write};

use super::tail::Tail;
use super::thrift::{self, Items, Value};
use super::unsupported;

/// The first bytes of a Parquet file.
pub const MAGIC: &[u8] = b"PAR1";
const FORMAT: &str = "Parquet";
/// Groups within groups, more than any schema has.
const DEPTH_MAX: usize = 100;

const TYPES: [&str; 8] =
    ["boolean", "int32", "int64", "int96", "float", "double", "binary", "fixed_len_byte_array"];
const REPETITIONS: [&str; 3] = ["required", "optional", "repeated"];
const CODECS: [&str; 8] =
    ["uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "zstd", "lz4_raw"];
const CONVERTED: [&str; 22] = [
    "UTF8",
    "MAP",
    "MAP_KEY_VALUE",
    "LIST",
    "ENUM",
    "DECIMAL",
    "DATE",
    "TIME_MILLIS",
    "TIME_MICROS",
    "TIMESTAMP_MILLIS",
    "TIMESTAMP_MICROS",
    "UINT_8",
    "UINT_16",
    "UINT_32",
    "UINT_64",
    "INT_8",
    "INT_16",
    "INT_32",
    "INT_64",
    "JSON",
    "BSON",
    "INTERVAL",
];

fn name<'a>(names: &[&'a str], at: Option<i64>) -> Option<&'a str> {
    names.get(usize::try_from(at?).ok()?).copied()
}

/// Writes what the footer says, for people.
pub fn write_summary(input: impl Read + Seek, out: &mut dyn Write) -> io::Result<()> {
    let mut tail = Tail::new(input, FORMAT)?;
    let end = tail.bytes(8, 0)?;
    if end.ends_with(b"PARE") {
        return Err(unsupported("the footer of this Parquet file is encrypted"));
    }
    if !end.ends_with(MAGIC) {
        return tail.wrong(4, "the file does not end with PAR1");
    }
    let length = u32::from_le_bytes(*end.first_chunk().unwrap_or(&[0; 4]));
    let footer = tail.bytes(length.into(), 8)?;
    let meta = match thrift::read_struct(&footer) {
        Ok(meta) => meta,
        Err((at, cause)) => return tail.wrong(8 + (footer.len() - at) as u64, cause),
    };
    let by = meta.text(6).unwrap_or("an unnamed program".into());
    writeln!(out, "Parquet file, version {}, written by {by}", meta.int(1).unwrap_or(0))?;
    writeln!(out, "rows: {}", meta.int(3).unwrap_or(0))?;
    writeln!(out, "schema:")?;
    let mut elements = meta.items(2);
    if let Some(root) = elements.next() {
        writeln!(out, "message {} {{", root.text(4).unwrap_or_default())?;
        show_fields(&mut elements, root.int(5).unwrap_or(0), 1, out)?;
        writeln!(out, "}}")?;
    }
    for entry in meta.items(5) {
        let value = entry.text(2).unwrap_or_default();
        writeln!(out, "metadata: {}={value}", entry.text(1).unwrap_or_default())?;
    }
    meta.items(4).enumerate().try_for_each(|(at, group)| show_group(at, &group, out))
}

/// The next `count` fields, each with those within it.
fn show_fields(
    elements: &mut Items<'_>,
    count: i64,
    depth: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    for _ in 0..count {
        let Some(element) = elements.next() else { return Ok(()) };
        let indent = "  ".repeat(depth.min(DEPTH_MAX));
        let repetition = name(&REPETITIONS, element.int(3)).unwrap_or("required");
        let label = element.text(4).unwrap_or_default();
        let meant = match (name(&CONVERTED, element.int(6)), element.int(8), element.int(7)) {
            (Some("DECIMAL"), Some(precision), scale) => {
                format!(" (DECIMAL({precision},{}))", scale.unwrap_or(0))
            }
            (Some(meant), ..) => format!(" ({meant})"),
            _ => String::new(),
        };
        match element.int(5).filter(|children| *children > 0) {
            Some(children) if depth < DEPTH_MAX => {
                writeln!(out, "{indent}{repetition} group {label}{meant} {{")?;
                show_fields(elements, children, depth + 1, out)?;
                writeln!(out, "{indent}}}")?;
            }
            _ => {
                let kind = name(&TYPES, element.int(1)).unwrap_or("?");
                let length = match element.int(2) {
                    Some(length) if kind == "fixed_len_byte_array" => format!("({length})"),
                    _ => String::new(),
                };
                writeln!(out, "{indent}{repetition} {kind}{length} {label}{meant};")?;
            }
        }
    }
    Ok(())
}

fn show_group(at: usize, group: &Value<'_>, out: &mut dyn Write) -> io::Result<()> {
    let (rows, bytes) = (group.int(3).unwrap_or(0), group.int(2).unwrap_or(0));
    writeln!(out, "row group {at}: {rows} rows, {bytes} bytes")?;
    for column in group.items(1) {
        let Some(meta) = column.field(3) else { continue };
        write!(out, "  ")?;
        for (at, part) in meta.items(3).filter_map(|part| part.as_text()).enumerate() {
            write!(out, "{}{part}", if at > 0 { "." } else { "" })?;
        }
        writeln!(
            out,
            ": {}, {} values, {} bytes of {}",
            name(&CODECS, meta.int(4)).unwrap_or("other"),
            meta.int(5).unwrap_or(0),
            meta.int(7).unwrap_or(0),
            meta.int(6).unwrap_or(0),
        )?;
    }
    Ok(())
}
