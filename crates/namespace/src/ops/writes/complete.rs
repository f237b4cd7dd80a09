//! A writer closes its file, or makes the length written so far visible.

use super::FileWrites;
use crate::Result;
use crate::blocks::{BlockState, StoredBlock};
use crate::error::Error;
use crate::ops::open_file::same_block;
use crate::tree::Slot;
use zerohop_wire::{Block, InodeId};

impl FileWrites<'_> {
    /// Closes a file.
    ///
    /// Returns false while blocks lack replicas: call again, or wait for `BlockManager::take_completed`.
    ///
    /// # Errors
    /// As Hadoop's `complete`.
    pub fn complete(
        &mut self,
        path: &str,
        file_id: InodeId,
        client_name: &str,
        last: Option<Block>,
    ) -> Result<bool> {
        self.call.begin(|| format!("Cannot complete file {path}"))?;
        let located = self.call.access().resolve_file(path, file_id)?;
        let slot = match self.open_files().check_lease(&located, Some(client_name), file_id) {
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
            self.call.state.tree().get(slot).as_file().and_then(|file| file.blocks.penultimate());
        if penultimate.is_some_and(|id| !self.call.state.blocks().is_complete(id)) {
            return Ok(false);
        }
        let stored = self.call.state.files().last_stored(slot);
        if let Some(written) =
            self.open_files().check_written(slot, last)?.filter(|_| last.is_some())
            && stored.is_some_and(|stored| !self.call.state.blocks().is_complete(stored.id))
        {
            self.call.state.finish_last_block(slot, written)?;
        }
        if !self.all_complete(slot) {
            return Ok(false);
        }
        let blocks = self.call.state.files().stored_blocks(slot);
        self.open_files().finalize_file(slot, blocks)?;
        Ok(true)
    }

    /// Whether the call repeats one that closed the file with that last block.
    fn was_completed(&self, slot: Option<Slot>, last: Option<Block>) -> bool {
        let closed = |slot: &Slot| {
            self.call.state.tree().get(*slot).as_file().is_some_and(|file| !file.is_open())
        };
        slot.filter(closed)
            .is_some_and(|slot| same_block(last, self.call.state.files().last_stored(slot)))
    }

    fn all_complete(&self, slot: Slot) -> bool {
        let Some(file) = self.call.state.tree().get(slot).as_file() else { return false };
        file.blocks.as_slice().iter().all(|id| self.call.state.blocks().is_complete(*id))
    }

    /// Makes what a writer has sent so far visible in the file's length.
    ///
    /// # Errors
    /// As Hadoop's `fsync`.
    pub fn fsync(
        &mut self,
        path: &str,
        file_id: InodeId,
        client_name: &str,
        last_block_len: i64,
    ) -> Result<()> {
        self.call.begin(|| format!("Cannot fsync file {path}"))?;
        let located = self.call.access().resolve_file(path, file_id)?;
        let slot = self.open_files().check_lease(&located, Some(client_name), file_id)?;
        let mut blocks = self.call.state.files().stored_blocks(slot);
        // The length of a block under recovery or truncation, or of a committed one, is not the writer's to change.
        let is_written = |stored: StoredBlock| stored.state == BlockState::UnderConstruction;
        if last_block_len > 0
            && let Some(last) = blocks.last_mut()
            && self.call.state.blocks().get(last.id).is_some_and(is_written)
        {
            last.len = last_block_len as u64;
        }
        self.open_files().commit_blocks(slot, blocks)
    }
}
