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
    departed: VecDeque<StorageIdx>,
    /// Storages whose blocks are to be looked at again, and where that goes on.
    rechecks: VecDeque<(StorageIdx, Slot)>,
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

    /// A storage whose replicas are to be forgotten.
    pub(super) fn next_departed(&self) -> Option<StorageIdx> {
        self.departed.front().copied()
    }

    /// All replicas of a storage that was gone are forgotten.
    pub(super) fn finish_departure(&mut self, storage: StorageIdx) {
        self.departed.retain(|other| *other != storage);
    }

    /// Looks at all blocks of a storage again, those that were looked at lately too.
    pub(super) fn recheck(&mut self, storage: StorageIdx) {
        self.rechecks.retain(|(other, _)| *other != storage);
        self.rechecks.push_back((storage, 0));
    }

    /// Cancels the walks of [`Walks::recheck`].
    pub(super) fn cancel_rechecks(&mut self) {
        self.rechecks.clear();
    }

    /// Takes the storage whose blocks are looked at next, and the slot to begin with.
    pub(super) fn take_recheck(&mut self) -> Option<(StorageIdx, Slot)> {
        self.rechecks.pop_front()
    }

    /// Blocks of a storage that was taken are left, from this slot on.
    pub(super) fn resume_recheck(&mut self, storage: StorageIdx, from: Slot) {
        self.rechecks.push_front((storage, from));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.departed.is_empty() && self.rechecks.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_that_is_looked_at_anew_begins_at_its_first_block() {
        let mut walks = Walks::default();
        walks.recheck(StorageIdx(1));
        walks.recheck(StorageIdx(2));
        assert_eq!(walks.take_recheck(), Some((StorageIdx(1), 0)));
        walks.resume_recheck(StorageIdx(1), 1000);
        walks.recheck(StorageIdx(1));
        assert_eq!(walks.take_recheck(), Some((StorageIdx(2), 0)));
        assert_eq!(walks.take_recheck(), Some((StorageIdx(1), 0)));
        assert!(walks.is_empty());
    }

    #[test]
    fn a_storage_is_departed_until_its_replicas_are_forgotten() {
        let mut walks = Walks::default();
        (0..2).for_each(|_| walks.depart(StorageIdx(1)));
        assert_eq!(walks.next_departed(), Some(StorageIdx(1)));
        walks.finish_departure(StorageIdx(1));
        assert!(walks.next_departed().is_none() && !walks.is_departed(StorageIdx(1)));
    }
}
