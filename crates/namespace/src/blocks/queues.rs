//! Blocks by what they lack: the queues of copies to make, copies under way, replicas too many.

use super::copy_rounds::CopyRounds;
use super::excess::ExcessReplicas;
use super::map::{BlockMap, Slot};
use super::types::{NodeIdx, StorageIdx, Storages};
use hashbrown::HashMap;
use roaring::RoaringBitmap;
use std::collections::BTreeMap;
use std::ops::Range;
use zerohop_wire::{BlockId, InodeId};

/// Only these queues lead to copies; the last one holds blocks without any good replica.
const QUEUES: usize = 5;
pub(super) const WITHOUT_REPLICA: usize = 4;
/// How many blocks are tried when one DataNode is looked for work.
const CANDIDATES: usize = 16;

/// The blocks that something must be done about.
#[derive(Default)]
pub(super) struct Redundancy {
    /// Slots by priority: 0 one replica left, 1 under a third, 2 too few, 3 badly spread, 4 none.
    queues: [RoaringBitmap; QUEUES],
    /// Where the next walk of each queue goes on.
    cursors: [Slot; QUEUES],
    pending: HashMap<Slot, Pending>,
    pub(super) excess: ExcessReplicas,
    /// Blocks with more replicas than they should have: one is chosen for deletion when the caller says what policy
    /// their files have.
    extra: BTreeMap<Slot, Arrival>,
    /// Blocks whose deletions wait for reports of stale storages (`postponedMisreplicatedBlocks`).
    postponed: RoaringBitmap,
    /// Blocks are queued at all: not before safe mode ends.
    populating: bool,
    /// The walk over all blocks that fills the queues stands here.
    scan: Option<Slot>,
    pub(super) rounds: CopyRounds,
    outcomes: CopyOutcomes,
}

/// What became of ordered copies, since the start of this process.
#[derive(Clone, Copy, Default)]
pub(super) struct CopyOutcomes {
    /// Blocks whose expected replicas all arrived.
    pub(super) arrived: u64,
    /// Blocks whose replicas did not arrive in time.
    pub(super) late: u64,
    /// Times that a block that lacks replicas found no source or no target.
    pub(super) not_ordered: u64,
}

/// What made a block have too many replicas.
#[derive(Clone, Copy, Default)]
pub(super) struct Arrival {
    /// The DataNode that got a replica.
    pub(super) added: Option<NodeIdx>,
    /// The DataNode that may lose its replica for that (the report's `deleteHint`).
    pub(super) instead_of: Option<NodeIdx>,
}

/// Replicas of a block that are on their way.
struct Pending {
    since_ms: u64,
    targets: Storages,
}

impl Redundancy {
    /// Whether blocks are queued.
    pub(super) fn is_populating(&self) -> bool {
        self.populating
    }

    /// Forgets all copies and deletions that were decided on, and queues no block until [`Redundancy::populate`] is called
    /// again (`BlockManager.clearQueues`). The caller has given up pending copies before.
    pub(super) fn clear(&mut self) {
        self.queues.iter_mut().for_each(RoaringBitmap::clear);
        self.cursors = [0; QUEUES];
        self.pending.clear();
        self.excess = ExcessReplicas::default();
        self.extra.clear();
        self.postponed.clear();
        (self.populating, self.scan) = (false, None);
    }

    /// Notes a block that keeps a superfluous or corrupt replica because other replicas are on stale storages.
    pub(super) fn postpone(&mut self, slot: Slot) {
        self.postponed.insert(slot);
    }

    /// Returns the number of blocks noted by [`Redundancy::postpone`] that were not checked since.
    pub(super) fn postponed_blocks(&self) -> u64 {
        self.postponed.len()
    }

    /// Removes a block from those noted by [`Redundancy::postpone`].
    pub(super) fn resume(&mut self, slot: Slot) {
        self.postponed.remove(slot);
    }

    /// Queues blocks from here on: those that are known are looked at by [`Redundancy::next_scanned`].
    pub(super) fn populate(&mut self) {
        if !self.populating {
            (self.populating, self.scan) = (true, Some(0));
        }
    }

    /// Up to `max` blocks that the walk over all blocks looks at next; `end` is one past the last slot in use.
    pub(super) fn next_scanned(&mut self, max: usize, end: Slot) -> Range<Slot> {
        let Some(from) = self.scan else { return 0..0 };
        let until = from.saturating_add(max as u32).min(end);
        self.scan = (until < end).then_some(until);
        from..until
    }

    /// Whether the walk over all blocks has not come to its end.
    pub(super) fn is_scanning(&self) -> bool {
        self.scan.is_some()
    }

    /// Keeps in mind that a block has too many replicas, until [`Redundancy::take_extra`] is called.
    pub(super) fn note_extra(&mut self, slot: Slot, arrival: Arrival) {
        let noted = self.extra.entry(slot).or_default();
        if arrival.instead_of.is_some() || noted.instead_of.is_none() {
            *noted = arrival;
        }
    }

    /// A block that was noted as having too many replicas.
    pub(super) fn take_extra(&mut self) -> Option<(Slot, Arrival)> {
        self.extra.pop_first()
    }

    /// Replicas that are on their way.
    pub(super) fn pending(&self, slot: Slot) -> u32 {
        self.pending.get(&slot).map_or(0, |pending| pending.targets.len() as u32)
    }

    /// The storages that replicas are on their way to.
    pub(super) fn pending_targets(&self, slot: Slot) -> &[StorageIdx] {
        self.pending.get(&slot).map_or(&[], |pending| &pending.targets)
    }

    pub(super) fn is_excess(&self, slot: Slot, storage: StorageIdx) -> bool {
        self.excess.contains(slot, storage)
    }

    /// Replicas were ordered or a pipeline wrote them: they count until they are reported or the time is up.
    pub(super) fn expect(&mut self, slot: Slot, targets: &[StorageIdx], now_ms: u64) {
        let pending = self
            .pending
            .entry(slot)
            .or_insert_with(|| Pending { since_ms: now_ms, targets: Storages::new() });
        pending.since_ms = now_ms;
        pending.targets.extend(targets.iter().copied());
    }

    /// One of the expected replicas is there; a node may have used another of its storages.
    pub(super) fn arrived(&mut self, slot: Slot, is_same_node: impl Fn(StorageIdx) -> bool) {
        let Some(pending) = self.pending.get_mut(&slot) else { return };
        pending.targets.retain(|target| !is_same_node(*target));
        if pending.targets.is_empty() {
            self.pending.remove(&slot);
            self.outcomes.arrived += 1;
        }
    }

    /// What became of ordered copies.
    pub(super) fn outcomes(&self) -> CopyOutcomes {
        self.outcomes
    }

    /// So many blocks' replicas did not arrive in time.
    pub(super) fn count_late(&mut self, blocks: usize) {
        self.outcomes.late += blocks as u64;
    }

    /// No copy of a block could be ordered.
    pub(super) fn count_not_ordered(&mut self) {
        self.outcomes.not_ordered += 1;
    }

    /// Stops waiting for the replicas of a block that are on their way; their storages.
    pub(super) fn take_pending(&mut self, slot: Slot) -> Storages {
        self.pending.remove(&slot).map(|pending| pending.targets).unwrap_or_default()
    }

    /// Blocks whose replicas have been on their way since before `deadline_ms`.
    pub(super) fn late(&self, deadline_ms: u64) -> Vec<Slot> {
        let late = self.pending.iter().filter(|(_, pending)| pending.since_ms < deadline_ms);
        late.map(|(slot, _)| *slot).collect()
    }

    /// Blocks with replicas on their way, how many, and since when the last of them is waited for.
    pub(super) fn all_pending(&self) -> impl Iterator<Item = (Slot, usize, u64)> + '_ {
        self.pending.iter().map(|(slot, pending)| (*slot, pending.targets.len(), pending.since_ms))
    }

    /// Blocks with too few replicas, the most urgent first.
    pub(super) fn all_low(&self) -> impl Iterator<Item = Slot> + '_ {
        self.queues.iter().take(WITHOUT_REPLICA).flatten()
    }

    pub(super) fn dequeue(&mut self, slot: Slot) {
        self.queues.iter_mut().for_each(|queue| _ = queue.remove(slot));
    }

    /// What was to be deleted of a block of which only the copies on their way are kept.
    pub(super) fn forget(&mut self, slot: Slot) -> Storages {
        self.dequeue(slot);
        self.extra.remove(&slot);
        self.postponed.remove(slot);
        self.excess.unmark_block(slot)
    }

    pub(super) fn enqueue(&mut self, slot: Slot, priority: usize) {
        self.dequeue(slot);
        if let Some(queue) = self.queues.get_mut(priority) {
            queue.insert(slot);
        }
    }

    pub(super) fn low(&self) -> u64 {
        self.queues.iter().take(WITHOUT_REPLICA).map(RoaringBitmap::len).sum()
    }

    /// Every block has its replicas, as far as is known, and none is on its way.
    pub(super) fn is_all_well(&self) -> bool {
        let is_known = self.populating && self.scan.is_none();
        is_known && self.queues.iter().all(RoaringBitmap::is_empty) && self.pending.is_empty()
    }

    pub(super) fn urgent(&self) -> u64 {
        self.queues[0].len()
    }

    pub(super) fn without_replica(&self) -> &RoaringBitmap {
        &self.queues[WITHOUT_REPLICA]
    }

    /// Blocks of which no good replica is left, from a slot on: each with its slot, its file and its id.
    pub(super) fn corrupt_blocks<'a>(
        &'a self,
        map: &'a BlockMap,
        from: Slot,
    ) -> impl Iterator<Item = (Slot, InodeId, BlockId)> + 'a {
        self.without_replica().range(from..).filter_map(|slot| {
            let stored = map.get(slot)?.view();
            Some((slot, stored.file, stored.block.id))
        })
    }

    pub(super) fn pending_blocks(&self) -> u64 {
        self.pending.len() as u64
    }

    /// A few of the queued blocks that are in one of these sets, in order of priority.
    pub(super) fn lacking_among<'a>(
        &self,
        sets: impl Iterator<Item = &'a RoaringBitmap> + Clone,
    ) -> Vec<(usize, Slot)> {
        let queues = self.queues.iter().enumerate().take(WITHOUT_REPLICA);
        let waiting = queues.filter(|(_, queue)| !queue.is_empty());
        waiting
            .flat_map(|(priority, queue)| {
                let found = sets.clone().flat_map(move |set| (queue & set).into_iter());
                found.map(move |slot| (priority, slot))
            })
            .take(CANDIDATES)
            .collect()
    }

    /// Up to `limit` slots in order of priority, each queue going on where it stood.
    pub(super) fn next_slots(&mut self, mut limit: usize) -> Vec<(usize, Slot)> {
        let mut slots = Vec::new();
        for (priority, queue) in self.queues.iter().enumerate().take(WITHOUT_REPLICA) {
            let Some(cursor) = self.cursors.get_mut(priority).filter(|_| limit > 0) else { break };
            let taken: Vec<Slot> = queue.range(*cursor..).take(limit).collect();
            *cursor = if taken.len() < limit {
                0
            } else {
                taken.last().map_or(0, |last| last.wrapping_add(1))
            };
            limit -= taken.len();
            slots.extend(taken.into_iter().map(|slot| (priority, slot)));
        }
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_that_come_first_take_no_turn_of_later_ones() {
        let mut redundancy = Redundancy::default();
        (0..3).for_each(|slot| redundancy.enqueue(slot, 0));
        (10..14).for_each(|slot| redundancy.enqueue(slot, 2));
        let mut turns = || redundancy.next_slots(3).into_iter().map(|(_, slot)| slot);
        let seen: Vec<Slot> = (0..6).flat_map(|_| turns()).collect();
        assert_eq!(seen, [0, 1, 2, 10, 11, 12, 0, 1, 2, 13, 0, 1, 2, 10, 11, 12]);
    }

    #[test]
    fn the_walk_that_fills_the_queues_is_made_once() {
        let mut redundancy = Redundancy::default();
        assert_eq!(redundancy.next_scanned(10, 15), 0..0);
        redundancy.populate();
        assert!(!redundancy.is_all_well(), "no block was looked at");
        assert_eq!(redundancy.next_scanned(10, 15), 0..10);
        assert_eq!(redundancy.next_scanned(10, 15), 10..15);
        redundancy.populate();
        assert!(!redundancy.is_scanning() && redundancy.is_all_well());
    }

    #[test]
    fn decisions_that_are_forgotten_are_made_anew_by_another_walk() {
        let mut redundancy = Redundancy::default();
        redundancy.populate();
        assert_eq!(redundancy.next_scanned(10, 5), 0..5);
        redundancy.enqueue(1, 0);
        redundancy.excess.mark(2, StorageIdx(7), 100);
        redundancy.note_extra(3, Arrival::default());
        redundancy.postpone(4);
        redundancy.clear();
        assert_eq!((redundancy.low(), redundancy.excess.len()), (0, 0));
        assert!(redundancy.take_extra().is_none() && redundancy.postponed_blocks() == 0);
        assert!(redundancy.excess.take_overdue(200, 9).is_empty() && !redundancy.is_populating());
        redundancy.populate();
        assert_eq!(redundancy.next_scanned(10, 5), 0..5);
    }

    #[test]
    fn copies_that_are_late_are_those_ordered_before_the_deadline() {
        let mut redundancy = Redundancy::default();
        redundancy.expect(1, &[StorageIdx(7), StorageIdx(8)], 100);
        redundancy.expect(2, &[StorageIdx(7)], 200);
        assert_eq!(redundancy.late(200), [1]);
        redundancy.arrived(1, |target| target == StorageIdx(7));
        assert_eq!(redundancy.take_pending(1)[..], [StorageIdx(8)]);
        assert!(redundancy.late(200).is_empty() && redundancy.pending(2) == 1);
    }
}
