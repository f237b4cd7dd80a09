//! The replicas that storages hold, and what a change of them means for their block.

use super::corrupt::{CorruptReplica, CorruptReplicas};
use super::map::{BlockMap, Slot};
use super::nodes::Nodes;
use super::params::BlockParams;
use super::queues::{Arrival, Redundancy, WITHOUT_REPLICA};
use super::replicas::Replicas;
use super::safemode::SafeMode;
use super::spare::Spare;
use super::types::{BlockState, CorruptReason, NodeIdx, Now, ReplicaCounts, StorageIdx, Storages};
use super::walks::{SLICE, Walks};
use zerohop_wire::{Block, BlockId};

/// The parts that know of replicas, to change them together: a replica that comes or goes changes the queues of its block and
/// what safe mode counts.
pub(super) struct StoredReplicas<'a> {
    pub(super) params: &'a BlockParams,
    pub(super) now: Now,
    pub(super) map: &'a mut BlockMap,
    pub(super) nodes: &'a mut Nodes,
    pub(super) corrupt: &'a mut CorruptReplicas,
    pub(super) redundancy: &'a mut Redundancy,
    pub(super) walks: &'a mut Walks,
    pub(super) safe_mode: &'a mut SafeMode,
    /// How often replicas were counted: tests count work, not time.
    #[cfg(test)]
    pub(super) counts: &'a std::sync::atomic::AtomicUsize,
}

impl StoredReplicas<'_> {
    /// The same parts, to look at.
    pub(super) fn view(&self) -> Replicas<'_> {
        Replicas {
            params: self.params,
            map: self.map,
            nodes: self.nodes,
            corrupt: self.corrupt,
            redundancy: self.redundancy,
            walks: self.walks,
            #[cfg(test)]
            counts: self.counts,
        }
    }

    /// Rechecks a block by its id, unless it is not known or nothing is queued yet. Returns `true` if the block was rechecked.
    pub(super) fn requeue(&mut self, id: BlockId) -> bool {
        let slot = self.map.slot(id).filter(|_| self.redundancy.is_populating());
        slot.map(|slot| self.recheck(slot)).is_some()
    }

    /// Queues a block for copies, or takes it out of the queues, after something about it changed. Extra replicas are noted,
    /// corrupt ones that can be spared are deleted.
    pub(super) fn recheck(&mut self, slot: Slot) {
        self.recheck_after(slot, Arrival::default());
    }

    /// As [`StoredReplicas::recheck`], after a replica arrived.
    pub(super) fn recheck_after(&mut self, slot: Slot, arrival: Arrival) {
        let Some(entry) = self.map.get(slot) else { return };
        if !self.redundancy.is_populating() || entry.state() != BlockState::Complete {
            return;
        }
        let expected = u32::from(entry.replication());
        self.redundancy.resume(slot);
        self.keep_needed_excess(slot, expected);
        let counts = self.view().count(slot);
        let enough = counts.live + counts.pending >= self.view().live_needed(&counts, expected);
        let spread = counts.pending > 0 || self.view().is_well_spread(slot, expected);
        if enough && spread {
            self.redundancy.dequeue(slot);
        } else {
            self.redundancy.enqueue(slot, priority(&counts, expected));
        }
        if counts.live > expected {
            self.redundancy.note_extra(slot, arrival);
        } else if counts.corrupt > 0 {
            self.drop_corrupt(slot);
        }
        if counts.corrupt == 0 && enough && counts.pending == 0 {
            self.note_repaired(slot, counts.live);
        }
    }

    fn note_repaired(&mut self, slot: Slot, good: u32) {
        if let Some(entry) = self.map.get(slot)
            && self.corrupt.repairs.is_under_repair(slot)
        {
            self.corrupt.repairs.repaired(slot, &entry.view(), good);
        }
    }

    /// Excess replicas of a block that lacks good ones count again: each whose DataNode was not told to delete it yet, and then,
    /// where no other can be read, one whose DataNode was told: the order may have been lost.
    fn keep_needed_excess(&mut self, slot: Slot, expected: u32) {
        let excess = self.redundancy.excess.of_block(slot);
        let Some(block) = self.map.get(slot).map(|entry| entry.block()) else { return };
        let mut told = Storages::new();
        for storage in excess {
            if self.view().count(slot).live >= expected {
                return;
            }
            match self.nodes.call_off_invalidation(storage, block) {
                true => self.redundancy.excess.unmark(slot, storage),
                false => told.push(storage),
            }
        }
        let counts = self.view().count(slot);
        if let Some(storage) = told.first().filter(|_| counts.live + counts.leaving() == 0) {
            self.redundancy.excess.doubt(slot, *storage);
        }
    }

    /// Corrupt replicas that were kept for want of good ones go as soon as enough of these are known.
    fn drop_corrupt(&mut self, slot: Slot) {
        for bad in self.corrupt.of_block(slot).to_vec() {
            let on_node = |storage: &StorageIdx| self.nodes.node_of(*storage) == Some(bad.node);
            let storage = self.map.storages(slot).iter().copied().find(on_node);
            if let Some(storage) = storage
                && let Some(spare) = self.spare_corrupt(slot, storage, bad.reported)
            {
                spare.order(self.nodes);
                self.drop_replica(slot, storage);
            }
        }
    }

    /// Returns a corrupt replica that may be deleted now. A replica newer than its block may be good, and the image too old: it
    /// goes no sooner than one of a block that no file has.
    pub(super) fn spare_corrupt(
        &mut self,
        slot: Slot,
        storage: StorageIdx,
        reported: Option<Block>,
    ) -> Option<Spare> {
        let entry = self.map.get(slot)?;
        if is_newer_than_block(entry.block(), reported) && !self.deletes_unknown(storage) {
            return None;
        }
        let spare = Spare::corrupt(self.view(), slot, storage, reported);
        let is_stale = |storage: &StorageIdx| self.nodes.is_stale(*storage);
        if spare.is_none() && self.view().live(slot).iter().any(is_stale) {
            self.redundancy.postpone(slot);
        }
        spare
    }

    /// Keeps a corrupt replica, `reported` as its DataNode has it, until its block can spare it.
    pub(super) fn keep_corrupt(
        &mut self,
        slot: Slot,
        storage: StorageIdx,
        reason: CorruptReason,
        reported: Option<Block>,
    ) {
        let Some(node) = self.nodes.node_of(storage) else { return };
        self.corrupt.add(slot, CorruptReplica { node, reason, reported });
        if self.map.add_storage(slot, storage) {
            self.nodes.note_replica(storage, slot);
        }
    }

    /// Whether a replica that is only unknown may be deleted on this storage.
    pub(super) fn deletes_unknown(&self, storage: StorageIdx) -> bool {
        !self.safe_mode.is_starting()
            && self.nodes.storage(storage).is_some_and(|known| known.reports.deletes_unknown())
    }

    /// Forgets one replica and rechecks its block.
    pub(super) fn drop_replica(&mut self, slot: Slot, storage: StorageIdx) {
        self.nodes.forget_replica(storage, slot);
        self.redundancy.excess.unmark(slot, storage);
        if let Some(node) = self.nodes.node_of(storage) {
            self.corrupt.remove(slot, node);
        }
        if !self.map.remove_storage(slot, storage) {
            return;
        }
        self.count_for_safe_mode(slot);
        self.recheck(slot);
    }

    /// Tells safe mode how many replicas of a block can be read. What operators want of their DataNodes does not matter:
    /// replicas on one that leaves can be read and copied, and it may be taken back at any time.
    pub(super) fn count_for_safe_mode(&mut self, slot: Slot) {
        let entry = self.map.get(slot);
        if self.safe_mode.is_starting()
            && entry.is_some_and(|entry| entry.state() == BlockState::Complete)
        {
            let view = self.view();
            let all = view.of_block(slot);
            let readable = all.filter(|storage| !view.is_corrupt(slot, *storage)).count();
            self.safe_mode.replicas_changed(slot, readable);
        }
    }

    /// Ends the safe mode of the start if its conditions hold; not while a report is half read, whose rest may tell that the
    /// metadata is too old.
    pub(super) fn check_safe_mode(&mut self) {
        let is_reporting =
            || self.nodes.all_storages().iter().any(|known| known.reports.ongoing().is_some());
        if self.safe_mode.is_starting() && !is_reporting() {
            self.safe_mode.check();
        }
    }

    /// Replicas on their way are not waited for any more: their DataNodes need no room for them.
    pub(super) fn give_up_copies(&mut self, slot: Slot) {
        for target in self.redundancy.take_pending(slot) {
            self.nodes.unschedule(target);
        }
    }

    /// The block is gone or written again; what was to be deleted of it as being too much.
    pub(super) fn forget_redundancy(&mut self, slot: Slot) -> Storages {
        self.give_up_copies(slot);
        self.redundancy.forget(slot)
    }

    /// Looks at so many blocks in the walk that fills the queues after safe mode; how many others may be looked at.
    pub(super) fn scan_slice(&mut self, max: usize) -> usize {
        let slots = self.redundancy.next_scanned(max, self.map.slot_end());
        let left = max - slots.len();
        slots.for_each(|slot| self.recheck(slot));
        left
    }

    /// Forgets the replicas of a storage that is gone: a slice at once, the rest by
    /// [`StoredReplicas::continue_storage_walks`].
    pub(super) fn forget_replicas_of(&mut self, storage: StorageIdx) {
        self.walks.depart(storage);
        self.forget_slice(SLICE);
    }

    /// Forgets the rest of a DataNode's replicas at once: it is back, and those that it reports from now on count.
    pub(super) fn finish_departure(&mut self, node: NodeIdx) {
        for storage in self.nodes.storages_of(node) {
            self.finish_departure_of(storage);
        }
    }

    /// As [`StoredReplicas::finish_departure`], of one storage.
    pub(super) fn finish_departure_of(&mut self, storage: StorageIdx) {
        if self.walks.is_departed(storage) {
            while self.forget_next(storage) {}
            self.walks.finish_departure(storage);
        }
    }

    /// One more slice of the walks over the blocks of storages; how many other blocks may be looked at.
    pub(super) fn continue_storage_walks(&mut self) -> usize {
        let left = self.forget_slice(SLICE);
        self.recheck_slice(left)
    }

    fn forget_slice(&mut self, max: usize) -> usize {
        let mut left = max;
        while left > 0
            && let Some(storage) = self.walks.next_departed()
        {
            if self.forget_next(storage) {
                left -= 1;
            } else {
                self.walks.finish_departure(storage);
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
            && let Some((storage, from)) = self.walks.take_recheck()
        {
            let known = self.nodes.storage(storage);
            let slots: Vec<Slot> =
                known.map_or(Vec::new(), |known| known.blocks.range(from..).take(left).collect());
            left -= slots.len();
            if left == 0
                && let Some(last) = slots.last()
            {
                self.walks.resume_recheck(storage, last + 1);
            }
            slots.into_iter().for_each(|slot| self.recheck(slot));
        }
        left
    }
}

/// Whether a replica is newer than its block, which an older image explains.
pub(super) fn is_newer_than_block(stored: Block, reported: Option<Block>) -> bool {
    reported.is_some_and(|reported| reported.stamp > stored.stamp)
}

/// The queue a block with too few replicas belongs in.
fn priority(counts: &ReplicaCounts, expected: u32) -> usize {
    let leaving = counts.leaving();
    match counts.live {
        0 if leaving > 0 => 0,
        0 => WITHOUT_REPLICA,
        live if live >= expected => 3,
        1 => 0,
        live if live * 3 < expected => 1,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::super::types::{DatanodeId, StorageType, StoredBlock};
    use super::*;
    use roaring::RoaringBitmap;
    use zerohop_wire::{GenerationStamp, InodeId};

    const BLOCK: Block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 5 };

    /// A complete block that should have two replicas, and three live DataNodes.
    struct Parts {
        params: BlockParams,
        map: BlockMap,
        nodes: Nodes,
        corrupt: CorruptReplicas,
        redundancy: Redundancy,
        walks: Walks,
        safe_mode: SafeMode,
        counts: std::sync::atomic::AtomicUsize,
        slot: Slot,
    }

    impl Parts {
        fn new() -> Self {
            let params = BlockParams::default();
            let (mut map, mut nodes) = (BlockMap::default(), Nodes::default());
            let (file, state) = (InodeId(16386), BlockState::Complete);
            let slot = map.insert(StoredBlock { block: BLOCK, file, replication: 2, state });
            for index in 0..3 {
                let id = DatanodeId { uuid: format!("uuid-{index}"), ..DatanodeId::default() };
                let node = nodes.add_node(id, "/a".into());
                nodes.node_mut(node).unwrap().alive = true;
                let storage = nodes.ensure_storage(node, &"DS".into(), StorageType::Disk);
                let reports = &mut nodes.storage_mut(storage).unwrap().reports;
                reports.heard();
                reports.begin(false, RoaringBitmap::new());
                reports.end();
            }
            let mut redundancy = Redundancy::default();
            redundancy.populate();
            Self {
                safe_mode: SafeMode::new(&params),
                corrupt: CorruptReplicas::default(),
                walks: Walks::default(),
                counts: Default::default(),
                params,
                map,
                nodes,
                redundancy,
                slot,
            }
        }

        fn replicas(&mut self) -> StoredReplicas<'_> {
            StoredReplicas {
                params: &self.params,
                now: Now::default(),
                map: &mut self.map,
                nodes: &mut self.nodes,
                corrupt: &mut self.corrupt,
                redundancy: &mut self.redundancy,
                walks: &mut self.walks,
                safe_mode: &mut self.safe_mode,
                counts: &self.counts,
            }
        }

        fn arrives(&mut self, on: StorageIdx) {
            self.map.add_storage(self.slot, on);
            self.nodes.note_replica(on, self.slot);
            let slot = self.slot;
            self.replicas().recheck(slot);
        }

        fn goes(&mut self, from: StorageIdx) {
            let slot = self.slot;
            self.replicas().drop_replica(slot, from);
        }
    }

    const ON: [StorageIdx; 3] = [StorageIdx(0), StorageIdx(1), StorageIdx(2)];

    #[test]
    fn a_block_is_queued_as_long_as_it_lacks_a_replica() {
        let mut parts = Parts::new();
        parts.arrives(ON[0]);
        assert_eq!(parts.redundancy.low(), 1);
        parts.arrives(ON[1]);
        assert_eq!(parts.redundancy.low(), 0);
        ON[..2].iter().for_each(|storage| parts.goes(*storage));
        assert!(parts.redundancy.without_replica().contains(parts.slot));
    }

    #[test]
    fn a_deletion_is_called_off_when_the_replica_is_needed() {
        let mut parts = Parts::new();
        ON.iter().for_each(|storage| parts.arrives(*storage));
        assert_eq!(parts.redundancy.take_extra().map(|(slot, _)| slot), Some(parts.slot));
        parts.redundancy.excess.mark(parts.slot, ON[2], 0);
        parts.nodes.invalidate(ON[2], BLOCK);
        parts.goes(ON[0]);
        assert!(!parts.nodes.is_invalidating(ON[2], BLOCK));
        assert!(!parts.redundancy.is_excess(parts.slot, ON[2]) && parts.redundancy.low() == 0);
    }

    #[test]
    fn a_corrupt_replica_goes_when_there_are_enough_good_ones() {
        let mut parts = Parts::new();
        let (node, reason) = (NodeIdx(0), CorruptReason::Reported);
        parts.corrupt.add(parts.slot, CorruptReplica { node, reason, reported: None });
        parts.arrives(ON[0]);
        parts.arrives(ON[1]);
        assert_eq!(parts.map.storages(parts.slot), &ON[..2]);
        parts.arrives(ON[2]);
        assert_eq!(parts.map.storages(parts.slot), &ON[1..]);
        assert!(parts.nodes.is_invalidating(ON[0], BLOCK));
        assert_eq!(parts.corrupt.block_count(), 0);
    }

    #[test]
    fn replicas_of_a_lost_storage_stop_counting_before_they_are_forgotten() {
        let mut parts = Parts::new();
        ON[..2].iter().for_each(|storage| parts.arrives(*storage));
        parts.walks.depart(ON[0]);
        let slot = parts.slot;
        assert_eq!(parts.replicas().view().live(slot)[..], ON[1..2]);
        assert_eq!((parts.map.storages(slot).len(), parts.redundancy.low()), (2, 0));
        parts.replicas().continue_storage_walks();
        assert_eq!((parts.map.storages(slot), parts.redundancy.low()), (&ON[1..2], 1));
    }
}
