//! Numbers never given out before: inode ids, block ids, generation stamps.

use crate::Result;
use crate::call::Call;
use crate::error::BlockError;
use zerohop_journal::op::{AllocateBlockId, SetGenstampV2};
use zerohop_wire::{Block, BlockId, GenerationStamp, InodeId};

/// Numbers that replicas of lost edits may have used; what is further away is taken for damage.
const LOST_NUMBERS_MAX: i64 = 1 << 32;

/// The last number given out, as far as replicas tell that edits of later ones are lost.
fn not_below(last: i64, reported: i64) -> i64 {
    let lost = reported.saturating_sub(last);
    if (1..=LOST_NUMBERS_MAX).contains(&lost) { reported } else { last }
}

impl Call<'_> {
    /// The id of the next inode; the edit that adds it uses it up.
    pub(crate) fn next_inode_id(&self) -> InodeId {
        InodeId(self.state.ids().inode.0.wrapping_add(1))
    }

    /// The next stamp, logged.
    ///
    /// # Errors
    /// `Error::Block` when there is none left: a smaller one would make new replicas look old.
    pub(crate) fn next_stamp(&mut self) -> Result<GenerationStamp> {
        let stamp = self.stamp_after()?;
        self.commit(SetGenstampV2 { stamp })?;
        Ok(stamp)
    }

    fn stamp_after(&self) -> Result<GenerationStamp> {
        let (_, reported) = self.state.blocks().highest_unknown();
        let last = GenerationStamp(not_below(self.state.ids().stamp.0, reported.0));
        last.0
            .checked_add(1)
            .map(GenerationStamp)
            .ok_or_else(|| BlockError::NoStampsLeft { last }.into())
    }

    /// An empty block with the next free id and the next stamp, both logged.
    ///
    /// # Errors
    /// `Error::Block` when there is no stamp left.
    pub(crate) fn next_block(&mut self) -> Result<Block> {
        self.stamp_after()?;
        let (reported, _) = self.state.blocks().highest_unknown();
        let mut id = BlockId(not_below(self.state.ids().block.0, reported.0).wrapping_add(1));
        while self.state.blocks().get(id).is_some() {
            id.0 = id.0.wrapping_add(1);
        }
        self.commit(AllocateBlockId { block_id: id })?;
        Ok(Block { id, stamp: self.next_stamp()?, len: 0 })
    }
}
