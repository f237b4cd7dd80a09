//! Directories made, subtrees deleted.

use super::{Committed, Deleted, DurableState};
use crate::Result;
use crate::acl;
use crate::error::{Inconsistent, NotFound, refuse};
use crate::tree::{Body, Directory, Inode, Permission, Slot};
use crate::walk::Located;
use zerohop_journal::op::{Delete, Mkdir};
use zerohop_journal::types::PermissionStatus;
use zerohop_wire::InodeId;

impl DurableState {
    /// `OP_MKDIR`
    pub(super) fn commit_mkdir(&mut self, op: &Mkdir) -> Result<Committed> {
        let located = self.paths().walk(&op.path)?;
        let parent = self.parent_of(&located)?;
        let (mode, acl) = match op.acl.as_slice() {
            [] => (op.permissions.mode, None),
            entries => acl::to_stored(entries, op.permissions.mode, true, &op.path)?,
        };
        let body = Body::Directory(Box::new(Directory { acl, ..Directory::default() }));
        let permission = self.intern(&op.permissions, mode);
        let mtime = op.timestamp_ms.max(0) as u64;
        let inode = Inode::new(op.inode_id, permission, body).with_times(mtime, 0);
        self.insert(parent, inode, located.name(), &op.path).map(Committed::inode)
    }

    /// `OP_DELETE`
    pub(super) fn commit_delete(&mut self, op: &Delete) -> Result<Committed> {
        let located = self.paths().walk(&op.path)?;
        let Some(slot) = located.last().filter(|_| !located.is_root()) else {
            return Ok(Committed::default());
        };
        let deleted = self.take_out(slot, op.timestamp_ms.max(0) as u64);
        Ok(Committed { deleted: Some(deleted), ..Committed::inode(slot) })
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

    /// Refuses the id of an inode that is there already.
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

    /// Takes a subtree out of the tree; its directory's time moves to `mtime`.
    pub(super) fn take_out(&mut self, top: Slot, mtime: u64) -> Deleted {
        let parent = self.tree.get(top).parent;
        // Who is told of the deletion may use what it gave back: that does not wait for the last inode.
        let usage = self.ledger().usage_of(top);
        self.charge(parent, &usage.negated());
        self.tree.detach(top);
        self.directory_changed(parent, mtime);
        Deleted { top, usage }
    }

    /// One step of freeing a deleted subtree: a child that must be freed before `slot`, or the number of inodes and blocks
    /// freed with it.
    pub(crate) fn free_deleted(&mut self, slot: Slot) -> Freed {
        if let Some(child) = self.tree.pop_detached_child(slot) {
            return Freed::ChildFirst(child);
        }
        let inode = self.tree.free(slot);
        let mut objects = 1;
        if let Body::File(file) = inode.body {
            let blocks = file.blocks.as_slice();
            blocks.iter().for_each(|block| self.block_edits().remove(*block));
            objects += blocks.len();
            self.leases.remove(inode.id);
        }
        Freed::Objects(objects)
    }
}

/// What a step of freeing a deleted subtree did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freed {
    /// Nothing: this child of the directory comes first.
    ChildFirst(Slot),
    /// So many inodes and blocks are freed.
    Objects(usize),
}
