//! Files closed: by their writer, or by the DataNode that led a recovery.

use super::blocks::same_block;
use crate::blocks::{BlockState, Recovery, Storages, StoredBlock};
use crate::error::{BlockError, Error, Inconsistent, refuse};
use crate::tree::Slot;
use crate::{BlockSynchronization, Namespace, OpContext, Result};
use zerohop_journal::op::Close;
use zerohop_journal::types::PermissionStatus;
use zerohop_wire::{Block, GenerationStamp, InodeId};

impl Namespace {
    /// Closes a file.
    ///
    /// False: not yet, blocks miss replicas; ask again (or wait for `BlockManager::take_completed`).
    ///
    /// # Errors
    /// As Hadoop's `complete`.
    pub fn complete(
        &mut self,
        ctx: &OpContext,
        path: &str,
        file_id: InodeId,
        client_name: &str,
        last: Option<Block>,
    ) -> Result<bool> {
        self.begin(ctx, || format!("Cannot complete file {path}"))?;
        let located = self.resolve_file(ctx, path, file_id)?;
        let slot = match self.check_lease(&located, Some(client_name), file_id) {
            Ok(slot) => slot,
            Err(e)
                if self.was_completed(located.last(), last)
                    && matches!(e, Error::LeaseExpired(_)) =>
            {
                return Ok(true);
            }
            Err(e) => return Err(e),
        };
        let penultimate =
            self.state.tree().get(slot).as_file().and_then(|file| file.blocks.penultimate());
        if penultimate.is_some_and(|id| !self.state.blocks().is_complete(id)) {
            return Ok(false);
        }
        let stored = self.state.last_stored(slot);
        if let Some(written) = self.check_written(slot, last)?.filter(|_| last.is_some())
            && stored.is_some_and(|stored| !self.state.blocks().is_complete(stored.id))
        {
            self.state.finish_last_block(slot, written)?;
        }
        if !self.all_complete(slot) {
            return Ok(false);
        }
        self.finalize_file(slot, self.state.stored_blocks(slot))?;
        Ok(true)
    }

    /// A repeated call for a file that was closed with that last block.
    fn was_completed(&self, slot: Option<Slot>, last: Option<Block>) -> bool {
        let closed = |slot: &Slot| {
            self.state.tree().get(*slot).as_file().is_some_and(|file| !file.is_open())
        };
        slot.filter(closed).is_some_and(|slot| same_block(last, self.state.last_stored(slot)))
    }

    fn all_complete(&self, slot: Slot) -> bool {
        let Some(file) = self.state.tree().get(slot).as_file() else { return false };
        file.blocks.as_slice().iter().all(|id| self.state.blocks().is_complete(*id))
    }

    /// Makes what a writer has sent so far visible in the file's length.
    ///
    /// # Errors
    /// As Hadoop's `fsync`.
    pub fn fsync(
        &mut self,
        ctx: &OpContext,
        path: &str,
        file_id: InodeId,
        client_name: &str,
        last_block_len: i64,
    ) -> Result<()> {
        self.begin(ctx, || format!("Cannot fsync file {path}"))?;
        let located = self.resolve_file(ctx, path, file_id)?;
        let slot = self.check_lease(&located, Some(client_name), file_id)?;
        let mut blocks = self.state.stored_blocks(slot);
        // A block that is being recovered or cut, or whose client is done with it, has its length from there.
        let is_written = |stored: StoredBlock| stored.state == BlockState::UnderConstruction;
        if last_block_len > 0
            && let Some(last) = blocks.last_mut()
            && self.state.blocks().get(last.id).is_some_and(is_written)
        {
            last.len = last_block_len as u64;
        }
        self.commit_blocks(slot, blocks)
    }

    /// Closes a file whose blocks are all complete (`finalizeINodeFileUnderConstruction`).
    pub(crate) fn finalize_file(&mut self, slot: Slot, blocks: Vec<Block>) -> Result<()> {
        if self.state.writer(slot).is_none() {
            let path = self.state.tree().path(slot);
            return refuse(BlockError::FileNotUnderConstruction { path });
        }
        self.check_complete(slot, &blocks)?;
        let op = self.close_op(slot, blocks);
        self.commit(op).map(drop)
    }

    fn check_complete(&self, slot: Slot, blocks: &[Block]) -> Result<()> {
        if blocks.iter().all(|block| self.state.blocks().is_complete(block.id)) {
            return Ok(());
        }
        let path = self.state.tree().path(slot);
        refuse(Inconsistent::NotComplete { path })
    }

    fn close_op(&self, slot: Slot, blocks: Vec<Block>) -> Close {
        let inode = self.state.tree().get(slot);
        let (replication, block_size) =
            inode.as_file().map_or((0, 0), |file| (file.replication(), file.block_size()));
        Close {
            inode_id: InodeId(0),
            path: self.state.paths().edit_path(slot),
            replication: replication as i16,
            mtime_ms: self.wall_ms() as i64,
            atime_ms: inode.atime() as i64,
            block_size: block_size as i64,
            blocks,
            permissions: PermissionStatus {
                user: self.state.tree().user(inode.permission).clone(),
                group: self.state.tree().group(inode.permission).clone(),
                mode: inode.permission.mode(),
            },
        }
    }

    /// A recovery came to its end on the DataNodes.
    ///
    /// # Errors
    /// As Hadoop's `commitBlockSynchronization`.
    pub fn commit_block_synchronization(
        &mut self,
        ctx: &OpContext,
        request: &BlockSynchronization<'_>,
    ) -> Result<()> {
        self.begin(ctx, || "Cannot commitBlockSynchronization while in safe mode".to_owned())?;
        let block = request.block;
        let Some(stored) = self.state.blocks().get(block.id) else {
            return if request.delete_block {
                Ok(())
            } else {
                refuse(BlockError::UnknownInRecovery { block })
            };
        };
        let Some(slot) = self.state.tree().find(stored.file) else {
            return refuse(BlockError::FileDeleted { block });
        };
        let open = self.state.writer(slot).is_some();
        let last = self.state.last_stored(slot);
        if (!open || stored.state == BlockState::Complete)
            && last.is_none_or(|last| self.state.blocks().is_complete(last.id))
        {
            return Ok(());
        }
        let Some(last) = last else { return Ok(()) };
        let stamp = GenerationStamp(request.new_stamp);
        let asked = self.state.blocks().lookup().recovery(last.id).filter(Recovery::is_asked);
        let expected = asked.map(|recovery| recovery.stamp);
        if expected != Some(stamp) {
            let current = expected.unwrap_or_default();
            return refuse(BlockError::OtherRecovery { recovery: stamp, current, block });
        }
        if request.delete_block && last.len > 0 {
            // The DataNodes that were asked have nothing of it, others that are away must.
            return refuse(BlockError::Acknowledged { block: last });
        }
        self.take_recovered(slot, last, request)
    }

    /// The last block becomes what the DataNodes agreed on, or is taken out; then the file is closed if they say so. Its
    /// block counts as complete before any report of it: its DataNodes have just agreed on it.
    fn take_recovered(
        &mut self,
        slot: Slot,
        last: Block,
        request: &BlockSynchronization<'_>,
    ) -> Result<()> {
        let mut blocks = self.state.stored_blocks(slot);
        let mut storages = None;
        if !request.delete_block {
            let targets = request.targets.iter().map(|(node, id)| (&**node, &**id));
            storages = Some(self.state.blocks().datanodes().resolve_storages(targets)?);
            if let Some(recovered) = blocks.last_mut() {
                recovered.stamp = GenerationStamp(request.new_stamp);
                recovered.len = request.new_len;
            }
        } else if last.id == request.block.id {
            blocks.pop();
        }
        if request.close_file {
            self.check_complete(slot, blocks.split_last().map_or(&[], |(_, before)| before))?;
            let op = self.close_op(slot, blocks);
            let finished = self.commit(op)?.finished;
            self.use_recovered(last, storages)?;
            for block in finished {
                self.state.blocks_mut().under_construction().complete_recovered(block);
            }
            return Ok(());
        }
        self.commit_blocks(slot, blocks)?;
        self.use_recovered(last, storages)
    }

    fn use_recovered(&mut self, last: Block, storages: Option<Storages>) -> Result<()> {
        let Some(storages) = storages else { return Ok(()) };
        self.state.blocks_mut().under_construction().replace_recovered(last.id, &storages)
    }
}
