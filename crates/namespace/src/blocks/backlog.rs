//! What the block manager has still to do, as an operator reads it (`dfsadmin -metasave`).

use super::replicas::Replicas;
use super::types::DatanodeId;
use std::sync::Arc;
use zerohop_wire::{Block, BlockId};

/// A list that may be cut after so many entries.
#[derive(Clone, Debug)]
pub struct Limited<T> {
    /// The first ones.
    pub first: Vec<T>,
    /// How many there are.
    pub total: u64,
}

impl<T> Limited<T> {
    fn of(all: impl Iterator<Item = T>, total: u64, max: usize) -> Self {
        Self { first: all.take(max).collect(), total }
    }
}

/// Copies of a block that are under way.
#[derive(Clone, Copy, Debug)]
pub struct CopiesUnderWay {
    /// The block.
    pub block: Block,
    /// How many.
    pub copies: usize,
    /// Since when the last of them is waited for, in ms.
    pub age_ms: u64,
}

/// Work that is outstanding.
#[derive(Clone, Debug)]
pub struct Backlog {
    /// Blocks with too few replicas, the most urgent first.
    pub waiting: Limited<BlockId>,
    /// Blocks without a good replica.
    pub missing: Limited<BlockId>,
    /// Copies that were ordered.
    pub copying: Limited<CopiesUnderWay>,
    /// Replicas to be deleted, by DataNode.
    pub deletions: Vec<(Arc<DatanodeId>, Limited<Block>)>,
    /// Blocks with corrupt replicas.
    pub corrupt: Limited<BlockId>,
}

impl Backlog {
    /// Each list is cut behind `max` entries.
    pub(super) fn of(replicas: Replicas<'_>, now_ms: u64, max: usize) -> Self {
        let Replicas { map, redundancy, corrupt, nodes, .. } = replicas;
        let block = |slot| map.get(slot).map(|entry| entry.view().block);
        let id = |slot| block(slot).map(|block| block.id);
        let copying = redundancy.all_pending().filter_map(|(slot, copies, since_ms)| {
            let age_ms = now_ms.saturating_sub(since_ms);
            Some(CopiesUnderWay { block: block(slot)?, copies, age_ms })
        });
        let deletions = nodes.all().iter().filter(|node| node.orders.deletions().len() > 0);
        let missing = redundancy.without_replica();
        Self {
            waiting: Limited::of(redundancy.all_low().filter_map(id), redundancy.low(), max),
            missing: Limited::of(missing.iter().filter_map(id), missing.len(), max),
            copying: Limited::of(copying, redundancy.pending_blocks(), max),
            deletions: deletions
                .map(|node| {
                    let replicas = node.orders.deletions();
                    let total = replicas.len() as u64;
                    (Arc::clone(&node.id), Limited::of(replicas, total, max))
                })
                .collect(),
            corrupt: Limited::of(corrupt.slots().filter_map(id), corrupt.block_count(), max),
        }
    }
}
