//! Hadoop's Writables: how values are laid out, and how Java's `toString` shows them.

use std::io::{self, Cursor, Read};

use super::{java, unsupported};
use crate::damage::damaged;
use crate::source::Source;

/// The format's name in errors.
pub(super) const FORMAT: &str = "SequenceFile";
/// Largest record, name or buffer that is believed to be meant.
pub(super) const LENGTH_MAX: i64 = 256 << 20;

/// The fields of a SequenceFile or of one of its values, in order.
pub(super) struct Fields<R> {
    pub source: Source<R>,
}

impl<R: io::BufRead> Fields<R> {
    pub(super) fn new(input: R) -> Self {
        Fields { source: Source::new(input) }
    }

    pub(super) fn wrong<T>(&self, cause: impl ToString) -> io::Result<T> {
        Err(damaged(FORMAT, self.source.offset(), cause))
    }

    pub(super) fn byte(&mut self) -> io::Result<u8> {
        let mut one = [0];
        match self.source.fill(&mut one)? {
            0 => Err(crate::damage::cut(FORMAT, self.source.offset())),
            _ => Ok(one[0]),
        }
    }

    pub(super) fn bytes(&mut self, length: i64) -> io::Result<Vec<u8>> {
        if !(0..=LENGTH_MAX).contains(&length) {
            return self.wrong(format!("a length of {length}"));
        }
        let mut out = Vec::new();
        self.source.read_into(FORMAT, length as usize, &mut out)?;
        Ok(out)
    }

    /// A big-endian 32-bit number; `None` at the end of the file.
    pub(super) fn int_or_end(&mut self) -> io::Result<Option<i32>> {
        Ok(self.source.u32_or_end(FORMAT)?.map(u32::cast_signed))
    }

    pub(super) fn int(&mut self) -> io::Result<i32> {
        Ok(self.source.u32(FORMAT)?.cast_signed())
    }

    fn long(&mut self) -> io::Result<i64> {
        let data = self.bytes(8)?;
        Ok(data.iter().fold(0_i64, |value, byte| value << 8 | i64::from(*byte)))
    }

    /// Hadoop's number of variable length (WritableUtils.readVLong).
    pub(super) fn vlong(&mut self) -> io::Result<i64> {
        let first = self.byte()?.cast_signed();
        let (count, negative) = match first {
            -112..=127 => return Ok(i64::from(first)),
            -120..=-113 => (-112 - i32::from(first), false),
            _ => (-120 - i32::from(first), true),
        };
        let mut value = 0_i64;
        for _ in 0..count {
            value = value << 8 | i64::from(self.byte()?);
        }
        Ok(if negative { !value } else { value })
    }

    pub(super) fn text(&mut self) -> io::Result<String> {
        let length = self.vlong()?;
        Ok(String::from_utf8_lossy(&self.bytes(length)?).into_owned())
    }
}

/// The Writable types that can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writable {
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

impl Writable {
    pub(super) fn of_class(class: &str) -> io::Result<Writable> {
        let name = class.strip_prefix("org.apache.hadoop.io.").unwrap_or(class);
        Ok(match name {
            "Text" => Writable::Text,
            "IntWritable" => Writable::Int,
            "LongWritable" => Writable::Long,
            "VIntWritable" | "VLongWritable" => Writable::VInt,
            "ShortWritable" => Writable::Short,
            "ByteWritable" => Writable::Byte,
            "BooleanWritable" => Writable::Boolean,
            "FloatWritable" => Writable::Float,
            "DoubleWritable" => Writable::Double,
            "BytesWritable" => Writable::Bytes,
            "NullWritable" => Writable::Null,
            _ => {
                return Err(unsupported(format!(
                    "records of {class} cannot be shown; only the types of org.apache.hadoop.io can"
                )));
            }
        })
    }

    /// The value as Java's toString has it.
    pub(super) fn show(self, data: &[u8]) -> io::Result<String> {
        let mut input = Fields::new(Cursor::new(data));
        Ok(match self {
            Writable::Text => input.text()?,
            Writable::Int => input.int()?.to_string(),
            Writable::Long => input.long()?.to_string(),
            Writable::VInt => input.vlong()?.to_string(),
            Writable::Short => i16::from_be_bytes([input.byte()?, input.byte()?]).to_string(),
            Writable::Byte => input.byte()?.cast_signed().to_string(),
            Writable::Boolean => (input.byte()? != 0).to_string(),
            Writable::Float => {
                java::number(f32::from_bits(input.int()?.cast_unsigned()).into(), true)
            }
            Writable::Double => java::number(f64::from_bits(input.long()?.cast_unsigned()), false),
            Writable::Bytes => {
                let length = input.int()?.into();
                let bytes = input.bytes(length)?;
                let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                pairs.join(" ")
            }
            Writable::Null => "(null)".to_owned(),
        })
    }
}

/// Everything that a decoder gives, if that is no more than a record may have.
pub(super) fn all_of(decoder: impl Read) -> io::Result<Vec<u8>> {
    let mut out = Vec::new();
    decoder.take(LENGTH_MAX as u64 + 1).read_to_end(&mut out)?;
    if out.len() as i64 > LENGTH_MAX {
        return Err(damaged(FORMAT, 0, format!("a record of more than {LENGTH_MAX} bytes")));
    }
    Ok(out)
}
