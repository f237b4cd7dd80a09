//! Files that are open for writing: who may write them, and the lists of their blocks.

use crate::Result;
use crate::blocks::BlockState;
use crate::call::Call;
use crate::error::{BlockError, Inconsistent, LeaseExpired, LeasedFile, NotFound, refuse};
use crate::tree::Slot;
use crate::walk::Located;
use zerohop_journal::op::{Close, UpdateBlocks};
use zerohop_journal::types::PermissionStatus;
use zerohop_wire::{Block, InodeId};

/// Same id and stamp, or both absent (`Block.matchingIdAndGenStamp`).
pub(crate) fn same_block(a: Option<Block>, b: Option<Block>) -> bool {
    a.map(|block| (block.id, block.stamp)) == b.map(|block| (block.id, block.stamp))
}

/// Changes files that are open for writing.
pub(crate) struct OpenFiles<'c, 'n> {
    pub(crate) call: &'c mut Call<'n>,
}

impl OpenFiles<'_, '_> {
    /// `FSNamesystem.checkLease`
    pub(crate) fn check_lease(
        &self,
        located: &Located<'_>,
        holder: Option<&str>,
        id: InodeId,
    ) -> Result<Slot> {
        let file = || LeasedFile {
            path: located.path.to_string(),
            id,
            holder: holder.map(str::to_owned),
            open_files: holder
                .filter(|holder| self.call.state.leases().exists(holder))
                .map(|holder| self.call.state.leases().len_of(holder)),
        };
        let Some(slot) = located.last() else {
            return refuse(NotFound::Leased { file: file() });
        };
        let Some(inode) = self.call.state.tree().get(slot).as_file() else {
            return refuse(LeaseExpired::NotAFile { file: file() });
        };
        let Some(writer) = inode.writer() else {
            return refuse(LeaseExpired::NotOpen { file: file() });
        };
        match holder {
            Some(holder) if &*writer.client_name != holder => {
                let (holder, owner) = (holder.to_owned(), writer.client_name.to_string());
                refuse(LeaseExpired::OtherOwner { holder, owner, file: file() })
            }
            _ => Ok(slot),
        }
    }

    /// The last block as it is once a client has written `written` of it.
    ///
    /// # Errors
    /// `Error::Block` when the client has written another block, or less of this one than is known.
    pub(crate) fn check_written(
        &self,
        slot: Slot,
        written: Option<Block>,
    ) -> Result<Option<Block>> {
        let last = self
            .call
            .state
            .files()
            .last_block(slot)
            .and_then(|last| self.call.state.blocks().get(last));
        let (Some(written), Some(last)) = (written, last) else {
            return Ok(last.map(|last| last.block));
        };
        match last.state {
            BlockState::Complete => Ok(Some(last.block)),
            BlockState::UnderRecovery => refuse(BlockError::CommitInRecovery { block: written }),
            _ if written.id != last.block.id => {
                refuse(BlockError::CommitNotLast { block: written, last: last.block.id })
            }
            _ => {
                self.call.state.blocks().check_commit(written)?;
                Ok(Some(Block { len: written.len, ..last.block }))
            }
        }
    }

    pub(crate) fn update_op(&self, slot: Slot, blocks: Vec<Block>) -> UpdateBlocks {
        UpdateBlocks { path: self.call.state.paths().edit_path(slot), blocks }
    }

    /// Commits a file's list of blocks.
    pub(crate) fn commit_blocks(&mut self, slot: Slot, blocks: Vec<Block>) -> Result<()> {
        let op = self.update_op(slot, blocks);
        self.call.commit(op).map(drop)
    }

    /// Closes a file whose blocks are all complete (`finalizeINodeFileUnderConstruction`).
    pub(crate) fn finalize_file(&mut self, slot: Slot, blocks: Vec<Block>) -> Result<()> {
        if self.call.state.files().writer(slot).is_none() {
            let path = self.call.state.tree().path(slot);
            return refuse(BlockError::FileNotUnderConstruction { path });
        }
        self.check_complete(slot, &blocks)?;
        let op = self.close_op(slot, blocks);
        self.call.commit(op).map(drop)
    }

    pub(crate) fn check_complete(&self, slot: Slot, blocks: &[Block]) -> Result<()> {
        if blocks.iter().all(|block| self.call.state.blocks().is_complete(block.id)) {
            return Ok(());
        }
        let path = self.call.state.tree().path(slot);
        refuse(Inconsistent::NotComplete { path })
    }

    pub(crate) fn close_op(&self, slot: Slot, blocks: Vec<Block>) -> Close {
        let inode = self.call.state.tree().get(slot);
        let (replication, block_size) =
            inode.as_file().map_or((0, 0), |file| (file.replication(), file.block_size()));
        Close {
            inode_id: InodeId(0),
            path: self.call.state.paths().edit_path(slot),
            replication: replication as i16,
            mtime_ms: self.call.wall_ms() as i64,
            atime_ms: inode.atime() as i64,
            block_size: block_size as i64,
            blocks,
            permissions: PermissionStatus {
                user: self.call.state.tree().user(inode.permission).clone(),
                group: self.call.state.tree().group(inode.permission).clone(),
                mode: inode.permission.mode(),
            },
        }
    }
}
