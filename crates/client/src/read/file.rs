//! From an offset to the block that holds it; no block data here.

use super::known::KnownReplicas;
use super::stats::{Counters, ReadStatistics};
use super::visible_len::visible_len;
use crate::client::Client;
use crate::error::{Error, Kind, Result};
use crate::types::{LocatedBlock, LocatedBlocks, OpenOptions, Verify};
use parking_lot::RwLock;
use std::sync::Arc;

/// Blocks whose locations are asked at once, where no prefetch size is configured.
const PREFETCH_BLOCKS: u64 = 10;

/// An open file: its blocks as far as they are known.
pub(crate) struct File {
    pub(super) client: Arc<Client>,
    pub(super) src: String,
    pub(super) verify: Verify,
    /// For replicas of this machine.
    pub(super) verify_local: Verify,
    pub(super) counters: Arc<Counters>,
    pub(super) known: KnownReplicas,
    located: RwLock<Located>,
}

struct Located {
    /// Readable bytes, the visible part of a last block being written included.
    len: u64,
    /// Known blocks by offset.
    blocks: Vec<LocatedBlock>,
    is_under_construction: bool,
}

impl File {
    /// Asks the NameNode for the first blocks. Blocks the thread.
    pub(crate) fn open(client: &Arc<Client>, src: String, options: OpenOptions) -> Result<Self> {
        let located = fetch_with_len(client, &src)?;
        Ok(Self {
            client: Arc::clone(client),
            src,
            verify: options.verify,
            verify_local: match client.settings.local.skip_checksum {
                true => Verify::None,
                false => options.verify,
            },
            counters: client.read_totals.begin(),
            known: KnownReplicas::default(),
            located: RwLock::new(located),
        })
    }

    /// Readable bytes, as of the last time the NameNode was asked.
    pub(crate) fn len(&self) -> u64 {
        self.located.read().len
    }

    pub(crate) fn path(&self) -> &str {
        &self.src
    }

    pub(crate) fn is_under_construction(&self) -> bool {
        self.located.read().is_under_construction
    }

    /// Whether a block may still grow.
    pub(super) fn is_being_written(&self, block: &LocatedBlock) -> bool {
        let located = self.located.read();
        located.is_under_construction && block.end() >= located.len
    }

    /// Lets replicas of this machine go.
    pub(crate) fn let_go(&self) {
        self.known.clear();
    }

    pub(crate) fn statistics(&self) -> ReadStatistics {
        self.counters.snapshot()
    }

    /// The block that holds `offset`, asked for if need be.
    pub(super) fn locate(&self, offset: u64) -> Result<LocatedBlock> {
        if let Some(block) = self.located.read().at(offset) {
            return Ok(block.clone());
        }
        let fresh = fetch(&self.client, &self.src, offset)?;
        let mut located = self.located.write();
        located.merge(fresh.blocks);
        located.at(offset).cloned().ok_or_else(|| {
            Error::plain(format!("Could not find target position {offset} in {}", self.src))
        })
    }

    /// Asks again where the block that holds `offset` is.
    pub(super) fn relocate(&self, offset: u64) -> Result<LocatedBlock> {
        let fresh = fetch(&self.client, &self.src, offset)?;
        let mut located = self.located.write();
        located.merge(fresh.blocks);
        located.at(offset).cloned().ok_or_else(|| {
            Error::plain(format!("Could not find target position {offset} in {}", self.src))
        })
    }

    /// Asks how long the file is now.
    pub(crate) fn refresh(&self) -> Result<u64> {
        let fresh = fetch_with_len(&self.client, &self.src)?;
        let len = fresh.len;
        *self.located.write() = fresh;
        Ok(len)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.client.read_totals.end(&self.counters);
    }
}

impl Located {
    fn at(&self, offset: u64) -> Option<&LocatedBlock> {
        let after = self.blocks.partition_point(|block| block.offset <= offset);
        let block = self.blocks.get(after.checked_sub(1)?)?;
        (offset < block.end()).then_some(block)
    }

    /// Takes fresh blocks in; a last block being written keeps the length that was found.
    fn merge(&mut self, fresh: Vec<LocatedBlock>) {
        for mut block in fresh {
            match self.blocks.binary_search_by_key(&block.offset, |known| known.offset) {
                Ok(at) => {
                    if let Some(known) = self.blocks.get_mut(at) {
                        if known.block.block.id == block.block.block.id {
                            let len = block.block.block.len.max(known.block.block.len);
                            block.block.block.len = len;
                        }
                        *known = block;
                    }
                }
                Err(at) => self.blocks.insert(at, block),
            }
        }
    }
}

fn fetch(client: &Client, src: &str, offset: u64) -> Result<LocatedBlocks> {
    let settings = &client.settings;
    let prefetch = settings
        .prefetch_len
        .unwrap_or_else(|| settings.block_size.saturating_mul(PREFETCH_BLOCKS));
    let answer = client.wait(client.namenode.block_locations(src, offset, prefetch.max(1)))?;
    answer.ok_or_else(|| Error::new(Kind::NotFound, format!("File does not exist: {src}")))
}

/// The first blocks, and the length with what is readable of a last block being written. After a
/// cluster restart the NameNode may not know yet where that block is: it is asked a few times.
fn fetch_with_len(client: &Client, src: &str) -> Result<Located> {
    let mut left = client.settings.last_block_len_retries;
    loop {
        let answer = fetch(client, src, 0)?;
        answer.check_readable(src)?;
        if let Some(located) = with_visible_len(client, answer)? {
            return Ok(located);
        }
        if left == 0 {
            return Err(Error::plain("Could not obtain the last block locations."));
        }
        left -= 1;
        tracing::warn!(
            "Last block locations not available. Datanodes might not have reported blocks \
             completely. Will retry for {left} times"
        );
        std::thread::sleep(client.settings.last_block_len_interval);
    }
}

fn with_visible_len(client: &Client, answer: LocatedBlocks) -> Result<Option<Located>> {
    let mut located = Located {
        len: answer.file_len,
        blocks: answer.blocks,
        is_under_construction: answer.is_under_construction,
    };
    if answer.is_last_complete {
        return Ok(Some(located));
    }
    let Some(mut last) = answer.last_block else { return Ok(Some(located)) };
    let Some(len) = visible_len(client, &last)? else { return Ok(None) };
    last.block.block.len = len;
    located.len = answer.file_len.saturating_add(len);
    located.blocks.retain(|block| block.offset != last.offset);
    located.merge(vec![last]);
    Ok(Some(located))
}
