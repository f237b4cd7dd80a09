//! A replica's way between directories and generation stamps, to the finalized ones or away.

use super::LiveReplica;
use super::state::State;
use crate::error::Result;
use crate::pool::{Place, StoredReplica};
use std::sync::atomic::Ordering;
use zerohop_wire::{Block, GenerationStamp, meta_header};

/// What is to survive a power cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Nothing is forced to disk.
    PageCache,
    /// Both files and the directories that name them.
    Disk,
}

impl LiveReplica {
    /// Gives it a new generation stamp, which is part of the meta file's name.
    pub fn restamp(&self, stamp: GenerationStamp) -> Result<()> {
        let mut state = self.lock();
        let place = state.place;
        self.shift(&mut state, stamp, place)
    }

    /// Moves a finalized one back to `rbw`.
    pub(crate) fn reopen(&self, stamp: GenerationStamp) -> Result<()> {
        self.shift(&mut self.lock(), stamp, Place::Rbw)
    }

    /// Makes a received copy a replica being written (a client's transfer of an open block).
    pub fn convert_to_rbw(&self) -> Result<()> {
        let mut state = self.lock();
        let stamp = state.block.stamp;
        self.shift(&mut state, stamp, Place::Rbw)
    }

    fn shift(&self, state: &mut State, stamp: GenerationStamp, place: Place) -> Result<()> {
        let block = Block { stamp, ..state.block };
        if (block.stamp, place) != (state.block.stamp, state.place) {
            self.files.pool.shift((&state.block, state.place), (&block, place))?;
            (state.block, state.place) = (block, place);
            self.directory_due.store(true, Ordering::Release);
        }
        Ok(())
    }

    /// Writes everything and moves it to the finalized replicas. It takes no more packets then.
    pub fn finalize(&self, durability: Durability) -> Result<StoredReplica> {
        if durability == Durability::Disk {
            self.sync_files()?;
        }
        let mut state = self.lock();
        self.files.flush(&mut state)?;
        let stamp = state.block.stamp;
        self.shift(&mut state, stamp, Place::Finalized)?;
        if durability == Durability::Disk {
            self.files.pool.sync_directory(state.block.id, Place::Finalized)?;
        }
        state.buffer = Vec::new();
        let meta_len = meta_header::file_len(self.files.checksum, state.block.len);
        Ok(StoredReplica { block: state.block, place: state.place, meta_len })
    }

    /// Deletes its files; it takes no more packets then. Returns the bytes freed.
    pub fn delete(&self) -> Result<u64> {
        self.end(|state| self.files.pool.delete(&state.block, state.place))
    }

    /// As [`LiveReplica::delete`], but its files go to the trash while a rolling upgrade is under way.
    pub fn discard(&self) -> Result<u64> {
        // What is in the trash shall be all that was received; a full disk is no reason to keep the replica.
        if let Err(error) = self.flush() {
            tracing::warn!("{error}");
        }
        self.end(|state| self.files.pool.discard(&state.block, state.place))
    }

    fn end(&self, remove: impl FnOnce(&State) -> Result<u64>) -> Result<u64> {
        let mut state = self.lock();
        state.poison = Some("the replica was deleted".to_owned());
        state.buffer = Vec::new();
        remove(&state)
    }
}
