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

    /// Takes in a full report of one storage as a whole: what it does not list is not there.
    pub(in crate::blocks) fn full_report(
        &mut self,
        uuid: &str,
        storage: (&Arc<str>, StorageType),
        replicas: Vec<ReportedReplica>,
    ) -> Result<ReportOutcome> {
        let mut report = self.block_reports().begin_full_report(uuid, storage, replicas)?;
        loop {
            if let Some(outcome) = self.continue_full_report(&mut report, usize::MAX)? {
                return Ok(outcome);
            }
        }
    }

    /// A complete block is written again.
    pub(in crate::blocks) fn reopen(&mut self, id: BlockId) -> Result<()> {
        if self.is_complete(id) {
            self.test_edits().set_under_construction(id);
            self.under_construction().expect_reopened(id);
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
        self.under_construction().replace_pipeline(id, targets)
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
        self.under_construction().start_recovery(id, stamp)
    }

    pub(in crate::blocks) fn end_recovery(
        &mut self,
        id: BlockId,
        stamp: GenerationStamp,
        len: u64,
        storages: &[StorageIdx],
    ) -> Result<()> {
        self.set_block(Block { id, stamp, len });
        self.under_construction().replace_recovered(id, storages)
    }
}
