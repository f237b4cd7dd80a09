//! Renames, of the old kind and with options.

use crate::access::{Check, WRITE};
use crate::error::{AlreadyExists, refuse};
use crate::limits::check_path_length;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::walk::Located;
use crate::{Namespace, OpContext, RemovalCheck, RenameOptions, Result};
use zerohop_journal::op::{Rename, RenameOld};

impl Namespace {
    /// Renames as `FileSystem.rename` does: into a directory that is there, false where it cannot.
    ///
    /// # Errors
    /// As Hadoop's `rename`: permissions, quotas, limits.
    pub fn rename(&mut self, ctx: &OpContext, src: &str, dst: &str) -> Result<bool> {
        check_path_length("rename", dst)?;
        self.begin(ctx, || format!("Cannot rename {src}"))?;
        let from = self.resolve(ctx, src, DirOp::WriteLink)?;
        let to = self.resolve(ctx, dst, DirOp::CreateLink)?;
        let to = self.state.rename_check().destination(&from, to);
        if self.is_non_empty_directory(from.last()) {
            self.check_protected(&from.path)?;
        }
        self.check(ctx, &from, Check { parent: Some(WRITE), ..Check::default() })?;
        // The directory it goes into is on the way now.
        self.check_traverse(ctx, &to, false)?;
        self.check(ctx, &to, Check { ancestor: Some(WRITE), ..Check::default() })?;
        check_path_length("rename", &to.path)?;
        if from.is_root() || from.last().is_none() {
            return Ok(false);
        }
        if from.path != to.path {
            let Some((src, parent)) = self.state.rename_check().check_old(&from, &to) else {
                return Ok(false);
            };
            self.check_move(&from, &to, src, parent)?;
        }
        let op = RenameOld {
            src: from.path.into_owned(),
            dst: to.path.into_owned(),
            timestamp_ms: self.wall_ms() as i64,
        };
        Ok(self.commit_call(ctx, op)?.inode.is_some())
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
        let mut check = RemovalCheck::default();
        self.try_rename2(ctx, src, dst, options, &mut check, usize::MAX).map(drop)
    }

    /// As [`Namespace::rename2`]. A rename to the trash looks at up to `max` inodes below the path only, as
    /// [`Namespace::try_delete`] does.
    ///
    /// # Errors
    /// As [`Namespace::rename2`].
    pub fn try_rename2(
        &mut self,
        ctx: &OpContext,
        src: &str,
        dst: &str,
        options: RenameOptions,
        check: &mut RemovalCheck,
        max: usize,
    ) -> Result<Option<()>> {
        check_path_length("rename", dst)?;
        self.begin(ctx, || format!("Cannot rename {src}"))?;
        let from = self.resolve(ctx, src, DirOp::WriteLink)?;
        let to = self.resolve(ctx, dst, DirOp::CreateLink)?;
        if self.is_non_empty_directory(from.last()) {
            self.check_protected(&from.path)?;
        }
        self.check(ctx, &from, Check { parent: Some(WRITE), ..Check::default() })?;
        if options.to_trash && !self.check_removal(ctx, &from, check, max)? {
            return Ok(None);
        }
        self.check(ctx, &to, Check { ancestor: Some(WRITE), ..Check::default() })?;
        check_path_length("rename", &to.path)?;
        let (src, parent) = self.state.rename_check().check(&from, &to, options.overwrite)?;
        self.check_move(&from, &to, src, parent)?;
        let op = Rename {
            src: from.path.into_owned(),
            dst: to.path.into_owned(),
            timestamp_ms: self.wall_ms() as i64,
            options: option_codes(options),
        };
        self.commit_call(ctx, op).map(|_| Some(()))
    }

    /// Limits and quotas at the destination.
    fn check_move(
        &self,
        from: &Located<'_>,
        to: &Located<'_>,
        src: Slot,
        parent: Slot,
    ) -> Result<()> {
        if !self.state.tree().get(parent).is_directory() {
            let (parent, name) = (to.parent_path().to_owned(), to.name().to_owned());
            return refuse(AlreadyExists::FileForParent { parent, name });
        }
        self.state.paths().check_new_name(parent, to.name())?;
        let other_directory = self.state.tree().get(src).parent != parent;
        self.check_child_limits(
            parent,
            to.name(),
            to.parent_path(),
            other_directory && to.last().is_none(),
        )?;
        let mut delta = self.state.ledger().usage_in(src, parent);
        if let Some(dst) = to.last() {
            delta = delta.less(&self.state.ledger().usage_here(dst));
        }
        let shared = from.nodes.iter().zip(&to.nodes).take_while(|(a, b)| a == b).last();
        self.state.ledger().verify_quota(parent, &delta, shared.map(|(common, _)| *common))
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
