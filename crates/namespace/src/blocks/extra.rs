//! Which replica goes when a block has too many.

use super::nodes::Nodes;
use super::params::BlockParams;
use super::policy::StoragePolicy;
use super::queues::Arrival;
use super::types::{AdminState, NodeIdx, StorageIdx, StorageType, Storages};

/// A DataNode so many heartbeats late is the first to lose a replica (`dfs.namenode.tolerate.heartbeat.multiplier`).
const HEARTBEATS_TOLERATED: u64 = 4;

/// Chooses among the replicas of a block that has too many.
#[derive(Clone, Copy)]
pub(super) struct ExtraChoice<'a> {
    pub(super) nodes: &'a Nodes,
    pub(super) params: &'a BlockParams,
    pub(super) now_ms: u64,
}

impl ExtraChoice<'_> {
    /// The replicas to delete so that as many are left as expected, the hinted one first.
    pub(super) fn choose(
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

    pub(super) fn is_in_service(&self, storage: StorageIdx) -> bool {
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
