//! What DataNodes report about their replicas.

use super::corrupt::CorruptReplica;
use super::map::Slot;
use super::node::{ReportLease, Storage};
use super::ongoing_report::OngoingReport;
use super::pending_messages::{Message, Origin};
use super::queues::Arrival;
use super::{
    BlockManager, BlockState, CorruptReason, NodeIdx, ReplicaEvent, ReplicaState, ReportedReplica,
    Result, StorageIdx, StorageType, Storages, StoredBlock, UnknownTotals,
};
use std::sync::Arc;
use zerohop_wire::{Block, BlockId, JavaException};

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

impl BlockManager {
    /// Takes in a full report of one storage as a whole: what it does not list is not there.
    ///
    /// # Errors
    /// As [`BlockManager::continue_full_report`].
    pub fn full_report(
        &mut self,
        uuid: &str,
        storage: (&Arc<str>, StorageType),
        replicas: impl IntoIterator<Item = ReportedReplica>,
    ) -> Result<ReportOutcome> {
        let mut report = self.begin_full_report(uuid, storage, replicas.into_iter().collect())?;
        loop {
            if let Some(outcome) = self.continue_full_report(&mut report, usize::MAX)? {
                return Ok(outcome);
            }
        }
    }

    /// Begins to take in a full report of one storage: [`BlockManager::continue_full_report`] does the work, in slices. A
    /// report of the same storage that is not finished is dropped.
    ///
    /// # Errors
    /// `IOException` when the DataNode is unknown or dead: it must register again first.
    pub fn begin_full_report(
        &mut self,
        uuid: &str,
        storage: (&Arc<str>, StorageType),
        replicas: Vec<ReportedReplica>,
    ) -> Result<FullReport> {
        let node = self.reporting_node(uuid)?;
        let storage = self.nodes.ensure_storage(node, storage.0, storage.1);
        let is_later = self.nodes.storage(storage).is_some_and(|known| known.reports > 0)
            && !self.safe_mode.is_starting();
        let origin = if is_later { Origin::Report } else { Origin::FirstReport };
        self.begin_report(storage, is_later);
        let number = self.nodes.storage_mut(storage).map_or(0, Storage::begin_report);
        let (uuid, replicas) = (uuid.to_owned(), replicas.into_iter());
        Ok(FullReport { uuid, node, storage, number, origin, replicas, deletions: 0 })
    }

    /// Takes in up to `max` replicas of a report, or forgets up to `max` that it did not list. What came of it, after the
    /// last slice. Others may change any block between two slices: of a block that the DataNode told of since the report
    /// began the report is not heard.
    ///
    /// # Errors
    /// `IOException` when the DataNode died or registered anew since the report began, or began another one.
    pub fn continue_full_report(
        &mut self,
        report: &mut FullReport,
        max: usize,
    ) -> Result<Option<ReportOutcome>> {
        self.reporting_node(&report.uuid)?;
        if self.ongoing(report.storage).is_none_or(|ongoing| ongoing.number() != report.number) {
            return Err(JavaException::Io.with(format!(
                "Full block report of {} is out of date: the DataNode registered or reported again",
                report.uuid
            )));
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
        self.nodes.storage(storage)?.ongoing.as_ref()
    }

    fn deletions_of(&self, node: NodeIdx) -> usize {
        self.nodes.node(node).map_or(0, |known| known.invalidate.len())
    }

    /// A replica that a full report lists.
    fn listed(&mut self, storage: StorageIdx, replica: ReportedReplica, origin: Origin) {
        if self.ongoing(storage).is_some_and(|report| report.is_overtaken(replica.block.id)) {
            return;
        }
        let slot = self.reported(storage, replica, origin);
        let ongoing = self.nodes.storage_mut(storage).and_then(|known| known.ongoing.as_mut());
        if let (Some(slot), Some(ongoing)) = (slot, ongoing) {
            ongoing.listed(slot);
        }
    }

    fn forget_unlisted(&mut self, storage: StorageIdx, max: usize) {
        let gone = self.ongoing(storage).map(|report| report.gone(max)).unwrap_or_default();
        for slot in gone {
            self.drop_replica(slot, storage);
        }
    }

    fn end_full_report(&mut self, report: &FullReport) -> ReportOutcome {
        let now = self.now;
        let mut outcome = ReportOutcome { deletions: report.deletions, ..ReportOutcome::default() };
        if let Some(known) = self.nodes.storage_mut(report.storage) {
            known.ongoing = None;
            known.reports += 1;
            outcome.unknown = known.unknown.totals();
        }
        if let Some(known) = self.nodes.node_mut(report.node) {
            known.last_report = now;
        }
        self.doubt_decommissioned(report.node);
        outcome
    }

    /// A report that is being taken in does not count any more: its storage or DataNode is gone.
    pub(super) fn drop_report(&mut self, storage: StorageIdx) {
        if let Some(known) = self.nodes.storage_mut(storage) {
            known.ongoing = None;
        }
    }

    /// The reports of all storages of a DataNode are in: the next DataNode may send its own. Safe mode may end now and not
    /// before: each storage may tell that the metadata is too old.
    pub fn end_report(&mut self, uuid: &str) {
        self.check_safe_mode();
        if let Some(node) = self.nodes.by_uuid(uuid)
            && let Some(known) = self.nodes.node_mut(node)
        {
            known.report_lease = ReportLease::default();
        }
    }

    /// Ends the safe mode of the start if its conditions hold; not while a report is half read, whose rest may tell that the
    /// metadata is too old.
    pub(super) fn check_safe_mode(&mut self) {
        let is_reporting = || self.nodes.storages.iter().any(|known| known.ongoing.is_some());
        if self.safe_mode.is_starting() && !is_reporting() {
            self.safe_mode.check();
        }
    }

    /// What the storage's last report said of unknown replicas is said again.
    fn begin_report(&mut self, storage: StorageIdx, is_later: bool) {
        if let Some(known) = self.nodes.storage_mut(storage) {
            known.unknown.clear();
            known.deletes_unknown |= is_later;
            self.safe_mode.remove_future(std::mem::take(&mut known.future_bytes));
        }
    }

    /// Events since the last report.
    ///
    /// # Errors
    /// `IOException` when the DataNode is unknown or dead: it must register again first.
    pub fn incremental_report(
        &mut self,
        uuid: &str,
        storage: (&Arc<str>, StorageType),
        events: impl IntoIterator<Item = ReplicaEvent>,
    ) -> Result<()> {
        let node = self.reporting_node(uuid)?;
        let storage = self.nodes.ensure_storage(node, storage.0, storage.1);
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
        self.check_safe_mode();
        Ok(())
    }

    /// What the DataNode says now of a block is newer than its report that is being taken in.
    fn overtake_report(&mut self, storage: StorageIdx, id: BlockId) {
        let slot = self.map.slot(id);
        let ongoing = self.nodes.storage_mut(storage).and_then(|known| known.ongoing.as_mut());
        if let Some(ongoing) = ongoing {
            ongoing.overtake(id, slot);
        }
    }

    fn received(&mut self, storage: StorageIdx, block: Block, instead_of: Option<NodeIdx>) {
        self.nodes.unschedule(storage);
        let replica = ReportedReplica { block, state: ReplicaState::Finalized };
        self.reported(storage, replica, Origin::Event(instead_of));
    }

    pub(super) fn reporting_node(&self, uuid: &str) -> Result<NodeIdx> {
        let node = self.nodes.alive(uuid);
        node.ok_or_else(|| {
            JavaException::Io.with(format!("ProcessReport from dead or unregistered node: {uuid}"))
        })
    }

    pub(super) fn deleted(&mut self, storage: StorageIdx, block: Block) {
        if self.awaits_edit(block) {
            return self.pending_messages.add(storage, Message::Deleted(block));
        }
        self.nodes.call_off_invalidation(storage, block);
        if let Some(known) = self.nodes.storage_mut(storage) {
            known.unknown.remove(block);
        }
        let Some((slot, stored)) = self.entry(block.id) else { return };
        self.expect_no_replica(slot, storage, block.stamp);
        if self.map.storages(slot).contains(&storage)
            && !self.is_outdated(slot, storage, &stored, block)
        {
            self.drop_replica(slot, storage);
        }
    }

    /// Whether a standby has to wait for an edit before it can make sense of a block.
    fn awaits_edit(&self, block: Block) -> bool {
        let is_known = || self.map.slot(block.id).is_some();
        self.nodes.is_standby() && self.pending_messages.is_in_future(block, is_known())
    }

    /// Takes in one replica; its slot if the block is known and the replica is one of its.
    pub(super) fn reported(
        &mut self,
        storage: StorageIdx,
        replica: ReportedReplica,
        origin: Origin,
    ) -> Option<Slot> {
        if self.awaits_edit(replica.block) {
            self.pending_messages.add(storage, Message::Reported(replica, origin));
            return self.map.slot(replica.block.id);
        }
        let Some((slot, stored)) = self.entry(replica.block.id) else {
            self.unknown_replica(storage, replica.block);
            return None;
        };
        let instead_of = match origin {
            Origin::Event(instead_of) => instead_of,
            Origin::FirstReport | Origin::Report => None,
        };
        if self.nodes.is_invalidating(storage, replica.block)
            || matches!(origin, Origin::Event(_))
                && self.is_outdated(slot, storage, &stored, replica.block)
        {
            return Some(slot);
        }
        if let Some(reason) = corruption(&stored, &replica) {
            if self.nodes.is_standby() {
                // An edit that is on its way may explain it.
                self.pending_messages.add(storage, Message::Reported(replica, origin));
                return Some(slot);
            }
            self.found_corrupt(slot, storage, reason, Some(replica.block));
            return Some(slot);
        }
        if self.redundancy.is_excess(slot, storage) && replica.block.stamp == stored.block.stamp {
            // Its DataNode has been told to delete it; one that started anew may have forgotten.
            if origin == Origin::FirstReport {
                self.nodes.invalidate(storage, replica.block);
            }
            return Some(slot);
        }
        if stored.state != BlockState::Complete {
            self.expect_replica(slot, storage, replica.block.stamp);
        }
        if replica.state == ReplicaState::Finalized {
            self.add_replica(slot, storage, &stored, replica.block, instead_of);
        }
        Some(slot)
    }

    /// News of a replica that has a later stamp since, as is known already: a new pipeline or the end of a recovery
    /// may overtake them.
    fn is_outdated(
        &self,
        slot: Slot,
        storage: StorageIdx,
        stored: &StoredBlock,
        reported: Block,
    ) -> bool {
        if stored.state != BlockState::Complete {
            return self.expected_stamp(slot, storage).is_some_and(|stamp| reported.stamp < stamp);
        }
        reported.stamp < stored.block.stamp
            && self.map.storages(slot).contains(&storage)
            && !self.replicas().is_corrupt(slot, storage)
    }

    fn add_replica(
        &mut self,
        slot: Slot,
        storage: StorageIdx,
        stored: &StoredBlock,
        reported: Block,
        instead_of: Option<NodeIdx>,
    ) {
        let node = self.nodes.node_of(storage);
        self.move_between_storages(slot, storage);
        self.redundancy.arrived(slot, |target| self.nodes.node_of(target) == node);
        let is_forgiven = node.is_some_and(|node| self.corrupt.remove_replaced(slot, node));
        if !self.map.add_storage(slot, storage) && !is_forgiven {
            return;
        }
        self.nodes.note_replica(storage, slot);
        match stored.state {
            BlockState::Complete => {
                self.count_for_safe_mode(slot);
                self.recheck_after(slot, Arrival { added: node, instead_of });
            }
            BlockState::Committed
                if reported.stamp == stored.block.stamp && self.replicas().has_min(slot) =>
            {
                self.expect_targets(slot);
                self.finish(slot);
            }
            _ => {}
        }
    }

    /// A DataNode holds a block once: on another of its storages it has moved.
    fn move_between_storages(&mut self, slot: Slot, storage: StorageIdx) {
        let node = self.nodes.node_of(storage);
        let moved = |other: &StorageIdx| *other != storage && self.nodes.node_of(*other) == node;
        let old: Storages = self.map.storages(slot).iter().copied().filter(moved).collect();
        for other in old {
            self.nodes.forget_replica(other, slot);
            self.map.remove_storage(slot, other);
        }
    }

    /// A client or a DataNode found a replica to be bad (`reportBadBlocks`).
    pub fn bad_replica(&mut self, block: Block, uuid: &str, storage_id: &str) {
        let Some(node) = self.nodes.by_uuid(uuid) else { return };
        let Some((slot, _)) = self.entry(block.id) else { return };
        let known = self
            .map
            .storages(slot)
            .iter()
            .copied()
            .find(|storage| self.nodes.node_of(*storage) == Some(node));
        if let Some(storage) = known.or_else(|| self.nodes.by_storage(node, storage_id)) {
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
        let (Some(node), Some(stored)) =
            (self.nodes.node_of(storage), self.map.get(slot).map(|entry| entry.view()))
        else {
            return;
        };
        let was_live = self.replicas().live(slot).contains(&storage);
        let counts = self.replicas().count(slot);
        let others = counts.live - u32::from(was_live && counts.live > 0);
        if stored.state == BlockState::Complete
            && self.may_drop_corrupt(slot, storage, others, reported)
        {
            self.nodes.invalidate(storage, reported.unwrap_or(stored.block));
            return self.drop_replica(slot, storage);
        }
        if let Some(newer) = reported
            && Self::is_newer_than_block(stored.block, reported)
            && !self.deletes_unknown(storage)
        {
            self.list_unknown(storage, newer);
        }
        self.corrupt.add(slot, CorruptReplica { node, reason, reported });
        if self.map.add_storage(slot, storage) {
            self.nodes.note_replica(storage, slot);
        }
        self.count_for_safe_mode(slot);
        self.recheck(slot);
    }
}

impl BlockManager {
    /// Whether a corrupt replica may be deleted now. A replica newer than its block may be good, and the image too old: it goes
    /// no sooner than one of a block that no file has.
    pub(super) fn may_drop_corrupt(
        &self,
        slot: Slot,
        storage: StorageIdx,
        others: u32,
        reported: Option<Block>,
    ) -> bool {
        let is_newer = self
            .map
            .get(slot)
            .is_some_and(|entry| Self::is_newer_than_block(entry.block(), reported));
        (!is_newer || self.deletes_unknown(storage))
            && self.replicas().is_dispensable(slot, storage, others, reported)
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
