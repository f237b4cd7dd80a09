//! A block with every replica known of it, good or not: what fsck shows, and what it may order.

use super::{
    AdminState, BlockManager, BlockState, CorruptReason, ReplicaCounts, ReplicaLocation,
    StoredBlock,
};
use std::collections::HashSet;
use zerohop_wire::BlockId;

/// One replica, in the order in which it was reported; several of the facts may hold at once.
#[derive(Clone, Debug)]
pub struct ReplicaCheck {
    /// Where it is.
    pub location: ReplicaLocation,
    /// Why it counts as corrupt.
    pub corrupt: Option<CorruptReason>,
    /// It is one too many and about to be deleted.
    pub is_excess: bool,
    /// Its DataNode was not heard of for `dfs.namenode.stale.datanode.interval`.
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

/// A block whose replicas are in too few racks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// Racks that lack.
    pub racks_missing: usize,
    /// Racks with live DataNodes.
    pub racks: usize,
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

impl BlockManager {
    /// A block with all its replicas; `None` for one that is not known.
    pub fn inspect(&self, id: BlockId) -> Option<BlockCheck> {
        let (slot, stored) = self.entry(id)?;
        let construction =
            self.constructions.get(&slot).filter(|_| stored.state != BlockState::Complete);
        let storages: Vec<_> = match construction {
            Some(construction) => construction.storages().collect(),
            None => self.replicas().of_block(slot).collect(),
        };
        let now_ms = self.now.mono_ms;
        let check = |storage: &super::StorageIdx| {
            let location = self.nodes.location(*storage)?;
            let heard_ms = location.node.stats.last_update.mono_ms;
            let node = self.nodes.node_of(*storage)?;
            Some(ReplicaCheck {
                corrupt: self.corrupt_reason(id, node),
                is_excess: self.redundancy.is_excess(slot, *storage),
                is_stale_node: now_ms.saturating_sub(heard_ms) > self.params.stale_interval_ms,
                is_stale_content: self.nodes.storage(*storage)?.reports == 0,
                location,
            })
        };
        let replicas = storages.iter().filter_map(check).collect();
        Some(BlockCheck { stored, counts: self.replicas().count(slot), replicas })
    }

    /// Whether replicas at these locations are in too few racks for so many: two racks are enough
    /// where there are two.
    pub fn misplaced(&self, locations: &[ReplicaLocation], replicas: u16) -> Option<Misplaced> {
        let racks = self.rack_count();
        if racks < 2 {
            return None;
        }
        let used: HashSet<&str> = locations.iter().map(|replica| &*replica.node.rack).collect();
        let required = usize::from(replicas.min(2));
        (used.len() < required && used.len() < racks)
            .then(|| Misplaced { racks_missing: required - used.len(), racks })
    }

    /// Queues a block for copies or deletions, where it needs any. `false`: it is not known, or nothing
    /// is ordered yet because the NameNode is still starting.
    pub fn requeue(&mut self, id: BlockId) -> bool {
        let slot = self.map.slot(id).filter(|_| self.redundancy.populating);
        slot.map(|slot| self.recheck(slot)).is_some()
    }
}
