//! Files closed: by their writer, or by the DataNode that led a recovery.

use super::blocks::same_block;
use super::mkdirs::inconsistent;
use crate::blocks::{BlockState, Recovery};
use crate::fail::io;
use crate::tree::Slot;
use crate::{BlockSynchronization, Namespace, OpContext, Result};
use zerohop_journal::op::Close;
use zerohop_journal::types::PermissionStatus;
use zerohop_wire::{Block, GenerationStamp, InodeId, JavaException};

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
                    && e.kind() == Some(JavaException::LeaseExpired) =>
            {
                return Ok(true);
            }
            Err(e) => return Err(e),
        };
        let penultimate =
            self.state.tree.get(slot).as_file().and_then(|file| file.blocks.penultimate());
        if penultimate.is_some_and(|id| !self.state.blocks.is_complete(id)) {
            return Ok(false);
        }
        self.commit_last_block(slot, last)?;
        if !self.all_complete(slot) {
            return Ok(false);
        }
        self.finalize_file(slot)?;
        Ok(true)
    }

    /// A repeated call for a file that was closed with that last block.
    fn was_completed(&self, slot: Option<Slot>, last: Option<Block>) -> bool {
        let closed =
            |slot: &Slot| self.state.tree.get(*slot).as_file().is_some_and(|file| !file.is_open());
        slot.filter(closed).is_some_and(|slot| same_block(last, self.last_stored(slot)))
    }

    fn all_complete(&self, slot: Slot) -> bool {
        let Some(file) = self.state.tree.get(slot).as_file() else { return false };
        file.blocks.as_slice().iter().all(|id| self.state.blocks.is_complete(*id))
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
        if last_block_len > 0
            && let Some(last) = self.last_stored(slot)
            && !self.state.blocks.is_complete(last.id)
        {
            self.change_blocks(slot, |blocks| {
                blocks.set_block(Block { len: last_block_len as u64, ..last });
                Ok(())
            })?;
        }
        self.persist_blocks(slot);
        Ok(())
    }

    /// Closes a file whose blocks are all complete (`finalizeINodeFileUnderConstruction`).
    pub(crate) fn finalize_file(&mut self, slot: Slot) -> Result<()> {
        if self.writer(slot).is_none() {
            let path = self.state.tree.path(slot);
            return io(format!("Cannot finalize file {path} because it is not under construction"));
        }
        if !self.all_complete(slot) {
            return Err(inconsistent(format!(
                "Failed to finalize {}: not all blocks are COMPLETE",
                self.state.tree.path(slot)
            )));
        }
        let now = self.wall_ms();
        self.close_file(slot, now);
        let op = self.close_op(slot);
        self.log(op);
        Ok(())
    }

    /// What closing does to the inode and its lease.
    pub(crate) fn close_file(&mut self, slot: Slot, mtime: u64) {
        let inode = self.state.tree.get_mut(slot);
        inode.set_mtime(mtime);
        let id = inode.id;
        if let Some(file) = inode.as_file_mut() {
            file.set_writer(None);
        }
        self.state.leases.remove(id);
    }

    fn close_op(&self, slot: Slot) -> Close {
        let inode = self.state.tree.get(slot);
        let (replication, block_size) =
            inode.as_file().map_or((0, 0), |file| (file.replication(), file.block_size()));
        Close {
            inode_id: InodeId(0),
            path: self.edit_path(slot),
            replication: replication as i16,
            mtime_ms: inode.mtime() as i64,
            atime_ms: inode.atime() as i64,
            block_size: block_size as i64,
            blocks: self.stored_blocks(slot),
            permissions: PermissionStatus {
                user: self.state.tree.user(inode.permission).clone(),
                group: self.state.tree.group(inode.permission).clone(),
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
        let Some(stored) = self.state.blocks.get(block.id) else {
            return if request.delete_block {
                Ok(())
            } else {
                io(format!("Block (={block}) not found"))
            };
        };
        let Some(slot) = self.state.tree.find(stored.file) else {
            return io(format!(
                "The blockCollection of {block} is null, likely because the file owning this block was deleted and the \
                 block removal is delayed"
            ));
        };
        let open = self.writer(slot).is_some();
        let last = self.last_stored(slot);
        if (!open || stored.state == BlockState::Complete)
            && last.is_none_or(|last| self.state.blocks.is_complete(last.id))
        {
            return Ok(());
        }
        let Some(last) = last else { return Ok(()) };
        let stamp = GenerationStamp(request.new_stamp);
        let asked = self.state.blocks.recovery(last.id).filter(Recovery::is_asked);
        let expected = asked.map(|recovery| recovery.stamp);
        if expected != Some(stamp) {
            let current = expected.map_or(0, |stamp| stamp.0);
            return io(format!(
                "The recovery id {stamp} does not match current recovery id {current} for block {block}"
            ));
        }
        if request.delete_block {
            if last.len > 0 {
                // The DataNodes that were asked have nothing of it, others that are away must.
                return io(format!(
                    "{last} is not deleted: {} bytes of it were acknowledged. Start the DataNodes that hold it, or delete \
                     the file",
                    last.len
                ));
            }
            if last.id == block.id {
                self.drop_last_block(slot, last.id);
            }
        } else {
            self.take_recovered(slot, last, stamp, request)?;
        }
        if request.close_file {
            return self.close_recovered(slot);
        }
        self.persist_blocks(slot);
        Ok(())
    }

    fn take_recovered(
        &mut self,
        slot: Slot,
        last: Block,
        stamp: GenerationStamp,
        request: &BlockSynchronization<'_>,
    ) -> Result<()> {
        let storages = self
            .state
            .blocks
            .resolve_storages(request.targets.iter().map(|(node, id)| (&**node, &**id)))?;
        let len = request.new_len;
        self.change_blocks(slot, |blocks| blocks.end_recovery(last.id, stamp, len, &storages))?;
        self.raise_stamp(stamp);
        Ok(())
    }

    /// The last block of a recovered file counts as complete whatever is reported of it: it was just agreed on.
    fn close_recovered(&mut self, slot: Slot) -> Result<()> {
        if let Some(last) =
            self.last_stored(slot).filter(|last| !self.state.blocks.is_complete(last.id))
        {
            self.change_blocks(slot, |blocks| {
                if !blocks.commit(last)? {
                    blocks.complete_recovered(last.id);
                }
                Ok(())
            })?;
        }
        self.finalize_file(slot)
    }
}
