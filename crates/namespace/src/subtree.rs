//! Permissions on a whole subtree, checked in slices.
//!
//! A summary of a subtree asks whether its caller may read every directory below. The namespace's lock is given up
//! between two slices of that walk; whatever changes meanwhile, the walk goes on by inode ids, which are looked up anew.

use crate::access::{Action, Check, READ_EXECUTE, STICKY};
use crate::fail::{denied, not_found};
use crate::resolve::DirOp;
use crate::tree::Slot;
use crate::{Namespace, OpContext, Result};
use compact_str::CompactString;
use zerohop_wire::InodeId;

/// A walk over the directories at and below a path; see [`Namespace::walk_on`].
#[derive(Debug)]
pub struct SubtreeWalk {
    top: InodeId,
    /// For the message if the path is gone before the walk ends.
    path: String,
    action: Action,
    ignore_empty: bool,
    ignore_sticky: bool,
    open: Vec<Step>,
}

/// What a walk has still to do.
#[derive(Debug)]
enum Step {
    /// Check a directory.
    Check(InodeId),
    /// Look at a directory's children whose names come after this one.
    List(InodeId, CompactString),
}

impl SubtreeWalk {
    pub(crate) fn checking(top: InodeId, action: Action, check: &Check) -> Self {
        Self {
            top,
            path: String::new(),
            action,
            ignore_empty: check.ignore_empty_below,
            ignore_sticky: check.ignore_sticky_below,
            open: vec![Step::Check(top)],
        }
    }
}

impl Namespace {
    /// Begins the walk of a content summary: what lies in sticky directories must be the caller's only with
    /// `dfs.permissions.ContentSummary.subAccess`.
    ///
    /// # Errors
    /// As Hadoop's `getContentSummary` if the path is not there or cannot be reached.
    pub fn begin_summary_walk(&self, ctx: &OpContext, path: &str) -> Result<SubtreeWalk> {
        self.begin_walk(ctx, path, "File does not exist", !self.params().content_summary_sub_access)
    }

    /// Begins the walk of a quota's usage.
    ///
    /// # Errors
    /// As Hadoop's `getQuotaUsage` if the path is not there or cannot be reached.
    pub fn begin_quota_walk(&self, ctx: &OpContext, path: &str) -> Result<SubtreeWalk> {
        self.begin_walk(ctx, path, "File/Directory does not exist", false)
    }

    fn begin_walk(
        &self,
        ctx: &OpContext,
        path: &str,
        absent: &str,
        ignore_sticky: bool,
    ) -> Result<SubtreeWalk> {
        let located = self.resolve(ctx, path, DirOp::ReadLink)?;
        let Some(top) = located.last() else {
            return not_found(format!("{absent}: {}", located.path));
        };
        let check = Check { ignore_sticky_below: ignore_sticky, ..Check::default() };
        let mut walk = SubtreeWalk::checking(self.state.tree().get(top).id, READ_EXECUTE, &check);
        walk.path = located.path.into_owned();
        if self.skips_checks(ctx) {
            walk.open.clear();
        }
        Ok(walk)
    }

    /// Looks at up to `max` inodes of a walk; true if there are more. Directories that were moved away or deleted since
    /// the last call are left out.
    ///
    /// # Errors
    /// `AccessControlException` for the first directory that refuses the caller.
    pub fn walk_on(&self, ctx: &OpContext, walk: &mut SubtreeWalk, max: usize) -> Result<bool> {
        let mut left = max;
        while left > 0
            && let Some(step) = walk.open.pop()
        {
            left -= 1;
            match step {
                Step::Check(id) => self.check_directory(ctx, walk, id)?,
                Step::List(id, after) => self.list_directories(ctx, walk, id, after, &mut left)?,
            }
        }
        Ok(!walk.open.is_empty())
    }

    /// What [`Check::below`] asks, at once.
    pub(crate) fn check_below(
        &self,
        ctx: &OpContext,
        top: Slot,
        action: Action,
        check: &Check,
    ) -> Result<()> {
        let mut walk = SubtreeWalk::checking(self.state.tree().get(top).id, action, check);
        self.walk_on(ctx, &mut walk, usize::MAX).map(drop)
    }

    /// The inode that a walk began at.
    pub(crate) fn top_of(&self, walk: &SubtreeWalk) -> Result<Slot> {
        match self.state.tree().find(walk.top) {
            Some(slot) => Ok(slot),
            None => not_found(format!("File does not exist: {}", walk.path)),
        }
    }

    /// A directory of a walk, if it is still below its top.
    fn still_below(&self, walk: &SubtreeWalk, id: InodeId) -> Option<Slot> {
        let slot = self.state.tree().find(id)?;
        let is_below = self
            .state
            .tree()
            .ancestors(slot)
            .any(|above| self.state.tree().get(above).id == walk.top);
        is_below.then_some(slot)
    }

    fn check_directory(&self, ctx: &OpContext, walk: &mut SubtreeWalk, id: InodeId) -> Result<()> {
        let Some(slot) = self.still_below(walk, id) else { return Ok(()) };
        let Some(directory) = self.state.tree().get(slot).as_directory() else { return Ok(()) };
        if directory.children.is_empty() && walk.ignore_empty {
            return Ok(());
        }
        if !self.permits(ctx, slot, walk.action) {
            return denied(self.denial(ctx, slot, &self.state.tree().path(slot), walk.action));
        }
        // Most directories hold only files: of these nothing is asked.
        if directory.below.directories > 0 || self.asks_of_children(ctx, walk, slot) {
            walk.open.push(Step::List(id, CompactString::const_new("")));
        }
        Ok(())
    }

    /// Whether the owners of a directory's children matter.
    fn asks_of_children(&self, ctx: &OpContext, walk: &SubtreeWalk, slot: Slot) -> bool {
        let inode = self.state.tree().get(slot);
        !walk.ignore_sticky && inode.permission.mode() & STICKY != 0 && !self.owns(ctx, inode)
    }

    fn list_directories(
        &self,
        ctx: &OpContext,
        walk: &mut SubtreeWalk,
        id: InodeId,
        after: CompactString,
        left: &mut usize,
    ) -> Result<()> {
        let Some(slot) = self.still_below(walk, id) else { return Ok(()) };
        let inode = self.state.tree().get(slot);
        let Some(directory) = inode.as_directory() else { return Ok(()) };
        let is_asked = self.asks_of_children(ctx, walk, slot);
        let (children, mut count) = self.state.tree().children_after(directory, after.as_bytes());
        let place = walk.open.len();
        let mut last = None;
        for child in children.take(*left) {
            let node = self.state.tree().get(child);
            if is_asked && self.sticky_forbids(ctx, inode, node) {
                let (path, above) = (self.state.tree().path(child), self.state.tree().path(slot));
                return self.deny_sticky(ctx, (&path, child), (&above, slot));
            }
            if node.is_directory() {
                walk.open.push(Step::Check(node.id));
            }
            (count, *left) = (count - 1, *left - 1);
            last = Some(child);
        }
        if count > 0 {
            let after = last.map_or(after, |last| self.state.tree().name(last).into());
            walk.open.insert(place, Step::List(id, after));
        }
        Ok(())
    }
}
