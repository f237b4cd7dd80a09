//! `delete`: the subtree leaves the tree at once, its inodes and blocks are freed in slices.

use super::Directories;
use crate::access::{Check, WRITE};
use crate::error::{PathError, refuse};
use crate::resolve::DirOp;
use crate::walk::is_exact_reserved;
use crate::{RemovalCheck, Result};
use zerohop_journal::op::Delete;

impl Directories<'_> {
    /// Deletes a path; false if it does not exist or is the root.
    ///
    /// # Errors
    /// As Hadoop's `delete`: not empty without `recursive`, no permission.
    pub fn delete(&mut self, path: &str, recursive: bool) -> Result<bool> {
        let mut check = RemovalCheck::default();
        let deleted = self.try_delete(path, recursive, &mut check, usize::MAX)?;
        Ok(deleted.unwrap_or_default())
    }

    /// As [`Directories::delete`], but looks at up to `max` inodes below the path only. None if the caller's permissions on more
    /// of them are to be checked: go on with `Subtrees::continue_check`, others in between, and try again after that.
    ///
    /// # Errors
    /// As [`Directories::delete`].
    pub fn try_delete(
        &mut self,
        path: &str,
        recursive: bool,
        check: &mut RemovalCheck,
        max: usize,
    ) -> Result<Option<bool>> {
        self.call.begin(|| format!("Cannot delete {path}"))?;
        if is_exact_reserved(path) {
            return refuse(PathError::Invalid { path: path.to_owned() });
        }
        let located = self.call.access().resolve(path, DirOp::WriteLink)?;
        self.call.access().check(&located, Check { parent: Some(WRITE), ..Check::default() })?;
        if !self.subtrees().check_removal(&located, check, max)? {
            return Ok(None);
        }
        if self.call.rules().is_non_empty_directory(located.last()) {
            if !recursive {
                return refuse(PathError::NotEmpty { path: located.path.into_owned() });
            }
            self.call.rules().check_protected(&located.path)?;
        }
        if located.is_root() || located.last().is_none() {
            return Ok(Some(false));
        }
        let op =
            Delete { path: located.path.into_owned(), timestamp_ms: self.call.wall_ms() as i64 };
        Ok(Some(self.call.commit_call(op)?.inode.is_some()))
    }
}
