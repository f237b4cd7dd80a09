//! Replicas that are one too many: chosen for deletion, and not reported deleted yet.

use super::map::Slot;
use super::types::{StorageIdx, Storages};
use hashbrown::HashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Excess {
    storage: StorageIdx,
    since_ms: u64,
}

/// The excess replicas of all blocks, and since when each is one.
#[derive(Debug, Default)]
pub(super) struct ExcessReplicas {
    blocks: HashMap<Slot, SmallVec<[Excess; 2]>>,
    /// In the order in which they were marked. An entry whose replica is no longer marked since that instant is void.
    order: VecDeque<(Slot, Excess)>,
    replicas: u64,
    /// Replicas that count again although their DataNodes were told to delete them, and may still do so.
    doubtful: HashMap<Slot, Storages>,
}

impl ExcessReplicas {
    /// Marks a replica, or marks it anew.
    pub(super) fn mark(&mut self, slot: Slot, storage: StorageIdx, now_ms: u64) {
        self.unmark(slot, storage);
        let excess = Excess { storage, since_ms: now_ms };
        self.blocks.entry(slot).or_default().push(excess);
        self.order.push_back((slot, excess));
        self.replicas += 1;
    }

    pub(super) fn unmark(&mut self, slot: Slot, storage: StorageIdx) {
        self.trust(slot, storage);
        let Some(marked) = self.blocks.get_mut(&slot) else { return };
        let before = marked.len();
        marked.retain(|excess| excess.storage != storage);
        self.replicas -= (before - marked.len()) as u64;
        if marked.is_empty() {
            self.blocks.remove(&slot);
        }
    }

    /// Unmarks a replica whose DataNode was told to delete it.
    pub(super) fn doubt(&mut self, slot: Slot, storage: StorageIdx) {
        self.unmark(slot, storage);
        self.doubtful.entry(slot).or_default().push(storage);
    }

    /// Trusts a replica again: its DataNode will not delete it, or already has.
    pub(super) fn trust(&mut self, slot: Slot, storage: StorageIdx) {
        let Some(doubtful) = self.doubtful.get_mut(&slot) else { return };
        doubtful.retain(|other| *other != storage);
        if doubtful.is_empty() {
            self.doubtful.remove(&slot);
        }
    }

    /// Returns `true` if a replica counts, but its DataNode may delete it.
    pub(super) fn is_doubtful(&self, slot: Slot, storage: StorageIdx) -> bool {
        self.doubtful.get(&slot).is_some_and(|doubtful| doubtful.contains(&storage))
    }

    /// Unmarks all replicas of a block and returns them.
    pub(super) fn unmark_block(&mut self, slot: Slot) -> Storages {
        self.doubtful.remove(&slot);
        let marked = self.blocks.remove(&slot).unwrap_or_default();
        self.replicas -= marked.len() as u64;
        marked.into_iter().map(|excess| excess.storage).collect()
    }

    pub(super) fn contains(&self, slot: Slot, storage: StorageIdx) -> bool {
        self.blocks
            .get(&slot)
            .is_some_and(|marked| marked.iter().any(|excess| excess.storage == storage))
    }

    /// Returns `true` if a replica is marked, since `from_ms` or later.
    pub(super) fn is_marked_since(&self, slot: Slot, storage: StorageIdx, from_ms: u64) -> bool {
        let marked = self.blocks.get(&slot).into_iter().flatten();
        marked.filter(|excess| excess.storage == storage).any(|excess| excess.since_ms >= from_ms)
    }

    pub(super) fn of_block(&self, slot: Slot) -> Storages {
        self.blocks.get(&slot).into_iter().flatten().map(|excess| excess.storage).collect()
    }

    pub(super) fn len(&self) -> u64 {
        self.replicas
    }

    /// Takes up to `limit` replicas that have been marked since before `deadline_ms` off the list of those to check; they
    /// stay marked.
    pub(super) fn take_overdue(
        &mut self,
        deadline_ms: u64,
        limit: usize,
    ) -> Vec<(Slot, StorageIdx)> {
        let mut overdue = Vec::new();
        while overdue.len() < limit
            && let Some((slot, excess)) =
                self.order.pop_front_if(|(_, excess)| excess.since_ms < deadline_ms)
        {
            if self.blocks.get(&slot).is_some_and(|marked| marked.contains(&excess)) {
                overdue.push((slot, excess.storage));
            }
        }
        overdue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_replica_is_overdue_once_for_each_time_it_is_marked() {
        let mut excess = ExcessReplicas::default();
        let storage = StorageIdx;
        excess.mark(1, storage(5), 10);
        excess.mark(1, storage(6), 10);
        excess.mark(2, storage(5), 11);
        excess.unmark(1, storage(6));
        assert_eq!(excess.len(), 2);
        assert_eq!(excess.take_overdue(10, 9), []);
        assert_eq!(excess.take_overdue(20, 1), [(1, storage(5))]);
        assert!(excess.contains(1, storage(5)), "it is marked until it is gone");
        excess.mark(1, storage(5), 20);
        assert_eq!(excess.take_overdue(21, 9), [(2, storage(5)), (1, storage(5))]);
        assert_eq!(excess.unmark_block(2)[..], [storage(5)]);
        assert_eq!(excess.take_overdue(99, 9), []);
        assert_eq!(excess.len(), 1);
    }
}
