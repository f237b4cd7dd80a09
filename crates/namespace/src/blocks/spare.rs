//! The one check that every order to delete an excess or corrupt replica passes.
//!
//! The deletion of a replica relies on the others of its block. A replica that this NameNode only believes to exist must not
//! be among them: its DataNode may have deleted it for the NameNode that was active before. Replicas of blocks that no file
//! has need no such check.

use super::map::Slot;
use super::nodes::Nodes;
use super::replicas::Replicas;
use super::types::{AdminState, BlockState, StorageIdx, Storages};
use zerohop_wire::Block;

/// An excess or corrupt replica that its block can spare.
#[derive(Debug)]
pub(super) struct Spare {
    storage: StorageIdx,
    block: Block,
}

impl Spare {
    /// Checks a replica that is one too many: as many reliable replicas must remain as the block should have.
    pub(super) fn excess(view: Replicas<'_>, slot: Slot, storage: StorageIdx) -> Option<Self> {
        let entry = view.map.get(slot).filter(|entry| entry.state() == BlockState::Complete)?;
        let needed = usize::from(entry.replication().max(1));
        let is_spare = view.reliable_without(slot, storage).len() >= needed;
        is_spare.then(|| Self { storage, block: entry.block() })
    }

    /// Checks a corrupt replica, `reported` as its DataNode has it: enough reliable replicas must remain, or it must hold a
    /// place that a new replica needs while the least number remains ([`Replicas::is_dispensable`]).
    pub(super) fn corrupt(
        view: Replicas<'_>,
        slot: Slot,
        storage: StorageIdx,
        reported: Option<Block>,
    ) -> Option<Self> {
        let entry = view.map.get(slot).filter(|entry| entry.state() == BlockState::Complete)?;
        let others = view.reliable_without(slot, storage).len() as u32;
        let is_spare = view.is_dispensable(slot, storage, others, reported);
        is_spare.then(|| Self { storage, block: reported.unwrap_or(entry.block()) })
    }

    /// Checks a replica that a pipeline or a recovery left behind under an older generation stamp: the least number of reliable
    /// replicas must remain.
    pub(super) fn left_behind(
        view: Replicas<'_>,
        slot: Slot,
        storage: StorageIdx,
        stale: Block,
    ) -> Option<Self> {
        let needed = usize::from(view.params.replication_min).max(1);
        let is_older = view.map.get(slot).is_some_and(|entry| stale.stamp < entry.block().stamp);
        let is_spare = is_older && view.reliable_without(slot, storage).len() >= needed;
        is_spare.then_some(Self { storage, block: stale })
    }

    /// Orders the deletion of the replica with one of the next heartbeats of its DataNode.
    pub(super) fn order(self, nodes: &mut Nodes) {
        nodes.invalidate(self.storage, self.block);
    }
}

impl Replicas<'_> {
    /// Returns the replicas of a block on which the deletion of a different replica may rely. They are live, have the block's
    /// stamp and length, and are on DataNodes in service and on storages that have reported since this NameNode became active. No
    /// DataNode of theirs was told to delete them.
    pub(super) fn reliable(self, slot: Slot) -> Storages {
        let mut storages = self.live(slot);
        storages.retain(|storage| {
            let node = self.nodes.node_of(*storage).and_then(|node| self.nodes.node(node));
            let is_serving = node.is_some_and(|it| it.alive && it.admin == AdminState::Normal);
            let is_doubtful = self.redundancy.excess.is_doubtful(slot, *storage);
            is_serving && !is_doubtful && !self.nodes.is_stale(*storage)
        });
        storages
    }

    /// Like [`Replicas::reliable`], without those on the DataNode of `storage`.
    fn reliable_without(self, slot: Slot, storage: StorageIdx) -> Storages {
        let mut storages = self.reliable(slot);
        let node = self.nodes.node_of(storage);
        storages.retain(|other| self.nodes.node_of(*other) != node);
        storages
    }
}
