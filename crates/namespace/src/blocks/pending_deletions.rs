//! What becomes of a replica that the namespace does not know, and the list of those that are kept for now.

use super::{BlockManager, StorageIdx, UnknownOnStorage, UnknownTotals};
use zerohop_wire::{Block, BlockId, GenerationStamp};

impl BlockManager {
    /// A replica that the namespace does not know is deleted if the storage has sent a full report after its first one.
    /// Until then it is listed.
    pub(super) fn unknown_replica(&mut self, storage: StorageIdx, block: Block) {
        if self.nodes.is_invalidating(storage, block) {
            return;
        }
        let node = self.nodes.node_of(storage);
        let is_removed = node.is_some_and(|node| self.removed.contains(block.id, node));
        if is_removed || self.deletes_unknown(storage) {
            return self.nodes.invalidate(storage, block);
        }
        self.list_unknown(storage, block);
    }

    /// Whether a replica that is only unknown may be deleted on this storage.
    pub(super) fn deletes_unknown(&self, storage: StorageIdx) -> bool {
        !self.safe_mode.is_starting()
            && self.nodes.storage(storage).is_some_and(|known| known.deletes_unknown)
    }

    /// Keeps a replica in view that the storage's next full report may have deleted.
    pub(super) fn list_unknown(&mut self, storage: StorageIdx, block: Block) {
        let is_newer = self.safe_mode.is_in_future(block.stamp);
        self.highest_unknown.note(block);
        let Some(known) = self.nodes.storage_mut(storage) else { return };
        let before = known.unknown.totals().replicas;
        known.unknown.insert(block, is_newer);
        if is_newer && known.unknown.totals().replicas > before && self.safe_mode.is_starting() {
            known.future_bytes = known.future_bytes.saturating_add(block.len);
            self.safe_mode.add_future(block.len);
        }
    }

    /// The highest block id among unknown replicas since the start, and the highest generation stamp; 0 without any.
    pub fn highest_unknown(&self) -> (BlockId, GenerationStamp) {
        (self.highest_unknown.id(), self.highest_unknown.stamp())
    }

    /// Sums of the unknown replicas on all storages.
    pub fn unknown_totals(&self) -> UnknownTotals {
        let mut sum = UnknownTotals::default();
        self.nodes.storages.iter().for_each(|storage| sum.add(storage.unknown.totals()));
        sum
    }

    /// Storages with unknown replicas, each with up to `limit` of their ids.
    ///
    /// With `only` a single storage is answered, and its ids from the given one on.
    pub fn unknown_replicas(
        &self,
        only: Option<(&str, u64)>,
        limit: usize,
    ) -> Vec<UnknownOnStorage> {
        let mut answer = Vec::new();
        for storage in &self.nodes.storages {
            let totals = storage.unknown.totals();
            let is_asked = only.is_none_or(|(id, _)| *storage.id == *id);
            let Some(node) = self.nodes.node(storage.node).filter(|_| is_asked) else { continue };
            if totals.replicas == 0 {
                continue;
            }
            let mut ids = storage.unknown.page(only.map_or(0, |(_, from)| from), limit + 1);
            let next = ids.get(limit).map(|id| id.0 as u64);
            ids.truncate(limit);
            answer.push(UnknownOnStorage {
                uuid: node.id.uuid.clone(),
                xfer_addr: node.id.xfer_addr(),
                storage_id: storage.id.clone(),
                last_report_ms: node.last_report.wall_ms,
                totals,
                ids,
                next,
            });
        }
        answer
    }

    /// Whether a replica is newer than its block, which an older image explains.
    pub(super) fn is_newer_than_block(stored: Block, reported: Option<Block>) -> bool {
        reported.is_some_and(|reported| reported.stamp > stored.stamp)
    }
}
