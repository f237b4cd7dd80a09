//! What the tree uses of its quotas.
//!
//! Only folders with a quota (and the root) keep their use; each change is added to all of those above it.

use crate::blocks::{BlockState, policy};
use crate::quota::{Counts, space};
use crate::tree::{Body, File, NO_SLOT, Slot};
use crate::{Namespace, Result};

impl Namespace {
    /// Bytes a file's blocks are charged with before replication: a block being written counts as full.
    pub(crate) fn charged_bytes(&self, file: &File) -> i64 {
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

    fn usage_of_file(&self, file: &File, inherited_policy: u8) -> Counts {
        let policy = if file.storage_policy() == policy::UNSPECIFIED {
            inherited_policy
        } else {
            file.storage_policy()
        };
        Counts { names: 1, ..space(policy, file.replication(), self.charged_bytes(file)) }
    }

    /// What an inode and all below it use; `inherited_policy` is that of the folder it is (or shall be) in.
    pub(crate) fn usage_of(&self, slot: Slot, inherited_policy: u8) -> Counts {
        let mut sum = Counts::default();
        let mut open = vec![(slot, inherited_policy)];
        while let Some((slot, inherited)) = open.pop() {
            let inode = self.tree.get(slot);
            match &inode.body {
                Body::File(file) => sum.add(&self.usage_of_file(file, inherited)),
                Body::Directory(directory) => {
                    sum.names += 1;
                    let policy = match self.local_policy(slot) {
                        policy::UNSPECIFIED => inherited,
                        local => local,
                    };
                    open.extend(directory.children.iter().map(|child| (child, policy)));
                }
                _ => sum.names += 1,
            }
        }
        sum
    }

    /// What an inode uses where it is.
    pub(crate) fn usage_here(&self, slot: Slot) -> Counts {
        self.usage_of(slot, self.effective_policy(self.tree.get(slot).parent))
    }

    /// Adds to the use of a folder and all above it.
    pub(crate) fn charge(&mut self, folder: Slot, delta: &Counts) {
        let mut next = folder;
        while next != NO_SLOT {
            let inode = self.tree.get_mut(next);
            next = inode.parent;
            if let Some(quota) =
                inode.as_directory_mut().and_then(|directory| directory.quota.as_mut())
            {
                quota.used.add(delta);
            }
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
        for slot in self.tree.ancestors(folder).take_while(|slot| Some(*slot) != common) {
            let quota =
                self.tree.get(slot).as_directory().and_then(|directory| directory.quota.as_ref());
            if let Some(quota) = quota {
                quota.verify(delta, || self.tree.path(slot))?;
            }
        }
        Ok(())
    }

    /// The change of a file's charge when its blocks' bytes change by `bytes`.
    pub(crate) fn space_delta(&self, file: Slot, bytes: i64) -> Counts {
        let replication = self.tree.get(file).as_file().map_or(0, File::replication);
        space(self.effective_policy(file), replication, bytes)
    }

    /// Charges the folders above a file for a change of its bytes.
    pub(crate) fn charge_bytes(&mut self, file: Slot, bytes: i64) {
        if bytes != 0 {
            let delta = self.space_delta(file, bytes);
            self.charge(self.tree.get(file).parent, &delta);
        }
    }
}
