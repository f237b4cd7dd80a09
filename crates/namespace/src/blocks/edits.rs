//! What edits change of blocks. An image or an edit log carries it, so that only a commit changes it.

use super::construction::Recovery;
use super::map::BlockMap;
use super::types::{BlockState, Result, Storages, StoredBlock};
use super::under_construction::UnderConstruction;
use super::unknown::RemovedWhileWritten;
use crate::error::{BlockError, refuse};
use zerohop_wire::{Block, BlockId, InodeId};

/// Changes of blocks as edits and images carry them: which there are, of which files, their stamps, lengths and
/// replication, and whether they are still written.
pub(crate) struct BlockEdits<'a> {
    pub(super) blocks: UnderConstruction<'a>,
    pub(super) removed: &'a mut RemovedWhileWritten,
}

impl BlockEdits<'_> {
    fn map(&mut self) -> &mut BlockMap {
        self.blocks.replicas.map
    }

    /// Adds a block as the image, the edit log or an operation has it; replaces what was stored under the same id,
    /// replicas stay. A block that is not complete starts without targets: see [`UnderConstruction::set_targets`].
    pub(crate) fn put(&mut self, stored: StoredBlock) {
        let slot = self.map().insert(stored);
        if stored.state == BlockState::Complete {
            self.blocks.constructions.end(slot);
        } else {
            self.blocks.constructions.begin(slot);
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
    /// `Error::Block` when the stamp is not the stored one, or the block is unknown.
    pub(crate) fn commit(&mut self, committed: Block) -> Result<bool> {
        let Some((slot, stored)) = self.map().find(committed.id) else {
            return refuse(BlockError::Unknown { block: committed });
        };
        if stored.state == BlockState::Complete {
            return Ok(true);
        }
        self.map().check_commit(committed)?;
        self.map().set_len(slot, committed.len);
        self.set_committed(committed.id);
        Ok(self.blocks.complete_if_replicated(committed.id))
    }

    /// The length of a block is final; false if the block is complete already.
    pub(crate) fn set_committed(&mut self, id: BlockId) -> bool {
        let Some((slot, stored)) = self.map().find(id) else { return false };
        if stored.state == BlockState::Complete {
            return false;
        }
        self.map().set_state(slot, BlockState::Committed);
        true
    }

    /// Makes the last block of an open file one that is being written: no edit carries that its client told its final length, or
    /// that it became complete by that.
    pub(crate) fn forget_commit(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.map().find(id) else { return };
        match stored.state {
            BlockState::Committed => self.map().set_state(slot, BlockState::UnderConstruction),
            BlockState::Complete => {
                self.set_under_construction(id);
                self.blocks.expect_reopened(id);
            }
            BlockState::UnderConstruction | BlockState::UnderRecovery => {}
        }
    }

    /// Forgets a block and has its replicas deleted (file deleted, truncated, block abandoned).
    pub(crate) fn remove(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.map().find(id) else { return };
        let awaited = self.blocks.awaited_nodes(slot);
        self.removed.insert(id, awaited);
        let replicas = &mut self.blocks.replicas;
        for storage in Storages::from_slice(replicas.map.storages(slot)) {
            let held = replicas.view().as_stored(slot, storage, stored.block);
            replicas.nodes.forget_replica(storage, slot);
            replicas.nodes.invalidate(storage, held);
        }
        if stored.state == BlockState::Complete {
            replicas.safe_mode.block_removed(slot);
        }
        self.blocks.constructions.cancel(replicas.nodes, slot);
        replicas.corrupt.remove_block(slot);
        replicas.forget_redundancy(slot);
        replicas.map.remove(slot);
    }

    /// The file's replication changed: copies or deletions follow.
    pub(crate) fn set_replication(&mut self, id: BlockId, replication: u16) {
        if let Some(slot) = self.map().slot(id) {
            self.map().set_replication(slot, replication);
            self.blocks.replicas.recheck(slot);
        }
    }

    /// The block moved to another file (concat).
    pub(crate) fn set_file(&mut self, id: BlockId, file: InodeId) {
        if let Some(slot) = self.map().slot(id) {
            self.map().set_file(slot, file);
        }
    }

    /// Takes length and stamp from the edit log (UpdateBlocks, Close) or `fsync` (length only grows there: the caller
    /// checks). Replicas stay.
    pub(crate) fn set_block(&mut self, block: Block) {
        if let Some(slot) = self.map().slot(block.id) {
            self.map().set_len(slot, block.len);
            self.map().set_stamp(slot, block.stamp);
        }
    }

    /// A complete block may be written again: see [`UnderConstruction::expect_reopened`] for what follows.
    pub(crate) fn set_under_construction(&mut self, id: BlockId) {
        let Some((slot, stored)) = self.map().find(id) else { return };
        if stored.state == BlockState::Complete {
            self.map().set_state(slot, BlockState::UnderConstruction);
            self.blocks.replicas.safe_mode.block_removed(slot);
            self.blocks.constructions.begin(slot);
        }
    }

    /// Marks a block to be truncated to `target`. No DataNode is asked yet.
    pub(crate) fn set_truncated(&mut self, id: BlockId, target: Block) {
        let Some((slot, stored)) = self.map().find(id) else { return };
        self.map().set_state(slot, BlockState::UnderRecovery);
        if stored.state == BlockState::Complete {
            self.blocks.replicas.safe_mode.block_removed(slot);
        }
        self.blocks.constructions.set_recovery(slot, Recovery::unasked(target));
    }
}
