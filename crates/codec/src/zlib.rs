//! zlib streams, one or more: Hadoop's DefaultCodec.
//!
//! flate2's reader takes a stream that was cut for one that ended, so the decompressor is driven here.

use std::io::{self, BufRead, Read};

use flate2::{Decompress, FlushDecompress, Status};

use crate::damage::{cut, damaged};
use crate::source::Source;

const FORMAT: &str = "deflate";

pub(crate) struct ZlibReader<R> {
    source: Source<R>,
    inflate: Decompress,
    /// A stream was begun and has not ended. The first one has to be there.
    within: bool,
}

impl<R: BufRead> ZlibReader<R> {
    pub(crate) fn new(input: R) -> Self {
        ZlibReader { source: Source::new(input), inflate: Decompress::new(true), within: true }
    }
}

impl<R: BufRead> Read for ZlibReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let input = self.source.fill_buf()?;
            let at_end = input.is_empty();
            if at_end && !self.within {
                return Ok(0);
            }
            self.within = true;
            let (taken, made) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self.inflate.decompress(input, buffer, FlushDecompress::None);
            let taken = (self.inflate.total_in() - taken) as usize;
            let made = (self.inflate.total_out() - made) as usize;
            self.source.consume(taken);
            let offset = self.source.offset();
            match status.map_err(|error| damaged(FORMAT, offset, error))? {
                Status::StreamEnd => {
                    self.within = false;
                    self.inflate.reset(true);
                    if made > 0 {
                        return Ok(made);
                    }
                }
                Status::Ok | Status::BufError if made > 0 => return Ok(made),
                Status::Ok | Status::BufError if at_end => return Err(cut(FORMAT, offset)),
                Status::Ok | Status::BufError if taken == 0 => {
                    return Err(damaged(FORMAT, offset, "the stream does not go on"));
                }
                Status::Ok | Status::BufError => {}
            }
        }
    }
}
