//! Renames, of the old kind and with options.

use crate::access::{ALL, Check, WRITE};
use crate::fail::{fail, invalid_path, io, not_found};
use crate::limits::check_path_length;
use crate::resolve::{DirOp, Located, is_exact_reserved};
use crate::tree::{Body, Slot};
use crate::{Namespace, OpContext, RenameOptions, Result};
use std::borrow::Cow;
use zerohop_journal::op::{Rename, RenameOld};
use zerohop_wire::JavaException;

impl Namespace {
    /// Renames as `FileSystem.rename` does: into a folder that is there, false where it cannot.
    ///
    /// # Errors
    /// As Hadoop's `rename`: permissions, quotas, limits.
    pub fn rename(&mut self, ctx: &OpContext, src: &str, dst: &str) -> Result<bool> {
        check_path_length("rename", dst)?;
        self.begin(ctx, || format!("Cannot rename {src}"))?;
        let from = self.resolve(ctx, src, DirOp::WriteLink)?;
        let to = self.resolve(ctx, dst, DirOp::CreateLink)?;
        let to = self.dst_for_rename(&from, to);
        if self.is_non_empty_folder(from.last()) {
            self.check_protected(&from.path)?;
        }
        self.check(ctx, &from, Check { parent: Some(WRITE), ..Check::default() })?;
        // The folder it goes into is on the way now.
        self.check_traverse(ctx, &to, false)?;
        self.check(ctx, &to, Check { ancestor: Some(WRITE), ..Check::default() })?;
        check_path_length("rename", &to.path)?;
        let now = self.wall_ms();
        let done = self.rename_old(&from, &to, now, true)?;
        if done {
            let (src, dst) = (from.path.into_owned(), to.path.into_owned());
            self.log_call(ctx, RenameOld { src, dst, timestamp_ms: now as i64 });
        }
        Ok(done)
    }

    /// Renames as `FileContext.rename` does: an exception tells why not.
    ///
    /// # Errors
    /// As Hadoop's `rename2`.
    pub fn rename2(
        &mut self,
        ctx: &OpContext,
        src: &str,
        dst: &str,
        options: RenameOptions,
    ) -> Result<()> {
        check_path_length("rename", dst)?;
        self.begin(ctx, || format!("Cannot rename {src}"))?;
        let from = self.resolve(ctx, src, DirOp::WriteLink)?;
        let to = self.resolve(ctx, dst, DirOp::CreateLink)?;
        if self.is_non_empty_folder(from.last()) {
            self.check_protected(&from.path)?;
        }
        let below = options.to_trash.then_some(ALL);
        let check = Check {
            parent: Some(WRITE),
            below,
            ignore_empty_below: options.to_trash,
            ..Check::default()
        };
        self.check(ctx, &from, check)?;
        self.check(ctx, &to, Check { ancestor: Some(WRITE), ..Check::default() })?;
        check_path_length("rename", &to.path)?;
        let now = self.wall_ms();
        self.rename_new(&from, &to, now, options.overwrite, true)?;
        let op = Rename {
            src: from.path.into_owned(),
            dst: to.path.into_owned(),
            timestamp_ms: now as i64,
            options: option_codes(options),
        };
        self.log_call(ctx, op);
        Ok(())
    }

    /// An existing folder as destination means the same name in it (`dstForRenameTo`).
    pub(crate) fn dst_for_rename<'a>(
        &self,
        from: &Located<'_>,
        mut to: Located<'a>,
    ) -> Located<'a> {
        let Some(folder) = to.last().filter(|slot| self.state.tree.get(*slot).is_directory())
        else {
            return to;
        };
        let name = from.name();
        let base = if to.is_root() { "" } else { &*to.path };
        let path = format!("{base}/{name}");
        to.nodes.extend(self.state.tree.child(folder, name));
        to.depth += 1;
        to.path = Cow::Owned(path);
        to
    }

    /// The change of `OP_RENAME_OLD`; false where it cannot be done.
    pub(crate) fn rename_old(
        &mut self,
        from: &Located<'_>,
        to: &Located<'_>,
        mtime: u64,
        checked: bool,
    ) -> Result<bool> {
        let Some(src) = from.last().filter(|_| !from.is_root()) else { return Ok(false) };
        if from.path == to.path {
            return Ok(true);
        }
        if self.check_destination(from, to, src).is_err() || to.last().is_some() {
            return Ok(false);
        }
        let Some(parent) = to.parent() else { return Ok(false) };
        self.check_move(from, to, src, parent, checked)?;
        self.move_inode(src, parent, to.name(), mtime);
        Ok(true)
    }

    /// The change of `OP_RENAME`.
    pub(crate) fn rename_new(
        &mut self,
        from: &Located<'_>,
        to: &Located<'_>,
        mtime: u64,
        overwrite: bool,
        checked: bool,
    ) -> Result<()> {
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
        if !self.state.tree.get(parent).is_directory() {
            let message = format!("rename destination parent {} is a file.", to.path);
            return fail(JavaException::ParentNotDirectory, message);
        }
        self.check_move(from, to, src, parent, checked)?;
        if let Some(dst) = to.last() {
            self.remove_subtree(dst, mtime);
        }
        self.move_inode(src, parent, to.name(), mtime);
        Ok(())
    }

    fn check_destination(&self, from: &Located<'_>, to: &Located<'_>, src: Slot) -> Result<()> {
        if let Body::Symlink(link) = &self.state.tree.get(src).body
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
        if self.state.tree.get(src).is_directory() != self.state.tree.get(dst).is_directory() {
            return io(format!(
                "Source {} and destination {} must both be directories",
                from.path, to.path
            ));
        }
        if !overwrite {
            let message = format!("rename destination {} already exists", to.path);
            return fail(JavaException::FileAlreadyExists, message);
        }
        if self.is_non_empty_folder(Some(dst)) {
            return io(format!("rename destination directory is not empty: {}", to.path));
        }
        Ok(())
    }

    /// Limits and quotas at the destination.
    fn check_move(
        &mut self,
        from: &Located<'_>,
        to: &Located<'_>,
        src: Slot,
        parent: Slot,
        checked: bool,
    ) -> Result<()> {
        if !self.state.tree.get(parent).is_directory() {
            let message =
                format!("Parent path is not a directory: {} {}", to.parent_path(), to.name());
            return fail(JavaException::FileAlreadyExists, message);
        }
        if to.name() == ".snapshot"
            || (parent == self.state.tree.root() && to.name() == ".reserved")
        {
            self.check_new_child(parent, to.name(), to.parent_path())?;
        }
        if !checked {
            return Ok(());
        }
        let other_folder = self.state.tree.get(src).parent != parent;
        self.check_child_limits(
            parent,
            to.name(),
            to.parent_path(),
            other_folder && to.last().is_none(),
        )?;
        let mut delta = self.usage_in(src, parent);
        if let Some(dst) = to.last() {
            delta = delta.less(&self.usage_here(dst));
        }
        let shared = from.nodes.iter().zip(&to.nodes).take_while(|(a, b)| a == b).last();
        self.verify_quota(parent, &delta, shared.map(|(common, _)| *common))
    }

    fn move_inode(&mut self, src: Slot, parent: Slot, name: &str, mtime: u64) {
        let old = self.state.tree.get(src).parent;
        self.state.tree.detach(src);
        self.state.tree.rename(src, name);
        self.state.tree.attach(parent, src);
        if old != parent {
            let usage = self.usage_of(src);
            self.charge(old, &usage.negated());
            self.charge(parent, &usage);
        }
        self.folder_changed(old, mtime);
        self.folder_changed(parent, mtime);
    }
}

fn option_codes(options: RenameOptions) -> Vec<u8> {
    let mut codes = Vec::new();
    if options.overwrite {
        codes.push(Rename::OVERWRITE);
    }
    if options.to_trash {
        codes.push(Rename::TO_TRASH);
    }
    if codes.is_empty() {
        codes.push(0);
    }
    codes
}
