//! From an offset to the block that holds it; no block data here.

use super::dead::DeadNodes;
use super::located::{Located, Proof, Version, changed};
use super::open_replicas::OpenReplicas;
use super::opened_ahead::OpenedAhead;
use super::stats::{Counters, ReadStatistics};
use super::visible_len::visible_len;
use crate::client::Client;
use crate::error::{Error, ErrorKind, Result};
use crate::spans;
use crate::types::{LocatedBlock, LocatedBlocks, OpenOptions, Verify};
use parking_lot::RwLock;
use std::sync::Arc;
use tracing::{Instrument, Span};
use zerohop_transport::trace;
use zerohop_transport::waits::WAITS;
use zerohop_wire::Block;

/// Blocks whose locations are asked at once, where no prefetch size is configured.
const PREFETCH_BLOCKS: u64 = 10;
/// Attempts to get two answers about the same version of a file that changes meanwhile.
const PROOFS_MAX: usize = 5;

/// An open file: its blocks as far as they are known.
pub(crate) struct File {
    pub(super) client: Arc<Client>,
    pub(super) src: String,
    pub(super) verify: Verify,
    /// For replicas of this machine.
    pub(super) verify_local: Verify,
    /// Whether bytes are given where they lie in a map.
    pub(super) maps_bytes: bool,
    pub(super) counters: Arc<Counters>,
    pub(super) known: OpenReplicas,
    /// DataNodes that failed reads of this file.
    pub(super) dead: DeadNodes,
    pub(super) opened_ahead: OpenedAhead,
    located: RwLock<Located>,
    /// Of the file, as long as it is open.
    pub(super) span: Span,
}

impl File {
    /// Asks the NameNode for the first blocks.
    pub(crate) async fn open(
        client: &Arc<Client>,
        src: String,
        options: OpenOptions,
    ) -> Result<Self> {
        let span = spans::of_file("read file", &src);
        let located = fetch_with_len(client, &src).instrument(span.clone()).await;
        let located = located.inspect_err(|error| trace::record_failure(&span, error))?;
        Ok(Self {
            client: Arc::clone(client),
            src,
            verify: options.verify,
            verify_local: match client.settings.local.skip_checksum {
                true => Verify::None,
                false => options.verify,
            },
            maps_bytes: options.maps_bytes,
            counters: client.read_totals.begin(),
            known: OpenReplicas::default(),
            dead: DeadNodes::default(),
            opened_ahead: OpenedAhead::default(),
            located: RwLock::new(located),
            span,
        })
    }

    /// Readable bytes, as of the last time the NameNode was asked.
    pub(crate) fn len(&self) -> u64 {
        self.located.read().len
    }

    /// The last block; none of an empty file.
    pub(crate) fn last_block(&self) -> Option<Block> {
        self.located.read().last
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

    /// Drops the replicas of this machine.
    pub(crate) fn let_go(&self) {
        self.known.clear();
    }

    pub(crate) fn statistics(&self) -> ReadStatistics {
        self.counters.snapshot()
    }

    /// The block that holds `offset`, where it is known without a question.
    pub(super) fn located_at(&self, offset: u64) -> Option<LocatedBlock> {
        self.located.read().at(offset).cloned()
    }

    /// Asks where the block that holds `offset` is.
    pub(super) async fn locate(&self, offset: u64) -> Result<()> {
        // With the block before it, if that is known: it shows whether the file is still the same.
        let before = offset.checked_sub(1).filter(|before| self.located_at(*before).is_some());
        self.ask(before.unwrap_or(offset), offset).await
    }

    /// Asks again where the block that holds `offset` is.
    pub(super) async fn relocate(&self, offset: u64) -> Result<()> {
        self.ask(offset, offset).await
    }

    /// Asks for the blocks behind `from`, one of which must hold `offset`.
    async fn ask(&self, from: u64, offset: u64) -> Result<()> {
        let fetched = |from| fetch(&self.client, &self.src, from).instrument(self.span.clone());
        for _ in 0..PROOFS_MAX {
            let fresh = fetched(from).await?;
            let proof = self.located.read().proof_of(&fresh);
            let is_proven = match proof {
                Proof::Given => true,
                Proof::Asked(known) => {
                    let answer = fetched(known).await?;
                    if self.located.read().contradicts(&answer.blocks) {
                        return Err(changed(&self.src));
                    }
                    Version::of(&answer) == Version::of(&fresh)
                }
            };
            if is_proven {
                return self.located.write().take(fresh, offset, &self.src);
            }
        }
        Err(changed(&self.src))
    }

    /// Asks how long the file is now.
    pub(crate) async fn refresh(&self) -> Result<u64> {
        let asked = fetch_with_len(&self.client, &self.src);
        let fresh = asked.instrument(self.span.clone()).await?;
        let len = fresh.len;
        let mut located = self.located.write();
        if located.contradicts(&fresh.blocks) {
            return Err(changed(&self.src));
        }
        *located = fresh;
        Ok(len)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.client.read_totals.end(&self.counters);
    }
}

async fn fetch(client: &Client, src: &str, offset: u64) -> Result<LocatedBlocks> {
    let settings = &client.settings;
    let prefetch = settings
        .prefetch_len
        .unwrap_or_else(|| settings.block_size.saturating_mul(PREFETCH_BLOCKS));
    let answer =
        client.namenode.block_locations(src, offset, prefetch.clamp(1, i64::MAX as u64)).await?;
    answer.ok_or_else(|| Error::new(ErrorKind::NotFound, format!("File does not exist: {src}")))
}

/// The first blocks, and the length with what is readable of a last block being written. After a
/// cluster restart the NameNode may not know yet where that block is: it is asked a few times.
async fn fetch_with_len(client: &Client, src: &str) -> Result<Located> {
    let mut left = client.settings.last_block_len_retries;
    loop {
        let answer = fetch(client, src, 0).await?;
        answer.check_readable(src)?;
        if let Some(located) = with_visible_len(client, answer).await? {
            return Ok(located);
        }
        if left == 0 {
            return Err(Error::plain("Could not obtain the last block locations."));
        }
        left -= 1;
        let wait = client.settings.last_block_len_interval;
        tracing::warn!(
            target: WAITS,
            wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            "no DataNode has reported the last block of {src} yet; asking again {left} more time(s)"
        );
        client.sleep(wait).await;
    }
}

async fn with_visible_len(client: &Client, answer: LocatedBlocks) -> Result<Option<Located>> {
    let last = answer.last_block.as_ref().or(answer.blocks.last());
    let mut located = Located {
        version: Version::of(&answer),
        len: answer.file_len,
        last: last.map(|last| last.block.block),
        blocks: Vec::new(),
        is_under_construction: answer.is_under_construction,
    };
    located.merge(answer.blocks);
    if answer.is_last_complete {
        return Ok(Some(located));
    }
    let Some(mut last) = answer.last_block else { return Ok(Some(located)) };
    let Some(len) = visible_len(client, &last).await? else { return Ok(None) };
    last.block.block.len = len;
    located.len = answer.file_len.saturating_add(len);
    located.blocks.retain(|block| block.offset != last.offset);
    located.merge(vec![last]);
    Ok(Some(located))
}

#[cfg(test)]
#[path = "file_test.rs"]
mod tests;
