//! A block from its birth in a file to its removal: what follows from edits, and what DataNodes are expected to do.

use super::map::Slot;
use super::{BlockManager, BlockState, Completed, Construction, Result, StorageIdx, StoredBlock};
use zerohop_wire::{Block, BlockId, GenerationStamp, JavaException};

impl BlockManager {
    /// What is known of a block.
    pub fn get(&self, id: BlockId) -> Option<StoredBlock> {
        self.entry(id).map(|(_, stored)| stored)
    }

    /// Whether the block is there and complete.
    pub fn is_complete(&self, id: BlockId) -> bool {
        self.get(id).is_some_and(|stored| stored.state == BlockState::Complete)
    }

    /// Whether as many live replicas as `dfs.namenode.replication.min` asks are known.
    pub fn has_min_replication(&self, id: BlockId) -> bool {
        self.map.slot(id).is_some_and(|slot| {
            self.replicas().count(slot).live >= u32::from(self.params.replication_min)
        })
    }

    pub(super) fn entry(&self, id: BlockId) -> Option<(Slot, StoredBlock)> {
        let slot = self.map.slot(id)?;
        Some((slot, self.map.get(slot)?.view()))
    }

    /// Whether a client that is done with a block may say of it what it says.
    ///
    /// # Errors
    /// `IOException` when the stamp is not the stored one, or it is shorter than is known, or unknown.
    pub fn check_commit(&self, committed: Block) -> Result<()> {
        let Some((_, stored)) = self.entry(committed.id) else {
            return Err(JavaException::Io.with(format!("Block {committed} does not exist")));
        };
        if stored.block.stamp != committed.stamp {
            let message = format!(
                "Commit block with mismatching GS. NN has {}, client submits {committed}",
                stored.block
            );
            return Err(JavaException::Io.with(message));
        }
        if stored.block.len > committed.len {
            let message = format!(
                "commitBlock length is less than the stored one {} vs. {}",
                committed.len, stored.block.len
            );
            return Err(JavaException::Io.with(message));
        }
        Ok(())
    }

    /// What follows once the length of a block is final: replicas with another stamp do not count, and it is complete if
    /// there are enough others. True if it is complete.
    pub(crate) fn complete_if_replicated(&mut self, id: BlockId) -> bool {
        let Some((slot, stored)) = self.entry(id) else { return false };
        if stored.state == BlockState::Committed {
            self.drop_stale_replicas(slot, stored.block.stamp);
            if self.replicas().has_min(slot) {
                self.expect_targets(slot);
                self.finish(slot);
            }
        }
        self.is_complete(id)
    }

    /// The same for an edit from a log: it is complete however few replicas have been reported to this NameNode.
    pub(crate) fn complete_replayed(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.entry(id) else { return };
        if stored.state != BlockState::Complete {
            self.drop_stale_replicas(slot, stored.block.stamp);
            self.mark_complete(slot);
        }
    }

    /// Completes a block that was just recovered, however few replicas it has: what is missing is copied from here on.
    pub fn complete_recovered(&mut self, id: BlockId) {
        if let Some(slot) = self.map.slot(id) {
            self.expect_targets(slot);
            self.finish(slot);
        }
    }

    /// A committed block got enough replicas: calls that wait for that go on.
    pub(super) fn finish(&mut self, slot: Slot) {
        let Some(entry) = self.map.get(slot) else { return };
        let id = entry.block().id;
        if entry.state() != BlockState::Complete {
            self.mark_complete(slot);
            self.completed.push(id);
        }
    }

    fn mark_complete(&mut self, slot: Slot) {
        let Some(stamp) = self.map.get(slot).map(|entry| entry.block().stamp) else { return };
        self.map.set_state(slot, BlockState::Complete);
        self.safe_mode.block_completed();
        self.count_for_safe_mode(slot);
        self.delete_left_behind(slot, stamp);
        self.constructions.remove(&slot);
        self.recheck(slot);
    }

    /// Blocks that became complete since the last call: calls that wait for them can go on.
    pub fn take_completed(&mut self) -> Vec<Completed> {
        std::mem::take(&mut self.completed)
    }

    /// DataNodes that a replica of the block is being written or copied to.
    pub(super) fn awaited_nodes(&self, slot: Slot) -> smallvec::SmallVec<[super::NodeIdx; 3]> {
        let written =
            self.constructions.get(&slot).into_iter().flat_map(Construction::all_storages);
        let copied = self.redundancy.pending_targets(slot).iter().copied();
        written.chain(copied).filter_map(|storage| self.nodes.node_of(storage)).collect()
    }

    /// The replicas of a block that was complete are those that its pipeline, or its recovery, begins with.
    pub(crate) fn expect_reopened(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.entry(id) else { return };
        self.keep_what_is_not_deleted_yet(slot, stored.block);
        let mut targets = self.replicas().live(slot);
        if targets.iter().any(|storage| !self.replicas().is_away(*storage)) {
            targets.retain(|storage| !self.replicas().is_away(*storage));
        }
        let recovery = self.constructions.get(&slot).and_then(|known| known.recovery);
        let construction = Construction::with_targets(stored.block.stamp, &targets);
        self.constructions.insert(slot, Construction { recovery, ..construction });
    }

    /// Deletions of extra replicas that no DataNode was told of yet are called off. A replica whose DataNode was told
    /// stays marked: it will be gone, so it must neither get a writer nor count beside those that stay.
    fn keep_what_is_not_deleted_yet(&mut self, slot: Slot, block: Block) {
        let extra = self.forget_redundancy(slot);
        for storage in extra {
            if !self.nodes.call_off_invalidation(storage, block) {
                self.redundancy.excess.mark(slot, storage, self.now.mono_ms);
            }
        }
    }

    /// The storages a new block goes to; counts them as scheduled.
    pub fn set_targets(&mut self, id: BlockId, targets: &[StorageIdx]) {
        let Some((slot, stored)) = self.entry(id) else { return };
        self.drop_construction(slot);
        for target in targets {
            self.nodes.schedule(*target);
        }
        let construction = Construction::with_targets(stored.block.stamp, targets);
        self.constructions.insert(slot, Construction { is_scheduled: true, ..construction });
    }

    /// A DataNode that a pipeline or a recovery went on without needs no room for the block, one that joined it does.
    pub(super) fn reschedule(&mut self, slot: Slot, old: &Construction, targets: &[StorageIdx]) {
        if !old.is_scheduled {
            return;
        }
        if let Some(new) = self.constructions.get_mut(&slot) {
            new.is_scheduled = true;
        }
        let old: super::Storages = old.storages().collect();
        let is_in = |storages: &[StorageIdx], storage: StorageIdx| {
            let node = self.nodes.node_of(storage);
            storages.iter().any(|other| self.nodes.node_of(*other) == node)
        };
        let left: super::Storages =
            old.iter().copied().filter(|storage| !is_in(targets, *storage)).collect();
        let joined: super::Storages =
            targets.iter().copied().filter(|storage| !is_in(&old, *storage)).collect();
        left.into_iter().for_each(|storage| self.nodes.unschedule(storage));
        joined.into_iter().for_each(|storage| self.nodes.schedule(storage));
    }

    /// A pipeline went on with other DataNodes, after the block got a new stamp.
    ///
    /// # Errors
    /// `IOException` when the block is unknown or complete.
    pub fn replace_pipeline(&mut self, id: BlockId, targets: &[StorageIdx]) -> Result<()> {
        let Some((slot, stored)) = self.entry(id) else {
            return Err(JavaException::Io.with(format!("Block {id} does not exist")));
        };
        if stored.state == BlockState::Complete {
            return Err(
                JavaException::Io.with(format!("{} is not under construction", stored.block))
            );
        }
        let stamp = stored.block.stamp;
        self.drop_all_but(slot, stamp);
        let old = self.constructions.insert(slot, Construction::with_targets(stamp, targets));
        let Some(old) = old else { return Ok(()) };
        self.reschedule(slot, &old, targets);
        old.replicas.iter().for_each(|replica| self.leave_out(slot, *replica));
        Ok(())
    }

    /// Only replicas that were reported with the new stamp are part of the pipeline that goes on: all others are stale,
    /// those nobody expected (extra, corrupt, just copied) too.
    fn drop_all_but(&mut self, slot: Slot, stamp: GenerationStamp) {
        let current: super::Storages = self
            .constructions
            .get(&slot)
            .map(|construction| construction.replicas_of(stamp).collect())
            .unwrap_or_default();
        for storage in super::Storages::from_slice(self.map.storages(slot)) {
            if !current.contains(&storage) {
                self.drop_outsider(slot, storage);
            }
        }
    }

    /// Replicas that were reported with another stamp do not count any more.
    fn drop_stale_replicas(&mut self, slot: Slot, stamp: GenerationStamp) {
        let Some(construction) = self.constructions.get(&slot) else { return };
        let stale: super::Storages = construction.stale_replicas(stamp).collect();
        for storage in stale {
            self.drop_replica(slot, storage);
        }
    }
}
