//! The blocks of a file, fetched a range at a time: a file has as many as its writer liked.

use crate::failure::Failure;
use crate::request::Request;
use crate::streamed_list::Members;
use futures_util::stream;
use serde_json::Value;
use std::vec;
use zerohop_client::{FileSystem, LocatedBlock, LocatedBlocks};
use zerohop_wire::BlockId;

/// Number of blocks that are fetched at once, if they are as long as the ones before.
const BLOCKS_AT_ONCE: u64 = 1000;
/// Bytes of the first range. Blocks have at least 1 MiB (`dfs.namenode.fs-limits.min-block-size`).
const FIRST_RANGE: u64 = 1 << 30;

/// The blocks of the range that a request asks for.
pub(crate) struct LocatedRanges {
    fs: FileSystem,
    path: String,
    /// The NameNode's answer for the first range, without the blocks.
    first: LocatedBlocks,
    /// The block that is being written, until it was among the others.
    open: Option<LocatedBlock>,
    page: vec::IntoIter<LocatedBlock>,
    /// Offset after the last block that was fetched.
    at: u64,
    /// End of the request's range.
    end: u64,
    /// Bytes of the next range.
    range: u64,
    /// Id of the last fetched block.
    last: Option<BlockId>,
}

impl LocatedRanges {
    /// Fetches the first range.
    ///
    /// # Errors
    /// Fails if a parameter is malformed, or the NameNode refuses.
    pub(crate) async fn begin(fs: &FileSystem, request: &Request) -> Result<Self, Failure> {
        let offset: u64 = request.params.number("offset", "a long")?.unwrap_or(0);
        let length: u64 = request.params.number("length", "a long")?.unwrap_or(i64::MAX as u64);
        let (path, range) = (request.path.clone(), length.min(FIRST_RANGE));
        let mut first = fs.block_locations(&path, offset, range).await?;
        let page = std::mem::take(&mut first.blocks);
        let end = offset.saturating_add(length).min(i64::MAX as u64);
        let open = first.last_block.clone().filter(|_| !first.is_last_complete);
        let (fs, none) = (fs.clone(), Vec::new().into_iter());
        let mut ranges =
            Self { fs, path, first, open, page: none, at: offset, end, range, last: None };
        ranges.take(page);
        Ok(ranges)
    }

    /// Returns what is known of the file; its list of blocks is empty.
    pub(crate) fn first(&self) -> &LocatedBlocks {
        &self.first
    }

    /// Returns the blocks in the shape of an answer.
    pub(crate) fn members(self, shape: fn(&LocatedBlock) -> Value) -> Members {
        let members = stream::unfold(Some(self), move |ranges: Option<Self>| async move {
            let mut ranges = ranges?;
            match ranges.next().await {
                Ok(Some(block)) => Some((Ok(shape(&block)), Some(ranges))),
                Ok(None) => None,
                Err(failure) => Some((Err(failure), None)),
            }
        });
        Box::pin(members)
    }

    async fn next(&mut self) -> Result<Option<LocatedBlock>, Failure> {
        if let Some(block) = self.page.next() {
            return Ok(Some(block));
        }
        if self.at < self.end.min(self.first.file_len) {
            // The range includes the end of the previous block, to detect that the file was replaced.
            let (before, length) = (self.at.saturating_sub(1), self.range.min(self.end - self.at));
            let located = self.fs.block_locations(&self.path, before, length + 1).await?;
            let is_same = located.blocks.first().map(|block| block.block.block.id) == self.last;
            self.take(located.blocks);
            match self.page.next() {
                Some(block) if is_same => return Ok(Some(block)),
                _ => {
                    let why = "The file was changed while its blocks were listed";
                    return Err(Failure::io(why));
                }
            }
        }
        // The block that is being written lies after the file's length, which the last range may not have passed.
        let (at, end) = (self.at, self.end);
        Ok(self.open.take_if(|open| open.offset >= at && open.offset < end))
    }

    /// Takes the blocks of a range, except those that a previous range had.
    fn take(&mut self, mut blocks: Vec<LocatedBlock>) {
        let at = self.at;
        blocks.retain(|block| block.end() > at || block.end() == block.offset);
        let (count, end) = (blocks.len() as u64, blocks.last().map_or(at, LocatedBlock::end));
        let id = |block: &LocatedBlock| block.block.block.id;
        self.last = blocks.last().map(id).or(self.last);
        if self.open.as_ref().map(id) == blocks.last().map(id) {
            self.open = None;
        }
        match end.saturating_sub(at).checked_div(count) {
            Some(mean_len) => {
                self.range = mean_len.max(1).saturating_mul(BLOCKS_AT_ONCE);
                self.at = end.max(at);
            }
            None => self.at = self.end,
        }
        self.page = blocks.into_iter();
    }
}

#[cfg(test)]
#[path = "located_ranges_test.rs"]
mod tests;
