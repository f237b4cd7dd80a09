//! The header of an lzop file:
//!
//! ```text
//! magic (9 bytes) | version u16 | library u16 | [version needed u16] | method u8 | [level u8] | flags u32
//! | [filter u32] | mode u32 | time u32 | [time, high part u32] | length of the name u8 | name | checksum u32
//! | [extra field: length u32, bytes, checksum u32]
//! ```
//!
//! What stands in brackets is there from version 0x0940 on, or where a flag says so. The checksum covers what is
//! between magic and checksum.

use std::io::{self, BufRead};

use super::FORMAT;
use crate::damage::damaged;
use crate::source::Source;

pub(super) const MAGIC: [u8; 9] = [0x89, b'L', b'Z', b'O', 0, b'\r', b'\n', 0x1a, b'\n'];
pub(super) const VERSION: u16 = 0x1040;
pub(super) const VERSION_NEEDED: u16 = 0x0940;
pub(super) const LIBRARY: u16 = 0x20a0;

pub(super) const ADLER32_PLAIN: u32 = 0x1;
const ADLER32_PACKED: u32 = 0x2;
const EXTRA_FIELD: u32 = 0x40;
const CRC32_PLAIN: u32 = 0x100;
const CRC32_PACKED: u32 = 0x200;
const MULTIPART: u32 = 0x400;
const FILTER: u32 = 0x800;
const HEADER_CRC32: u32 = 0x1000;

/// Which checksums stand before each block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Checksums {
    pub adler_plain: bool,
    pub crc_plain: bool,
    pub adler_packed: bool,
    pub crc_packed: bool,
}

impl Checksums {
    /// Bytes of checksums before a block; those of the packed bytes lack where they are the plain ones.
    pub(super) fn length(self, is_stored: bool) -> u64 {
        let packed = !is_stored;
        let there = [
            self.adler_plain,
            self.crc_plain,
            self.adler_packed && packed,
            self.crc_packed && packed,
        ];
        4 * there.iter().filter(|one| **one).count() as u64
    }
}

/// Reads a header; returns `None` at the end of the stream, or if a complete file is followed by other bytes.
pub(super) fn read<R: BufRead>(source: &mut Source<R>) -> io::Result<Option<Checksums>> {
    let start = source.offset();
    let mut magic = [0; 9];
    match source.fill(&mut magic)? {
        0 if start > 0 => return Ok(None),
        count if MAGIC.starts_with(&magic[..count]) && count < MAGIC.len() => {
            return Err(crate::damage::cut(FORMAT, source.offset()));
        }
        _ => {}
    }
    if magic != MAGIC {
        if start > 0 {
            return Ok(None);
        }
        return Err(damaged(FORMAT, start, "this is no lzop file: its first bytes are others"));
    }
    Header { bytes: Vec::new(), part: Vec::new() }.read(source).map(Some)
}

/// The bytes of the header behind the magic, as far as they were read.
struct Header {
    bytes: Vec<u8>,
    part: Vec<u8>,
}

impl Header {
    fn take<R: BufRead>(&mut self, source: &mut Source<R>, count: usize) -> io::Result<u32> {
        source.read_into(FORMAT, count, &mut self.part)?;
        self.bytes.extend_from_slice(&self.part);
        Ok(self.part.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
    }

    fn read<R: BufRead>(mut self, source: &mut Source<R>) -> io::Result<Checksums> {
        let at = source.offset();
        let wrong = |cause: String| Err(damaged(FORMAT, at, cause));
        let version = self.take(source, 2)? as u16;
        if version < 0x0900 {
            return wrong(format!("version {version:#06x} of the format is too old"));
        }
        self.take(source, 2)?;
        let is_new = version >= 0x0940;
        if is_new {
            let needed = self.take(source, 2)? as u16;
            if !(0x0900..=VERSION).contains(&needed) {
                return wrong(format!("version {needed:#06x} of lzop is needed for this file"));
            }
        }
        let method = self.take(source, 1)?;
        if !(1..=3).contains(&method) {
            return wrong(format!("compression method {method} is not LZO1X"));
        }
        if is_new {
            self.take(source, 1)?;
        }
        let flags = self.take(source, 4)?;
        if flags & FILTER != 0 {
            let filter = self.take(source, 4)?;
            return wrong(format!("the file was filtered (filter {filter})"));
        }
        if flags & MULTIPART != 0 {
            return wrong("the file is one part of several".to_owned());
        }
        self.take(source, if is_new { 12 } else { 8 })?;
        let name = self.take(source, 1)? as usize;
        self.take(source, name)?;
        self.check(source, flags)?;
        if flags & EXTRA_FIELD != 0 {
            self.bytes.clear();
            let length = self.take(source, 4)? as usize;
            self.take(source, length)?;
            self.check(source, flags)?;
        }
        Ok(Checksums {
            adler_plain: flags & ADLER32_PLAIN != 0,
            crc_plain: flags & CRC32_PLAIN != 0,
            adler_packed: flags & ADLER32_PACKED != 0,
            crc_packed: flags & CRC32_PACKED != 0,
        })
    }

    /// Compares the bytes with the checksum that follows.
    fn check<R: BufRead>(&self, source: &mut Source<R>, flags: u32) -> io::Result<()> {
        let at = source.offset();
        let wanted = source.u32(FORMAT)?;
        let found = match flags & HEADER_CRC32 {
            0 => simd_adler32::adler32(&self.bytes.as_slice()),
            _ => crc32fast::hash(&self.bytes),
        };
        if found == wanted {
            return Ok(());
        }
        let cause = format!("the header's checksum is {found:08x} and should be {wanted:08x}");
        Err(damaged(FORMAT, at, cause))
    }
}
