//! Deletion: the subtree is gone from the tree at once, its inodes and blocks are freed in slices.

use crate::access::{ALL, Check, WRITE};
use crate::blocks::policy;
use crate::fail::{fail, invalid_path};
use crate::garbage::Garbage;
use crate::quota::Counts;
use crate::resolve::{DirOp, is_exact_reserved};
use crate::tree::{Body, Slot};
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::Delete;
use zerohop_wire::{InodeId, JavaException};

/// Inodes freed before a delete answers; the rest waits for [`Namespace::reap`].
const REAP_AT_ONCE: usize = 20_000;

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
        self.settle(slot);
        let parent = self.tree.get(slot).parent;
        let inherited = self.effective_policy(parent);
        let folder = if self.has_limit_above(parent) {
            // Who is told of the deletion may use what it gave back: that must not wait for the last inode.
            let usage = self.usage_of(slot, inherited);
            self.charge(parent, &usage.negated());
            None
        } else {
            Some(self.tree.get(parent).id)
        };
        self.tree.detach(slot);
        self.folder_changed(parent, mtime);
        self.garbage.push(Garbage { folder, open: vec![(slot, inherited)] });
        self.reap(REAP_AT_ONCE);
    }

    /// Frees up to `max` inodes of deleted subtrees; true while there are more. Call between operations.
    pub fn reap(&mut self, max: usize) -> bool {
        let mut left = max;
        while let Some(mut garbage) = self.garbage.pop() {
            while left > 0
                && let Some((slot, inherited)) = garbage.open.pop()
            {
                self.reap_one(&mut garbage, slot, inherited);
                left -= 1;
            }
            if !garbage.open.is_empty() {
                self.garbage.push(garbage);
                return true;
            }
        }
        false
    }

    fn reap_one(&mut self, garbage: &mut Garbage, slot: Slot, inherited: u8) {
        let policy = match self.local_policy(slot) {
            policy::UNSPECIFIED => inherited,
            local => local,
        };
        if let Some(directory) = self.tree.get_mut(slot).as_directory_mut()
            && let Some(child) = directory.children.pop()
        {
            garbage.open.push((slot, inherited));
            garbage.open.push((child, policy));
            return;
        }
        if let Some(folder) = garbage.folder {
            let usage = self.usage_of(slot, inherited);
            self.uncharge(folder, &usage);
        }
        let inode = self.tree.free(slot);
        if let Body::File(file) = inode.body {
            file.blocks.as_slice().iter().for_each(|block| self.blocks.remove(*block));
            self.leases.remove(inode.id);
        }
    }

    /// Whether a folder or one above it has a quota that can be exceeded.
    fn has_limit_above(&self, folder: Slot) -> bool {
        self.tree.ancestors(folder).any(|slot| {
            let quota = self.tree.get(slot).as_directory().and_then(|found| found.quota.as_ref());
            quota.is_some_and(|quota| quota.is_limited())
        })
    }

    fn uncharge(&mut self, folder: InodeId, usage: &Counts) {
        if let Some(folder) = self.tree.find_any(folder) {
            self.charge(folder, &usage.negated());
        }
    }

    /// Before an inode moves or goes: what was deleted below it must not be charged to folders above it any more.
    pub(crate) fn settle(&mut self, slot: Slot) {
        let below = |garbage: &Garbage| {
            let Some(folder) = garbage.folder else { return false };
            let folder = self.tree.find_any(folder);
            folder.is_none_or(|folder| self.tree.ancestors(folder).any(|above| above == slot))
        };
        if self.garbage.iter().any(below) {
            self.reap(usize::MAX);
        }
    }
}
