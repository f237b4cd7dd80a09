//! Java's `DataOutput` and Hadoop's writables: big endian, strings with a length in front.

use crate::error::DecodeError;
use crate::layout::LayoutVersion;
use zerohop_wire::{Block, BlockId, GenerationStamp};

type Result<T> = std::result::Result<T, DecodeError>;

/// The longest string in UTF-16 units that fits a length of two bytes whatever its letters. Hadoop
/// cuts longer ones (`UTF8.set`), and so do we: whoever makes an edit asks [`string_fits`] before.
const UTF8_UNITS_MAX: usize = 0xffff / 3;

/// Whether an edit can carry a string (a path, a name) as it is.
pub fn string_fits(text: &str) -> bool {
    text.len() <= UTF8_UNITS_MAX || text.encode_utf16().count() <= UTF8_UNITS_MAX
}

/// The longest user or group name, bytes (`Text.DEFAULT_MAX_LEN`).
const TEXT_LEN_MAX: usize = 1024 * 1024;

/// Appends fields to a buffer.
#[derive(Debug)]
pub struct Writer<'a> {
    out: &'a mut Vec<u8>,
    layout: LayoutVersion,
}

impl<'a> Writer<'a> {
    /// Appends to `out` in `layout`.
    pub fn new(out: &'a mut Vec<u8>, layout: LayoutVersion) -> Self {
        Self { out, layout }
    }

    /// The layout being written.
    pub fn layout(&self) -> LayoutVersion {
        self.layout
    }

    /// Raw bytes.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.extend_from_slice(bytes);
    }

    /// One byte.
    pub fn u8(&mut self, value: u8) {
        self.out.push(value);
    }

    /// Two bytes.
    pub fn i16(&mut self, value: i16) {
        self.raw(&value.to_be_bytes());
    }

    /// Four bytes.
    pub fn i32(&mut self, value: i32) {
        self.raw(&value.to_be_bytes());
    }

    /// Eight bytes.
    pub fn i64(&mut self, value: i64) {
        self.raw(&value.to_be_bytes());
    }

    /// `WritableUtils.writeVLong`: one byte for -112..=127, else a byte for sign and length first.
    pub fn vlong(&mut self, value: i64) {
        if (-112..=127).contains(&value) {
            return self.u8(value as i8 as u8);
        }
        let (base, magnitude) =
            if value < 0 { (-120i8, !value as u64) } else { (-112, value as u64) };
        let len = 8 - magnitude.leading_zeros() as usize / 8;
        self.u8((base - len as i8) as u8);
        for byte in &magnitude.to_be_bytes()[8 - len..] {
            self.u8(*byte);
        }
    }

    /// `UTF8` (`DeprecatedUTF8`): two bytes of length, then each UTF-16 unit in one to three bytes
    /// (so letters beyond the basic plane take six).
    pub fn utf8(&mut self, text: &str) {
        let at = self.out.len();
        self.raw(&[0, 0]);
        if text.is_ascii() && text.len() <= UTF8_UNITS_MAX {
            self.raw(text.as_bytes());
        } else {
            self.utf16_units(text);
        }
        let len = (self.out.len() - at - 2) as u16;
        self.out[at..at + 2].copy_from_slice(&len.to_be_bytes());
    }

    fn utf16_units(&mut self, text: &str) {
        for unit in text.encode_utf16().take(UTF8_UNITS_MAX) {
            match unit {
                0..=0x7f => self.u8(unit as u8),
                0x80..=0x7ff => self.raw(&[0xc0 | (unit >> 6) as u8, 0x80 | (unit & 0x3f) as u8]),
                _ => self.raw(&[
                    0xe0 | (unit >> 12) as u8,
                    0x80 | (unit >> 6 & 0x3f) as u8,
                    0x80 | (unit & 0x3f) as u8,
                ]),
            }
        }
    }

    /// `Text`: a variable-length length, then UTF-8.
    pub fn text(&mut self, text: &str) {
        self.vlong(text.len() as i64);
        self.raw(text.as_bytes());
    }

    /// Two bytes of length, then the bytes.
    pub fn short_bytes(&mut self, bytes: &[u8]) {
        debug_assert!(bytes.len() <= usize::from(u16::MAX));
        self.raw(&(bytes.len() as u16).to_be_bytes());
        self.raw(bytes);
    }

    /// A protobuf with its length in front.
    pub fn proto(&mut self, message: &impl prost::Message) {
        prost::encoding::encode_varint(message.encoded_len() as u64, self.out);
        message.encode_raw(self.out);
    }

    /// A block as `Block.write` does: id, length, stamp.
    pub fn block(&mut self, block: &Block) {
        self.i64(block.id.0);
        self.i64(block.len as i64);
        self.i64(block.stamp.0);
    }

    /// `ArrayWritable` of blocks.
    pub fn blocks(&mut self, blocks: &[Block]) {
        self.i32(blocks.len() as i32);
        for block in blocks {
            self.block(block);
        }
    }

    /// Blocks with length and stamp as differences to the block before (`writeCompactBlockArray`).
    pub fn compact_blocks<'b>(&mut self, blocks: impl ExactSizeIterator<Item = &'b Block>) {
        self.vlong(blocks.len() as i64);
        let mut previous = Block::default();
        for block in blocks {
            self.i64(block.id.0);
            self.vlong((block.len as i64).wrapping_sub(previous.len as i64));
            self.vlong(block.stamp.0.wrapping_sub(previous.stamp.0));
            previous = *block;
        }
    }
}

/// Takes fields off the front of a slice.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    layout: LayoutVersion,
}

impl<'a> Reader<'a> {
    /// Reads `bytes` written in `layout`.
    pub fn new(bytes: &'a [u8], layout: LayoutVersion) -> Self {
        Self { rest: bytes, layout }
    }

    /// The layout being read.
    pub fn layout(&self) -> LayoutVersion {
        self.layout
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// That nothing is left.
    pub fn finish(&self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::LeftOver(self.rest.len())) }
    }

    /// The next `len` bytes.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(len) {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(taken)
            }
            None => Err(DecodeError::Short { needed: len - self.rest.len() }),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        match self.rest.split_first_chunk::<N>() {
            Some((taken, rest)) => {
                self.rest = rest;
                Ok(*taken)
            }
            None => Err(DecodeError::Short { needed: N - self.rest.len() }),
        }
    }

    /// One byte.
    pub fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// Two bytes.
    pub fn i16(&mut self) -> Result<i16> {
        self.array().map(i16::from_be_bytes)
    }

    /// Four bytes.
    pub fn i32(&mut self) -> Result<i32> {
        self.array().map(i32::from_be_bytes)
    }

    /// Eight bytes.
    pub fn i64(&mut self) -> Result<i64> {
        self.array().map(i64::from_be_bytes)
    }

    /// A count of things that take at least `size` bytes each, so that a lie is found before
    /// memory is set aside for it.
    pub fn count(&self, what: &'static str, value: i64, size: usize) -> Result<usize> {
        match usize::try_from(value) {
            Ok(count) if count.saturating_mul(size) <= self.rest.len() => Ok(count),
            _ => Err(DecodeError::Value { what, value }),
        }
    }

    /// `WritableUtils.readVLong`.
    pub fn vlong(&mut self) -> Result<i64> {
        let first = self.u8()? as i8;
        if first >= -112 {
            return Ok(i64::from(first));
        }
        let (negative, len) = match first {
            ..=-121 => (true, (-120 - i16::from(first)) as usize),
            _ => (false, (-112 - i16::from(first)) as usize),
        };
        let magnitude = self.take(len)?.iter().fold(0i64, |acc, byte| acc << 8 | i64::from(*byte));
        Ok(if negative { !magnitude } else { magnitude })
    }

    /// `WritableUtils.readVInt`: as [`Self::vlong`], within an `int`.
    pub fn vint(&mut self) -> Result<i32> {
        let value = self.vlong()?;
        i32::try_from(value).map_err(|_| DecodeError::Value { what: "variable-length int", value })
    }

    /// See [`Writer::utf8`].
    pub fn utf8(&mut self) -> Result<String> {
        let len = usize::from(u16::from_be_bytes(self.array()?));
        let bytes = self.take(len)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(_) => utf16_units(bytes),
        }
    }

    /// See [`Writer::text`].
    pub fn text(&mut self) -> Result<&'a str> {
        let value = self.vlong()?;
        let len = self.count("string length", value, 1)?;
        if len > TEXT_LEN_MAX {
            return Err(DecodeError::Value { what: "string length", value });
        }
        std::str::from_utf8(self.take(len)?).map_err(|_| DecodeError::Utf8)
    }

    /// See [`Writer::short_bytes`].
    pub fn short_bytes(&mut self) -> Result<&'a [u8]> {
        let len = usize::from(u16::from_be_bytes(self.array()?));
        self.take(len)
    }

    /// A protobuf with its length in front.
    pub fn proto<M: zerohop_proto::Checked + Default>(&mut self) -> Result<M> {
        let len = prost::encoding::decode_varint(&mut self.rest)
            .map_err(|e| DecodeError::Proto(e.to_string()))?;
        let len = self.count("message length", i64::try_from(len).unwrap_or(i64::MAX), 1)?;
        let bytes = bytes::Bytes::copy_from_slice(self.take(len)?);
        zerohop_proto::decode(bytes).map_err(|e| DecodeError::Proto(e.to_string()))
    }

    /// See [`Writer::block`].
    pub fn block(&mut self) -> Result<Block> {
        let id = BlockId(self.i64()?);
        let len = self.block_len()?;
        Ok(Block { id, len, stamp: GenerationStamp(self.i64()?) })
    }

    fn block_len(&mut self) -> Result<u64> {
        let value = self.i64()?;
        u64::try_from(value).map_err(|_| DecodeError::Value { what: "block length", value })
    }

    /// See [`Writer::blocks`].
    pub fn blocks(&mut self) -> Result<Vec<Block>> {
        let value = self.i32()?;
        let count = self.count("number of blocks", value.into(), 24)?;
        (0..count).map(|_| self.block()).collect()
    }

    /// See [`Writer::compact_blocks`].
    pub fn compact_blocks(&mut self) -> Result<Vec<Block>> {
        let value = self.vint()?;
        let count = self.count("number of blocks", value.into(), 10)?;
        let mut blocks = Vec::with_capacity(count);
        let mut previous = Block::default();
        for _ in 0..count {
            let id = BlockId(self.i64()?);
            let len = (previous.len as i64).wrapping_add(self.vlong()?);
            let len = u64::try_from(len)
                .map_err(|_| DecodeError::Value { what: "block length", value: len })?;
            let stamp = GenerationStamp(previous.stamp.0.wrapping_add(self.vlong()?));
            previous = Block { id, stamp, len };
            blocks.push(previous);
        }
        Ok(blocks)
    }
}

/// Bytes in which letters beyond the basic plane are two units of three bytes each; Java shows a
/// unit that has lost its partner as a question mark when it makes UTF-8 of it, so do we.
fn utf16_units(bytes: &[u8]) -> Result<String> {
    let mut units = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().map(|byte| u32::from(*byte));
    let tail = |rest: &mut dyn Iterator<Item = u32>, acc: u32, count: usize| {
        (0..count).try_fold(acc, |acc, _| rest.next().map(|b| acc << 6 | b & 0x3f))
    };
    while let Some(first) = rest.next() {
        let code = match first {
            0..=0x7f => Some(first),
            0xc0..=0xdf => tail(&mut rest, first & 0x1f, 1),
            0xe0..=0xef => tail(&mut rest, first & 0x0f, 2),
            0xf0..=0xf7 => tail(&mut rest, first & 0x07, 3),
            _ => None,
        };
        match code {
            Some(code @ 0..=0xffff) => units.push(code as u16),
            Some(code) => {
                let beyond = char::from_u32(code).ok_or(DecodeError::Utf8)?;
                units.extend_from_slice(beyond.encode_utf16(&mut [0; 2]));
            }
            None => return Err(DecodeError::Utf8),
        }
    }
    Ok(char::decode_utf16(units).map(|unit| unit.unwrap_or('?')).collect())
}
