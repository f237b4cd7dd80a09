//! Edits of a file's list of blocks.

use super::Committed;
use super::inodes::InodeEdits;
use super::ledger::BlocksChange;
use crate::Result;
use crate::blocks::{BlockEdits, BlockManager, BlockState};
use crate::error::{Inconsistent, refuse};
use crate::tree::Slot;
use smallvec::SmallVec;
use zerohop_journal::op::{AddBlock, UpdateBlocks};
use zerohop_wire::{Block, BlockId};

/// What an edit's list of blocks says of its last block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastBlock {
    /// It may still be written.
    Open,
    /// Its length is final.
    Final,
}

/// Blocks whose length became final.
pub(super) type Finished = SmallVec<[BlockId; 2]>;

/// Changes the lists of files' blocks.
pub(super) struct FileBlocks<'b, 's> {
    pub(super) inodes: &'b mut InodeEdits<'s>,
}

impl FileBlocks<'_, '_> {
    /// `OP_ADD_BLOCK`: the block before the new one is written to no more.
    pub(super) fn add_block(&mut self, op: &AddBlock) -> Result<Committed> {
        let slot = self.inodes.paths().existing_file(&op.path)?;
        let last = self.inodes.files().last_stored(slot);
        if last.map(|last| (last.id, last.stamp)) != op.penultimate.map(|old| (old.id, old.stamp)) {
            let (path, expected) = (op.path.clone(), op.penultimate);
            return refuse(Inconsistent::OtherLastBlock { path, last, expected });
        }
        let mut committed = Committed::inode(slot);
        if let Some(before) = op.penultimate {
            self.change_last_block(slot, |blocks| {
                blocks.set_block(before);
                committed.finished.extend(blocks.set_committed(before.id).then_some(before.id));
            });
        }
        self.push_block(slot, op.last);
        Ok(committed)
    }

    /// `OP_UPDATE_BLOCKS`
    pub(super) fn update_blocks(&mut self, op: &UpdateBlocks) -> Result<Committed> {
        let slot = self.inodes.paths().existing_file(&op.path)?;
        let finished = self.replace_blocks(slot, &op.path, &op.blocks, LastBlock::Open)?;
        Ok(Committed { finished, ..Committed::inode(slot) })
    }

    /// Gives a file the blocks that an edit lists (`FSEditLogLoader.updateBlocks`); those whose length became final.
    pub(super) fn replace_blocks(
        &mut self,
        slot: Slot,
        path: &str,
        new: &[Block],
        last: LastBlock,
    ) -> Result<Finished> {
        let Some(file) = self.inodes.tree.get(slot).as_file() else { return Ok(Finished::new()) };
        let (old, block_size) = (file.blocks.as_slice(), file.block_size());
        let is_open = |at: usize| last == LastBlock::Open && at + 1 == new.len();
        let mut changed: SmallVec<[(usize, Block); 4]> = SmallVec::new();
        for (at, (id, block)) in old.iter().zip(new).enumerate() {
            let stored = self.inodes.blocks.get(*id);
            let is_last = old.len() == new.len() && at + 1 == new.len();
            let fits = stored.is_some_and(|stored| is_last || stored.block.stamp == block.stamp);
            if *id != block.id || !fits {
                let old = stored.map_or(Block { id: *id, ..Block::default() }, |known| known.block);
                let (new, count, path) = (*block, new.len(), path.to_owned());
                return refuse(Inconsistent::OtherBlock { old, new, at, count, path });
            }
            let is_same = |stored: &crate::blocks::StoredBlock| {
                stored.block == *block
                    && stored.block.len == block.len
                    && (is_open(at) || stored.state == BlockState::Complete)
            };
            if !stored.as_ref().is_some_and(is_same) {
                changed.push((at, *block));
            }
        }
        let count = old.len();
        self.check_removed(slot, path, new.len(), count)?;
        if new.len() < count {
            self.pop_last_block(slot);
        }
        let mut finished = Finished::new();
        let mut change = BlocksChange::default();
        self.inodes.tree.change(slot);
        for (at, block) in changed {
            let charge = |blocks: &BlockManager| {
                blocks.get(block.id).map(|stored| BlocksChange::of(&stored, block_size))
            };
            let before = charge(self.inodes.blocks).unwrap_or_default();
            self.inodes.block_edits().set_block(block);
            if !is_open(at) && self.inodes.block_edits().set_committed(block.id) {
                finished.push(block.id);
            }
            change = change.plus(charge(self.inodes.blocks).unwrap_or_default().less(before));
        }
        self.inodes.charge_blocks(slot, change);
        new.iter().for_each(|block| self.inodes.ids.stamp = self.inodes.ids.stamp.max(block.stamp));
        for (at, block) in new.iter().enumerate().skip(count) {
            self.push_block(slot, *block);
            if !is_open(at) {
                self.change_last_block(slot, |blocks| blocks.set_committed(block.id));
                finished.push(block.id);
            }
        }
        Ok(finished)
    }

    /// Only the last block of a file that is being written can be taken out.
    fn check_removed(&self, slot: Slot, path: &str, new: usize, old: usize) -> Result<()> {
        if new >= old {
            return Ok(());
        }
        if new + 1 != old {
            return refuse(Inconsistent::SeveralRemoved { path: path.to_owned() });
        }
        if self.inodes.files().writer(slot).is_none() {
            return refuse(Inconsistent::RemovedFromClosed { path: path.to_owned() });
        }
        Ok(())
    }

    /// Appends a block that a client is going to write.
    pub(super) fn push_block(&mut self, slot: Slot, block: Block) {
        let inode = self.inodes.tree.change(slot);
        let id = inode.id;
        let Some(file) = inode.as_file_mut() else { return };
        let replication = file.replication();
        file.blocks.push(block.id);
        self.inodes.block_edits().put_under_construction(block, id, replication);
        self.inodes.charge_blocks(slot, self.charge_of_last(slot));
    }

    /// Takes the last block out of a file and forgets it.
    pub(super) fn pop_last_block(&mut self, slot: Slot) {
        let charged = self.charge_of_last(slot);
        let Some(last) = self.inodes.files().last_block(slot) else { return };
        if let Some(file) = self.inodes.tree.change(slot).as_file_mut() {
            let count = file.blocks.as_slice().len();
            file.blocks.truncate(count.saturating_sub(1));
        }
        self.inodes.block_edits().remove(last);
        self.inodes.charge_blocks(slot, BlocksChange::default().less(charged));
    }

    /// Changes the last block of a file and charges the directories above for the difference.
    pub(super) fn change_last_block<T>(
        &mut self,
        slot: Slot,
        change: impl FnOnce(&mut BlockEdits<'_>) -> T,
    ) -> T {
        let before = self.charge_of_last(slot);
        self.inodes.tree.change(slot);
        let result = change(&mut self.inodes.block_edits());
        let after = self.charge_of_last(slot);
        self.inodes.charge_blocks(slot, after.less(before));
        result
    }

    fn charge_of_last(&self, slot: Slot) -> BlocksChange {
        let stored =
            self.inodes.files().last_block(slot).and_then(|last| self.inodes.blocks.get(last));
        let block_size = self.inodes.files().block_size(slot);
        stored.map_or(BlocksChange::default(), |stored| BlocksChange::of(&stored, block_size))
    }
}
