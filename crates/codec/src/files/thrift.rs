//! Thrift's compact protocol, in which Parquet writes its footer.
//!
//! Values are looked up in the encoded bytes. Decoded, a list of booleans would take 32 times as much memory.

use std::borrow::Cow;

use crate::files::thrift::Value::{Bool, Bytes, Double, Int, List, Struct};

/// Values within values, deeper than any that are meant.
const DEPTH_MAX: usize = 32;

/// A value without its names.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value<'a> {
    Bool(bool),
    Int(i64),
    Double,
    Bytes(&'a [u8]),
    /// Lists and sets.
    List(Items<'a>),
    /// Encoded fields with their ids.
    Struct(&'a [u8]),
}

impl<'a> Value<'a> {
    /// A field of a struct.
    pub(super) fn field(&self, id: i16) -> Option<Value<'a>> {
        let Struct(bytes) = *self else { return None };
        let mut reader = Reader { bytes, at: 0 };
        let mut found = 0;
        while let Ok(Some(value)) = reader.field(&mut found, 0) {
            if found == id {
                return Some(value);
            }
        }
        None
    }

    /// A number in a field.
    pub(super) fn int(&self, id: i16) -> Option<i64> {
        match self.field(id)? {
            Int(value) => Some(value),
            _ => None,
        }
    }

    /// Text in a field.
    pub(super) fn text(&self, id: i16) -> Option<Cow<'a, str>> {
        self.field(id)?.as_text()
    }

    pub(super) fn as_text(&self) -> Option<Cow<'a, str>> {
        match self {
            Bytes(bytes) => Some(String::from_utf8_lossy(bytes)),
            _ => None,
        }
    }

    /// The items of a list in a field.
    pub(super) fn items(&self, id: i16) -> Items<'a> {
        match self.field(id) {
            Some(List(items)) => items,
            _ => Items { bytes: &[], kind: 0, left: 0 },
        }
    }
}

/// The items of a list that were not taken yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Items<'a> {
    bytes: &'a [u8],
    kind: u8,
    left: u64,
}

impl<'a> Iterator for Items<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        self.left = self.left.checked_sub(1)?;
        let mut reader = Reader { bytes: self.bytes, at: 0 };
        let value = reader.value(self.kind, 0).ok()?;
        self.bytes = reader.rest();
        Some(value)
    }
}

/// Checks the encoding of a struct; an error is what is wrong and where.
pub(super) fn read_struct(bytes: &[u8]) -> Result<Value<'_>, (usize, &'static str)> {
    let mut reader = Reader { bytes, at: 0 };
    reader.fields(0).map_err(|cause| (reader.at, cause))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Result1<T> = Result<T, &'static str>;

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// Returns the bytes that were read since `start`.
    fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    fn byte(&mut self) -> Result1<u8> {
        let byte = *self.bytes.get(self.at).ok_or("the footer ends in the middle")?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result1<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err("a number is too long")
    }

    fn int(&mut self) -> Result1<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn bytes(&mut self, length: u64) -> Result1<&'a [u8]> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let part = self.rest().get(..length).ok_or("the footer ends in the middle")?;
        self.at += length;
        Ok(part)
    }

    /// Reads the next field of a struct and its id; returns `None` at the end.
    fn field(&mut self, id: &mut i16, depth: usize) -> Result1<Option<Value<'a>>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        *id = match head >> 4 {
            0 => self.int()? as i16,
            step => id.wrapping_add(i16::from(step)),
        };
        Ok(Some(match head & 15 {
            1 => Bool(true),
            2 => Bool(false),
            kind => self.value(kind, depth)?,
        }))
    }

    fn fields(&mut self, depth: usize) -> Result1<Value<'a>> {
        if depth > DEPTH_MAX {
            return Err("values are nested too deeply");
        }
        let (start, mut id) = (self.at, 0);
        while self.field(&mut id, depth)?.is_some() {}
        Ok(Struct(self.since(start)))
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result1<Value<'a>> {
        Ok(match kind {
            1 | 2 => Bool(self.byte()? == 1),
            3 => Int(i64::from(self.byte()?.cast_signed())),
            4..=6 => Int(self.int()?),
            7 => {
                self.bytes(8)?;
                Double
            }
            8 => {
                let length = self.varint()?;
                Bytes(self.bytes(length)?)
            }
            9 | 10 => self.list(depth)?,
            12 => self.fields(depth + 1)?,
            _ => return Err("a kind of value that Parquet does not use"),
        })
    }

    /// Each item takes a byte at least, so that no list is longer than what is there.
    fn list(&mut self, depth: usize) -> Result1<Value<'a>> {
        if depth > DEPTH_MAX {
            return Err("values are nested too deeply");
        }
        let head = self.byte()?;
        let left = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        let (start, kind) = (self.at, head & 15);
        for _ in 0..left {
            self.value(kind, depth + 1)?;
        }
        Ok(List(Items { bytes: self.since(start), kind, left }))
    }
}
