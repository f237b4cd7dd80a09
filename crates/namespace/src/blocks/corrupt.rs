//! Which replicas are known to be corrupt, and why (`CorruptReplicasMap`).

use super::map::Slot;
use super::repairs::{Found, Repairs};
use super::types::{CorruptReason, NodeIdx, StorageIdx, StoredBlock};
use hashbrown::HashMap;
use smallvec::SmallVec;
use zerohop_wire::Block;

/// A replica that counts as corrupt.
#[derive(Clone, Copy, Debug)]
pub(super) struct CorruptReplica {
    pub(super) node: NodeIdx,
    pub(super) reason: CorruptReason,
    /// As its DataNode reported it, where it is another than the block's: under another stamp its
    /// DataNode does not delete it.
    pub(super) reported: Option<Block>,
}

impl CorruptReplica {
    /// Whether a report has a later generation stamp.
    fn is_older_than(&self, reported: Option<Block>) -> bool {
        let stamps = self.reported.zip(reported).map(|(known, new)| (known.stamp, new.stamp));
        stamps.is_some_and(|(known, new)| known < new)
    }
}

/// The corrupt replicas of all blocks; a DataNode has at most one of each.
#[derive(Debug, Default)]
pub(super) struct CorruptReplicas {
    blocks: HashMap<Slot, SmallVec<[CorruptReplica; 1]>>,
    /// Progress of their repair, for the log.
    pub(super) repairs: Repairs,
}

impl CorruptReplicas {
    /// Blocks with corrupt replicas.
    pub(super) fn block_count(&self) -> u64 {
        self.blocks.len() as u64
    }

    /// Those blocks.
    pub(super) fn slots(&self) -> impl Iterator<Item = Slot> + '_ {
        self.blocks.keys().copied()
    }

    /// Adds a replica. Of one that is known the first reason stays, and the latest stamp counts: a recovery that was given up
    /// may have given a stale replica another one since.
    pub(super) fn add(&mut self, slot: Slot, replica: CorruptReplica) {
        let known = self.blocks.entry(slot).or_default();
        match known.iter_mut().find(|other| other.node == replica.node) {
            Some(known) if known.is_older_than(replica.reported) => {
                known.reported = replica.reported;
            }
            Some(_) => {}
            None => known.push(replica),
        }
    }

    /// The corrupt replicas of a block.
    pub(super) fn of_block(&self, slot: Slot) -> &[CorruptReplica] {
        self.blocks.get(&slot).map_or(&[], |known| known)
    }

    /// The DataNode's replica of a block, if it is corrupt.
    pub(super) fn get(&self, slot: Slot, node: NodeIdx) -> Option<&CorruptReplica> {
        self.of_block(slot).iter().find(|known| known.node == node)
    }

    /// How many corrupt replicas other DataNodes have.
    pub(super) fn count_others(&self, slot: Slot, node: Option<NodeIdx>) -> u32 {
        self.of_block(slot).iter().filter(|known| Some(known.node) != node).count() as u32
    }

    /// The DataNode's replica of a block does not count as corrupt any more.
    pub(super) fn remove(&mut self, slot: Slot, node: NodeIdx) {
        let Some(known) = self.blocks.get_mut(&slot) else { return };
        known.retain(|other| other.node != node);
        if known.is_empty() {
            self.blocks.remove(&slot);
        }
    }

    /// As [`CorruptReplicas::remove`], of a replica that was found corrupt by its stamp or size: a good one took its place.
    /// True if there was such a one.
    pub(super) fn remove_replaced(&mut self, slot: Slot, node: NodeIdx) -> bool {
        let is_replaced =
            self.get(slot, node).is_some_and(|known| known.reason != CorruptReason::Reported);
        if is_replaced {
            self.remove(slot, node);
        }
        is_replaced
    }

    /// Forgets all replicas of a block.
    pub(super) fn remove_block(&mut self, slot: Slot) {
        self.blocks.remove(&slot);
        self.repairs.forget(slot);
    }

    /// Notes for the log that a replica of a complete block was found to be corrupt, unless that is known. `good`: replicas
    /// that are left.
    pub(super) fn note_found(
        &mut self,
        slot: Slot,
        stored: &StoredBlock,
        (node, storage): (NodeIdx, StorageIdx),
        reason: CorruptReason,
        good: u32,
    ) {
        if self.get(slot, node).is_none() {
            self.repairs.found(slot, stored, Found { node, storage, reason }, good);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corrupt(node: u32, reason: CorruptReason) -> CorruptReplica {
        CorruptReplica { node: NodeIdx(node), reason, reported: None }
    }

    #[test]
    fn the_first_reason_stays_and_only_replaced_replicas_are_taken_back() {
        let mut replicas = CorruptReplicas::default();
        replicas.add(1, corrupt(7, CorruptReason::Reported));
        replicas.add(1, corrupt(7, CorruptReason::SizeMismatch));
        replicas.add(1, corrupt(8, CorruptReason::SizeMismatch));
        assert_eq!(replicas.get(1, NodeIdx(7)).unwrap().reason, CorruptReason::Reported);
        assert_eq!(replicas.count_others(1, Some(NodeIdx(8))), 1);
        assert!(!replicas.remove_replaced(1, NodeIdx(7)));
        assert!(replicas.remove_replaced(1, NodeIdx(8)));
        assert!(!replicas.remove_replaced(1, NodeIdx(8)));
        replicas.remove(1, NodeIdx(7));
        assert_eq!(replicas.block_count(), 0);
    }
}
