//! Inodes moved to another name or directory.

use super::{Committed, DurableState};
use crate::Result;
use crate::error::{
    AlreadyExists, Inconsistent, NotADirectory, NotFound, PathError, RenameError, refuse,
};
use crate::tree::{Body, Slot};
use crate::walk::{Located, is_exact_reserved};
use std::borrow::Cow;
use zerohop_journal::op::{Rename, RenameOld};

impl DurableState {
    /// `OP_RENAME_OLD`; changes nothing where the rename cannot be done, as in Hadoop.
    pub(super) fn commit_rename_old(&mut self, op: &RenameOld) -> Result<Committed> {
        let (from, to) = (self.walk(&op.src)?, self.walk(&op.dst)?);
        if from.path == to.path {
            return Ok(from.last().map_or_else(Committed::default, Committed::inode));
        }
        let to = self.rename_destination(&from, to);
        let Some((src, parent)) = self.check_rename_old(&from, &to) else {
            return Ok(Committed::default());
        };
        self.check_new_name(parent, to.name())?;
        if !self.tree.get(parent).is_directory() {
            return refuse(Inconsistent::NotADirectory { path: to.parent_path().to_owned() });
        }
        self.move_inode(src, parent, to.name(), op.timestamp_ms.max(0) as u64);
        Ok(Committed::inode(src))
    }

    /// `OP_RENAME`
    pub(super) fn commit_rename(&mut self, op: &Rename) -> Result<Committed> {
        let (from, to) = (self.walk(&op.src)?, self.walk(&op.dst)?);
        let (src, parent) = self.check_rename(&from, &to, op.overwrites())?;
        self.check_new_name(parent, to.name())?;
        let mtime = op.timestamp_ms.max(0) as u64;
        let deleted = to.last().map(|dst| self.take_out(dst, mtime));
        self.move_inode(src, parent, to.name(), mtime);
        Ok(Committed { deleted, ..Committed::inode(src) })
    }

    /// An existing directory as destination means the same name in it (`dstForRenameTo`).
    pub(crate) fn rename_destination<'a>(
        &self,
        from: &Located<'_>,
        mut to: Located<'a>,
    ) -> Located<'a> {
        let Some(directory) = to.last().filter(|slot| self.tree.get(*slot).is_directory()) else {
            return to;
        };
        let name = from.name();
        let base = if to.is_root() { "" } else { &*to.path };
        let path = format!("{base}/{name}");
        to.nodes.extend(self.tree.child(directory, name));
        to.depth += 1;
        to.path = Cow::Owned(path);
        to
    }

    /// The inode that an old-style rename moves and the directory it moves to; none where it answers false.
    pub(crate) fn check_rename_old(
        &self,
        from: &Located<'_>,
        to: &Located<'_>,
    ) -> Option<(Slot, Slot)> {
        let src = from.last().filter(|_| !from.is_root())?;
        if self.check_destination(from, to, src).is_err() || to.last().is_some() {
            return None;
        }
        Some((src, to.parent()?))
    }

    /// The inode that a rename with options moves, and the directory it moves to.
    ///
    /// # Errors
    /// As Hadoop's `rename2`.
    pub(crate) fn check_rename(
        &self,
        from: &Located<'_>,
        to: &Located<'_>,
        overwrite: bool,
    ) -> Result<(Slot, Slot)> {
        let Some(src) = from.last() else {
            return refuse(NotFound::RenameSource { path: from.path.to_string() });
        };
        if from.is_root() {
            return refuse(RenameError::SourceIsRoot);
        }
        if from.path == to.path {
            let (path, destination) = (from.path.to_string(), to.path.to_string());
            return refuse(AlreadyExists::RenameToItself { path, destination });
        }
        self.check_destination(from, to, src)?;
        if to.is_root() {
            return refuse(RenameError::DestinationIsRoot);
        }
        if let Some(dst) = to.last() {
            self.check_overwrite(from, to, overwrite, (src, dst))?;
        }
        let Some(parent) = to.parent() else {
            return refuse(NotFound::RenameParent { path: to.path.to_string() });
        };
        if !self.tree.get(parent).is_directory() {
            return refuse(NotADirectory::RenameParent { path: to.path.to_string() });
        }
        Ok((src, parent))
    }

    fn check_destination(&self, from: &Located<'_>, to: &Located<'_>, src: Slot) -> Result<()> {
        let paths = || (from.path.to_string(), to.path.to_string());
        if let Body::Symlink(link) = &self.tree.get(src).body
            && link.target == to.path.as_bytes()
        {
            let (path, target) = paths();
            return refuse(AlreadyExists::RenameToTarget { path, target });
        }
        if to.path.strip_prefix(&*from.path).is_some_and(|rest| rest.starts_with('/')) {
            let (path, destination) = paths();
            return refuse(RenameError::IntoItself { path, destination });
        }
        if is_exact_reserved(&from.path) || is_exact_reserved(&to.path) {
            return refuse(PathError::RenameOfReserved);
        }
        Ok(())
    }

    fn check_overwrite(
        &self,
        from: &Located<'_>,
        to: &Located<'_>,
        overwrite: bool,
        (src, dst): (Slot, Slot),
    ) -> Result<()> {
        if self.tree.get(src).is_directory() != self.tree.get(dst).is_directory() {
            let (path, destination) = (from.path.to_string(), to.path.to_string());
            return refuse(RenameError::KindsDiffer { path, destination });
        }
        if !overwrite {
            return refuse(AlreadyExists::RenameDestination { path: to.path.to_string() });
        }
        if self.tree.is_non_empty_directory(dst) {
            return refuse(RenameError::NotEmpty { path: to.path.to_string() });
        }
        Ok(())
    }

    /// Names that no inode may have (`FSDirectory.addLastINode`).
    pub(crate) fn check_new_name(&self, directory: Slot, name: &str) -> Result<()> {
        if directory == self.tree.root() && name == ".reserved" {
            return refuse(PathError::ReservedName { name: name.to_owned() });
        }
        if name == ".snapshot" {
            return refuse(PathError::SnapshotName);
        }
        Ok(())
    }

    fn move_inode(&mut self, src: Slot, parent: Slot, name: &str, mtime: u64) {
        let old = self.tree.get(src).parent;
        self.tree.detach(src);
        self.tree.rename(src, name);
        self.tree.attach(parent, src);
        if old != parent {
            let usage = self.usage_of(src);
            self.charge(old, &usage.negated());
            self.charge(parent, &usage);
        }
        self.directory_changed(old, mtime);
        self.directory_changed(parent, mtime);
    }
}
