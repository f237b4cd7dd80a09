//! What edits change of blocks. An image or an edit log carries it, so that only a commit changes it.

use super::{BlockManager, BlockState, Recovery, Result, StoredBlock};
use crate::commit::key::CommitKey;
use zerohop_wire::{Block, BlockId, InodeId, JavaException};

impl BlockManager {
    /// Blocks as edits change them; only a commit has the key.
    pub(crate) fn edits(&mut self, _key: CommitKey) -> BlockEdits<'_> {
        BlockEdits { blocks: self }
    }
}

/// Changes of blocks as edits and images carry them: which there are, of which files, their stamps, lengths and
/// replication, and whether they are still written.
pub(crate) struct BlockEdits<'a> {
    blocks: &'a mut BlockManager,
}

impl BlockEdits<'_> {
    /// Adds a block as the image, the edit log or an operation has it; replaces what was stored under the same id,
    /// replicas stay. A block that is not complete starts without targets: see [`BlockManager::set_targets`].
    pub(crate) fn put(&mut self, stored: StoredBlock) {
        let slot = self.blocks.map.insert(stored);
        if stored.state == BlockState::Complete {
            self.blocks.constructions.remove(&slot);
        } else {
            self.blocks.constructions.entry(slot).or_default();
        }
    }

    /// A complete block: what an image holds most of.
    pub(crate) fn put_complete(&mut self, block: Block, file: InodeId, replication: u16) {
        self.put(StoredBlock { block, file, replication, state: BlockState::Complete });
    }

    /// A block a client is about to write (AddBlock), without targets yet.
    pub(crate) fn put_under_construction(&mut self, block: Block, file: InodeId, replication: u16) {
        self.put(StoredBlock { block, file, replication, state: BlockState::UnderConstruction });
    }

    /// The client is done with a block (`addBlock` with a previous block, `complete`, `fsync` never).
    ///
    /// Takes its length; completes it where enough replicas are known. True if it is complete now.
    ///
    /// # Errors
    /// `IOException` when the stamp is not the stored one, or the block is unknown.
    pub(crate) fn commit(&mut self, committed: Block) -> Result<bool> {
        let Some((slot, stored)) = self.blocks.entry(committed.id) else {
            return Err(JavaException::Io.with(format!("Block {committed} does not exist")));
        };
        if stored.state == BlockState::Complete {
            return Ok(true);
        }
        self.blocks.check_commit(committed)?;
        self.blocks.map.set_len(slot, committed.len);
        self.set_committed(committed.id);
        Ok(self.blocks.complete_if_replicated(committed.id))
    }

    /// The length of a block is final; false if the block is complete already.
    pub(crate) fn set_committed(&mut self, id: BlockId) -> bool {
        let Some((slot, stored)) = self.blocks.entry(id) else { return false };
        if stored.state == BlockState::Complete {
            return false;
        }
        self.blocks.map.set_state(slot, BlockState::Committed);
        true
    }

    /// Forgets a block and has its replicas deleted (file deleted, truncated, block abandoned).
    pub(crate) fn remove(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.blocks.entry(id) else { return };
        for storage in self.blocks.map.storages(slot).iter().copied().collect::<super::Storages>() {
            self.blocks.nodes.forget_replica(storage, slot);
            let held = self.blocks.replicas().as_stored(slot, storage, stored.block);
            self.blocks.nodes.invalidate(storage, held);
        }
        if stored.state == BlockState::Complete {
            self.blocks.safe_mode.block_removed(slot);
        }
        let awaited = self.blocks.awaited_nodes(slot);
        self.blocks.removed.insert(id, awaited);
        self.blocks.drop_construction(slot);
        self.blocks.corrupt.remove_block(slot);
        self.blocks.forget_redundancy(slot);
        self.blocks.map.remove(slot);
    }

    /// The file's replication changed: copies or deletions follow.
    pub(crate) fn set_replication(&mut self, id: BlockId, replication: u16) {
        if let Some(slot) = self.blocks.map.slot(id) {
            self.blocks.map.set_replication(slot, replication);
            self.blocks.recheck(slot);
        }
    }

    /// The block moved to another file (concat).
    pub(crate) fn set_file(&mut self, id: BlockId, file: InodeId) {
        if let Some(slot) = self.blocks.map.slot(id) {
            self.blocks.map.set_file(slot, file);
        }
    }

    /// Takes length and stamp from the edit log (UpdateBlocks, Close) or `fsync` (length only grows there: the caller
    /// checks). Replicas stay.
    pub(crate) fn set_block(&mut self, block: Block) {
        if let Some(slot) = self.blocks.map.slot(block.id) {
            self.blocks.map.set_len(slot, block.len);
            self.blocks.map.set_stamp(slot, block.stamp);
        }
    }

    /// A complete block may be written again: see [`BlockManager::expect_reopened`] for what follows.
    pub(crate) fn set_under_construction(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.blocks.entry(id) else { return };
        if stored.state == BlockState::Complete {
            self.blocks.map.set_state(slot, BlockState::UnderConstruction);
            self.blocks.constructions.entry(slot).or_default();
        }
    }

    /// Marks a block to be truncated to `target`. No DataNode is asked yet.
    pub(crate) fn set_truncated(&mut self, id: BlockId, target: Block) {
        let Some(slot) = self.blocks.map.slot(id) else { return };
        self.blocks.map.set_state(slot, BlockState::UnderRecovery);
        let recovery = Recovery { stamp: target.stamp, truncate: Some(target), started_ms: None };
        self.blocks.constructions.entry(slot).or_default().recovery = Some(recovery);
    }
}
