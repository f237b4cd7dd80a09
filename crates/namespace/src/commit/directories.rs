//! Edits that make directories, rename and delete.

use super::Committed;
use super::inodes::InodeEdits;
use crate::Result;
use crate::acl;
use crate::error::{Inconsistent, refuse};
use crate::tree::{Body, Directory, Inode, Slot};
use zerohop_journal::op::{Delete, Mkdir, Rename, RenameOld};

/// Applies edits that make directories, rename and delete.
pub(super) struct DirectoryEdits<'s> {
    pub(super) inodes: InodeEdits<'s>,
}

impl DirectoryEdits<'_> {
    /// `OP_MKDIR`
    pub(super) fn mkdir(&mut self, op: &Mkdir) -> Result<Committed> {
        let located = self.inodes.paths().walk(&op.path)?;
        let parent = self.inodes.parent_of(&located)?;
        let (mode, acl) = match op.acl.as_slice() {
            [] => (op.permissions.mode, None),
            entries => acl::to_stored(entries, op.permissions.mode, true, &op.path)?,
        };
        let body = Body::Directory(Box::new(Directory { acl, ..Directory::default() }));
        let permission = self.inodes.intern(&op.permissions, mode);
        let mtime = op.timestamp_ms.max(0) as u64;
        let inode = Inode::new(op.inode_id, permission, body).with_times(mtime, 0);
        self.inodes.insert(parent, inode, located.name(), &op.path).map(Committed::inode)
    }

    /// `OP_DELETE`
    pub(super) fn delete(&mut self, op: &Delete) -> Result<Committed> {
        let located = self.inodes.paths().walk(&op.path)?;
        let Some(slot) = located.last().filter(|_| !located.is_root()) else {
            return Ok(Committed::default());
        };
        let deleted = self.inodes.take_out(slot, op.timestamp_ms.max(0) as u64);
        Ok(Committed { deleted: Some(deleted), ..Committed::inode(slot) })
    }

    /// `OP_RENAME_OLD`; changes nothing where the rename cannot be done, as in Hadoop.
    pub(super) fn rename_old(&mut self, op: &RenameOld) -> Result<Committed> {
        let (from, to) = (self.inodes.paths().walk(&op.src)?, self.inodes.paths().walk(&op.dst)?);
        if from.path == to.path {
            return Ok(from.last().map_or_else(Committed::default, Committed::inode));
        }
        let to = self.inodes.rename_check().destination(&from, to);
        let Some((src, parent)) = self.inodes.rename_check().check_old(&from, &to) else {
            return Ok(Committed::default());
        };
        self.inodes.paths().check_new_name(parent, to.name())?;
        if !self.inodes.tree.get(parent).is_directory() {
            return refuse(Inconsistent::NotADirectory { path: to.parent_path().to_owned() });
        }
        self.move_inode(src, parent, to.name(), op.timestamp_ms.max(0) as u64);
        Ok(Committed::inode(src))
    }

    /// `OP_RENAME`
    pub(super) fn rename(&mut self, op: &Rename) -> Result<Committed> {
        let (from, to) = (self.inodes.paths().walk(&op.src)?, self.inodes.paths().walk(&op.dst)?);
        let (src, parent) = self.inodes.rename_check().check(&from, &to, op.overwrites())?;
        self.inodes.paths().check_new_name(parent, to.name())?;
        let mtime = op.timestamp_ms.max(0) as u64;
        let deleted = to.last().map(|dst| self.inodes.take_out(dst, mtime));
        self.move_inode(src, parent, to.name(), mtime);
        Ok(Committed { deleted, ..Committed::inode(src) })
    }

    fn move_inode(&mut self, src: Slot, parent: Slot, name: &str, mtime: u64) {
        let old = self.inodes.tree.get(src).parent;
        self.inodes.tree.detach(src);
        self.inodes.tree.rename(src, name);
        self.inodes.tree.attach(parent, src);
        if old != parent {
            let usage = self.inodes.ledger().usage_of(src);
            self.inodes.charge(old, &usage.negated());
            self.inodes.charge(parent, &usage);
        }
        self.inodes.directory_changed(old, mtime);
        self.inodes.directory_changed(parent, mtime);
    }
}
