//! Thrift's compact protocol, in which Parquet writes its footer.

use crate::files::thrift::Value::{Bool, Bytes, Double, Int, List, Struct};

/// Values within values, deeper than any that are meant.
const DEPTH_MAX: usize = 32;

/// A value without its names.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Bool(bool),
    Int(i64),
    Double,
    Bytes(Vec<u8>),
    /// Lists and sets.
    List(Vec<Value>),
    /// Fields with their ids.
    Struct(Vec<(i16, Value)>),
}

impl Value {
    /// A field of a struct.
    pub(super) fn field(&self, id: i16) -> Option<&Value> {
        match self {
            Struct(fields) => fields.iter().find(|(known, _)| *known == id).map(|(_, value)| value),
            _ => None,
        }
    }

    /// A number in a field.
    pub(super) fn int(&self, id: i16) -> Option<i64> {
        match self.field(id)? {
            Int(value) => Some(*value),
            _ => None,
        }
    }

    /// Text in a field.
    pub(super) fn text(&self, id: i16) -> Option<String> {
        self.field(id)?.as_text()
    }

    pub(super) fn as_text(&self) -> Option<String> {
        match self {
            Bytes(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    /// The items of a list in a field.
    pub(super) fn items(&self, id: i16) -> &[Value] {
        match self.field(id) {
            Some(List(items)) => items,
            _ => &[],
        }
    }
}

/// Reads a struct; an error is what is wrong and where.
pub(super) fn read_struct(bytes: &[u8]) -> Result<Value, (usize, &'static str)> {
    let mut reader = Reader { bytes, at: 0 };
    reader.fields(0).map_err(|cause| (reader.at, cause))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

type Result1<T> = Result<T, &'static str>;

impl Reader<'_> {
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

    fn bytes(&mut self, length: u64) -> Result1<&[u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let part = rest.get(..length).ok_or("the footer ends in the middle")?;
        self.at += length;
        Ok(part)
    }

    fn fields(&mut self, depth: usize) -> Result1<Value> {
        if depth > DEPTH_MAX {
            return Err("values are nested too deeply");
        }
        let (mut fields, mut id) = (Vec::new(), 0_i16);
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(Struct(fields));
            }
            id = match head >> 4 {
                0 => self.int()? as i16,
                step => id.wrapping_add(i16::from(step)),
            };
            let value = match head & 15 {
                1 => Bool(true),
                2 => Bool(false),
                kind => self.value(kind, depth)?,
            };
            fields.push((id, value));
        }
    }

    fn value(&mut self, kind: u8, depth: usize) -> Result1<Value> {
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
                Bytes(self.bytes(length)?.to_vec())
            }
            9 | 10 => self.list(depth)?,
            12 => self.fields(depth + 1)?,
            _ => return Err("a kind of value that Parquet does not use"),
        })
    }

    /// Each item takes a byte at least, so that no list is longer than what is there.
    fn list(&mut self, depth: usize) -> Result1<Value> {
        if depth > DEPTH_MAX {
            return Err("values are nested too deeply");
        }
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            count => u64::from(count),
        };
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(self.value(head & 15, depth + 1)?);
        }
        Ok(List(items))
    }
}
