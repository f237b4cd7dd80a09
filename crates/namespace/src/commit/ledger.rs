//! How the blocks of a file count in the sums of the directories above it.

use crate::blocks::{BlockState, StoredBlock};

/// How a file's blocks changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct BlocksChange {
    pub blocks: i64,
    /// Charged bytes before replication.
    pub bytes: i64,
    pub length: i64,
}

impl BlocksChange {
    /// What one block is charged with; one that is being written counts as full.
    pub(super) fn of(stored: &StoredBlock, block_size: u64) -> Self {
        let length = stored.block.len as i64;
        let bytes = match stored.state {
            BlockState::Complete | BlockState::Committed => length,
            _ => block_size as i64,
        };
        Self { blocks: 1, bytes, length }
    }

    // Wrapping: lengths come from logs and images, and each addition is subtracted again.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            blocks: self.blocks.wrapping_add(other.blocks),
            bytes: self.bytes.wrapping_add(other.bytes),
            length: self.length.wrapping_add(other.length),
        }
    }

    pub(super) fn less(self, other: Self) -> Self {
        Self {
            blocks: self.blocks.wrapping_sub(other.blocks),
            bytes: self.bytes.wrapping_sub(other.bytes),
            length: self.length.wrapping_sub(other.length),
        }
    }
}
