//! Replicas that a DataNode has and the namespace does not know: of blocks that no file has, or newer than their block.
//!
//! They are what a restored older image makes of everything written since. The first full report of a storage after its
//! DataNode registered orders no deletion (`BlockManager.processFirstBlockReport`); the replicas are listed here until the
//! next one, so that an operator can notice them.

use super::types::{NodeIdx, UnknownTotals};
use hashbrown::HashMap;
use roaring::RoaringTreemap;
use smallvec::SmallVec;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// Most ids listed of one storage; further replicas are only counted.
const LISTED_MAX: u64 = 1 << 20;

/// The unknown replicas of one storage that are not deleted yet.
#[derive(Clone, Debug, Default)]
pub(super) struct UnknownReplicas {
    /// Block ids, at most [`LISTED_MAX`]; a negative id is its two's complement.
    ids: RoaringTreemap,
    totals: UnknownTotals,
}

impl UnknownReplicas {
    /// Adds a replica; false if it is listed.
    pub(super) fn insert(&mut self, block: Block, is_newer: bool) -> bool {
        let id = block.id.0 as u64;
        if self.ids.contains(id) {
            return false;
        }
        if self.ids.len() < LISTED_MAX {
            self.ids.insert(id);
        }
        self.totals.add(UnknownTotals {
            replicas: 1,
            bytes: block.len,
            newer: u64::from(is_newer),
        });
        true
    }

    /// The DataNode deleted the replica. Its stamp and length may not be told, so `newer` and `bytes` stay what the last
    /// report made them until none is left.
    pub(super) fn remove(&mut self, block: Block) {
        if !self.ids.remove(block.id.0 as u64) {
            return;
        }
        self.totals.replicas = self.totals.replicas.saturating_sub(1);
        self.totals.newer = self.totals.newer.min(self.totals.replicas);
        if self.totals.replicas == 0 {
            self.totals = UnknownTotals::default();
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(super) fn totals(&self) -> UnknownTotals {
        self.totals
    }

    /// Up to `limit` ids, from the one given on, in the order of [`BlockId`] as an unsigned number.
    pub(super) fn page(&self, from: u64, limit: usize) -> Vec<BlockId> {
        let mut ids = self.ids.iter();
        ids.advance_to(from);
        ids.take(limit).map(|id| BlockId(id as i64)).collect()
    }
}

/// The highest block id and the highest generation stamp of all unknown replicas since the start.
///
/// A restored image counts from where it was saved. Its next blocks would have the ids and stamps of blocks written
/// after that, whose replicas the DataNodes still have: a DataNode refuses such a block, or the old replica is taken for one
/// of the new block.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HighestUnknown {
    id: i64,
    stamp: i64,
}

impl HighestUnknown {
    pub(super) fn note(&mut self, block: Block) {
        self.id = self.id.max(block.id.0);
        self.stamp = self.stamp.max(block.stamp.0);
    }

    pub(super) fn get(self) -> (BlockId, GenerationStamp) {
        (BlockId(self.id), GenerationStamp(self.stamp))
    }
}

/// Blocks removed while replicas of them were being written or copied. A DataNode may report such a replica afterwards; that
/// the block was removed here is certain, so it is deleted at once.
#[derive(Debug, Default)]
pub(super) struct RemovedWhileWritten {
    recent: HashMap<BlockId, SmallVec<[NodeIdx; 3]>>,
    older: HashMap<BlockId, SmallVec<[NodeIdx; 3]>>,
}

impl RemovedWhileWritten {
    pub(super) fn insert(&mut self, id: BlockId, nodes: SmallVec<[NodeIdx; 3]>) {
        if !nodes.is_empty() {
            self.recent.insert(id, nodes);
        }
    }

    pub(super) fn contains(&self, id: BlockId, node: NodeIdx) -> bool {
        [&self.recent, &self.older]
            .into_iter()
            .any(|blocks| blocks.get(&id).is_some_and(|nodes| nodes.contains(&node)))
    }

    /// A period is over: what was removed before it is forgotten.
    pub(super) fn roll(&mut self) {
        self.older = std::mem::take(&mut self.recent);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(id: i64, len: u64) -> Block {
        Block { id: BlockId(id), stamp: GenerationStamp(1001), len }
    }

    #[test]
    fn a_replica_told_twice_is_counted_once() {
        let mut unknown = UnknownReplicas::default();
        unknown.insert(block(7, 10), true);
        unknown.insert(block(7, 10), true);
        unknown.insert(block(-3, 5), false);
        assert_eq!(unknown.totals(), UnknownTotals { replicas: 2, bytes: 15, newer: 1 });
        assert_eq!(unknown.page(0, 1), [BlockId(7)]);
        assert_eq!(unknown.page(8, 9), [BlockId(-3)]);
        unknown.remove(block(7, 0));
        unknown.remove(block(8, 0));
        assert_eq!(unknown.totals().replicas, 1);
        unknown.remove(block(-3, 0));
        assert_eq!(unknown.totals(), UnknownTotals::default());
    }

    #[test]
    fn what_was_removed_is_remembered_for_two_periods() {
        let mut removed = RemovedWhileWritten::default();
        removed.insert(BlockId(1), [NodeIdx(4)].into_iter().collect());
        assert!(removed.contains(BlockId(1), NodeIdx(4)));
        assert!(!removed.contains(BlockId(1), NodeIdx(5)));
        removed.roll();
        assert!(removed.contains(BlockId(1), NodeIdx(4)));
        removed.roll();
        assert!(!removed.contains(BlockId(1), NodeIdx(4)));
    }
}
