//! A block with where it is: for readers the nearest replica first, for fsck every replica, good or not.

use super::backlog::Backlog;
use super::cached::Caches;
use super::construction::{Construction, Constructions, Recovery};
use super::map::Slot;
use super::read_order::ReadOrder;
use super::replicas::Replicas;
use super::types::{
    AdminState, BlockLocations, BlockState, BlockStats, ClientLocation, CorruptReason,
    ReplicaCounts, ReplicaLocation, StorageIdx, StorageType, Storages, StoredBlock,
};
use zerohop_wire::{Block, BlockId, InodeId};

/// One replica, in the order in which it was reported; several of the facts may hold at once.
#[derive(Clone, Debug)]
pub struct ReplicaCheck {
    /// Where it is.
    pub location: ReplicaLocation,
    /// Why it counts as corrupt.
    pub corrupt: Option<CorruptReason>,
    /// It is one too many and about to be deleted.
    pub is_excess: bool,
    /// Its DataNode has sent no heartbeat for `dfs.namenode.stale.datanode.interval`.
    pub is_stale_node: bool,
    /// Its storage has sent no full report since its DataNode registered.
    pub is_stale_content: bool,
}

impl ReplicaCheck {
    /// What the operator wants of its DataNode.
    pub fn admin(&self) -> AdminState {
        self.location.node.stats.admin
    }

    fn counts_for(&self, admin: AdminState) -> bool {
        self.corrupt.is_none() && !self.is_excess && self.admin() == admin
    }
}

/// What is known of a block.
#[derive(Clone, Debug)]
pub struct BlockCheck {
    /// Its id, length, state and file.
    pub stored: StoredBlock,
    /// Its replicas by condition.
    pub counts: ReplicaCounts,
    /// All its replicas; where it is written, if it is not complete.
    pub replicas: Vec<ReplicaCheck>,
}

impl BlockCheck {
    /// Replicas on DataNodes that are about to be away.
    pub fn entering_maintenance(&self) -> u32 {
        self.count(AdminState::EnteringMaintenance)
    }

    /// Replicas on DataNodes that are away.
    pub fn in_maintenance(&self) -> u32 {
        self.count(AdminState::InMaintenance)
    }

    fn count(&self, admin: AdminState) -> u32 {
        self.replicas.iter().filter(|replica| replica.counts_for(admin)).count() as u32
    }
}

/// What is known of where blocks are.
pub struct BlockLookup<'a> {
    pub(super) replicas: Replicas<'a>,
    pub(super) constructions: &'a Constructions,
    pub(super) caches: &'a Caches,
    pub(super) order: ReadOrder<'a>,
}

impl<'a> BlockLookup<'a> {
    /// The targets of a block that is not complete.
    fn construction(&self, slot: Slot, stored: &StoredBlock) -> Option<&Construction> {
        self.constructions.get(slot).filter(|_| stored.state != BlockState::Complete)
    }

    /// Returns the replicas of a block, nearest to the client first, or `None` if the block is unknown.
    ///
    /// For a block under construction these are the storages that a client writes to.
    pub fn locations<'c>(
        &self,
        id: BlockId,
        client: impl Into<ClientLocation<'c>>,
    ) -> Option<BlockLocations> {
        let (slot, stored) = self.replicas.map.find(id)?;
        let (storages, corrupt) = match self.construction(slot, &stored) {
            Some(construction) => (construction.storages().collect(), false),
            None => self.replicas.readable(slot),
        };
        let mut replicas: Vec<_> =
            storages.iter().filter_map(|storage| self.location_with_cache(*storage, id)).collect();
        self.order.sort(&mut replicas, client.into());
        Some(BlockLocations { block: stored.block, replicas, corrupt })
    }

    fn location_with_cache(&self, storage: StorageIdx, id: BlockId) -> Option<ReplicaLocation> {
        let nodes = self.replicas.nodes;
        let is_held = nodes.node_of(storage).is_some_and(|node| self.caches.is_held(node, id));
        nodes.location(storage).map(|location| ReplicaLocation { is_held, ..location })
    }

    /// The storages a block under construction is expected on.
    pub fn targets(&self, id: BlockId) -> Storages {
        self.constructions.targets(self.replicas.map, id)
    }

    /// Whether any DataNode was chosen for a block or has reported a replica of it, good or stale.
    pub fn has_targets_or_replicas(&self, id: BlockId) -> bool {
        self.constructions.has_targets_or_replicas(self.replicas.map, id)
    }

    /// Whether a failover was so short a time ago that a DataNode may write a replica which it has not reported here.
    pub fn awaits_reports(&self) -> bool {
        self.constructions.are_reports_awaited(self.order.now_ms)
    }

    /// Returns `true` if the start, or a failover, was so short a time ago that a DataNode which has not reported yet may hold
    /// flushed bytes of a block that seems to be empty.
    pub fn keeps_empty(&self) -> bool {
        self.constructions.keeps_empty(self.order.now_ms)
    }

    /// The recovery under way for a block.
    pub fn recovery(&self, id: BlockId) -> Option<Recovery> {
        self.constructions.recovery_of(self.replicas.map, id)
    }

    /// Whether a recovery may be started: none was in the last 30 s.
    pub fn is_recovery_due(&self, id: BlockId) -> bool {
        self.constructions.is_recovery_due(self.replicas.map, id, self.order.now_ms)
    }

    /// Blocks of truncates that no DataNode was asked to cut since this NameNode started, and that one could cut now.
    pub fn unasked_truncates(&self) -> Vec<BlockId> {
        self.constructions.unasked_truncates(self.replicas.map, self.replicas.nodes)
    }

    /// Whether as many live replicas as `dfs.namenode.replication.min` asks are known.
    pub fn has_min_replication(&self, id: BlockId) -> bool {
        let min = u32::from(self.replicas.params.replication_min);
        self.replicas.map.slot(id).is_some_and(|slot| self.replicas.count(slot).live >= min)
    }

    /// How many DataNodes hold a block in memory.
    pub(crate) fn held_count(&self, id: BlockId) -> usize {
        self.caches.held_count(self.replicas, id)
    }

    /// Blocks of which no good replica is left, from a place on: each with its place, its file and its id.
    pub fn corrupt_blocks(&self, from: u32) -> impl Iterator<Item = (u32, InodeId, BlockId)> + 'a {
        self.replicas.redundancy.corrupt_blocks(self.replicas.map, from)
    }

    /// Work that is outstanding; each list is cut behind `max` entries.
    pub fn backlog(&self, max: usize) -> Backlog {
        Backlog::of(self.replicas, self.order.now_ms, max)
    }

    /// Adds what is known of blocks to sums over all of them.
    pub(super) fn add_to(&self, stats: &mut BlockStats) {
        let Replicas { map, corrupt, redundancy, .. } = self.replicas;
        let missing = redundancy.without_replica();
        let has_replication_one =
            |slot: &Slot| map.get(*slot).is_some_and(|entry| entry.replication() == 1);
        stats.blocks = map.len() as u64;
        stats.block_capacity = map.capacity() as u64;
        stats.under_replicated = redundancy.low() + missing.len();
        stats.low_redundancy_with_highest_priority = redundancy.urgent();
        stats.corrupt = corrupt.block_count();
        stats.missing = missing.len();
        stats.missing_replication_one = missing.iter().filter(has_replication_one).count() as u64;
        stats.pending_replication = redundancy.pending_blocks();
        stats.excess = redundancy.excess.len();
        stats.postponed = redundancy.postponed_blocks();
        let outcomes = redundancy.outcomes();
        stats.copies_arrived = outcomes.arrived;
        stats.copies_late = outcomes.late;
        stats.copies_not_ordered = outcomes.not_ordered;
        stats.under_construction = self.constructions.len() as u64;
    }

    /// How many replicas a block has in which condition.
    #[cfg(test)]
    pub(crate) fn replica_counts(&self, id: BlockId) -> ReplicaCounts {
        let slot = self.replicas.map.slot(id);
        slot.map(|slot| self.replicas.count(slot)).unwrap_or_default()
    }

    /// A block with all its replicas; `None` for one that is not known.
    pub fn inspect(&self, id: BlockId) -> Option<BlockCheck> {
        let (slot, stored) = self.replicas.map.find(id)?;
        let storages: Vec<_> = match self.construction(slot, &stored) {
            Some(construction) => construction.storages().collect(),
            None => self.replicas.of_block(slot).collect(),
        };
        let replicas = storages.iter().filter_map(|storage| self.check(slot, *storage)).collect();
        Some(BlockCheck { stored, counts: self.replicas.count(slot), replicas })
    }

    fn check(&self, slot: Slot, storage: StorageIdx) -> Option<ReplicaCheck> {
        let Replicas { params, nodes, corrupt, redundancy, .. } = self.replicas;
        let location = nodes.location(storage)?;
        let silent_ms = self.order.now_ms.saturating_sub(location.node.stats.last_update.mono_ms);
        Some(ReplicaCheck {
            corrupt: corrupt.get(slot, nodes.node_of(storage)?).map(|known| known.reason),
            is_excess: redundancy.is_excess(slot, storage),
            is_stale_node: silent_ms > params.stale_interval_ms,
            is_stale_content: nodes.is_stale(storage),
            location,
        })
    }

    /// Some complete blocks of a DataNode, for the balancer: from a random place on, until their sizes reach `bytes`.
    /// With a storage type, those that the DataNode has on storages of that type.
    pub fn blocks_of(
        &self,
        uuid: &str,
        bytes: u64,
        size_min: u64,
        kind: Option<StorageType>,
    ) -> Option<Vec<(Block, Vec<ReplicaLocation>)>> {
        let Replicas { nodes, map, .. } = self.replicas;
        let node = nodes.node(nodes.by_uuid(uuid)?)?;
        let mut found = Vec::new();
        let mut sum = 0;
        let storages = node.storages.iter().filter_map(|storage| nodes.storage(*storage));
        let storages = storages.filter(|storage| !storage.reports.is_stale());
        for storage in storages.filter(|storage| kind.is_none_or(|kind| kind == storage.kind)) {
            let start = self.order.random.below(storage.blocks.len() as usize);
            let slots = storage.blocks.iter().skip(start).chain(storage.blocks.iter().take(start));
            for stored in slots.filter_map(|slot| map.get(slot)).map(|entry| entry.view()) {
                if sum >= bytes {
                    return Some(found);
                }
                if stored.state == BlockState::Complete && stored.block.len >= size_min.max(1) {
                    sum += stored.block.len;
                    let replicas = self
                        .locations(stored.block.id, "")
                        .map_or(Vec::new(), |known| known.replicas);
                    found.push((stored.block, replicas));
                }
            }
        }
        Some(found)
    }
}
