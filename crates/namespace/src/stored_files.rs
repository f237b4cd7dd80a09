//! Files with their blocks as the block manager has them.

use crate::blocks::BlockManager;
use crate::tree::{File, Slot, Tree, Writer};
use crate::walk::Paths;
use zerohop_wire::{Block, BlockId, InodeId};

/// The files of an inode tree, and the block manager that keeps their blocks.
#[derive(Clone, Copy)]
pub(crate) struct StoredFiles<'s> {
    pub(crate) tree: &'s Tree,
    pub(crate) blocks: &'s BlockManager,
}

impl<'s> StoredFiles<'s> {
    fn get(self, slot: Slot) -> Option<&'s File> {
        self.tree.get(slot).as_file()
    }

    /// Who has a file open.
    pub(crate) fn writer(self, slot: Slot) -> Option<&'s Writer> {
        self.get(slot)?.writer()
    }

    pub(crate) fn block_size(self, slot: Slot) -> u64 {
        self.get(slot).map_or(0, File::block_size)
    }

    pub(crate) fn last_block(self, slot: Slot) -> Option<BlockId> {
        self.get(slot)?.blocks.last()
    }

    /// The last block as the block manager has it.
    pub(crate) fn last_stored(self, slot: Slot) -> Option<Block> {
        self.blocks.get(self.last_block(slot)?).map(|stored| stored.block)
    }

    /// All blocks of a file as the block manager has them.
    pub(crate) fn stored_blocks(self, slot: Slot) -> Vec<Block> {
        let Some(file) = self.get(slot) else { return Vec::new() };
        let stored = file.blocks.as_slice().iter().filter_map(|id| self.blocks.get(*id));
        stored.map(|stored| stored.block).collect()
    }

    /// The blocks that a file of `len` bytes needs, and how long they are.
    pub(crate) fn blocks_up_to(self, slot: Slot, len: u64) -> (Vec<Block>, u64) {
        let mut sum = 0;
        let mut kept = Vec::new();
        for block in self.stored_blocks(slot) {
            if sum >= len {
                break;
            }
            sum = u64::saturating_add(sum, block.len);
            kept.push(block);
        }
        (kept, sum)
    }

    /// What a truncate under way makes of a file's last block.
    pub(crate) fn pending_truncate(self, slot: Slot) -> Option<Block> {
        let last = self.last_stored(slot).filter(|last| !self.blocks.is_complete(last.id))?;
        self.blocks.lookup().recovery(last.id)?.truncate
    }

    /// The block whose replicas a file's next block, or its end, is waiting for; none where no report of a replica could
    /// end the wait.
    pub(crate) fn lacking_block(self, path: &str, file_id: InodeId) -> Option<BlockId> {
        let slot = match file_id {
            InodeId::GRANDFATHER => Paths(self.tree).walk(path).ok()?.last()?,
            id => self.tree.find(id)?,
        };
        let blocks = &self.tree.get(slot).as_file()?.blocks;
        let mut last_two = blocks.penultimate().into_iter().chain(blocks.last());
        last_two.find(|id| !self.blocks.is_complete(*id))
    }
}
