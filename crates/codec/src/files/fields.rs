//! The fields of a SequenceFile: numbers and text as Java's DataOutput and Hadoop's WritableUtils write them.

use std::io;

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

    /// Creates fields that begin at `offset` of the file.
    pub(super) fn starting_at(input: R, offset: u64) -> Self {
        Fields { source: Source::starting_at(input, offset) }
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

    pub(super) fn short(&mut self) -> io::Result<u16> {
        Ok(u16::from_be_bytes([self.byte()?, self.byte()?]))
    }

    pub(super) fn long(&mut self) -> io::Result<i64> {
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

    /// Reads a text of at most 64 KB, with its length in two bytes: DataOutput.writeUTF and Hadoop's old UTF8.
    pub(super) fn short_text(&mut self) -> io::Result<String> {
        let length = self.short()?.into();
        Ok(java_text(&self.bytes(length)?))
    }
}

/// Decodes Java's own UTF-8. A character outside the basic plane is two units of three bytes each, or four bytes.
pub(super) fn java_text(bytes: &[u8]) -> String {
    let (mut units, mut rest) = (Vec::new(), bytes.iter().map(|byte| u32::from(*byte)));
    let next = |rest: &mut dyn Iterator<Item = u32>, acc: u32, count: usize| {
        (0..count).fold(acc, |acc, _| acc << 6 | rest.next().unwrap_or(0) & 0x3f)
    };
    while let Some(first) = rest.next() {
        let code = match first {
            0..0x80 => first,
            0xc0..0xe0 => next(&mut rest, first & 0x1f, 1),
            0xe0..0xf0 => next(&mut rest, first & 0xf, 2),
            0xf0..0xf8 => next(&mut rest, first & 7, 3),
            _ => 0xfffd,
        };
        match u16::try_from(code) {
            Ok(unit) => units.push(unit),
            Err(_) => {
                let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
                units.extend_from_slice(letter.encode_utf16(&mut [0; 2]));
            }
        }
    }
    String::from_utf16_lossy(&units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn javas_text_has_pairs_of_units() {
        let bytes = b"a\xc3\xa9\xe2\x82\xac\xed\xa0\xbd\xed\xb8\x80\xf0\x9f\x98\x80\xc0\x80";
        assert_eq!(java_text(bytes), "a\u{e9}\u{20ac}\u{1f600}\u{1f600}\0");
        for bytes in [&b"\xff"[..], b"\xed\xa0\xbd", b"\xf7\xff\xff\xff"] {
            assert_eq!(java_text(bytes), "\u{fffd}");
        }
        assert_eq!(java_text(b"\xc3").chars().count(), 1);
    }
}
