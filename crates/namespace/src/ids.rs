//! The counters that edits and images carry.

use crate::Namespace;
use zerohop_journal::op::{AllocateBlockId, SetGenstampV2};
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

/// The last numbers given out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ids {
    /// Last inode id.
    pub inode: InodeId,
    /// Last block id.
    pub block: BlockId,
    /// Last id of a striped block group.
    pub striped_block: BlockId,
    /// Last generation stamp.
    pub stamp: GenerationStamp,
    /// Last generation stamp of legacy blocks.
    pub legacy_stamp: GenerationStamp,
    /// Where legacy stamps end; 0 where there are none.
    pub legacy_stamp_limit: GenerationStamp,
}

impl Default for Ids {
    fn default() -> Self {
        Self {
            inode: InodeId::ROOT,
            block: BlockId::LAST_RESERVED,
            striped_block: BlockId(i64::MIN),
            stamp: GenerationStamp::LAST_RESERVED,
            legacy_stamp: GenerationStamp::LAST_RESERVED,
            legacy_stamp_limit: GenerationStamp(0),
        }
    }
}

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
