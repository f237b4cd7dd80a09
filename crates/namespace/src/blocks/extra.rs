//! Which replica goes when a block has too many.

use super::map::Slot;
use super::nodes::Nodes;
use super::params::BlockParams;
use super::policy::{DEFAULT, StoragePolicy};
use super::queues::Arrival;
use super::{
    AdminState, BlockManager, BlockState, NodeIdx, PolicyOf, StorageIdx, StorageType, Storages,
};

/// A DataNode so many heartbeats late is the first to lose a replica (`dfs.namenode.tolerate.heartbeat.multiplier`).
const HEARTBEATS_TOLERATED: u64 = 4;

impl BlockManager {
    /// Keeps in mind that a block has too many replicas, until [`BlockManager::delete_extra`] is called.
    pub(super) fn note_extra(&mut self, slot: Slot, arrival: Arrival) {
        let noted = self.redundancy.extra.entry(slot).or_default();
        if arrival.instead_of.is_some() || noted.instead_of.is_none() {
            *noted = arrival;
        }
    }

    /// Orders the deletion of replicas that changes since the last call made superfluous. To be called after every change
    /// that may have done so, before anybody else looks.
    pub fn delete_extra(&mut self, policy_of: PolicyOf<'_>) {
        while let Some((slot, arrival)) = self.redundancy.extra.pop_first() {
            self.drop_extra(slot, arrival, policy_of);
        }
    }

    fn drop_extra(&mut self, slot: Slot, arrival: Arrival, policy_of: PolicyOf<'_>) {
        let Some(stored) = self.map.get(slot).map(|entry| entry.view()) else { return };
        let mut live = self.replicas().live(slot);
        let choice =
            ExtraChoice { nodes: &self.nodes, params: &self.params, now_ms: self.now.mono_ms };
        live.retain(|storage| choice.is_in_service(*storage));
        let expected = usize::from(stored.replication);
        if stored.state != BlockState::Complete || live.len() <= expected {
            return;
        }
        let policy = StoragePolicy::by_id(policy_of(stored.file)).unwrap_or(DEFAULT);
        for extra in choice.choose(live, expected, policy, arrival) {
            self.redundancy.excess.mark(slot, extra, self.now.mono_ms);
            self.nodes.invalidate(extra, stored.block);
        }
    }

    /// Excess replicas of a block that lacks good ones count again: each whose DataNode was not told to delete it yet, and,
    /// where no other can be read, one whose DataNode was told: the order may have been lost.
    pub(super) fn keep_needed_excess(&mut self, slot: Slot, expected: u32) {
        let excess = self.redundancy.excess.of_block(slot);
        let Some(block) = self.map.get(slot).map(|entry| entry.block()) else { return };
        for storage in excess {
            let counts = self.replicas().count(slot);
            let is_readable = counts.live + counts.leaving() > 0;
            if counts.live >= expected {
                return;
            }
            if self.nodes.call_off_invalidation(storage, block) || !is_readable {
                self.redundancy.excess.unmark(slot, storage);
            }
        }
    }

    /// Orders the deletion of excess replicas again that are still there long after their DataNode was told, or counts them
    /// again where they are needed: the answer to a heartbeat may be lost (HDFS-17250).
    pub(super) fn repeat_deletions(&mut self) {
        let timeout_ms = self.params.excess_timeout_ms;
        let deadline_ms = self.now.mono_ms.saturating_sub(timeout_ms);
        let overdue = self
            .redundancy
            .excess
            .take_overdue(deadline_ms, self.params.excess_timeout_check_limit);
        for (slot, storage) in overdue {
            let Some(stored) = self.map.get(slot).map(|entry| entry.view()) else { continue };
            if stored.state != BlockState::Complete {
                self.redundancy.excess.mark(slot, storage, self.now.mono_ms);
            } else if self.replicas().count(slot).live >= u32::from(stored.replication) {
                self.redundancy.excess.mark(slot, storage, self.now.mono_ms);
                self.nodes.invalidate(storage, stored.block);
            } else {
                self.redundancy.excess.unmark(slot, storage);
                self.recheck(slot);
            }
        }
    }
}

/// Chooses among the replicas of a block that has too many.
#[derive(Clone, Copy)]
struct ExtraChoice<'a> {
    nodes: &'a Nodes,
    params: &'a BlockParams,
    now_ms: u64,
}

impl ExtraChoice<'_> {
    /// The replicas to delete so that as many are left as expected, the hinted one first.
    fn choose(
        self,
        mut live: Storages,
        expected: usize,
        policy: &StoragePolicy,
        arrival: Arrival,
    ) -> Storages {
        let mut types = policy.excess_types(expected, live.iter().filter_map(|s| self.kind_of(*s)));
        let mut hinted = self.hinted(&live, arrival, &types);
        let mut chosen = Storages::new();
        while live.len() > expected
            && let Some(extra) = hinted.take().or_else(|| self.choose_one(&live, &types))
        {
            live.retain(|storage| *storage != extra);
            if let Some(at) = types.iter().position(|kind| Some(*kind) == self.kind_of(extra)) {
                types.swap_remove(at);
            }
            chosen.push(extra);
        }
        chosen
    }

    fn is_in_service(&self, storage: StorageIdx) -> bool {
        let node = self.nodes.node_of(storage).and_then(|node| self.nodes.node(node));
        node.is_some_and(|node| node.admin == AdminState::Normal)
    }

    fn kind_of(&self, storage: StorageIdx) -> Option<StorageType> {
        self.nodes.storage(storage).map(|known| known.kind)
    }

    fn rack_of(&self, storage: StorageIdx) -> Option<&str> {
        let node = self.nodes.node_of(storage).and_then(|node| self.nodes.node(node));
        node.map(|node| &*node.rack)
    }

    fn in_rack_of(&self, storage: StorageIdx, live: &[StorageIdx]) -> usize {
        let rack = self.rack_of(storage);
        live.iter().filter(|other| self.rack_of(**other) == rack).count()
    }

    /// The replica the reporter would like to go, unless its type is wanted or its rack would be lost by that.
    fn hinted(
        &self,
        live: &[StorageIdx],
        arrival: Arrival,
        types: &[StorageType],
    ) -> Option<StorageIdx> {
        let on = |node: Option<NodeIdx>| {
            let node = node?;
            live.iter().copied().find(|storage| self.nodes.node_of(*storage) == Some(node))
        };
        let hint = on(arrival.instead_of.filter(|node| Some(*node) != arrival.added))?;
        let is_extra = self.kind_of(hint).is_some_and(|kind| types.contains(&kind));
        let is_shared = self.in_rack_of(hint, live) > 1;
        let adds_rack = on(arrival.added).is_some_and(|added| self.in_rack_of(added, live) == 1);
        (is_extra && (is_shared || adds_rack)).then_some(hint)
    }

    /// Of the replicas on a type there are too many of: the one whose DataNode has been silent longest if any is late, else
    /// where the least room is left. With two racks one that has several replicas gives one up.
    fn choose_one(&self, live: &[StorageIdx], types: &[StorageType]) -> Option<StorageIdx> {
        let mut candidates = Storages::from_slice(live);
        let shared: Storages =
            live.iter().copied().filter(|storage| self.in_rack_of(*storage, live) > 1).collect();
        if self.count_racks_of(live) == 2 && !shared.is_empty() {
            candidates = shared;
        }
        candidates
            .retain(|storage| self.kind_of(*storage).is_some_and(|kind| types.contains(&kind)));
        let late_ms = HEARTBEATS_TOLERATED * self.params.heartbeat_interval_ms;
        let heard_ms = |storage: &StorageIdx| self.nodes.last_heartbeat_ms(*storage);
        let late = candidates.iter().copied().min_by_key(heard_ms);
        let room =
            |storage: &StorageIdx| self.nodes.storage(*storage).map_or(0, |known| known.remaining);
        late.filter(|storage| heard_ms(storage) + late_ms < self.now_ms)
            .or_else(|| candidates.iter().copied().min_by_key(room))
    }

    fn count_racks_of(&self, live: &[StorageIdx]) -> usize {
        let mut racks: Vec<_> = live.iter().map(|storage| self.rack_of(*storage)).collect();
        racks.sort_unstable();
        racks.dedup();
        racks.len()
    }
}
