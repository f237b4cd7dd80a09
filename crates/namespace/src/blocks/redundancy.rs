//! Keeping every block at its replication: queues of blocks with too few replicas, and the copies and deletions ordered.

use super::map::Slot;
use super::queues::{Arrival, WITHOUT_REPLICA};
use super::walks::SLICE;
use super::{
    BlockManager, BlockState, NodeIdx, PlacementRequest, PolicyOf, ReplicaCounts, StorageIdx,
    Storages, TransferCommand,
};

impl BlockManager {
    /// Puts a block where it belongs after something about it changed.
    pub(super) fn recheck(&mut self, slot: Slot) {
        self.recheck_after(slot, Arrival::default());
    }

    /// As [`BlockManager::recheck`], after a replica arrived.
    pub(super) fn recheck_after(&mut self, slot: Slot, arrival: Arrival) {
        let Some(entry) = self.map.get(slot) else { return };
        if !self.redundancy.populating || entry.state() != BlockState::Complete {
            return;
        }
        let expected = u32::from(entry.replication());
        self.keep_needed_excess(slot, expected);
        let counts = self.replicas().count(slot);
        let enough = counts.live + counts.pending >= self.replicas().live_needed(&counts, expected);
        let spread = counts.pending > 0 || self.replicas().is_well_spread(slot, expected);
        if enough && spread {
            self.redundancy.dequeue(slot);
        } else {
            self.redundancy.enqueue(slot, priority(&counts, expected));
        }
        if counts.live > expected {
            self.note_extra(slot, arrival);
        } else if counts.corrupt > 0 {
            self.drop_corrupt(slot, counts.live);
        }
    }

    /// Corrupt replicas that were kept for want of good ones go as soon as enough of these are known.
    fn drop_corrupt(&mut self, slot: Slot, live: u32) {
        let Some(stored) = self.map.get(slot).map(|entry| entry.view()) else { return };
        for bad in self.corrupt.of_block(slot).to_vec() {
            let on_node = |storage: &StorageIdx| self.nodes.node_of(*storage) == Some(bad.node);
            let storage = self.map.storages(slot).iter().copied().find(on_node);
            if let Some(storage) = storage
                && self.may_drop_corrupt(slot, storage, live, bad.reported)
            {
                self.nodes.invalidate(storage, bad.reported.unwrap_or(stored.block));
                self.drop_replica(slot, storage);
            }
        }
    }

    /// Forgets one replica and looks at what that means for the block.
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
            let all = self.replicas().of_block(slot);
            let readable =
                all.filter(|storage| !self.replicas().is_corrupt(slot, *storage)).count();
            self.safe_mode.replicas_changed(slot, readable);
        }
    }

    /// One round: fills the queues after safe mode, gives up on copies that did not arrive, orders new ones.
    pub(super) fn keep_redundancy(&mut self, policy_of: PolicyOf<'_>) {
        if self.safe_mode.is_starting() {
            return;
        }
        if !self.redundancy.populating {
            self.redundancy.populating = true;
            self.redundancy.scan = Some(0);
        }
        self.scan_slice(SLICE);
        self.retry_late();
        self.repeat_deletions();
        let now_ms = self.now.mono_ms;
        let (interval_ms, streams) =
            (self.params.redundancy_interval_ms, self.params.transfer_streams_max);
        let is_source_idle = || self.nodes.nodes.iter().any(|node| node.free_streams(streams) > 0);
        let is_due = || self.redundancy.rounds.is_due(now_ms, interval_ms, is_source_idle);
        if self.safe_mode.is_on() || !is_due() {
            return;
        }
        let found_work = self.order_copies(policy_of);
        self.redundancy.rounds.finished(now_ms, found_work);
    }

    /// Orders copies of what a DataNode has, if it could send more than was ordered of it and rounds find work: its
    /// next heartbeat may be 3 s away.
    pub(super) fn order_copies_from(&mut self, source: NodeIdx, policy_of: PolicyOf<'_>) {
        let Some(node) = self.nodes.node(source) else { return };
        let mut free = node.free_streams(self.params.transfer_streams_max);
        if free == 0 || !self.redundancy.rounds.is_under_way(self.now.mono_ms) {
            return;
        }
        let blocks = node.storages.iter().filter_map(|storage| self.nodes.storage(*storage));
        let lacking = self.redundancy.lacking_among(blocks.map(|storage| &storage.blocks));
        for (priority, slot) in lacking {
            if free > 0 && self.order_copy(slot, priority, Some(source), policy_of) {
                free -= 1;
            }
        }
    }

    /// Looks at so many blocks in the walk that fills the queues after safe mode; how many others may be looked at.
    pub(super) fn scan_slice(&mut self, max: usize) -> usize {
        let Some(from) = self.redundancy.scan else { return max };
        let until = from.saturating_add(max as u32).min(self.map.slot_end());
        (from..until).for_each(|slot| self.recheck(slot));
        self.redundancy.scan = (until < self.map.slot_end()).then_some(until);
        max - (until - from) as usize
    }

    fn retry_late(&mut self) {
        let deadline = self.now.mono_ms.saturating_sub(self.params.pending_timeout_ms);
        let late: Vec<Slot> = self
            .redundancy
            .pending
            .iter()
            .filter(|(_, pending)| pending.since_ms < deadline)
            .map(|(slot, _)| *slot)
            .collect();
        for slot in late {
            self.give_up_copies(slot);
            self.recheck(slot);
        }
    }

    /// Replicas on their way are not waited for any more: their DataNodes need no room for them.
    fn give_up_copies(&mut self, slot: Slot) {
        let Some(pending) = self.redundancy.pending.remove(&slot) else { return };
        pending.targets.iter().for_each(|target| self.nodes.unschedule(*target));
    }

    /// The block is gone or written again; what was to be deleted of it as being too much.
    pub(super) fn forget_redundancy(&mut self, slot: Slot) -> Storages {
        self.give_up_copies(slot);
        self.redundancy.forget(slot)
    }

    /// One round; returns whether a copy was ordered.
    fn order_copies(&mut self, policy_of: PolicyOf<'_>) -> bool {
        let live = self.nodes.live_count();
        let mut found_work = false;
        for (priority, slot) in self.redundancy.next_slots(live * self.params.work_multiplier) {
            found_work |= self.order_copy(slot, priority, None, policy_of);
        }
        found_work
    }

    /// Returns whether a copy was ordered; `source` is the DataNode to send it, if it is chosen already.
    fn order_copy(
        &mut self,
        slot: Slot,
        priority: usize,
        source: Option<NodeIdx>,
        policy_of: PolicyOf<'_>,
    ) -> bool {
        let Some(stored) = self.map.get(slot).map(|entry| entry.view()) else {
            self.redundancy.dequeue(slot);
            return false;
        };
        let (block, expected) = (stored.block, u32::from(stored.replication));
        let counts = self.replicas().count(slot);
        let have = counts.live + counts.pending;
        let lacking = self.replicas().live_needed(&counts, expected).saturating_sub(have);
        let wanted = lacking.max(u32::from(!self.replicas().is_well_spread(slot, expected)));
        let streams = self.params.copies_max(priority);
        let mut storages = self.replicas().live(slot);
        storages.retain(|storage| {
            source.is_none_or(|source| self.nodes.node_of(*storage) == Some(source))
        });
        let chosen = self.nodes.choose_source(&storages, streams, || self.random.next());
        let Some(source) = chosen else { return false };
        let (chosen, unusable) = self.replicas().kept_and_unusable(slot);
        let request = PlacementRequest {
            replicas: wanted as usize,
            block_size: block.len,
            chosen: &chosen,
            unusable: &unusable,
            storage_policy: policy_of(stored.file),
            ignore_locality: true,
            ..PlacementRequest::default()
        };
        let targets = self.placement().place(&request, false);
        if targets.is_empty() {
            return false;
        }
        targets.iter().for_each(|target| self.nodes.schedule(*target));
        self.redundancy.expect(slot, &targets, self.now.mono_ms);
        let command = TransferCommand { block, targets: self.describe(&targets) };
        if let Some(node) = self.nodes.node_mut(source) {
            node.transfers.push_back(command);
        }
        self.recheck(slot);
        true
    }
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
