//! Writing past the page cache.
//!
//! A sync of what lies in the page cache has to find its pages and write them back first. Written
//! directly, the records are on their way to the disk at once, and the sync only empties the disk's
//! own cache. Direct writes are of whole blocks: the last one is written again with each batch, as
//! the page cache does too, filled up with what the file was filled with before.

use super::format::OP_INVALID;
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

/// What direct writes are aligned to, in the file and in memory; no disk asks for more.
const BLOCK: usize = 4096;
/// The buffer's memory is given back above this.
const BUFFER_KEPT_MAX: usize = 4 * 1024 * 1024;

/// A file's second descriptor, for direct writes.
#[derive(Debug)]
pub(super) struct Direct {
    file: File,
    /// What stands in the last block so far; shorter than a block.
    tail: Vec<u8>,
    buffer: Vec<u8>,
}

impl Direct {
    /// `None` where the file system does not do it.
    pub(super) fn open(path: &Path) -> Option<Self> {
        let flags = i32::try_from(OFlags::DIRECT.bits()).ok()?;
        let file = OpenOptions::new().write(true).custom_flags(flags).open(path).ok()?;
        Some(Self { file, tail: Vec::new(), buffer: Vec::new() })
    }

    /// Writes `records` behind what was written before; `position` is where that ends. The file is
    /// filled up to the end of the block in which the records end.
    pub(super) fn append(&mut self, records: &[u8], position: u64) -> io::Result<()> {
        let used = self.tail.len() + records.len();
        let len = used.next_multiple_of(BLOCK);
        self.buffer.clear();
        self.buffer.shrink_to(BUFFER_KEPT_MAX);
        self.buffer.reserve(len + BLOCK);
        let skipped = self.buffer.as_ptr().align_offset(BLOCK);
        self.buffer.resize(skipped, 0);
        self.buffer.extend_from_slice(&self.tail);
        self.buffer.extend_from_slice(records);
        self.buffer.resize(skipped + len, OP_INVALID);
        let blocks = self.buffer.get(skipped..).unwrap_or_default();
        self.file.write_all_at(blocks, position - self.tail.len() as u64)?;
        let full = used - used % BLOCK;
        let rest = blocks.get(full..used).unwrap_or_default();
        self.tail.clear();
        self.tail.extend_from_slice(rest);
        Ok(())
    }
}
