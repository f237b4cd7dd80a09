//! Blocks that are being written or recovered: expected targets, recovery and its leader.

use super::construction::{Construction, Expected, Recovery};
use super::map::Slot;
use super::{BlockManager, BlockState, RecoverCommand, Result, StorageIdx, Storages};
use smallvec::SmallVec;
use zerohop_wire::{Block, BlockId, GenerationStamp, JavaException};

/// How long the leader of a recovery has before another is asked: Apache waits as long between tries.
const RECOVERY_RETRY_MS: u64 = 30_000;

impl BlockManager {
    /// The storages a block under construction is expected on.
    pub fn targets(&self, id: BlockId) -> Storages {
        let construction = self.map.slot(id).and_then(|slot| self.constructions.get(&slot));
        construction.map(|construction| construction.storages().collect()).unwrap_or_default()
    }

    /// Whether any DataNode was chosen for a block, or has told of a replica of it, good or stale.
    pub fn is_heard_of(&self, id: BlockId) -> bool {
        self.map.slot(id).is_some_and(|slot| {
            let construction = self.constructions.get(&slot);
            construction.is_some_and(|known| !known.replicas.is_empty())
                || !self.map.storages(slot).is_empty()
        })
    }

    /// The recovery under way for a block.
    pub fn recovery(&self, id: BlockId) -> Option<Recovery> {
        self.map.slot(id).and_then(|slot| self.constructions.get(&slot))?.recovery
    }

    /// Blocks of truncates that no DataNode was asked to cut since this NameNode started, and that one could cut now.
    pub fn unasked_truncates(&self) -> Vec<BlockId> {
        let is_unasked = |(_, construction): &(&Slot, &Construction)| {
            let recovery = construction.recovery.filter(|recovery| recovery.truncate.is_some());
            recovery.is_some_and(|recovery| !recovery.is_asked())
        };
        let ids =
            self.constructions.iter().filter(is_unasked).filter_map(|(slot, construction)| {
                let known = self.map.storages(*slot).iter().copied();
                let mut replicas = construction.storages().chain(known);
                let entry = self.map.get(*slot)?;
                replicas.any(|storage| self.nodes.is_alive(storage)).then(|| entry.block().id)
            });
        ids.collect()
    }

    /// Whether a recovery may be started: none was in the last 30 s.
    pub fn recovery_due(&self, id: BlockId) -> bool {
        let started = self.recovery(id).and_then(|last| last.started_ms);
        started.is_none_or(|started_ms| self.now.mono_ms >= started_ms + RECOVERY_RETRY_MS)
    }

    /// Starts the recovery of a last block: chooses a leader among its replicas and queues the command for it.
    ///
    /// `stamp` is the new generation stamp, which the caller has committed; a truncate under way gets it too. True if a
    /// DataNode was asked; false if none is known (or one was asked less than 30 s ago).
    ///
    /// # Errors
    /// `IOException` when the block is unknown or complete.
    pub fn start_recovery(&mut self, id: BlockId, stamp: GenerationStamp) -> Result<bool> {
        let Some((slot, stored)) = self.entry(id) else {
            return Err(JavaException::Io.with(format!("Block {id} does not exist")));
        };
        if stored.state == BlockState::Complete {
            return Err(
                JavaException::Io.with(format!("{} is not under construction", stored.block))
            );
        }
        let tried = !self.recovery_due(id);
        self.map.set_state(slot, BlockState::UnderRecovery);
        let truncate = self.recovery(id).and_then(|last| last.truncate);
        let truncate = truncate.map(|target| Block { stamp, ..target });
        self.expect_known_replicas(slot);
        if truncate.is_some_and(|target| target.id == id) {
            self.leave_untruncated(slot, stored.block.stamp);
        }
        let leader = self.choose_leader(slot);
        let recovery = Recovery { stamp, truncate, started_ms: leader.map(|_| self.now.mono_ms) };
        // Also without a leader: what a truncate wants must outlive a restart.
        self.constructions.entry(slot).or_default().recovery = Some(recovery);
        let Some(leader) = leader else { return Ok(false) };
        if tried {
            return Ok(false);
        }
        self.queue_recovery(slot, leader, recovery);
        Ok(true)
    }

    /// After a restart no targets are known, only what was reported.
    fn expect_known_replicas(&mut self, slot: Slot) {
        let Some(block) = self.map.get(slot).map(|entry| entry.block()) else { return };
        if self.constructions.get(&slot).is_some_and(|known| known.storages().next().is_some()) {
            return;
        }
        let mut known = self.replicas().live(slot);
        if known.is_empty() {
            known = Storages::from_slice(self.map.storages(slot));
        }
        for storage in known {
            let held = self.replicas().as_stored(slot, storage, block);
            self.expect_replica(slot, storage, held.stamp);
        }
    }

    /// A replica that a pipeline or recovery went on without, unless more is known of its node.
    pub(super) fn leave_out(&mut self, slot: Slot, replica: Expected) {
        let construction = self.constructions.entry(slot).or_default();
        let node = self.nodes.node_of(replica.storage);
        let is_in = |other: &Expected| self.nodes.node_of(other.storage) == node;
        match construction.replicas.iter_mut().find(|other| is_in(other)) {
            // A recovery that was given up has given a stale replica another stamp since.
            Some(known) => known.stamp = known.stamp.max(replica.stamp),
            None => construction.replicas.push(Expected { left_out: true, ..replica }),
        }
    }

    /// A try of which no answer came (this NameNode was down) may have truncated some replicas: their
    /// new stamp tells. DataNodes refuse to recover finalized replicas of two lengths together, and
    /// would for ever, so that the recovery goes on with the truncated ones alone.
    fn leave_untruncated(&mut self, slot: Slot, stamp: GenerationStamp) {
        let Some(construction) = self.constructions.get_mut(&slot) else { return };
        let nodes = &self.nodes;
        let is_truncated =
            |replica: &Expected| replica.stamp > stamp && nodes.is_alive(replica.storage);
        let is_any_truncated = construction.replicas.iter().any(is_truncated);
        for replica in &mut construction.replicas {
            replica.left_out = replica.stamp < stamp || is_any_truncated && !is_truncated(replica);
        }
    }

    /// The live replica heard of last that has not led yet; when all have, they start over.
    fn choose_leader(&mut self, slot: Slot) -> Option<StorageIdx> {
        let construction = self.constructions.get_mut(&slot)?;
        let nodes = &self.nodes;
        let able = |replica: &&mut Expected| !replica.left_out && nodes.is_alive(replica.storage);
        if construction.replicas.iter_mut().filter(able).all(|replica| replica.led) {
            construction.replicas.iter_mut().for_each(|replica| replica.led = false);
        }
        let fresh = construction.replicas.iter_mut().filter(able).filter(|replica| !replica.led);
        let leader = fresh.max_by_key(|replica| nodes.last_heartbeat_ms(replica.storage))?;
        leader.led = true;
        Some(leader.storage)
    }

    fn queue_recovery(&mut self, slot: Slot, leader: StorageIdx, recovery: Recovery) {
        let (Some(entry), Some(construction)) = (self.map.get(slot), self.constructions.get(&slot))
        else {
            return;
        };
        let taking_part = construction.replicas.iter().filter(|replica| !replica.left_out);
        let rest = taking_part
            .map(|replica| replica.storage)
            .filter(|storage| *storage != leader && self.nodes.is_alive(*storage));
        let locations = std::iter::once(leader)
            .chain(rest)
            .filter_map(|storage| self.nodes.location(storage))
            .collect();
        let command = RecoverCommand {
            block: entry.block(),
            new_stamp: recovery.stamp,
            locations,
            truncate: recovery.truncate,
        };
        self.nodes.queue_recovery(leader, command);
    }

    /// A recovery came to an end (`commitBlockSynchronization`), after the block got its stamp and length: these storages
    /// hold it now.
    ///
    /// # Errors
    /// `IOException` when the block is unknown.
    pub fn replace_recovered(&mut self, id: BlockId, storages: &[StorageIdx]) -> Result<()> {
        let Some((slot, stored)) = self.entry(id) else {
            return Err(JavaException::Io.with(format!("Block {id} does not exist")));
        };
        let stamp = stored.block.stamp;
        for storage in self.map.storages(slot).iter().copied().collect::<Storages>() {
            if !storages.contains(&storage) {
                self.drop_outsider(slot, storage);
            }
        }
        // The DataNodes finalized these replicas before they answered: no report has to be waited for. An order to
        // delete one as being too much has the old stamp, and will not be carried out.
        for storage in storages {
            self.redundancy.excess.unmark(slot, *storage);
            self.nodes.note_replica(*storage, slot);
            self.map.add_storage(slot, *storage);
        }
        self.delete_left_behind(slot, stamp);
        let old = self.constructions.insert(slot, Construction::with_targets(stamp, storages));
        old.iter().for_each(|old| self.reschedule(slot, old, storages));
        if self.map.get(slot).is_some_and(|entry| entry.state() == BlockState::UnderRecovery) {
            self.map.set_state(slot, BlockState::UnderConstruction);
        }
        Ok(())
    }

    /// Forgets a replica that has no part in what the block becomes; a stale one that is known to be there shall be deleted
    /// as soon as the block is complete.
    pub(super) fn drop_outsider(&mut self, slot: Slot, storage: StorageIdx) {
        let Some(block) = self.map.get(slot).map(|entry| entry.block()) else { return };
        let held = self.replicas().as_stored(slot, storage, block);
        if held.stamp < block.stamp {
            self.leave_out(slot, Expected::new(storage, held.stamp));
        }
        self.drop_replica(slot, storage);
    }

    /// What pipelines and recoveries went on without keeps its node from taking a copy. A replica that has the new stamp
    /// all the same is as good as the others: only the answer of its node was lost.
    pub(super) fn delete_left_behind(&mut self, slot: Slot, stamp: GenerationStamp) {
        let (Some(construction), Some(block)) =
            (self.constructions.get(&slot), self.map.get(slot).map(|entry| entry.block()))
        else {
            return;
        };
        let good = self.replicas().live(slot);
        let holds_good = |storage: StorageIdx| {
            let node = self.nodes.node_of(storage);
            good.iter().any(|other| self.nodes.node_of(*other) == node)
        };
        let is_left = |replica: &&Expected| replica.stamp < stamp && !holds_good(replica.storage);
        let left: SmallVec<[Expected; 3]> =
            construction.replicas.iter().filter(is_left).copied().collect();
        for Expected { storage, stamp, .. } in left {
            // Under this stamp: a copy that comes later is safe from the order.
            self.nodes.invalidate(storage, Block { stamp, ..block });
        }
    }

    /// A DataNode reported a replica of a block that is not complete.
    pub(super) fn expect_replica(
        &mut self,
        slot: Slot,
        storage: StorageIdx,
        stamp: GenerationStamp,
    ) {
        let node = self.nodes.node_of(storage);
        let left_out = self.map.get(slot).is_some_and(|entry| stamp < entry.block().stamp);
        let construction = self.constructions.entry(slot).or_default();
        let nodes = &self.nodes;
        // A DataNode may choose another of its storages than the one we named.
        match construction
            .replicas
            .iter_mut()
            .find(|replica| nodes.node_of(replica.storage) == node)
        {
            // What has been on its way for long.
            Some(replica) if stamp < replica.stamp => {}
            Some(replica) => {
                (replica.storage, replica.stamp, replica.left_out) = (storage, stamp, left_out);
            }
            None => {
                construction.replicas.push(Expected { left_out, ..Expected::new(storage, stamp) })
            }
        }
    }

    /// The last stamp that the replica on a storage's DataNode is known to have, while the block is not complete.
    pub(super) fn expected_stamp(
        &self,
        slot: Slot,
        storage: StorageIdx,
    ) -> Option<GenerationStamp> {
        let node = self.nodes.node_of(storage);
        let mut replicas = self.constructions.get(&slot)?.replicas.iter();
        let known = replicas.find(|replica| self.nodes.node_of(replica.storage) == node);
        known.map(|replica| replica.stamp)
    }

    /// A DataNode deleted its replica: a recovery that asked it alone would find that nothing was ever written.
    pub(super) fn expect_no_replica(
        &mut self,
        slot: Slot,
        storage: StorageIdx,
        stamp: GenerationStamp,
    ) {
        let Some(construction) = self.constructions.get_mut(&slot) else { return };
        let node = self.nodes.node_of(storage);
        let is_gone = |replica: &Expected| {
            self.nodes.node_of(replica.storage) == node && replica.stamp <= stamp
        };
        construction.replicas.retain(|replica| !is_gone(replica));
    }

    /// Targets whose report is still to come are not missing: count them as pending.
    pub(super) fn expect_targets(&mut self, slot: Slot) {
        let Some(construction) = self.constructions.get(&slot) else { return };
        let known = self.map.storages(slot);
        let awaited: Storages =
            construction.storages().filter(|storage| !known.contains(storage)).collect();
        if !construction.is_scheduled {
            awaited.iter().for_each(|storage| self.nodes.schedule(*storage));
        }
        if !awaited.is_empty() {
            self.redundancy.expect(slot, &awaited, self.now.mono_ms);
        }
    }

    pub(super) fn drop_construction(&mut self, slot: Slot) {
        if let Some(construction) = self.constructions.remove(&slot)
            && construction.is_scheduled
        {
            construction.storages().for_each(|storage| self.nodes.unschedule(storage));
        }
    }
}
