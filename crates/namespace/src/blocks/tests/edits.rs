//! Edits of blocks, and what follows from them, as one call: what a commit and its caller do together.

use super::*;
use crate::commit::key::CommitKey;

impl BlockManager {
    fn test_edits(&mut self) -> BlockEdits<'_> {
        self.edits(CommitKey::for_tests())
    }

    pub(in crate::blocks) fn put_complete(
        &mut self,
        block: Block,
        file: InodeId,
        replication: u16,
    ) {
        self.test_edits().put_complete(block, file, replication);
    }

    pub(in crate::blocks) fn put_under_construction(
        &mut self,
        block: Block,
        file: InodeId,
        replication: u16,
    ) {
        self.test_edits().put_under_construction(block, file, replication);
    }

    pub(in crate::blocks) fn set_block(&mut self, block: Block) {
        self.test_edits().set_block(block);
    }

    pub(in crate::blocks) fn set_replication(&mut self, id: BlockId, replication: u16) {
        self.test_edits().set_replication(id, replication);
    }

    pub(in crate::blocks) fn remove(&mut self, id: BlockId) {
        self.test_edits().remove(id);
    }

    pub(in crate::blocks) fn commit(&mut self, block: Block) -> Result<bool> {
        self.test_edits().commit(block)
    }

    /// A complete block is written again.
    pub(in crate::blocks) fn reopen(&mut self, id: BlockId) -> Result<()> {
        if self.is_complete(id) {
            self.test_edits().set_under_construction(id);
            self.expect_reopened(id);
        }
        Ok(())
    }

    pub(in crate::blocks) fn update_pipeline(
        &mut self,
        id: BlockId,
        stamp: GenerationStamp,
        len: u64,
        targets: &[StorageIdx],
    ) -> Result<()> {
        self.set_block(Block { id, stamp, len });
        self.replace_pipeline(id, targets)
    }

    pub(in crate::blocks) fn begin_recovery(
        &mut self,
        id: BlockId,
        stamp: GenerationStamp,
        truncate: Option<Block>,
    ) -> Result<bool> {
        if let Some(target) = truncate {
            self.test_edits().set_truncated(id, target);
        }
        self.start_recovery(id, stamp)
    }

    pub(in crate::blocks) fn end_recovery(
        &mut self,
        id: BlockId,
        stamp: GenerationStamp,
        len: u64,
        storages: &[StorageIdx],
    ) -> Result<()> {
        self.set_block(Block { id, stamp, len });
        self.replace_recovered(id, storages)
    }
}
