//! The replicas of a block, as the block map, the DataNodes, and the corrupt, excess and pending replicas together tell.

use super::corrupt::CorruptReplicas;
use super::map::{BlockMap, Slot};
use super::node::Node;
use super::nodes::Nodes;
use super::params::BlockParams;
use super::queues::Redundancy;
use super::types::{AdminState, BlockState, NodeIdx, ReplicaCounts, StorageIdx, Storages};
use super::walks::Walks;
use zerohop_wire::{Block, BlockId};

/// A view of the parts that know of replicas; it changes nothing.
#[derive(Clone, Copy)]
pub(super) struct Replicas<'a> {
    pub(super) params: &'a BlockParams,
    pub(super) map: &'a BlockMap,
    pub(super) nodes: &'a Nodes,
    pub(super) corrupt: &'a CorruptReplicas,
    pub(super) redundancy: &'a Redundancy,
    pub(super) walks: &'a Walks,
    /// How often replicas were counted: tests count work, not time.
    #[cfg(test)]
    pub(super) counts: &'a std::sync::atomic::AtomicUsize,
}

impl<'a> Replicas<'a> {
    /// The storages whose replicas of a block count: those of DataNodes that have just died do not.
    pub(super) fn of_block(self, slot: Slot) -> impl Iterator<Item = StorageIdx> + 'a {
        let all = self.map.storages(slot).iter().copied();
        all.filter(move |storage| !self.walks.is_departed(*storage))
    }

    fn owner(self, storage: StorageIdx) -> Option<&'a Node> {
        self.nodes.node(self.nodes.node_of(storage)?)
    }

    pub(super) fn is_corrupt(self, slot: Slot, storage: StorageIdx) -> bool {
        let node = self.nodes.node_of(storage);
        node.is_some_and(|node| self.corrupt.get(slot, node).is_some())
    }

    /// Replicas that are neither corrupt nor being deleted.
    pub(super) fn live(self, slot: Slot) -> Storages {
        let good = |storage: &StorageIdx| {
            !self.is_corrupt(slot, *storage) && !self.redundancy.is_excess(slot, *storage)
        };
        self.of_block(slot).filter(good).collect()
    }

    /// How many replicas a block has in which condition.
    pub(super) fn count(self, slot: Slot) -> ReplicaCounts {
        #[cfg(test)]
        self.counts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let mut counts =
            ReplicaCounts { pending: self.redundancy.pending(slot), ..ReplicaCounts::default() };
        for storage in self.of_block(slot) {
            *(match self.owner(storage).map(|node| node.admin) {
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

    /// Storages a client may be sent to; when all replicas are corrupt those, so that it can say what is wrong.
    pub(super) fn readable(self, slot: Slot) -> (Storages, bool) {
        let all: Storages = self.of_block(slot).collect();
        let good = |storage: &StorageIdx| !self.is_corrupt(slot, *storage);
        if !all.is_empty() && !all.iter().any(good) {
            return (all, true);
        }
        let reachable = |storage: &StorageIdx| good(storage) && !self.is_away(*storage);
        (all.iter().copied().filter(reachable).collect(), false)
    }

    /// Whether readers are kept from a replica: its DataNode is in maintenance, or died on the way there.
    pub(super) fn is_away(self, storage: StorageIdx) -> bool {
        self.owner(storage).is_some_and(|node| match node.admin {
            AdminState::InMaintenance => true,
            AdminState::EnteringMaintenance => !node.alive,
            _ => false,
        })
    }

    /// What a DataNode has to delete to be rid of its replica.
    pub(super) fn as_stored(self, slot: Slot, storage: StorageIdx, stored: Block) -> Block {
        let node = self.nodes.node_of(storage);
        let corrupt = node.and_then(|node| self.corrupt.get(slot, node));
        corrupt.and_then(|known| known.reported).unwrap_or(stored)
    }

    /// Whether a block may be complete: replicas on DataNodes that are about to leave can be read, and copied from.
    pub(super) fn has_min(self, slot: Slot) -> bool {
        let usable = |storage: &&StorageIdx| {
            self.owner(**storage).is_none_or(|node| {
                matches!(
                    node.admin,
                    AdminState::Normal
                        | AdminState::DecommissionInProgress
                        | AdminState::EnteringMaintenance
                )
            })
        };
        let count = self.live(slot).iter().filter(usable).count();
        count >= usize::from(self.params.replication_min)
    }

    fn kept_in_maintenance(self, expected: u32) -> u32 {
        expected.min(u32::from(self.params.maintenance_replication_min))
    }

    /// How many live replicas a block needs beside those in maintenance.
    pub(super) fn live_needed(self, counts: &ReplicaCounts, expected: u32) -> u32 {
        let others = expected.saturating_sub(counts.maintenance);
        if counts.maintenance == 0 {
            expected
        } else {
            others.max(self.kept_in_maintenance(expected))
        }
    }

    /// Whether a DataNode that enters maintenance may go as far as a block is concerned: it has the least replicas elsewhere.
    /// One that is being written keeps its DataNode.
    pub(super) fn allows_maintenance(self, slot: Slot) -> bool {
        let Some(entry) = self.map.get(slot) else { return true };
        entry.state() == BlockState::Complete
            && self.count(slot).live >= self.kept_in_maintenance(u32::from(entry.replication()))
    }

    /// Whether a DataNode may be decommissioned as far as a block is concerned: it has enough replicas on those that stay, as
    /// many as it should, or as files get by default; one that is being written as many as it needs to become complete.
    pub(super) fn allows_decommission(self, slot: Slot) -> bool {
        let enough = match self.map.get(slot) {
            Some(entry) if entry.state() == BlockState::Complete => {
                entry.replication().min(self.params.replication_default)
            }
            Some(_) => self.params.replication_min,
            None => 0,
        };
        self.count(slot).live >= u32::from(enough)
    }

    /// Two racks are enough where there are two.
    pub(super) fn is_well_spread(self, slot: Slot, expected: u32) -> bool {
        if expected < 2 || self.nodes.rack_count() < 2 {
            return true;
        }
        let storages = self.live(slot);
        let rack = |storage: &StorageIdx| self.owner(*storage).map(|node| node.rack.clone());
        let first = storages.first().and_then(rack);
        storages.len() < 2 || storages.iter().any(|storage| rack(storage) != first)
    }

    /// DataNodes in service with a good replica of a block.
    fn serving_nodes(self, slot: Slot) -> Vec<NodeIdx> {
        let serves = |node: &NodeIdx| {
            let known = self.nodes.node(*node);
            known.is_some_and(|known| known.alive && known.admin == AdminState::Normal)
        };
        let storages = self.live(slot);
        storages.iter().filter_map(|storage| self.nodes.node_of(*storage)).filter(serves).collect()
    }

    /// DataNodes in service with a good replica of the block with an id.
    pub(super) fn holders(self, id: BlockId) -> Vec<NodeIdx> {
        self.map.slot(id).map(|slot| self.serving_nodes(slot)).unwrap_or_default()
    }

    /// The length of a block; 0 if it is not known.
    pub(super) fn len_of(self, id: BlockId) -> u64 {
        self.map.stored(id).map_or(0, |stored| stored.block.len)
    }

    /// Storages whose replicas count, arrived or on their way, and those that hold one which does not.
    pub(super) fn kept_and_unusable(self, slot: Slot) -> (Storages, Storages) {
        let leaves = |storage: &StorageIdx| {
            self.owner(*storage).is_some_and(|node| {
                matches!(
                    node.admin,
                    AdminState::DecommissionInProgress | AdminState::Decommissioned
                )
            })
        };
        let mut kept = self.live(slot);
        kept.retain(|storage| !leaves(storage));
        let unusable = self.map.storages(slot).iter().copied();
        let unusable = unusable.filter(|storage| !kept.contains(storage)).collect();
        kept.extend(self.redundancy.pending_targets(slot).iter().copied());
        (kept, unusable)
    }

    /// Whether a corrupt replica can be deleted at once: there are enough good ones, of which there are `others`; or it holds
    /// a place that a new replica needs; or it is what a pipeline left behind when it went on without that node. A good one
    /// must be left in any case.
    pub(super) fn is_dispensable(
        self,
        slot: Slot,
        storage: StorageIdx,
        others: u32,
        reported: Option<Block>,
    ) -> bool {
        let Some(entry) = self.map.get(slot) else { return false };
        let expected = u32::from(entry.replication().max(1));
        let has_min = others >= u32::from(self.params.replication_min).max(1);
        let corrupt = self.corrupt.count_others(slot, self.nodes.node_of(storage)) + 1;
        let is_left_behind = reported.is_some_and(|block| block.stamp < entry.block().stamp);
        others >= expected || has_min && (others + corrupt > expected || is_left_behind)
    }
}
