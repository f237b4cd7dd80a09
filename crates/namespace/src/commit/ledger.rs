//! The sums that directories keep of what is below them: each change of an inode or block is added to all directories above.

use super::DurableState;
use crate::blocks::{BlockState, StoredBlock};
use crate::tree::{NO_SLOT, Slot, Usage};

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

    // Wrapping: lengths come from logs and images, and what was added is taken away again.
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

impl DurableState {
    /// Adds to the sums of a directory and all above it.
    pub(super) fn charge(&mut self, directory: Slot, delta: &Usage) {
        let mut delta = delta.clone();
        let mut next = directory;
        while next != NO_SLOT {
            let here = next;
            next = self.tree.charge(here, &delta);
            delta = delta.under_policy(self.local_policy(here));
        }
    }

    /// Charges the directories above a file for a change of its blocks.
    pub(super) fn charge_blocks(&mut self, slot: Slot, change: BlocksChange) {
        if change == BlocksChange::default() {
            return;
        }
        let inode = self.tree.get(slot);
        let Some(file) = inode.as_file() else { return };
        let mut usage = Usage::bytes(change.bytes, file.replication());
        (usage.blocks, usage.length) = (change.blocks, change.length);
        let (parent, usage) = (inode.parent, usage.under_policy(file.storage_policy()));
        self.charge(parent, &usage);
    }

    /// Makes a change of one inode (its policy, its replication, all its blocks) that the sums above it depend on.
    pub(super) fn recharge<T>(&mut self, slot: Slot, change: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.ledger().usage_of(slot);
        let result = change(self);
        let (parent, after) = (self.tree.get(slot).parent, self.ledger().usage_of(slot));
        if after != before {
            self.charge(parent, &after.less(&before));
        }
        result
    }

    /// Sums up the whole tree: images do not carry the sums. `slots` names all inodes, a directory before its children.
    pub(super) fn count_usage(&mut self, slots: &[Slot]) {
        for slot in slots.iter().rev() {
            let usage = self.ledger().usage_of(*slot);
            let parent = self.tree.get(*slot).parent;
            if parent != NO_SLOT {
                self.tree.charge(parent, &usage);
            }
        }
    }
}
