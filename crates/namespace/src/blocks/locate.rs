//! Where a block's replicas are, nearest first, and how they are counted.

use super::map::Slot;
use super::topology::distance;
use super::{
    AdminState, BlockLocations, BlockManager, BlockState, CorruptReason, NodeIdx, ReplicaCounts,
    ReplicaLocation, Result, StorageIdx, Storages,
};
use zerohop_wire::{Block, BlockId, JavaException};

impl BlockManager {
    /// Where a block is, nearest to `client_host` (IP or name) first; unknown blocks have no location.
    ///
    /// A block under construction is where it is being written.
    pub fn locations(&self, id: BlockId, client_host: &str) -> Option<BlockLocations> {
        let (slot, stored) = self.entry(id)?;
        let expected =
            self.constructions.get(&slot).filter(|_| stored.state != BlockState::Complete);
        let (storages, corrupt) = match expected {
            Some(construction) => (construction.storages().collect(), false),
            None => self.readable(slot),
        };
        let mut replicas: Vec<_> =
            storages.iter().filter_map(|storage| self.location_with_cache(*storage, id)).collect();
        self.sort_by_distance(&mut replicas, client_host);
        Some(BlockLocations { block: stored.block, replicas, corrupt })
    }

    fn location_with_cache(&self, storage: StorageIdx, id: BlockId) -> Option<ReplicaLocation> {
        let is_held = self.nodes.node_of(storage).is_some_and(|node| self.is_held(node, id));
        self.nodes.location(storage).map(|location| ReplicaLocation { is_held, ..location })
    }

    /// Storages a client may be sent to; when all replicas are corrupt those, so that it can say what is wrong.
    fn readable(&self, slot: Slot) -> (Storages, bool) {
        let all: Storages = self.replicas(slot).collect();
        let good = |storage: &StorageIdx| !self.is_corrupt(slot, *storage);
        if !all.is_empty() && !all.iter().any(good) {
            return (all, true);
        }
        let reachable = |storage: &StorageIdx| good(storage) && !self.is_away(*storage);
        (all.iter().copied().filter(reachable).collect(), false)
    }

    /// Locations of chosen storages, in their order: a pipeline's.
    pub fn describe(&self, storages: &[StorageIdx]) -> Vec<ReplicaLocation> {
        storages.iter().filter_map(|storage| self.nodes.location(*storage)).collect()
    }

    /// Storages named by DataNode UUID and storage id, as clients and DataNodes send them; a storage its DataNode never
    /// told of is left out.
    ///
    /// # Errors
    /// `UnregisteredNodeException` for an unknown DataNode.
    pub fn resolve_storages<'a>(
        &self,
        names: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Storages> {
        let found = names.into_iter().map(|(uuid, storage)| self.resolve_storage(uuid, storage));
        found.filter_map(Result::transpose).collect()
    }

    fn resolve_storage(&self, uuid: &str, storage: &str) -> Result<Option<StorageIdx>> {
        let Some(node) = self.nodes.by_uuid(uuid) else {
            let message = format!("Unresolved datanode registration: unknown datanode {uuid}");
            return Err(JavaException::UnregisteredNode.with(message));
        };
        let known = self.nodes.by_storage(node, storage);
        // Clients without storage ids (very old ones) mean the node.
        let first = || {
            let node = self.nodes.node(node).filter(|_| storage.is_empty());
            node.and_then(|node| node.storages.first().copied())
        };
        Ok(known.or_else(first))
    }

    /// A registered DataNode by its UUID.
    pub fn node_named(&self, uuid: &str) -> Option<NodeIdx> {
        self.nodes.by_uuid(uuid)
    }

    fn sort_by_distance(&self, replicas: &mut [ReplicaLocation], client_host: &str) {
        if replicas.len() < 2 {
            return;
        }
        let rack = self
            .nodes
            .by_host(client_host)
            .first()
            .and_then(|node| self.nodes.node(*node))
            .map(|node| &node.rack);
        let stale_ms =
            if self.params.avoid_stale_for_read { self.params.stale_interval_ms } else { u64::MAX };
        replicas.sort_by_cached_key(|replica| {
            let node = &replica.node;
            let here = node.id.ip == client_host || node.id.host == client_host;
            let hops =
                if here { 0 } else { rack.map_or(u32::MAX, |rack| distance(rack, &node.rack)) };
            let idle_ms = self.now.mono_ms.saturating_sub(node.stats.last_update.mono_ms);
            let is_slow = self.params.avoid_slow_for_read
                && self.nodes.node_of(replica.storage).is_some_and(|node| self.slow.is_slow(node));
            (self.shunned(node.stats.admin), idle_ms > stale_ms, is_slow, hops, self.dice.next())
        });
    }

    fn shunned(&self, admin: AdminState) -> u8 {
        match admin {
            AdminState::Decommissioned | AdminState::InMaintenance => 2,
            AdminState::EnteringMaintenance => 1,
            AdminState::Normal | AdminState::DecommissionInProgress => 0,
        }
    }

    pub(super) fn is_corrupt(&self, slot: Slot, storage: StorageIdx) -> bool {
        let node = self.nodes.node_of(storage);
        self.corrupt.get(&slot).is_some_and(|bad| bad.iter().any(|bad| Some(bad.node) == node))
    }

    /// What a DataNode has to delete to be rid of its replica.
    pub(super) fn as_stored(&self, slot: Slot, storage: StorageIdx, stored: Block) -> Block {
        let node = self.nodes.node_of(storage);
        let mut bad = self.corrupt.get(&slot).into_iter().flatten();
        bad.find(|bad| Some(bad.node) == node).and_then(|bad| bad.reported).unwrap_or(stored)
    }

    /// Why the replica on a node counts as corrupt.
    pub fn corrupt_reason(&self, id: BlockId, node: NodeIdx) -> Option<CorruptReason> {
        let bad = self.corrupt.get(&self.map.slot(id)?)?;
        bad.iter().find(|bad| bad.node == node).map(|bad| bad.reason)
    }

    /// How many replicas a block has in which condition.
    pub fn replica_counts(&self, id: BlockId) -> ReplicaCounts {
        self.map.slot(id).map(|slot| self.count(slot)).unwrap_or_default()
    }

    pub(super) fn count(&self, slot: Slot) -> ReplicaCounts {
        #[cfg(test)]
        self.counts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut counts =
            ReplicaCounts { pending: self.redundancy.pending(slot), ..ReplicaCounts::default() };
        for storage in self.replicas(slot) {
            let admin = self
                .nodes
                .node_of(storage)
                .and_then(|node| self.nodes.node(node))
                .map(|node| node.admin);
            *(match admin {
                _ if self.is_corrupt(slot, storage) => &mut counts.corrupt,
                _ if self.redundancy.is_excess(slot, storage) => &mut counts.excess,
                Some(AdminState::DecommissionInProgress) => &mut counts.decommissioning,
                Some(AdminState::Decommissioned) => &mut counts.decommissioned,
                Some(AdminState::EnteringMaintenance | AdminState::InMaintenance) => {
                    &mut counts.maintenance
                }
                Some(AdminState::Normal) | None => &mut counts.live,
            }) += 1;
        }
        counts
    }

    /// Replicas that are neither corrupt nor being deleted.
    pub(super) fn live_storages(&self, slot: Slot) -> Storages {
        let good = |storage: &StorageIdx| {
            !self.is_corrupt(slot, *storage) && !self.redundancy.is_excess(slot, *storage)
        };
        self.replicas(slot).filter(good).collect()
    }

    /// The storages whose replicas of a block count: those of DataNodes that have just died do not.
    pub(super) fn replicas(&self, slot: Slot) -> impl Iterator<Item = StorageIdx> + '_ {
        let all = self.map.storages(slot).iter().copied();
        all.filter(|storage| !self.walks.is_departed(*storage))
    }
}
