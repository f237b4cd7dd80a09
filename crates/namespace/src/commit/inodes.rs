//! Inodes as edits change them, and the sums that directories keep of what is below them: each change of an inode or block is
//! added to all directories above.

use super::Deleted;
use super::key::CommitKey;
use super::ledger::BlocksChange;
use crate::blocks::{BlockEdits, BlockManager};
use crate::error::{Inconsistent, NotFound, refuse};
use crate::policies;
use crate::rename_check::RenameCheck;
use crate::stored_files::StoredFiles;
use crate::tree::{Inode, NO_SLOT, Permission, Slot, Tree, Usage};
use crate::usage::QuotaLedger;
use crate::walk::{Located, Paths};
use crate::{Ids, Result};
use zerohop_journal::types::PermissionStatus;
use zerohop_wire::InodeId;

/// The inode tree with the quota ledger, the blocks of its files and the last inode id.
pub(super) struct InodeEdits<'s> {
    pub(super) tree: &'s mut Tree,
    pub(super) blocks: &'s mut BlockManager,
    pub(super) ids: &'s mut Ids,
}

impl InodeEdits<'_> {
    /// Resolves paths.
    pub(super) fn paths(&self) -> Paths<'_> {
        Paths(self.tree)
    }

    /// Checks renames.
    pub(super) fn rename_check(&self) -> RenameCheck<'_> {
        RenameCheck(self.tree)
    }

    /// Files and their blocks.
    pub(super) fn files(&self) -> StoredFiles<'_> {
        StoredFiles { tree: self.tree, blocks: self.blocks }
    }

    /// The quota ledger.
    pub(super) fn ledger(&self) -> QuotaLedger<'_> {
        QuotaLedger { tree: self.tree, blocks: self.blocks }
    }

    /// Changes blocks.
    pub(super) fn block_edits(&mut self) -> BlockEdits<'_> {
        self.blocks.edits(CommitKey::new())
    }

    /// Adds to the sums of a directory and all above it.
    pub(super) fn charge(&mut self, directory: Slot, delta: &Usage) {
        let mut delta = delta.clone();
        let mut next = directory;
        while next != NO_SLOT {
            let here = next;
            next = self.tree.charge(here, &delta);
            delta = delta.under_policy(policies::local(self.tree, here));
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

    pub(super) fn parent_of(&self, located: &Located<'_>) -> Result<Slot> {
        match located.parent() {
            Some(parent) => Ok(parent),
            None => refuse(NotFound::OfEdit { path: located.parent_path().to_owned() }),
        }
    }

    pub(super) fn intern(&mut self, status: &PermissionStatus, mode: u16) -> Permission {
        Permission::new(self.tree.intern(&status.user), self.tree.intern(&status.group), mode)
    }

    /// Refuses the id of an inode that exists.
    pub(super) fn check_is_new(&self, id: InodeId, path: &str) -> Result<()> {
        if self.tree.find_any(id).is_none() {
            return Ok(());
        }
        refuse(Inconsistent::InodeExists { id, path: path.to_owned() })
    }

    /// Puts a new inode into the tree and charges the directories above for it.
    pub(super) fn insert(
        &mut self,
        parent: Slot,
        inode: Inode,
        name: &str,
        path: &str,
    ) -> Result<Slot> {
        let (id, mtime) = (inode.id, inode.mtime());
        self.check_is_new(id, path)?;
        let slot = self.tree.add(inode, name);
        if !self.tree.attach(parent, slot) {
            self.tree.free(slot);
            return refuse(Inconsistent::CannotAttach { path: path.to_owned() });
        }
        self.ids.inode = self.ids.inode.max(id);
        self.directory_changed(parent, mtime);
        let usage = self.ledger().usage_of(slot);
        self.charge(parent, &usage);
        Ok(slot)
    }

    /// A directory's time only moves forward when its list changes.
    pub(super) fn directory_changed(&mut self, directory: Slot, mtime: u64) {
        if self.tree.get(directory).mtime() < mtime {
            self.tree.change(directory).set_mtime(mtime);
        }
    }

    /// Removes a subtree from the tree; its directory's modification time becomes `mtime`.
    pub(super) fn take_out(&mut self, top: Slot, mtime: u64) -> Deleted {
        let parent = self.tree.get(top).parent;
        // A client that has the answer may use the quota that the deletion gave back, before the last inode is freed.
        let usage = self.ledger().usage_of(top);
        self.charge(parent, &usage.negated());
        self.tree.detach(top);
        self.directory_changed(parent, mtime);
        Deleted { top, usage }
    }

    /// Sets modification and access time; a negative one leaves it as it is.
    pub(super) fn set_inode_times(&mut self, slot: Slot, mtime_ms: i64, atime_ms: i64) {
        let inode = self.tree.change(slot);
        if let Ok(mtime) = u64::try_from(mtime_ms) {
            inode.set_mtime(mtime);
        }
        if let Ok(atime) = u64::try_from(atime_ms) {
            inode.set_atime(atime);
        }
    }
}
