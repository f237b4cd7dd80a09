//! The footer of an ORC file as a stream of fields. Only the field that is being shown is in memory.

use std::io::{self, BufRead, BufReader, Cursor, Read};

use prost::Message;

use super::inflate::Inflate;
use super::unsupported;
use crate::codec::Codec;
use crate::damage::{cut, damaged};
use crate::raw::RawCodec;

pub(super) const FORMAT: &str = "ORC";
/// Largest plain footer. Unpacking it takes time, not memory.
const FOOTER_MAX: u64 = 256 << 20;
/// Largest plain chunk: three bytes hold its length and one bit.
const CHUNK_MAX: usize = 1 << 23;
/// Largest encoded message that is decoded. A decoded message takes up to 25 times as much memory.
const MESSAGE_MAX: u64 = 4 << 20;
/// Longest encoding of a 64-bit number.
const VARINT_MAX: u32 = 10;

/// A footer as the file holds it.
pub(super) struct Footer<'a> {
    pub packed: &'a [u8],
    pub compression: u32,
    /// Offset of the footer in the file.
    pub offset: u64,
}

impl Footer<'_> {
    /// Passes each message in a field of this number to `show`.
    pub(super) fn messages<M: Message + Default>(
        &self,
        number: u32,
        mut show: impl FnMut(M) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut fields = self.fields();
        let mut message = Vec::new();
        while let Some((found, value)) = fields.next()? {
            match value {
                Field::Bytes(length) if found == number => {
                    if length > MESSAGE_MAX {
                        return self.wrong(format!("a field of {length} bytes"));
                    }
                    message.clear();
                    fields.plain.by_ref().take(length).read_to_end(&mut message)?;
                    if (message.len() as u64) < length {
                        return Err(cut(FORMAT, self.end()));
                    }
                    let decoded = M::decode(message.as_slice()).or_else(|error| self.wrong(error));
                    show(decoded?)?;
                }
                value => fields.skip(value)?,
            }
        }
        Ok(())
    }

    /// Passes each number of the footer itself to `take`, with the number of its field.
    pub(super) fn numbers(&self, mut take: impl FnMut(u32, u64)) -> io::Result<()> {
        let mut fields = self.fields();
        while let Some((found, value)) = fields.next()? {
            match value {
                Field::Number(value) => take(found, value),
                value => fields.skip(value)?,
            }
        }
        Ok(())
    }

    fn end(&self) -> u64 {
        self.offset + self.packed.len() as u64
    }

    fn wrong<T>(&self, cause: impl ToString) -> io::Result<T> {
        Err(damaged(FORMAT, self.offset, cause))
    }

    fn fields(&self) -> Fields<'_> {
        let plain: Box<dyn Read> = match self.compression {
            0 => Box::new(self.packed),
            _ => Box::new(Chunks {
                footer: self,
                rest: self.packed,
                chunk: Box::new(io::empty()),
                made: 0,
            }),
        };
        // One byte more than may be: a footer that is too large differs from one that ends.
        Fields { plain: BufReader::new(plain).take(FOOTER_MAX + 1), footer: self }
    }
}

/// The value of a field, as far as it was read.
enum Field {
    Number(u64),
    /// This number of bytes follows.
    Bytes(u64),
}

struct Fields<'a> {
    plain: io::Take<BufReader<Box<dyn Read + 'a>>>,
    footer: &'a Footer<'a>,
}

impl Fields<'_> {
    /// Reads the next field up to its bytes; returns `None` at the end.
    fn next(&mut self) -> io::Result<Option<(u32, Field)>> {
        if self.plain.fill_buf()?.is_empty() {
            return match self.plain.limit() {
                0 => self.footer.wrong(format!("a footer of more than {FOOTER_MAX} bytes")),
                _ => Ok(None),
            };
        }
        let key = self.varint()?;
        let value = match key & 7 {
            0 => Field::Number(self.varint()?),
            1 => Field::Bytes(8),
            2 => Field::Bytes(self.varint()?),
            5 => Field::Bytes(4),
            kind => return self.footer.wrong(format!("a field of kind {kind}")),
        };
        Ok(Some((u32::try_from(key >> 3).unwrap_or(0), value)))
    }

    fn varint(&mut self) -> io::Result<u64> {
        let mut value = 0_u64;
        for step in 0..VARINT_MAX {
            let mut byte = [0];
            if self.plain.read(&mut byte)? == 0 {
                return Err(cut(FORMAT, self.footer.end()));
            }
            value |= u64::from(byte[0] & 0x7f) << (7 * step);
            if byte[0] < 0x80 {
                return Ok(value);
            }
        }
        self.footer.wrong("a number is too long")
    }

    fn skip(&mut self, value: Field) -> io::Result<()> {
        let Field::Bytes(length) = value else { return Ok(()) };
        let skipped = io::copy(&mut self.plain.by_ref().take(length), &mut io::sink())?;
        if skipped < length { Err(cut(FORMAT, self.footer.end())) } else { Ok(()) }
    }
}

/// The plain bytes of the chunks.
struct Chunks<'a> {
    footer: &'a Footer<'a>,
    rest: &'a [u8],
    chunk: Box<dyn Read + 'a>,
    /// Plain bytes of this chunk so far.
    made: usize,
}

impl Read for Chunks<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.chunk.read(buffer)?;
            self.made += count;
            if self.made > CHUNK_MAX {
                return self.footer.wrong(format!("a chunk of more than {CHUNK_MAX} bytes"));
            }
            if count > 0 || self.rest.is_empty() || buffer.is_empty() {
                return Ok(count);
            }
            let at = self.footer.end() - self.rest.len() as u64;
            let cut = || cut(FORMAT, at);
            let (head, behind) = self.rest.split_first_chunk::<3>().ok_or_else(cut)?;
            let head = u32::from_le_bytes([head[0], head[1], head[2], 0]);
            let (chunk, behind) = behind.split_at_checked((head >> 1) as usize).ok_or_else(cut)?;
            (self.rest, self.made) = (behind, 0);
            self.chunk = match head & 1 {
                1 => Box::new(chunk),
                _ => unpack(chunk, self.footer.compression, at)?,
            };
        }
    }
}

/// Returns the plain bytes of a chunk that begins at `at` of the file.
fn unpack(chunk: &[u8], compression: u32, at: u64) -> io::Result<Box<dyn Read + '_>> {
    let raw = match compression {
        1 => return Ok(Box::new(Inflate::new(chunk, FORMAT, at))),
        5 => {
            return Codec::Zstandard
                .buffered_decoder(chunk)
                .map(|decoder| decoder as Box<dyn Read>);
        }
        2 => RawCodec::Snappy,
        3 => RawCodec::Lzo,
        4 => RawCodec::Lz4,
        _ => return Err(unsupported(format!("ORC's compression {compression} is not supported"))),
    };
    let mut plain = Vec::new();
    let made = raw.unpack(chunk, &mut plain, CHUNK_MAX);
    plain.truncate(made.map_err(|cause| damaged(FORMAT, at, cause))?);
    Ok(Box::new(Cursor::new(plain)))
}
