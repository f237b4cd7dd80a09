//! Deletion: the subtree is gone from the tree at once, its inodes and blocks are freed in slices.

use crate::access::{ALL, Check, WRITE};
use crate::fail::{fail, invalid_path};
use crate::resolve::{DirOp, is_exact_reserved};
use crate::tree::{Body, Slot};
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::Delete;
use zerohop_wire::JavaException;

/// Inodes and blocks freed before a delete answers; the rest waits for [`Namespace::reap`].
const REAP_AT_ONCE: usize = 1000;

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
        if self.is_non_empty_folder(located.last()) {
            if !recursive {
                let message = format!("`{} is non empty': Directory is not empty", located.path);
                return fail(JavaException::PathIsNotEmptyDirectory, message);
            }
            self.check_protected(&located.path)?;
        }
        let Some(slot) = located.last().filter(|_| !located.is_root()) else { return Ok(false) };
        let now = self.wall_ms();
        self.remove_subtree(slot, now);
        self.log_call(ctx, Delete { path: located.path.into_owned(), timestamp_ms: now as i64 });
        Ok(true)
    }

    /// Takes a subtree out of the tree and frees what is not too much; its folder's time moves to `mtime`.
    pub(crate) fn remove_subtree(&mut self, slot: Slot, mtime: u64) {
        let parent = self.state.tree.get(slot).parent;
        // Who is told of the deletion may use what it gave back: that does not wait for the last inode.
        let usage = self.usage_of(slot);
        self.charge(parent, &usage.negated());
        self.state.tree.detach(slot);
        self.folder_changed(parent, mtime);
        self.garbage.add(slot, &usage);
        self.reap(REAP_AT_ONCE);
    }

    /// Frees up to `max` inodes and blocks of deleted subtrees; true while there are more. Call between operations.
    pub fn reap(&mut self, max: usize) -> bool {
        let mut left = max;
        while left > 0
            && let Some(slot) = self.garbage.next()
        {
            left = left.saturating_sub(self.reap_one(slot));
        }
        !self.garbage.is_empty()
    }

    /// Frees an inode that has nothing below it, else puts one of its children before it; how many steps that took.
    fn reap_one(&mut self, slot: Slot) -> usize {
        if let Some(directory) = self.state.tree.get_mut(slot).as_directory_mut()
            && let Some(child) = directory.children.pop()
        {
            self.garbage.put_back(slot, child);
            return 1;
        }
        let inode = self.state.tree.free(slot);
        let mut objects = 1;
        if let Body::File(file) = inode.body {
            let blocks = file.blocks.as_slice();
            blocks.iter().for_each(|block| self.state.blocks.remove(*block));
            objects += blocks.len();
            self.state.leases.remove(inode.id);
        }
        self.garbage.freed(objects);
        objects
    }
}
