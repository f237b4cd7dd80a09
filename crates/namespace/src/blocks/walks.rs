//! Walks over all blocks of a storage, in slices: others get the namespace's lock in between.

use super::map::Slot;
use super::types::StorageIdx;
use std::collections::VecDeque;

/// Blocks in a slice.
pub(super) const SLICE: usize = 1000;

/// The walks that have not come to their end.
#[derive(Default)]
pub(super) struct Walks {
    /// Storages that are gone: their replicas do not count any more and are still to be forgotten.
    pub(super) departed: VecDeque<StorageIdx>,
    /// Storages whose blocks are to be looked at again, and where that goes on.
    pub(super) rechecks: VecDeque<(StorageIdx, Slot)>,
}

impl Walks {
    /// Whether a storage's replicas do not count any more.
    pub(super) fn is_departed(&self, storage: StorageIdx) -> bool {
        self.departed.contains(&storage)
    }

    pub(super) fn depart(&mut self, storage: StorageIdx) {
        if !self.is_departed(storage) {
            self.departed.push_back(storage);
        }
    }

    /// Looks at all blocks of a storage again, those that were looked at lately too.
    pub(super) fn recheck(&mut self, storage: StorageIdx) {
        self.rechecks.retain(|(other, _)| *other != storage);
        self.rechecks.push_back((storage, 0));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.departed.is_empty() && self.rechecks.is_empty()
    }
}
