//! `rename` and `rename2`.

use super::Directories;
use crate::access::{Check, WRITE};
use crate::error::{AlreadyExists, refuse};
use crate::limits::check_path_length;
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::walk::Located;
use crate::{RemovalCheck, RenameOptions, Result};
use zerohop_journal::op::{Rename, RenameOld};

impl Directories<'_> {
    /// Renames as `FileSystem.rename` does: an existing directory as destination means a name in it. Returns false if the
    /// rename is not possible.
    ///
    /// # Errors
    /// As Hadoop's `rename`: permissions, quotas, limits.
    pub fn rename(&mut self, src: &str, dst: &str) -> Result<bool> {
        check_path_length("rename", dst)?;
        self.call.begin(|| format!("Cannot rename {src}"))?;
        let from = self.call.access().resolve(src, DirOp::WriteLink)?;
        let to = self.call.access().resolve(dst, DirOp::CreateLink)?;
        let to = self.call.state.rename_check().destination(&from, to);
        if self.call.rules().is_non_empty_directory(from.last()) {
            self.call.rules().check_protected(&from.path)?;
        }
        self.call.access().check(&from, Check { parent: Some(WRITE), ..Check::default() })?;
        // The destination may be an existing directory now, which has to be traversed.
        self.call.access().check_traverse(&to, false)?;
        self.call.access().check(&to, Check { ancestor: Some(WRITE), ..Check::default() })?;
        check_path_length("rename", &to.path)?;
        if from.is_root() || from.last().is_none() {
            return Ok(false);
        }
        if from.path != to.path {
            let Some((src, parent)) = self.call.state.rename_check().check_old(&from, &to) else {
                return Ok(false);
            };
            self.check_move(&from, &to, src, parent)?;
        }
        let op = RenameOld {
            src: from.path.into_owned(),
            dst: to.path.into_owned(),
            timestamp_ms: self.call.wall_ms() as i64,
        };
        Ok(self.call.commit_call(op)?.inode.is_some())
    }

    /// Renames as `FileContext.rename` does: with an error if the rename is not possible.
    ///
    /// # Errors
    /// As Hadoop's `rename2`.
    pub fn rename2(&mut self, src: &str, dst: &str, options: RenameOptions) -> Result<()> {
        let mut check = RemovalCheck::default();
        self.try_rename2(src, dst, options, &mut check, usize::MAX).map(drop)
    }

    /// As [`Directories::rename2`]. A rename to the trash looks at up to `max` inodes below the path only, as
    /// [`Directories::try_delete`] does.
    ///
    /// # Errors
    /// As [`Directories::rename2`].
    pub fn try_rename2(
        &mut self,
        src: &str,
        dst: &str,
        options: RenameOptions,
        check: &mut RemovalCheck,
        max: usize,
    ) -> Result<Option<()>> {
        check_path_length("rename", dst)?;
        self.call.begin(|| format!("Cannot rename {src}"))?;
        let from = self.call.access().resolve(src, DirOp::WriteLink)?;
        let to = self.call.access().resolve(dst, DirOp::CreateLink)?;
        if self.call.rules().is_non_empty_directory(from.last()) {
            self.call.rules().check_protected(&from.path)?;
        }
        self.call.access().check(&from, Check { parent: Some(WRITE), ..Check::default() })?;
        if options.to_trash && !self.subtrees().check_removal(&from, check, max)? {
            return Ok(None);
        }
        self.call.access().check(&to, Check { ancestor: Some(WRITE), ..Check::default() })?;
        check_path_length("rename", &to.path)?;
        let (src, parent) = self.call.state.rename_check().check(&from, &to, options.overwrite)?;
        self.check_move(&from, &to, src, parent)?;
        let op = Rename {
            src: from.path.into_owned(),
            dst: to.path.into_owned(),
            timestamp_ms: self.call.wall_ms() as i64,
            options: option_codes(options),
        };
        self.call.commit_call(op).map(|_| Some(()))
    }

    /// Limits and quotas at the destination.
    fn check_move(
        &self,
        from: &Located<'_>,
        to: &Located<'_>,
        src: Slot,
        parent: Slot,
    ) -> Result<()> {
        if !self.call.state.tree().get(parent).is_directory() {
            let (parent, name) = (to.parent_path().to_owned(), to.name().to_owned());
            return refuse(AlreadyExists::FileForParent { parent, name });
        }
        self.call.state.paths().check_new_name(parent, to.name())?;
        let other_directory = self.call.state.tree().get(src).parent != parent;
        self.call.rules().check_child_limits(
            parent,
            to.name(),
            to.parent_path(),
            other_directory && to.last().is_none(),
        )?;
        let mut delta = self.call.state.ledger().usage_in(src, parent);
        if let Some(dst) = to.last() {
            delta = delta.less(&self.call.state.ledger().usage_here(dst));
        }
        let shared = from.nodes.iter().zip(&to.nodes).take_while(|(a, b)| a == b).last();
        self.call.state.ledger().verify_quota(parent, &delta, shared.map(|(common, _)| *common))
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
