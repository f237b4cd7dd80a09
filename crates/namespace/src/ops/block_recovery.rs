//! `commitBlockSynchronization`: the end of a block recovery, as the primary DataNode reports it.

use super::open_file::OpenFiles;
use crate::blocks::{BlockState, Recovery, Storages};
use crate::call::Call;
use crate::error::{BlockError, refuse};
use crate::tree::Slot;
use crate::{BlockSynchronization, Result};
use zerohop_wire::{Block, GenerationStamp};

/// Applies the outcome of block recoveries.
pub struct BlockRecoveries<'n> {
    pub(crate) call: Call<'n>,
}

impl<'n> BlockRecoveries<'n> {
    fn open_files(&mut self) -> OpenFiles<'_, 'n> {
        OpenFiles { call: &mut self.call }
    }

    /// Applies the outcome of a recovery that the DataNodes have finished.
    ///
    /// # Errors
    /// As Hadoop's `commitBlockSynchronization`.
    pub fn commit_block_synchronization(
        &mut self,
        request: &BlockSynchronization<'_>,
    ) -> Result<()> {
        self.call.begin(|| "Cannot commitBlockSynchronization while in safe mode".to_owned())?;
        let block = request.block;
        let Some(stored) = self.call.state.blocks().get(block.id) else {
            return if request.delete_block {
                Ok(())
            } else {
                refuse(BlockError::UnknownInRecovery { block })
            };
        };
        let Some(slot) = self.call.state.tree().find(stored.file) else {
            return refuse(BlockError::FileDeleted { block });
        };
        let open = self.call.state.files().writer(slot).is_some();
        let last = self.call.state.files().last_stored(slot);
        if (!open || stored.state == BlockState::Complete)
            && last.is_none_or(|last| self.call.state.blocks().is_complete(last.id))
        {
            return Ok(());
        }
        let Some(last) = last else { return Ok(()) };
        let stamp = GenerationStamp(request.new_stamp);
        let asked = self.call.state.blocks().lookup().recovery(last.id).filter(Recovery::is_asked);
        let expected = asked.map(|recovery| recovery.stamp);
        if expected != Some(stamp) {
            let current = expected.unwrap_or_default();
            return refuse(BlockError::OtherRecovery { recovery: stamp, current, block });
        }
        if request.delete_block && last.len > 0 {
            // Bytes were acknowledged, so DataNodes that did not take part in the recovery must have the replica.
            return refuse(BlockError::Acknowledged { block: last });
        }
        if request.delete_block && self.call.state.blocks().lookup().keeps_empty() {
            return refuse(BlockError::MayBeWritten { block: last });
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
        let mut blocks = self.call.state.files().stored_blocks(slot);
        let mut storages = None;
        if !request.delete_block {
            let targets = request.targets.iter().map(|(node, id)| (&**node, &**id));
            storages = Some(self.call.state.blocks().datanodes().resolve_storages(targets)?);
            if let Some(recovered) = blocks.last_mut() {
                recovered.stamp = GenerationStamp(request.new_stamp);
                recovered.len = request.new_len;
            }
        } else if last.id == request.block.id {
            blocks.pop();
        }
        if request.close_file {
            self.open_files()
                .check_complete(slot, blocks.split_last().map_or(&[], |(_, before)| before))?;
            let op = self.open_files().close_op(slot, blocks);
            let finished = self.call.commit(op)?.finished;
            self.use_recovered(last, storages)?;
            for block in finished {
                self.call.state.blocks_mut().under_construction().complete_recovered(block);
            }
            return Ok(());
        }
        self.open_files().commit_blocks(slot, blocks)?;
        self.use_recovered(last, storages)
    }

    fn use_recovered(&mut self, last: Block, storages: Option<Storages>) -> Result<()> {
        let Some(storages) = storages else { return Ok(()) };
        self.call.state.blocks_mut().under_construction().replace_recovered(last.id, &storages)
    }
}
