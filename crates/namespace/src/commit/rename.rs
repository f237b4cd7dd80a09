//! Inodes moved to another name or directory.

use super::{Committed, DurableState};
use crate::Result;
use crate::fail::{fail, illegal, inconsistent, invalid_path, io, not_found};
use crate::tree::{Body, Slot};
use crate::walk::{Located, is_exact_reserved};
use std::borrow::Cow;
use zerohop_journal::op::{Rename, RenameOld};
use zerohop_wire::JavaException;

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
            return Err(inconsistent(format!("{} is not a directory", to.parent_path())));
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
            return not_found(format!("rename source {} is not found.", from.path));
        };
        if from.is_root() {
            return io("rename source cannot be the root");
        }
        if from.path == to.path {
            let message =
                format!("The source {} and destination {} are the same", from.path, to.path);
            return fail(JavaException::FileAlreadyExists, message);
        }
        self.check_destination(from, to, src)?;
        if to.is_root() {
            return io("rename destination cannot be the root");
        }
        if let Some(dst) = to.last() {
            self.check_overwrite(from, to, overwrite, (src, dst))?;
        }
        let Some(parent) = to.parent() else {
            return not_found(format!("rename destination parent {} not found.", to.path));
        };
        if !self.tree.get(parent).is_directory() {
            let message = format!("rename destination parent {} is a file.", to.path);
            return fail(JavaException::ParentNotDirectory, message);
        }
        Ok((src, parent))
    }

    fn check_destination(&self, from: &Located<'_>, to: &Located<'_>, src: Slot) -> Result<()> {
        if let Body::Symlink(link) = &self.tree.get(src).body
            && link.target == to.path.as_bytes()
        {
            let message = format!("Cannot rename symlink {} to its target {}", from.path, to.path);
            return fail(JavaException::FileAlreadyExists, message);
        }
        if to.path.strip_prefix(&*from.path).is_some_and(|rest| rest.starts_with('/')) {
            return io(format!(
                "Rename destination {} is a directory or file under source {}",
                to.path, from.path
            ));
        }
        if is_exact_reserved(&from.path) || is_exact_reserved(&to.path) {
            return invalid_path("Cannot rename to or from /.reserved");
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
            return io(format!(
                "Source {} and destination {} must both be directories",
                from.path, to.path
            ));
        }
        if !overwrite {
            let message = format!("rename destination {} already exists", to.path);
            return fail(JavaException::FileAlreadyExists, message);
        }
        if self.tree.is_non_empty_directory(dst) {
            return io(format!("rename destination directory is not empty: {}", to.path));
        }
        Ok(())
    }

    /// Names that no inode may have (`FSDirectory.addLastINode`).
    pub(crate) fn check_new_name(&self, directory: Slot, name: &str) -> Result<()> {
        if directory == self.tree.root() && name == ".reserved" {
            return illegal(format!(
                "File name \"{name}\" is reserved and cannot be created. If this is during upgrade change the name of \
                 the existing file or directory to another name before upgrading to the new release."
            ));
        }
        if name == ".snapshot" {
            return illegal("\".snapshot\" is a reserved name.");
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
