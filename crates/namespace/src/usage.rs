//! The quota usage of the inode tree.
//!
//! Every directory keeps the sum over what is below it ([`Usage`]); each change is added to all directories above it.

use crate::Result;
use crate::blocks::{BlockManager, BlockState};
use crate::policies;
use crate::quota::{Counts, Quota, space};
use crate::tree::{Body, File, Slot, Tree, Usage};

/// The quota usage of inodes, and the limits that are set.
#[derive(Clone, Copy)]
pub(crate) struct QuotaLedger<'s> {
    pub(crate) tree: &'s Tree,
    pub(crate) blocks: &'s BlockManager,
}

impl QuotaLedger<'_> {
    /// A file's length: all its blocks, the last one of an open file with the length known so far.
    pub(crate) fn file_len(self, slot: Slot) -> u64 {
        self.tree.get(slot).as_file().map_or(0, |file| self.len_of(file))
    }

    pub(crate) fn len_of(self, file: &File) -> u64 {
        let stored = file.blocks.as_slice().iter().filter_map(|id| self.blocks.get(*id));
        stored.fold(0, |sum: u64, stored| sum.saturating_add(stored.block.len))
    }

    /// The limits set at an inode.
    pub(crate) fn limit_at(self, slot: Slot) -> Counts {
        let directory = self.tree.get(slot).as_directory();
        let quota = directory.and_then(|directory| directory.quota.as_deref());
        quota.copied().unwrap_or(Quota::unlimited()).limit
    }

    /// Bytes a file's blocks are charged with before replication: a block being written counts as full.
    pub(crate) fn charged_bytes(self, file: &File) -> i64 {
        let charge = |id| match self.blocks.get(id) {
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

    fn usage_of_file(self, file: &File) -> Usage {
        let mut usage = Usage::bytes(self.charged_bytes(file), file.replication());
        (usage.names, usage.files) = (1, 1);
        usage.blocks = file.blocks.as_slice().len() as i64;
        usage.length = self.len_of(file) as i64;
        usage.under_policy(file.storage_policy())
    }

    /// What an inode and all below it add to the directory that it is in.
    pub(crate) fn usage_of(self, slot: Slot) -> Usage {
        match &self.tree.get(slot).body {
            Body::File(file) => self.usage_of_file(file),
            Body::Directory(_) => {
                self.total_of(slot).under_policy(policies::local(self.tree, slot))
            }
            _ => Usage::name(),
        }
    }

    /// The sum over an inode and all below it; of a directory before its storage policy is applied.
    pub(crate) fn total_of(self, slot: Slot) -> Usage {
        match self.tree.get(slot).as_directory() {
            Some(directory) => {
                let mut total = Usage::directory();
                total.add(&directory.below);
                total
            }
            None => self.usage_of(slot),
        }
    }

    /// The quota usage of an inode where it is.
    pub(crate) fn usage_here(self, slot: Slot) -> Counts {
        self.total_of(slot).counts(policies::effective(self.tree, slot))
    }

    /// Checks the quotas of a directory and those above it, up to `common`, which is above both ends of a rename.
    pub(crate) fn verify_quota(
        self,
        directory: Slot,
        delta: &Counts,
        common: Option<Slot>,
    ) -> Result<()> {
        if !delta.grows() {
            return Ok(());
        }
        for slot in self.tree.ancestors(directory).take_while(|slot| Some(*slot) != common) {
            let quota =
                self.tree.get(slot).as_directory().and_then(|directory| directory.quota.as_ref());
            if let Some(quota) = quota {
                quota.verify(&self.usage_here(slot), delta, || self.tree.path(slot))?;
            }
        }
        Ok(())
    }

    /// The change of a file's charge when its blocks' bytes change by `bytes`.
    pub(crate) fn space_delta(self, file: Slot, bytes: i64) -> Counts {
        let replication = self.tree.get(file).as_file().map_or(0, File::replication);
        space(policies::effective(self.tree, file), replication, bytes)
    }

    /// The quota usage of an inode if it was in `directory`.
    pub(crate) fn usage_in(self, slot: Slot, directory: Slot) -> Counts {
        self.usage_of(slot).counts(policies::effective(self.tree, directory))
    }
}
