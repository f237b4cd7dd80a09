//! The next block of a file that is read in order from a disk, opened while the last bytes of the one in
//! front of it are read. The kernel reads ahead within a file only: the disk would idle at the end of each
//! block while the DataNode is asked for the next replica's files and its first bytes arrive.

use super::file::File;
use super::plan;
use crate::runtime;
use crate::types::{DatanodeInfo, LocatedBlock, Verify};
use std::sync::Arc;

/// The next block is opened when so many bytes are left of one: some times what a disk delivers while a
/// DataNode answers.
const LEFT_LEN: u64 = 16 << 20;

/// Whether so little is left of a block that the next one should be opened.
pub(super) fn is_near_end(block: &LocatedBlock, pos: u64) -> bool {
    block.end() - pos <= LEFT_LEN
}

impl File {
    /// Opens the block at `offset` in the background where it is on this machine, and has the kernel read
    /// its first bytes from the disk. What fails here fails again, and is dealt with, when the reader comes
    /// to it.
    pub(super) fn open_ahead(&self, offset: u64) {
        if !self.opened_ahead.take(offset) || self.known.at(offset).is_some() {
            return;
        }
        let Some(block) = self.located_at(offset) else { return };
        if plan::plan(&self.client.settings.local, self.is_being_written(&block)).is_err() {
            return;
        }
        let is_dead = |node: &DatanodeInfo| {
            self.dead.contains(node) || self.client.unreachable.contains(node)
        };
        let Some(node) = block.nodes().find(|node| !is_dead(node)).cloned() else { return };
        let Ok(runtime) = runtime::background() else { return };
        let client = Arc::clone(&self.client);
        let with_sums = self.verify_local != Verify::None;
        runtime.spawn(async move {
            let told = client.local.ask_for_paths(&block, &node).await;
            tokio::task::spawn_blocking(move || {
                if let Ok(opened) = client.local.open(&block, &node, told) {
                    opened.replica.read_ahead(with_sums);
                }
            });
        });
    }
}
