//! Inodes moved to another name or directory.

use super::{Committed, DurableState};
use crate::Result;
use crate::error::{Inconsistent, refuse};
use crate::tree::Slot;
use zerohop_journal::op::{Rename, RenameOld};

impl DurableState {
    /// `OP_RENAME_OLD`; changes nothing where the rename cannot be done, as in Hadoop.
    pub(super) fn commit_rename_old(&mut self, op: &RenameOld) -> Result<Committed> {
        let (from, to) = (self.paths().walk(&op.src)?, self.paths().walk(&op.dst)?);
        if from.path == to.path {
            return Ok(from.last().map_or_else(Committed::default, Committed::inode));
        }
        let to = self.rename_check().destination(&from, to);
        let Some((src, parent)) = self.rename_check().check_old(&from, &to) else {
            return Ok(Committed::default());
        };
        self.paths().check_new_name(parent, to.name())?;
        if !self.tree.get(parent).is_directory() {
            return refuse(Inconsistent::NotADirectory { path: to.parent_path().to_owned() });
        }
        self.move_inode(src, parent, to.name(), op.timestamp_ms.max(0) as u64);
        Ok(Committed::inode(src))
    }

    /// `OP_RENAME`
    pub(super) fn commit_rename(&mut self, op: &Rename) -> Result<Committed> {
        let (from, to) = (self.paths().walk(&op.src)?, self.paths().walk(&op.dst)?);
        let (src, parent) = self.rename_check().check(&from, &to, op.overwrites())?;
        self.paths().check_new_name(parent, to.name())?;
        let mtime = op.timestamp_ms.max(0) as u64;
        let deleted = to.last().map(|dst| self.take_out(dst, mtime));
        self.move_inode(src, parent, to.name(), mtime);
        Ok(Committed { deleted, ..Committed::inode(src) })
    }

    fn move_inode(&mut self, src: Slot, parent: Slot, name: &str, mtime: u64) {
        let old = self.tree.get(src).parent;
        self.tree.detach(src);
        self.tree.rename(src, name);
        self.tree.attach(parent, src);
        if old != parent {
            let usage = self.ledger().usage_of(src);
            self.charge(old, &usage.negated());
            self.charge(parent, &usage);
        }
        self.directory_changed(old, mtime);
        self.directory_changed(parent, mtime);
    }
}
