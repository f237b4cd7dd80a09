//! A block from its first pipeline to its last replica: how it is written, recovered and becomes complete.

use super::construction::{Construction, Constructions, Expected, Recovery};
use super::map::Slot;
use super::spare::Spare;
use super::stored::StoredReplicas;
use super::types::{BlockState, CorruptReason, NodeIdx, Result, StorageIdx, Storages, StoredBlock};
use crate::error::{BlockError, refuse};
use smallvec::SmallVec;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// Blocks that are written or recovered, to change: what no edit carries of them.
pub struct UnderConstruction<'a> {
    pub(super) replicas: StoredReplicas<'a>,
    pub(super) constructions: &'a mut Constructions,
}

impl UnderConstruction<'_> {
    fn existing(&self, id: BlockId) -> Result<(Slot, StoredBlock)> {
        let found = self.replicas.map.find(id);
        found.ok_or_else(|| BlockError::UnknownId { id }.into())
    }

    fn incomplete(&self, id: BlockId) -> Result<(Slot, StoredBlock)> {
        let (slot, stored) = self.existing(id)?;
        if stored.state == BlockState::Complete {
            return refuse(BlockError::NotUnderConstruction { block: stored.block });
        }
        Ok((slot, stored))
    }

    /// Another NameNode was active until now. A DataNode that is not stale (`dfs.namenode.stale.datanode.interval`) later than
    /// that has sent a heartbeat, and with it what it had not reported.
    pub(crate) fn await_reports(&mut self, now_ms: u64) {
        let patience_ms = self.replicas.params.stale_interval_ms;
        self.constructions.await_reports(now_ms.saturating_add(patience_ms));
        self.keep_empty(now_ms);
    }

    /// Keeps blocks that seem to be empty until DataNodes had `dfs.namenode.stale.datanode.interval` twice over to report, from
    /// `now_ms` on.
    pub(super) fn keep_empty(&mut self, now_ms: u64) {
        let patience_ms = self.replicas.params.stale_interval_ms.saturating_mul(2);
        self.constructions.keep_empty(now_ms.saturating_add(patience_ms));
    }

    /// Extends [`UnderConstruction::keep_empty`] while safe mode of the start lasts: it may wait for DataNodes that come late.
    pub(super) fn await_start(&mut self, now_ms: u64) {
        if self.replicas.safe_mode.is_starting() {
            self.keep_empty(now_ms);
        }
    }

    /// The storages a new block goes to; counts them as scheduled.
    pub fn set_targets(&mut self, id: BlockId, targets: &[StorageIdx]) {
        let Some((slot, stored)) = self.replicas.map.find(id) else { return };
        let nodes = &mut self.replicas.nodes;
        self.constructions.cancel(nodes, slot);
        targets.iter().for_each(|target| nodes.schedule(*target));
        let construction = Construction::with_targets(stored.block.stamp, targets);
        self.constructions.replace(slot, construction.scheduled());
    }

    /// A pipeline went on with other DataNodes, after the block got a new stamp.
    ///
    /// # Errors
    /// `Error::Block` when the block is unknown or complete.
    pub fn replace_pipeline(&mut self, id: BlockId, targets: &[StorageIdx]) -> Result<()> {
        let (slot, stored) = self.incomplete(id)?;
        let stamp = stored.block.stamp;
        self.drop_all_but(slot, stamp);
        let new = Construction::with_targets(stamp, targets);
        let Some(old) = self.constructions.replace(slot, new) else { return Ok(()) };
        let nodes = &mut self.replicas.nodes;
        self.constructions.reschedule(nodes, slot, &old, targets);
        for replica in old.replicas() {
            self.constructions.leave_out(nodes, slot, *replica);
        }
        Ok(())
    }

    /// Only replicas that were reported with the new stamp are part of the pipeline that goes on. All others are stale, even
    /// those that were not in the old pipeline (extra, corrupt, just copied).
    fn drop_all_but(&mut self, slot: Slot, stamp: GenerationStamp) {
        let expected = self.constructions.get(slot).map_or(&[][..], Construction::replicas);
        let current = expected.iter().filter(|replica| replica.stamp == stamp);
        let current: Storages = current.map(|replica| replica.storage).collect();
        for storage in Storages::from_slice(self.replicas.map.storages(slot)) {
            if !current.contains(&storage) {
                self.drop_outsider(slot, storage);
            }
        }
    }

    /// Forgets a replica that has no part in what the block becomes; a stale one that is known to be there shall be deleted
    /// as soon as the block is complete.
    fn drop_outsider(&mut self, slot: Slot, storage: StorageIdx) {
        let Some(block) = self.replicas.map.get(slot).map(|entry| entry.block()) else { return };
        let held = self.replicas.view().as_stored(slot, storage, block);
        if held.stamp < block.stamp {
            let replica = Expected::new(storage, held.stamp);
            self.constructions.leave_out(self.replicas.nodes, slot, replica);
        }
        self.replicas.drop_replica(slot, storage);
    }

    /// The replicas of a block that was complete are those that its pipeline, or its recovery, begins with.
    pub(crate) fn expect_reopened(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.replicas.map.find(id) else { return };
        self.keep_what_is_not_deleted_yet(slot, stored.block);
        let known = self.replicas.view();
        let mut targets = known.live(slot);
        if targets.iter().any(|storage| !known.is_away(*storage)) {
            targets.retain(|storage| !known.is_away(*storage));
        }
        let construction = Construction::with_targets(stored.block.stamp, &targets);
        self.constructions.reopen(slot, construction);
    }

    /// Deletions of extra replicas that no DataNode was told of yet are called off. A replica whose DataNode was told
    /// stays marked: it will be gone, so it must neither get a writer nor count beside those that stay.
    fn keep_what_is_not_deleted_yet(&mut self, slot: Slot, block: Block) {
        let now_ms = self.replicas.now.mono_ms;
        for storage in self.replicas.forget_redundancy(slot) {
            if !self.replicas.nodes.call_off_invalidation(storage, block) {
                self.replicas.redundancy.excess.mark(slot, storage, now_ms);
            }
        }
    }

    /// DataNodes that a replica of the block is being written or copied to.
    pub(super) fn awaited_nodes(&self, slot: Slot) -> SmallVec<[NodeIdx; 3]> {
        let written = self.constructions.get(slot).map_or(&[][..], Construction::replicas);
        let written = written.iter().map(|replica| replica.storage);
        let copied = self.replicas.redundancy.pending_targets(slot).iter().copied();
        let nodes = &self.replicas.nodes;
        written.chain(copied).filter_map(|storage| nodes.node_of(storage)).collect()
    }

    /// Starts the recovery of a last block: chooses a leader among its replicas and queues the command for it.
    ///
    /// `stamp` is the new generation stamp, which the caller has committed; a truncate under way gets it too. True if a
    /// DataNode was asked; false if none is known (or one was asked less than 30 s ago).
    ///
    /// # Errors
    /// `Error::Block` when the block is unknown or complete.
    pub fn start_recovery(&mut self, id: BlockId, stamp: GenerationStamp) -> Result<bool> {
        let (slot, stored) = self.incomplete(id)?;
        let now_ms = self.replicas.now.mono_ms;
        let is_due = self.constructions.is_recovery_due(self.replicas.map, id, now_ms);
        self.replicas.map.set_state(slot, BlockState::UnderRecovery);
        let truncate = self.constructions.recovery(slot).and_then(|last| last.truncate);
        let truncate = truncate.map(|target| Block { stamp, ..target });
        self.expect_known_replicas(slot, stored.block);
        let nodes = &mut self.replicas.nodes;
        if truncate.is_some_and(|target| target.id == id) {
            self.constructions.leave_untruncated(nodes, slot, stored.block.stamp);
        }
        let leader = self.constructions.choose_leader(nodes, slot);
        let recovery = Recovery { stamp, truncate, started_ms: leader.map(|_| now_ms) };
        // Also without a leader: what a truncate wants must outlive a restart.
        self.constructions.set_recovery(slot, recovery);
        let Some(leader) = leader.filter(|_| is_due) else { return Ok(false) };
        self.constructions.order_recovery(nodes, slot, stored.block, leader);
        Ok(true)
    }

    /// After a restart no targets are known, only what was reported.
    fn expect_known_replicas(&mut self, slot: Slot, block: Block) {
        let construction = self.constructions.get(slot);
        if construction.is_some_and(|known| known.storages().next().is_some()) {
            return;
        }
        let mut known = self.replicas.view().live(slot);
        if known.is_empty() {
            known = Storages::from_slice(self.replicas.map.storages(slot));
        }
        for storage in known {
            let held = self.replicas.view().as_stored(slot, storage, block);
            let nodes = &*self.replicas.nodes;
            self.constructions.expect_replica(nodes, slot, storage, held.stamp, block);
        }
    }

    /// A recovery came to an end (`commitBlockSynchronization`), after the block got its stamp and length: these storages
    /// hold it now.
    ///
    /// # Errors
    /// `Error::Block` when the block is unknown.
    pub fn replace_recovered(&mut self, id: BlockId, storages: &[StorageIdx]) -> Result<()> {
        let (slot, stored) = self.existing(id)?;
        let stamp = stored.block.stamp;
        for storage in Storages::from_slice(self.replicas.map.storages(slot)) {
            if !storages.contains(&storage) {
                self.drop_outsider(slot, storage);
            }
        }
        // The DataNodes finalized these replicas before they answered: no report has to be waited for. An order to
        // delete one as being too much has the old stamp, and will not be carried out.
        for storage in storages {
            self.replicas.redundancy.excess.unmark(slot, *storage);
            self.replicas.nodes.note_replica(*storage, slot);
            self.replicas.map.add_storage(slot, *storage);
        }
        let kept = self.delete_left_behind(slot, stored.block);
        let new = Construction::with_targets(stamp, storages);
        if let Some(old) = self.constructions.replace(slot, new) {
            self.constructions.reschedule(self.replicas.nodes, slot, &old, storages);
        }
        for replica in kept {
            self.constructions.leave_out(self.replicas.nodes, slot, replica);
        }
        if stored.state == BlockState::UnderRecovery {
            self.replicas.map.set_state(slot, BlockState::UnderConstruction);
        }
        Ok(())
    }

    /// Deletes the replicas that pipelines and recoveries left out: each keeps its DataNode from taking a copy. One that has the
    /// new stamp all the same is as good as the others; only its DataNode's answer was lost. Returns those that cannot be spared
    /// yet.
    fn delete_left_behind(&mut self, slot: Slot, block: Block) -> SmallVec<[Expected; 3]> {
        let mut kept = SmallVec::new();
        let Some(construction) = self.constructions.get(slot) else { return kept };
        let good = self.replicas.view().live(slot);
        for left in construction.replicas().iter().filter(|left| left.stamp < block.stamp) {
            let nodes = &*self.replicas.nodes;
            let is_same_node =
                |other: &StorageIdx| nodes.node_of(*other) == nodes.node_of(left.storage);
            if good.iter().any(is_same_node) {
                continue;
            }
            // Under its stamp: a copy that comes later is safe from the order.
            let stale = Block { stamp: left.stamp, ..block };
            match Spare::left_behind(self.replicas.view(), slot, left.storage, stale) {
                Some(spare) => spare.order(self.replicas.nodes),
                None => kept.push(*left),
            }
        }
        kept
    }

    /// What follows once the length of a block is final: replicas with another stamp do not count, and it is complete if
    /// there are enough others. True if it is complete.
    pub(crate) fn complete_if_replicated(&mut self, id: BlockId) -> bool {
        let Some((slot, stored)) = self.replicas.map.find(id) else { return false };
        if stored.state == BlockState::Committed {
            self.drop_stale_replicas(slot, stored.block.stamp);
            self.finish_if_replicated(slot);
        }
        self.replicas.map.is_complete(id)
    }

    /// Completes a committed block if enough replicas are known.
    pub(super) fn finish_if_replicated(&mut self, slot: Slot) {
        if self.replicas.view().has_min(slot) {
            self.expect_targets(slot);
            self.finish(slot);
        }
    }

    /// The same for an edit from a log: it is complete however few replicas have been reported to this NameNode.
    pub(crate) fn complete_replayed(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.replicas.map.find(id) else { return };
        if stored.state != BlockState::Complete {
            self.drop_stale_replicas(slot, stored.block.stamp);
            self.mark_complete(slot);
        }
    }

    /// Completes a block that was just recovered, however few replicas it has: what is missing is copied from here on.
    pub fn complete_recovered(&mut self, id: BlockId) {
        if let Some(slot) = self.replicas.map.slot(id) {
            self.expect_targets(slot);
            self.finish(slot);
        }
    }

    /// Replicas that were reported with another stamp do not count any more.
    fn drop_stale_replicas(&mut self, slot: Slot, stamp: GenerationStamp) {
        let expected = self.constructions.get(slot).map_or(&[][..], Construction::replicas);
        let stale = expected.iter().filter(|replica| replica.stamp != stamp);
        let stale: Storages = stale.map(|replica| replica.storage).collect();
        stale.into_iter().for_each(|storage| self.replicas.drop_replica(slot, storage));
    }

    /// Targets whose report is still to come are not missing: count them as pending.
    fn expect_targets(&mut self, slot: Slot) {
        let Some(construction) = self.constructions.get(slot) else { return };
        let StoredReplicas { map, nodes, redundancy, now, .. } = &mut self.replicas;
        let known = map.storages(slot);
        let awaited: Storages =
            construction.storages().filter(|storage| !known.contains(storage)).collect();
        if !construction.is_scheduled() {
            awaited.iter().for_each(|storage| nodes.schedule(*storage));
        }
        if !awaited.is_empty() {
            redundancy.expect(slot, &awaited, now.mono_ms);
        }
    }

    /// A committed block has enough replicas: calls that wait for it are answered.
    fn finish(&mut self, slot: Slot) {
        let Some(entry) = self.replicas.map.get(slot) else { return };
        if entry.state() != BlockState::Complete {
            self.mark_complete(slot);
            self.constructions.note_completed(entry.block().id);
        }
    }

    fn mark_complete(&mut self, slot: Slot) {
        let Some(block) = self.replicas.map.get(slot).map(|entry| entry.block()) else { return };
        self.replicas.map.set_state(slot, BlockState::Complete);
        self.replicas.safe_mode.block_completed();
        self.replicas.count_for_safe_mode(slot);
        for left in self.delete_left_behind(slot, block) {
            let stale = Block { stamp: left.stamp, ..block };
            let reason = CorruptReason::GenerationStampMismatch;
            self.replicas.keep_corrupt(slot, left.storage, reason, Some(stale));
        }
        self.constructions.end(slot);
        self.replicas.recheck(slot);
    }
}
