//! The counters that edits and images carry.

use zerohop_wire::{BlockId, GenerationStamp, InodeId};

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
