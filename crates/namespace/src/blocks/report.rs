//! What DataNodes report about their replicas.

use super::map::Slot;
use super::ongoing_report::OngoingReport;
use super::pending_messages::{Message, Origin, PendingMessages};
use super::queues::Arrival;
use super::report_lease::ReportLeases;
use super::spare::Spare;
use super::stored::{StoredReplicas, is_newer_than_block};
use super::types::{
    BlockState, CorruptReason, NodeIdx, ReplicaEvent, ReplicaState, ReportedReplica, Result,
    StorageIdx, StorageType, Storages, StoredBlock, UnknownTotals,
};
use super::under_construction::UnderConstruction;
use super::unknown::{HighestUnknown, RemovedWhileWritten};
use crate::error::{DatanodeError, refuse};
use std::sync::Arc;
use zerohop_wire::{Block, BlockId};

/// What a full report led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportOutcome {
    /// Replicas that the namespace does not know and that the storage's next full report will have deleted.
    pub unknown: UnknownTotals,
    /// Deletions ordered because of this report.
    pub deletions: usize,
}

/// A full report of one storage that is being taken in.
#[derive(Debug)]
pub struct FullReport {
    uuid: String,
    node: NodeIdx,
    storage: StorageIdx,
    number: u64,
    origin: Origin,
    replicas: std::vec::IntoIter<ReportedReplica>,
    deletions: usize,
}

impl FullReport {
    pub(super) fn node(&self) -> NodeIdx {
        self.node
    }
}

/// Takes in full and incremental block reports, and on a standby the messages that waited for an edit.
pub struct BlockReports<'a> {
    pub(super) blocks: UnderConstruction<'a>,
    pub(super) pending: &'a mut PendingMessages,
    pub(super) removed: &'a RemovedWhileWritten,
    pub(super) highest_unknown: &'a mut HighestUnknown,
    pub(super) report_leases: &'a mut ReportLeases,
}

impl BlockReports<'_> {
    /// Begins to take in a full report of one storage, in place of one of the same storage that is not finished.
    /// [`BlockManager::continue_full_report`](super::BlockManager::continue_full_report) does the work, in slices.
    ///
    /// # Errors
    /// `Error::Datanode` when the DataNode is unknown or dead: it must register again first.
    pub fn begin_full_report(
        &mut self,
        uuid: &str,
        storage: (&Arc<str>, StorageType),
        replicas: Vec<ReportedReplica>,
    ) -> Result<FullReport> {
        let StoredReplicas { nodes, safe_mode, .. } = &mut self.blocks.replicas;
        let node = nodes.reporting(uuid)?;
        let storage = nodes.ensure_storage(node, storage.0, storage.1);
        let is_later = nodes.storage(storage).is_some_and(|known| known.reports.is_reported())
            && !safe_mode.is_starting();
        let origin = if is_later { Origin::Report } else { Origin::FirstReport };
        let begun = nodes.storage_mut(storage).map(|known| known.begin_report(is_later));
        let (number, future_bytes) = begun.unwrap_or_default();
        safe_mode.remove_future(future_bytes);
        let (uuid, replicas) = (uuid.to_owned(), replicas.into_iter());
        Ok(FullReport { uuid, node, storage, number, origin, replicas, deletions: 0 })
    }

    /// As [`BlockManager::continue_full_report`](super::BlockManager::continue_full_report).
    pub(super) fn continue_full_report(
        &mut self,
        report: &mut FullReport,
        max: usize,
    ) -> Result<Option<ReportOutcome>> {
        self.blocks.replicas.nodes.reporting(&report.uuid)?;
        if self.ongoing(report.storage).is_none_or(|ongoing| ongoing.number() != report.number) {
            return refuse(DatanodeError::ReportOutOfDate { uuid: report.uuid.to_string() });
        }
        let before = self.deletions_of(report.node);
        let is_over = report.replicas.len() == 0;
        if is_over {
            self.forget_unlisted(report.storage, max);
        } else {
            report.replicas.by_ref().take(max).for_each(|replica| {
                self.listed(report.storage, replica, report.origin);
            });
        }
        report.deletions += self.deletions_of(report.node).saturating_sub(before);
        let ongoing = self.ongoing(report.storage);
        if report.replicas.len() > 0 || ongoing.is_some_and(|it| !it.gone(1).is_empty()) {
            return Ok(None);
        }
        Ok(Some(self.end_full_report(report)))
    }

    fn ongoing(&self, storage: StorageIdx) -> Option<&OngoingReport> {
        self.blocks.replicas.nodes.storage(storage)?.reports.ongoing()
    }

    fn ongoing_mut(&mut self, storage: StorageIdx) -> Option<&mut OngoingReport> {
        self.blocks.replicas.nodes.storage_mut(storage)?.reports.ongoing_mut()
    }

    fn deletions_of(&self, node: NodeIdx) -> usize {
        self.blocks.replicas.nodes.node(node).map_or(0, |known| known.orders.deletions().len())
    }

    /// A replica that a full report lists.
    fn listed(&mut self, storage: StorageIdx, replica: ReportedReplica, origin: Origin) {
        if self.ongoing(storage).is_some_and(|report| report.is_overtaken(replica.block.id)) {
            return;
        }
        let slot = self.reported(storage, replica, origin);
        if let (Some(slot), Some(ongoing)) = (slot, self.ongoing_mut(storage)) {
            ongoing.listed(slot);
        }
    }

    fn forget_unlisted(&mut self, storage: StorageIdx, max: usize) {
        let gone = self.ongoing(storage).map(|report| report.gone(max)).unwrap_or_default();
        for slot in gone {
            self.blocks.replicas.drop_replica(slot, storage);
        }
    }

    fn end_full_report(&mut self, report: &FullReport) -> ReportOutcome {
        let StoredReplicas { nodes, now, walks, .. } = &mut self.blocks.replicas;
        let mut outcome = ReportOutcome { deletions: report.deletions, ..ReportOutcome::default() };
        if let Some(known) = nodes.storage_mut(report.storage) {
            if known.reports.end() {
                // Deletions of replicas that were too many have waited for it.
                walks.recheck(report.storage);
            }
            outcome.unknown = known.reports.unknown().totals();
        }
        if let Some(known) = nodes.node_mut(report.node) {
            known.last_report = *now;
        }
        outcome
    }

    /// Ends a report after those of all storages of a DataNode: the next DataNode may send its own. Safe mode may end now and
    /// not before: each storage may tell that the metadata is too old.
    pub fn end_report(&mut self, uuid: &str) {
        self.blocks.replicas.check_safe_mode();
        if let Some(node) = self.blocks.replicas.nodes.by_uuid(uuid) {
            self.report_leases.end(node);
        }
    }

    /// Events since the last report.
    ///
    /// # Errors
    /// `Error::Datanode` when the DataNode is unknown or dead: it must register again first.
    pub fn incremental_report(
        &mut self,
        uuid: &str,
        storage: (&Arc<str>, StorageType),
        events: impl IntoIterator<Item = ReplicaEvent>,
    ) -> Result<()> {
        let nodes = &mut self.blocks.replicas.nodes;
        let node = nodes.reporting(uuid)?;
        let storage = nodes.ensure_storage(node, storage.0, storage.1);
        for event in events {
            self.overtake_report(storage, event.block().id);
            match event {
                ReplicaEvent::Deleted(block) => self.deleted(storage, block),
                ReplicaEvent::Receiving(block) => {
                    let replica = ReportedReplica { block, state: ReplicaState::Rbw };
                    self.reported(storage, replica, Origin::Event(None));
                }
                ReplicaEvent::Received(block) => self.received(storage, block, None),
                ReplicaEvent::Moved(block, from) => self.received(storage, block, Some(from)),
            }
        }
        self.blocks.replicas.check_safe_mode();
        Ok(())
    }

    /// What the DataNode says now of a block is newer than its report that is being taken in.
    fn overtake_report(&mut self, storage: StorageIdx, id: BlockId) {
        let slot = self.blocks.replicas.map.slot(id);
        if let Some(ongoing) = self.ongoing_mut(storage) {
            ongoing.overtake(id, slot);
        }
    }

    fn received(&mut self, storage: StorageIdx, block: Block, instead_of: Option<NodeIdx>) {
        self.blocks.replicas.nodes.unschedule(storage);
        let replica = ReportedReplica { block, state: ReplicaState::Finalized };
        self.reported(storage, replica, Origin::Event(instead_of));
    }

    fn deleted(&mut self, storage: StorageIdx, block: Block) {
        if self.awaits_edit(block) {
            return self.pending.add(storage, Message::Deleted(block));
        }
        let StoredReplicas { nodes, map, .. } = &mut self.blocks.replicas;
        nodes.call_off_invalidation(storage, block);
        if let Some(known) = nodes.storage_mut(storage) {
            known.reports.remove_unknown(block);
        }
        let Some((slot, stored)) = map.find(block.id) else { return };
        self.blocks.constructions.expect_no_replica(nodes, slot, storage, block.stamp);
        if self.blocks.replicas.map.storages(slot).contains(&storage)
            && !self.is_outdated(slot, storage, &stored, block)
        {
            self.blocks.replicas.drop_replica(slot, storage);
        }
    }

    /// Whether a standby has to wait for an edit before it can make sense of a block.
    fn awaits_edit(&self, block: Block) -> bool {
        let StoredReplicas { nodes, map, .. } = &self.blocks.replicas;
        let is_known = || map.slot(block.id).is_some();
        nodes.is_standby() && self.pending.is_in_future(block, is_known())
    }

    /// Takes in one replica; its slot if the block is known and the replica is one of its.
    fn reported(
        &mut self,
        storage: StorageIdx,
        replica: ReportedReplica,
        origin: Origin,
    ) -> Option<Slot> {
        if self.awaits_edit(replica.block) {
            self.pending.add(storage, Message::Reported(replica, origin));
            return self.blocks.replicas.map.slot(replica.block.id);
        }
        let Some((slot, stored)) = self.blocks.replicas.map.find(replica.block.id) else {
            self.unknown_replica(storage, replica.block);
            return None;
        };
        if self.blocks.replicas.nodes.is_invalidating(storage, replica.block)
            || matches!(origin, Origin::Event(_))
                && self.is_outdated(slot, storage, &stored, replica.block)
        {
            return Some(slot);
        }
        if self.is_overtaken_by_recovery(slot, storage, &stored, replica.block) {
            return Some(slot);
        }
        if let Some(reason) = corruption(&stored, &replica) {
            if self.blocks.replicas.nodes.is_standby() {
                // An edit that is on its way may explain it.
                self.pending.add(storage, Message::Reported(replica, origin));
                return Some(slot);
            }
            self.found_corrupt(slot, storage, reason, Some(replica.block));
            return Some(slot);
        }
        let StoredReplicas { nodes, redundancy, .. } = &mut self.blocks.replicas;
        if origin == Origin::FirstReport {
            // A DataNode that started anew has forgotten what it was told.
            redundancy.excess.trust(slot, storage);
        }
        if redundancy.is_excess(slot, storage) && replica.block.stamp == stored.block.stamp {
            // Its DataNode has been told to delete it; one that started anew may have forgotten.
            if origin == Origin::FirstReport
                && let Some(spare) = Spare::excess(self.blocks.replicas.view(), slot, storage)
            {
                spare.order(self.blocks.replicas.nodes);
            }
            return Some(slot);
        }
        if stored.state != BlockState::Complete {
            let stamp = replica.block.stamp;
            self.blocks.constructions.expect_replica(nodes, slot, storage, stamp, stored.block);
        }
        if replica.state == ReplicaState::Finalized {
            self.add_replica(slot, storage, &stored, replica.block, origin);
        }
        Some(slot)
    }

    /// Returns `true` if a report lists the stamp that a replica had before a recovery, and the replica was ordered to be deleted
    /// under its new stamp since: a report may have been in flight when the recovery ended. Without its mark the replica would
    /// count again, and another one would be deleted for it.
    fn is_overtaken_by_recovery(
        &self,
        slot: Slot,
        storage: StorageIdx,
        stored: &StoredBlock,
        reported: Block,
    ) -> bool {
        let StoredReplicas { params, redundancy, now, .. } = &self.blocks.replicas;
        let from_ms = now.mono_ms.saturating_sub(params.pending_timeout_ms);
        reported.stamp < stored.block.stamp
            && redundancy.excess.is_marked_since(slot, storage, from_ms)
    }

    /// Whether a later stamp of a replica is known already than the one reported: a new pipeline or the end of a recovery may
    /// overtake an incremental report.
    fn is_outdated(
        &self,
        slot: Slot,
        storage: StorageIdx,
        stored: &StoredBlock,
        reported: Block,
    ) -> bool {
        let StoredReplicas { nodes, map, .. } = &self.blocks.replicas;
        if stored.state != BlockState::Complete {
            let expected = self.blocks.constructions.expected_stamp(nodes, slot, storage);
            return expected.is_some_and(|stamp| reported.stamp < stamp);
        }
        reported.stamp < stored.block.stamp
            && map.storages(slot).contains(&storage)
            && !self.blocks.replicas.view().is_corrupt(slot, storage)
    }

    fn add_replica(
        &mut self,
        slot: Slot,
        storage: StorageIdx,
        stored: &StoredBlock,
        reported: Block,
        origin: Origin,
    ) {
        self.move_between_storages(slot, storage);
        let StoredReplicas { nodes, map, redundancy, corrupt, .. } = &mut self.blocks.replicas;
        let node = nodes.node_of(storage);
        redundancy.arrived(slot, |target| nodes.node_of(target) == node);
        let is_forgiven = node.is_some_and(|node| corrupt.remove_replaced(slot, node));
        if !map.add_storage(slot, storage) && !is_forgiven {
            return;
        }
        nodes.note_replica(storage, slot);
        match stored.state {
            BlockState::Complete => {
                self.blocks.replicas.count_for_safe_mode(slot);
                let arrival = Arrival { added: node, instead_of: origin.instead_of() };
                self.blocks.replicas.recheck_after(slot, arrival);
            }
            BlockState::Committed if reported.stamp == stored.block.stamp => {
                self.blocks.finish_if_replicated(slot);
            }
            _ => {}
        }
    }

    /// A DataNode holds a block once: on another of its storages it has moved.
    fn move_between_storages(&mut self, slot: Slot, storage: StorageIdx) {
        let StoredReplicas { nodes, map, .. } = &mut self.blocks.replicas;
        let node = nodes.node_of(storage);
        let moved = |other: &StorageIdx| *other != storage && nodes.node_of(*other) == node;
        let old: Storages = map.storages(slot).iter().copied().filter(moved).collect();
        for other in old {
            nodes.forget_replica(other, slot);
            map.remove_storage(slot, other);
        }
    }

    /// A client or a DataNode found a replica to be bad (`reportBadBlocks`).
    pub fn bad_replica(&mut self, block: Block, uuid: &str, storage_id: &str) {
        let StoredReplicas { nodes, map, .. } = &self.blocks.replicas;
        let Some(node) = nodes.by_uuid(uuid) else { return };
        let Some(slot) = map.slot(block.id) else { return };
        let is_on_node = |storage: &StorageIdx| nodes.node_of(*storage) == Some(node);
        let known = map.storages(slot).iter().copied().find(is_on_node);
        if let Some(storage) = known.or_else(|| nodes.by_storage(node, storage_id)) {
            self.found_corrupt(slot, storage, CorruptReason::Reported, None);
        }
    }

    /// Notes a bad replica; it is deleted as soon as enough good ones are there.
    fn found_corrupt(
        &mut self,
        slot: Slot,
        storage: StorageIdx,
        reason: CorruptReason,
        reported: Option<Block>,
    ) {
        let replicas = &mut self.blocks.replicas;
        let node = replicas.nodes.node_of(storage);
        let (Some(node), Some(entry)) = (node, replicas.map.get(slot)) else { return };
        let (block, stored) = (entry.block(), entry.view());
        let others = replicas.view().live(slot).iter().filter(|other| **other != storage).count();
        replicas.corrupt.note_found(slot, &stored, (node, storage), reason, others as u32);
        if let Some(spare) = replicas.spare_corrupt(slot, storage, reported) {
            spare.order(replicas.nodes);
            return replicas.drop_replica(slot, storage);
        }
        if let Some(newer) = reported
            && is_newer_than_block(block, reported)
            && !replicas.deletes_unknown(storage)
        {
            self.list_unknown(storage, newer);
        }
        let replicas = &mut self.blocks.replicas;
        replicas.keep_corrupt(slot, storage, reason, reported);
        replicas.count_for_safe_mode(slot);
        replicas.recheck(slot);
    }

    /// A replica that the namespace does not know is deleted if the storage has sent a full report after its first one.
    /// Until then it is listed.
    fn unknown_replica(&mut self, storage: StorageIdx, block: Block) {
        let replicas = &mut self.blocks.replicas;
        if replicas.nodes.is_invalidating(storage, block) {
            return;
        }
        let node = replicas.nodes.node_of(storage);
        let is_removed = node.is_some_and(|node| self.removed.contains(block.id, node));
        if is_removed || replicas.deletes_unknown(storage) {
            return replicas.nodes.invalidate(storage, block);
        }
        self.list_unknown(storage, block);
    }

    /// Keeps a replica in view that the storage's next full report may have deleted.
    fn list_unknown(&mut self, storage: StorageIdx, block: Block) {
        let StoredReplicas { nodes, safe_mode, .. } = &mut self.blocks.replicas;
        let is_newer = safe_mode.is_in_future(block.stamp);
        self.highest_unknown.note(block);
        let Some(known) = nodes.storage_mut(storage) else { return };
        if known.reports.list_unknown(block, is_newer) && is_newer && safe_mode.is_starting() {
            known.reports.add_future(block.len);
            safe_mode.add_future(block.len);
        }
    }

    /// Takes in the messages about these blocks that waited for an edit. Those whose edit is still missing wait again.
    pub(super) fn take_pending_messages(&mut self, blocks: &[BlockId]) {
        for block in blocks {
            for (storage, message) in self.pending.take(*block) {
                match message {
                    Message::Reported(replica, origin) => {
                        self.reported(storage, replica, origin);
                    }
                    Message::Deleted(block) => self.deleted(storage, block),
                }
            }
        }
        self.blocks.replicas.check_safe_mode();
    }
}

/// What is wrong with a reported replica, by its stamp, size and state.
fn corruption(stored: &StoredBlock, replica: &ReportedReplica) -> Option<CorruptReason> {
    let done = matches!(stored.state, BlockState::Complete | BlockState::Committed);
    let same_stamp = stored.block.stamp == replica.block.stamp;
    match replica.state {
        ReplicaState::Finalized if done && !same_stamp => {
            Some(CorruptReason::GenerationStampMismatch)
        }
        ReplicaState::Finalized if done && stored.block.len != replica.block.len => {
            Some(CorruptReason::SizeMismatch)
        }
        ReplicaState::Finalized => (stored.block.stamp > replica.block.stamp)
            .then_some(CorruptReason::GenerationStampMismatch),
        ReplicaState::Rbw | ReplicaState::Rwr if stored.state != BlockState::Complete => None,
        ReplicaState::Rbw | ReplicaState::Rwr if !same_stamp => {
            Some(CorruptReason::GenerationStampMismatch)
        }
        // A late report of a replica that has been finalized since.
        ReplicaState::Rbw => None,
        ReplicaState::Rwr => Some(CorruptReason::InvalidState),
        ReplicaState::Rur | ReplicaState::Temporary => Some(CorruptReason::InvalidState),
    }
}
