//! Deletion: the subtree is gone from the tree at once, its inodes and blocks are freed in slices.

use crate::access::{ALL, Check, WRITE};
use crate::fail::{fail, invalid_path};
use crate::resolve::DirOp;
use crate::walk::is_exact_reserved;
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::Delete;
use zerohop_wire::JavaException;

impl Namespace {
    /// Deletes a path; false if nothing is there (or it is the root).
    ///
    /// # Errors
    /// As Hadoop's `delete`: not empty without `recursive`, no permission.
    pub fn delete(&mut self, ctx: &OpContext, path: &str, recursive: bool) -> Result<bool> {
        self.begin(ctx, || format!("Cannot delete {path}"))?;
        if is_exact_reserved(path) {
            return invalid_path(path);
        }
        let located = self.resolve(ctx, path, DirOp::WriteLink)?;
        let check = Check {
            parent: Some(WRITE),
            below: Some(ALL),
            ignore_empty_below: true,
            ..Check::default()
        };
        self.check(ctx, &located, check)?;
        if self.is_non_empty_directory(located.last()) {
            if !recursive {
                let message = format!("`{} is non empty': Directory is not empty", located.path);
                return fail(JavaException::PathIsNotEmptyDirectory, message);
            }
            self.check_protected(&located.path)?;
        }
        if located.is_root() || located.last().is_none() {
            return Ok(false);
        }
        let op = Delete { path: located.path.into_owned(), timestamp_ms: self.wall_ms() as i64 };
        Ok(self.commit_call(ctx, op)?.inode.is_some())
    }
}
