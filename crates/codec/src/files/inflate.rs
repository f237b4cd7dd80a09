//! Deflate without a header, as Avro and ORC have it. A stream that was cut is an error.

use std::io::{self, Read};

use flate2::{Decompress, FlushDecompress, Status};

use crate::damage::{cut, damaged};

/// The plain bytes of a raw deflate stream that is in memory.
pub(super) struct Inflate<'a> {
    packed: &'a [u8],
    format: &'static str,
    /// Where the stream begins in its file.
    offset: u64,
    inflate: Decompress,
    is_done: bool,
}

impl<'a> Inflate<'a> {
    pub(super) fn new(packed: &'a [u8], format: &'static str, offset: u64) -> Self {
        Inflate { packed, format, offset, inflate: Decompress::new(false), is_done: false }
    }
}

impl Read for Inflate<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_done || buffer.is_empty() {
            return Ok(0);
        }
        let made = self.inflate.total_out();
        let taken = self.inflate.total_in() as usize;
        let rest = &self.packed[taken..];
        let status = self.inflate.decompress(rest, buffer, FlushDecompress::None);
        let offset = self.offset + self.inflate.total_in();
        let made = (self.inflate.total_out() - made) as usize;
        match status.map_err(|error| damaged(self.format, offset, error))? {
            Status::StreamEnd => self.is_done = true,
            Status::Ok | Status::BufError if made == 0 => return Err(cut(self.format, offset)),
            Status::Ok | Status::BufError => {}
        }
        Ok(made)
    }
}
