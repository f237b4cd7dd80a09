//! Index files of lzop files (`FILE.lzo.index`): the offset of each block as a big-endian number of 8 bytes.
//! hadoop-lzo's LzoIndexer writes them, and its input formats split files by them.

use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use super::{FORMAT, header};
use crate::damage::{cut, damaged};
use crate::source::Source;

/// What is added to a file's name for that of its index.
const EXTENSION: &str = ".index";

/// Where the blocks of an lzop file begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LzoIndex {
    offsets: Vec<u64>,
}

impl LzoIndex {
    /// The name of the index of a file.
    pub fn name_of(file: &str) -> String {
        format!("{file}{EXTENSION}")
    }

    /// Goes through an lzop file from block to block; what is in them is not read.
    pub fn build(input: impl Read + Seek) -> io::Result<LzoIndex> {
        let mut source = Source::new(BufReader::with_capacity(4 << 10, input));
        let Some(checksums) = header::read(&mut source)? else {
            return Err(cut(FORMAT, 0));
        };
        let mut at = source.offset();
        let mut input = source.into_inner();
        let end = input.seek(SeekFrom::End(0))?;
        let mut offsets = Vec::new();
        loop {
            input.seek(SeekFrom::Start(at))?;
            let mut source = Source::starting_at(&mut input, at);
            let plain = source.u32(FORMAT)?;
            if plain == 0 {
                return Ok(LzoIndex { offsets });
            }
            let packed = source.u32(FORMAT)?;
            if packed == 0 || packed > plain {
                let cause = format!("a block of {packed} for {plain} plain bytes");
                return Err(damaged(FORMAT, at, cause));
            }
            offsets.push(at);
            at += 8 + checksums.length(packed == plain) + u64::from(packed);
            if at > end {
                return Err(cut(FORMAT, end));
            }
        }
    }

    /// Reads an index file.
    pub fn read(mut input: impl Read) -> io::Result<LzoIndex> {
        let mut bytes = Vec::new();
        input.read_to_end(&mut bytes)?;
        let wrong = |at: usize, cause: &str| Err(damaged("LZO index", at as u64, cause));
        if bytes.len() % 8 != 0 {
            return wrong(bytes.len(), "the length is no multiple of 8");
        }
        let number = |part: &[u8]| part.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        let offsets: Vec<u64> = bytes.chunks_exact(8).map(number).collect();
        match offsets.windows(2).position(|pair| pair[0] >= pair[1]) {
            Some(at) => wrong(8 * (at + 1), "the offsets are not in order"),
            None => Ok(LzoIndex { offsets }),
        }
    }

    /// Writes the index file.
    pub fn write(&self, mut output: impl Write) -> io::Result<()> {
        self.offsets.iter().try_for_each(|offset| output.write_all(&offset.to_be_bytes()))
    }

    /// The offsets of the blocks, in order.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The blocks that begin in a range of the file, as a range of offsets that begins and ends at blocks: what
    /// hadoop-lzo makes of a split. The end is `None` where the last block is among them; no block: no range.
    pub fn align(&self, range: Range<u64>) -> Option<(u64, Option<u64>)> {
        let next = |at: u64| {
            let place = self.offsets.partition_point(|offset| *offset < at);
            self.offsets.get(place).copied()
        };
        let first = next(range.start).filter(|first| *first < range.end)?;
        Some((first, next(range.end)))
    }
}
