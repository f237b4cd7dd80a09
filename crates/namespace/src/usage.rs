//! What the tree uses of its quotas.
//!
//! Every directory keeps the sum over what is below it ([`Usage`]); each change is added to all directories above it.

use crate::blocks::BlockState;
use crate::quota::{Counts, space};
use crate::tree::{Body, File, NO_SLOT, Slot, Usage};
use crate::{Namespace, Result};

/// How a file's blocks changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlocksChange {
    pub blocks: i64,
    /// Charged bytes before replication.
    pub bytes: i64,
    pub length: i64,
}

impl BlocksChange {
    pub(crate) fn less(self, other: Self) -> Self {
        Self {
            blocks: self.blocks.wrapping_sub(other.blocks),
            bytes: self.bytes.wrapping_sub(other.bytes),
            length: self.length.wrapping_sub(other.length),
        }
    }
}

impl Namespace {
    /// Bytes a file's blocks are charged with before replication: a block being written counts as full.
    pub(crate) fn charged_bytes(&self, file: &File) -> i64 {
        let charge = |id| match self.state.blocks.get(id) {
            Some(stored)
                if matches!(stored.state, BlockState::Complete | BlockState::Committed) =>
            {
                stored.block.len
            }
            Some(_) => file.block_size(),
            None => 0,
        };
        file.blocks.as_slice().iter().map(|id| charge(*id) as i64).fold(0, i64::wrapping_add)
    }

    fn usage_of_file(&self, file: &File) -> Usage {
        let mut usage = Usage::bytes(self.charged_bytes(file), file.replication());
        (usage.names, usage.files) = (1, 1);
        usage.blocks = file.blocks.as_slice().len() as i64;
        usage.length = self.len_of(file) as i64;
        usage.under_policy(file.storage_policy())
    }

    /// What an inode and all below it add to the directory that it is in.
    pub(crate) fn usage_of(&self, slot: Slot) -> Usage {
        match &self.state.tree.get(slot).body {
            Body::File(file) => self.usage_of_file(file),
            Body::Directory(_) => self.total_of(slot).under_policy(self.local_policy(slot)),
            _ => Usage::name(),
        }
    }

    /// The sum over an inode and all below it; of a directory before its storage policy is applied.
    pub(crate) fn total_of(&self, slot: Slot) -> Usage {
        match self.state.tree.get(slot).as_directory() {
            Some(directory) => {
                let mut total = Usage::directory();
                total.add(&directory.below);
                total
            }
            None => self.usage_of(slot),
        }
    }

    /// What quotas count of an inode where it is.
    pub(crate) fn usage_here(&self, slot: Slot) -> Counts {
        self.total_of(slot).counts(self.effective_policy(slot))
    }

    /// Adds to the sums of a directory and all above it.
    pub(crate) fn charge(&mut self, folder: Slot, delta: &Usage) {
        let mut delta = delta.clone();
        let mut next = folder;
        while next != NO_SLOT {
            let inode = self.state.tree.get_mut(next);
            let here = next;
            next = inode.parent;
            if let Some(directory) = inode.as_directory_mut() {
                directory.below.add(&delta);
            }
            delta = delta.under_policy(self.local_policy(here));
        }
    }

    /// Whether a folder and all above it have room; folders from `common` up are not asked (both ends of a rename).
    pub(crate) fn verify_quota(
        &self,
        folder: Slot,
        delta: &Counts,
        common: Option<Slot>,
    ) -> Result<()> {
        if !delta.grows() {
            return Ok(());
        }
        for slot in self.state.tree.ancestors(folder).take_while(|slot| Some(*slot) != common) {
            let quota = self
                .state
                .tree
                .get(slot)
                .as_directory()
                .and_then(|directory| directory.quota.as_ref());
            if let Some(quota) = quota {
                quota.verify(&self.usage_here(slot), delta, || self.state.tree.path(slot))?;
            }
        }
        Ok(())
    }

    /// The change of a file's charge when its blocks' bytes change by `bytes`.
    pub(crate) fn space_delta(&self, file: Slot, bytes: i64) -> Counts {
        let replication = self.state.tree.get(file).as_file().map_or(0, File::replication);
        space(self.effective_policy(file), replication, bytes)
    }

    /// Charges the directories above a file for a change of its blocks.
    pub(crate) fn charge_blocks(&mut self, slot: Slot, change: BlocksChange) {
        if change == BlocksChange::default() {
            return;
        }
        let inode = self.state.tree.get(slot);
        let Some(file) = inode.as_file() else { return };
        let mut usage = Usage::bytes(change.bytes, file.replication());
        (usage.blocks, usage.length) = (change.blocks, change.length);
        let (parent, usage) = (inode.parent, usage.under_policy(file.storage_policy()));
        self.charge(parent, &usage);
    }

    /// Makes a change of one inode (its policy, its replication, all its blocks) that the sums above it depend on.
    pub(crate) fn recharge<T>(&mut self, slot: Slot, change: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.usage_of(slot);
        let result = change(self);
        let (parent, after) = (self.state.tree.get(slot).parent, self.usage_of(slot));
        if after != before {
            self.charge(parent, &after.less(&before));
        }
        result
    }

    /// Sums up the whole tree: images do not carry the sums. `slots` names all inodes, a directory before its children.
    pub(crate) fn count_usage(&mut self, slots: &[Slot]) {
        for slot in slots.iter().rev() {
            let usage = self.usage_of(*slot);
            let parent = self.state.tree.get(*slot).parent;
            if parent != NO_SLOT
                && let Some(directory) = self.state.tree.get_mut(parent).as_directory_mut()
            {
                directory.below.add(&usage);
            }
        }
    }

    /// What quotas would count of an inode if it was in `folder`.
    pub(crate) fn usage_in(&self, slot: Slot, folder: Slot) -> Counts {
        self.usage_of(slot).counts(self.effective_policy(folder))
    }
}
