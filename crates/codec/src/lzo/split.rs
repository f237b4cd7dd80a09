//! A split of an lzop file: what one task of a job reads of it.

use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

use super::LzoIndex;
use super::header;
use super::reader::LzopReader;
use crate::source::Source;

const BUFFER: usize = 128 << 10;

/// The whole lines of a range of an lzop file.
///
/// Blocks do not end at lines. As MapReduce's readers do, a split leaves out what is before its first line end,
/// unless it is the first of the file, and goes on to the first line end behind its last block: each line is in
/// exactly one of the splits that cover a file.
pub struct LzopSplit<R> {
    reader: LzopReader<BufReader<R>>,
    /// Where the first block behind the split begins.
    end: Option<u64>,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The rest of a line of the split before is skipped.
    Before,
    Within,
    Done,
}

impl<R: Read + Seek> LzopSplit<R> {
    /// The split of the blocks that begin in `range`; `None` where none do.
    pub fn new(mut input: R, index: &LzoIndex, range: Range<u64>) -> io::Result<Option<Self>> {
        let Some((start, end)) = index.align(range) else { return Ok(None) };
        input.seek(SeekFrom::Start(0))?;
        let mut source = Source::new(BufReader::with_capacity(BUFFER, input));
        let checksums = header::read(&mut source)?;
        let first = source.offset();
        let mut input = source.into_inner();
        input.seek(SeekFrom::Start(start))?;
        let reader = LzopReader::at(Source::starting_at(input, start), checksums);
        let state = if start <= first { State::Within } else { State::Before };
        Ok(Some(LzopSplit { reader, end, state }))
    }
}

impl<R: Read> LzopSplit<R> {
    /// Lines are whole behind the last block: what is left of one, up to and with its end.
    fn is_behind(&self) -> bool {
        self.end.is_some_and(|end| self.reader.block_offset() >= end)
    }

    /// Skips to behind the first line end; the split holds no line where that is behind its last block.
    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let bytes = self.reader.unpacked()?;
            if bytes.is_empty() {
                self.state = State::Done;
                return Ok(());
            }
            let line_end = bytes.iter().position(|byte| *byte == b'\n');
            let count = line_end.map_or(bytes.len(), |at| at + 1);
            let is_behind = self.is_behind();
            self.reader.skip(count);
            if is_behind {
                self.state = State::Done;
                return Ok(());
            }
            if line_end.is_some() {
                self.state = State::Within;
                return Ok(());
            }
        }
    }
}

impl<R: Read> Read for LzopSplit<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.state == State::Before {
            self.skip_line()?;
        }
        if self.state == State::Done || buffer.is_empty() {
            return Ok(0);
        }
        self.reader.unpacked()?;
        let is_behind = self.is_behind();
        let bytes = self.reader.unpacked()?;
        let mut count = bytes.len().min(buffer.len());
        if is_behind && let Some(at) = bytes[..count].iter().position(|byte| *byte == b'\n') {
            count = at + 1;
            self.state = State::Done;
        }
        buffer[..count].copy_from_slice(&bytes[..count]);
        self.reader.skip(count);
        Ok(count)
    }
}
