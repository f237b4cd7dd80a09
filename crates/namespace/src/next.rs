//! Numbers never given out before: inode ids, block ids, generation stamps.

use crate::Namespace;
use zerohop_journal::op::{AllocateBlockId, SetGenstampV2};
use zerohop_wire::{Block, GenerationStamp, InodeId};

impl Namespace {
    pub(crate) fn next_inode_id(&mut self) -> InodeId {
        self.ids.inode.0 = self.ids.inode.0.wrapping_add(1);
        self.ids.inode
    }

    /// The next stamp, logged.
    pub(crate) fn next_stamp(&mut self) -> GenerationStamp {
        self.ids.stamp.0 = self.ids.stamp.0.wrapping_add(1);
        let stamp = self.ids.stamp;
        self.log(SetGenstampV2 { stamp });
        stamp
    }

    /// An empty block with the next free id and the next stamp, both logged.
    pub(crate) fn next_block(&mut self) -> Block {
        self.ids.block.0 = self.ids.block.0.wrapping_add(1);
        while self.blocks.get(self.ids.block).is_some() {
            self.ids.block.0 = self.ids.block.0.wrapping_add(1);
        }
        let id = self.ids.block;
        self.log(AllocateBlockId { block_id: id });
        Block { id, stamp: self.next_stamp(), len: 0 }
    }

    pub(crate) fn raise_stamp(&mut self, stamp: GenerationStamp) {
        self.ids.stamp = self.ids.stamp.max(stamp);
    }
}
