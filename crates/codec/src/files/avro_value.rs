//! Avro's values, from their bytes straight to the JSON that Java's JsonEncoder writes.

use std::io::{self, BufRead, Write};

use super::avro_schema::{Schema, Type, TypeId};
use super::{java, text};
use crate::damage::{cut, damaged};
use crate::source::Source;

/// The format's name in errors.
pub(super) const FORMAT: &str = "Avro";
/// Values within values, deeper than any that are meant.
const DEPTH_MAX: usize = 200;
/// Items that take no bytes, as an array of nulls has them.
const EMPTY_MAX: u64 = 1 << 16;
/// Longest string or run of bytes.
const LENGTH_MAX: i64 = 1 << 30;

/// Reads values of a schema.
pub(super) struct Values<R> {
    pub source: Source<R>,
    buffer: Vec<u8>,
    depth: usize,
}

impl<R: BufRead> Values<R> {
    pub(super) fn new(source: Source<R>) -> Self {
        Values { source, buffer: Vec::new(), depth: 0 }
    }

    fn wrong<T>(&self, cause: impl ToString) -> io::Result<T> {
        Err(damaged(FORMAT, self.source.offset(), cause))
    }

    fn byte(&mut self) -> io::Result<u8> {
        let byte = self.source.fill_buf()?.first().copied();
        self.source.consume(usize::from(byte.is_some()));
        byte.ok_or_else(|| cut(FORMAT, self.source.offset()))
    }

    /// A number in seven bits a byte, least significant first, the sign in the lowest bit.
    pub(super) fn long(&mut self) -> io::Result<i64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed());
            }
        }
        self.wrong("a number is too long")
    }

    /// The next bytes, in the buffer.
    pub(super) fn bytes(&mut self, length: i64) -> io::Result<&[u8]> {
        let length = self.length(length)?;
        self.source.read_into(FORMAT, length as usize, &mut self.buffer)?;
        Ok(&self.buffer)
    }

    pub(super) fn string(&mut self) -> io::Result<String> {
        let length = self.long()?;
        Ok(String::from_utf8_lossy(self.bytes(length)?).into_owned())
    }

    /// Writes the next string as JSON. Compressed, a megabyte can hold a string of a gigabyte.
    fn quoted_string(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let length = self.long()?;
        let length = self.length(length)?;
        out.write_all(b"\"")?;
        text::utf8(&mut self.source, FORMAT, length, |piece| escaped(piece, out))?;
        out.write_all(b"\"")
    }

    /// Writes the next bytes as characters of the same number.
    fn latin(&mut self, length: i64, out: &mut dyn Write) -> io::Result<()> {
        let length = self.length(length)?;
        out.write_all(b"\"")?;
        text::pieces(&mut self.source, FORMAT, length, |piece| {
            let piece: String = piece.iter().map(|byte| char::from(*byte)).collect();
            escaped(&piece, out)
        })?;
        out.write_all(b"\"")
    }

    fn length(&self, length: i64) -> io::Result<u64> {
        match u64::try_from(length) {
            Ok(known) if length <= LENGTH_MAX => Ok(known),
            _ => self.wrong(format!("a length of {length}")),
        }
    }

    /// Reads a value and writes it as JSON.
    pub(super) fn show(
        &mut self,
        schema: &Schema,
        id: TypeId,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if self.depth == DEPTH_MAX {
            return self.wrong("values are nested too deeply");
        }
        self.depth += 1;
        let result = self.value(schema, schema.get(id), out);
        self.depth -= 1;
        result
    }

    fn value(&mut self, schema: &Schema, kind: &Type, out: &mut dyn Write) -> io::Result<()> {
        match kind {
            Type::Null => out.write_all(b"null"),
            Type::Boolean => write!(out, "{}", self.byte()? != 0),
            Type::Int | Type::Long => write!(out, "{}", self.long()?),
            Type::Float => {
                let bytes = *self.bytes(4)?.first_chunk().unwrap_or(&[0; 4]);
                number(f32::from_le_bytes(bytes).into(), true, out)
            }
            Type::Double => {
                let bytes = *self.bytes(8)?.first_chunk().unwrap_or(&[0; 8]);
                number(f64::from_le_bytes(bytes), false, out)
            }
            Type::String => self.quoted_string(out),
            Type::Bytes => {
                let length = self.long()?;
                self.latin(length, out)
            }
            Type::Fixed(length) => self.latin(i64::try_from(*length).unwrap_or(i64::MAX), out),
            Type::Enum(symbols) => {
                let at = self.long()?;
                match usize::try_from(at).ok().and_then(|at| symbols.get(at)) {
                    Some(symbol) => quoted(symbol, out),
                    None => self.wrong(format!("symbol {at} of {}", symbols.len())),
                }
            }
            Type::Union(branches) => {
                let at = self.long()?;
                let Some((name, id)) = usize::try_from(at).ok().and_then(|at| branches.get(at))
                else {
                    return self.wrong(format!("branch {at} of a union of {}", branches.len()));
                };
                if *schema.get(*id) == Type::Null {
                    return out.write_all(b"null");
                }
                out.write_all(b"{")?;
                quoted(name, out)?;
                out.write_all(b":")?;
                self.show(schema, *id, out)?;
                out.write_all(b"}")
            }
            Type::Record(fields) => {
                out.write_all(b"{")?;
                for (at, (name, id)) in fields.iter().enumerate() {
                    comma(at > 0, out)?;
                    quoted(name, out)?;
                    out.write_all(b":")?;
                    self.show(schema, *id, out)?;
                }
                out.write_all(b"}")
            }
            Type::Array(items) => {
                out.write_all(b"[")?;
                self.items(out, |values, out| values.show(schema, *items, out))?;
                out.write_all(b"]")
            }
            Type::Map(items) => {
                out.write_all(b"{")?;
                self.items(out, |values, out| {
                    values.quoted_string(out)?;
                    out.write_all(b":")?;
                    values.show(schema, *items, out)
                })?;
                out.write_all(b"}")
            }
        }
    }

    /// The items of an array or map: counted blocks, until one of none. A negative count has the bytes behind it.
    fn items(
        &mut self,
        out: &mut dyn Write,
        mut item: impl FnMut(&mut Self, &mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let (mut is_more, mut empty) = (false, 0);
        loop {
            let count = self.long()?;
            if count < 0 {
                self.long()?;
            }
            if count == 0 {
                return Ok(());
            }
            for _ in 0..count.unsigned_abs() {
                comma(is_more, out)?;
                is_more = true;
                let before = self.source.offset();
                item(self, out)?;
                empty += u64::from(self.source.offset() == before);
                if empty > EMPTY_MAX {
                    return self.wrong("too many items without bytes");
                }
            }
        }
    }
}

fn comma(is_more: bool, out: &mut dyn Write) -> io::Result<()> {
    if is_more { out.write_all(b",") } else { Ok(()) }
}

/// Numbers that JSON has not stand in quotes.
fn number(value: f64, single: bool, out: &mut dyn Write) -> io::Result<()> {
    let text = java::number(value, single);
    if value.is_finite() { out.write_all(text.as_bytes()) } else { write!(out, "\"{text}\"") }
}

/// Writes a JSON string.
pub(super) fn quoted(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    escaped(text, out)?;
    out.write_all(b"\"")
}

/// Writes text with Jackson's escapes.
fn escaped(text: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut rest = text;
    let is_special = |c: char| matches!(c, '"' | '\\' | '\0'..='\x1f' | '\u{10000}'..);
    while let Some((at, found)) = rest.char_indices().find(|(_, c)| is_special(*c)) {
        let (plain, behind) = rest.split_at(at);
        out.write_all(plain.as_bytes())?;
        match found {
            '"' => out.write_all(b"\\\"")?,
            '\\' => out.write_all(b"\\\\")?,
            '\n' => out.write_all(b"\\n")?,
            '\r' => out.write_all(b"\\r")?,
            '\t' => out.write_all(b"\\t")?,
            '\x08' => out.write_all(b"\\b")?,
            '\x0c' => out.write_all(b"\\f")?,
            // Characters outside the basic plane are two, as in Java's strings.
            _ => {
                for unit in found.encode_utf16(&mut [0; 2]) {
                    write!(out, "\\u{unit:04X}")?;
                }
            }
        }
        rest = behind.get(found.len_utf8()..).unwrap_or_default();
    }
    out.write_all(rest.as_bytes())
}
