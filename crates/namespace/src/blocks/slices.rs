//! The work on all blocks of a storage, a slice at a time.

use super::map::Slot;
use super::walks::SLICE;
use super::{BlockManager, NodeIdx, StorageIdx};

impl BlockManager {
    /// Forgets the replicas of a storage that is gone: a slice at once, the rest by [`BlockManager::continue_walks`].
    pub(super) fn forget_replicas_of(&mut self, storage: StorageIdx) {
        self.walks.depart(storage);
        self.forget_slice(SLICE);
    }

    /// Forgets the rest of a DataNode's replicas at once: it is back, and those that it reports from now on count.
    pub(super) fn finish_departure(&mut self, node: NodeIdx) {
        let storages = self.nodes.node(node).map(|known| known.storages.clone());
        for storage in storages.into_iter().flatten() {
            self.finish_departure_of(storage);
        }
    }

    /// As [`BlockManager::finish_departure`], of one storage.
    pub(super) fn finish_departure_of(&mut self, storage: StorageIdx) {
        if self.walks.is_departed(storage) {
            while self.forget_next(storage) {}
            self.walks.departed.retain(|other| *other != storage);
        }
    }

    /// One more slice of the walks; true if there is more to do. Call it until then, others in between.
    pub fn continue_walks(&mut self) -> bool {
        let left = self.continue_storage_walks();
        let left = self.scan_slice(left);
        self.scan_leaving(left);
        !self.walks.is_empty() || self.redundancy.scan.is_some() || self.has_leaving_to_scan()
    }

    /// One more slice of the walks over the blocks of storages; how many other blocks may be looked at.
    pub(super) fn continue_storage_walks(&mut self) -> usize {
        let left = self.forget_slice(SLICE);
        self.recheck_slice(left)
    }

    fn forget_slice(&mut self, max: usize) -> usize {
        let mut left = max;
        while left > 0
            && let Some(storage) = self.walks.departed.front().copied()
        {
            if self.forget_next(storage) {
                left -= 1;
            } else {
                self.walks.departed.pop_front();
            }
        }
        left
    }

    fn forget_next(&mut self, storage: StorageIdx) -> bool {
        let next = self.nodes.storage(storage).and_then(|known| known.blocks.min());
        if let Some(slot) = next {
            self.drop_replica(slot, storage);
        }
        next.is_some()
    }

    fn recheck_slice(&mut self, max: usize) -> usize {
        let mut left = max;
        while left > 0
            && let Some((storage, from)) = self.walks.rechecks.pop_front()
        {
            let known = self.nodes.storage(storage);
            let slots: Vec<Slot> =
                known.map_or(Vec::new(), |known| known.blocks.range(from..).take(left).collect());
            left -= slots.len();
            if left == 0
                && let Some(last) = slots.last()
            {
                self.walks.rechecks.push_front((storage, last + 1));
            }
            slots.into_iter().for_each(|slot| self.recheck(slot));
        }
        left
    }
}
