//! Permissions on a whole subtree, checked in slices.
//!
//! A summary of a subtree asks whether its caller may read every directory below, a removal whether its caller may empty
//! them. The namespace's lock is released between two slices of that walk; if something changes meanwhile, the walk continues by
//! inode ids, which are looked up again. A summary ignores changes of what the walk has checked already. A removal does not: before each
//! slice it checks again what changed since the last one, so that it may proceed, under one hold of the lock, as soon as
//! nothing is left to check.

use crate::Result;
use crate::access::{ALL, Action, PermissionChecker, READ_EXECUTE};
use crate::error::{NotFound, TryAgain, refuse};
use crate::resolve::DirOp;
use crate::tree::{AccessChange, Forgotten, Slot, Tree};
use crate::walk::Located;
use compact_str::CompactString;
use zerohop_wire::InodeId;

/// How often a removal is tried, and how many changes in the subtree it tolerates, before it is refused: it must end even
/// if large directories are moved in and out all the time.
const ATTEMPTS_MAX: usize = 100;
const CHANGES_MAX: usize = 100_000;

/// A walk over the directories at and below a path; see [`Subtrees::walk_on`].
#[derive(Debug)]
pub struct SubtreeWalk {
    top: InodeId,
    /// For the message if the path is gone before the walk ends.
    path: String,
    action: Action,
    ignore_empty: bool,
    ignore_sticky: bool,
    open: Vec<Step>,
    /// For a removal, what changes while it walks.
    changes: Option<ChangesSeen>,
}

/// The check whether a caller may remove a subtree; see `Directories::try_delete`.
#[derive(Debug, Default)]
pub struct RemovalCheck {
    walk: Option<SubtreeWalk>,
    attempts: usize,
}

/// A step that a walk still has to do.
#[derive(Debug)]
enum Step {
    /// Check a directory and all below.
    Check(InodeId),
    /// Check a directory whose permissions changed; those below are checked without that.
    CheckAlone(InodeId),
    /// Look at the owners of a sticky directory's children whose names come after this one.
    Owners(InodeId, CompactString),
    /// Check the directories among a directory's children, from the last one before this name to the first:
    /// `FSPermissionChecker.checkSubAccess` takes them from a stack.
    Directories(InodeId, Option<CompactString>),
}

/// How many changes a walk has checked again.
#[derive(Debug)]
struct ChangesSeen {
    next: u64,
    /// How many of them were in its subtree.
    count: usize,
}

impl SubtreeWalk {
    fn new(top: InodeId, path: String, action: Action) -> Self {
        let open = vec![Step::Check(top)];
        let (ignore_empty, ignore_sticky) = (false, false);
        Self { top, path, action, ignore_empty, ignore_sticky, open, changes: None }
    }

    /// For a removal that begins when `next` is the number of the next change.
    fn of_removal(top: InodeId, path: String, next: u64) -> Self {
        let changes = Some(ChangesSeen { next, count: 0 });
        Self { ignore_empty: true, changes, ..Self::new(top, path, ALL) }
    }

    /// The inode that the walk began at.
    pub(crate) fn top(&self, tree: &Tree) -> Result<Slot> {
        match tree.find(self.top) {
            Some(slot) => Ok(slot),
            None => refuse(NotFound::File { path: self.path.clone() }),
        }
    }

    /// Looks at up to `max` inodes; true if there are more.
    fn advance(&mut self, access: PermissionChecker<'_>, max: usize) -> Result<bool> {
        let mut left = max;
        while left > 0 {
            left -= 1;
            if let Some(change) = self.next_change(access)? {
                self.look_again(access, change)?;
                continue;
            }
            match self.open.pop() {
                None => return Ok(false),
                Some(Step::Check(id)) => self.check_directory(access, id, true)?,
                Some(Step::CheckAlone(id)) => self.check_directory(access, id, false)?,
                Some(Step::Owners(id, after)) => {
                    self.check_owners(access, (id, after), &mut left)?;
                }
                Some(Step::Directories(id, end)) => {
                    self.list_directories(access, (id, end), &mut left);
                }
            }
        }
        Ok(!self.open.is_empty() || self.has_changes(access))
    }

    fn has_changes(&self, access: PermissionChecker<'_>) -> bool {
        let end = access.tree.access_changes().end();
        self.changes.as_ref().is_some_and(|seen| seen.next < end)
    }

    /// The next change that was not checked. If there were too many to keep, the walk starts again.
    fn next_change(&mut self, access: PermissionChecker<'_>) -> Result<Option<AccessChange>> {
        let Some(seen) = self.changes.as_mut() else { return Ok(None) };
        let changes = access.tree.access_changes();
        match changes.get(seen.next) {
            Ok(change) => {
                seen.next += u64::from(change.is_some());
                Ok(change)
            }
            Err(Forgotten) => {
                seen.next = changes.end();
                self.open = vec![Step::Check(self.top)];
                self.count_changes(CHANGES_MAX / 4).map(|()| None)
            }
        }
    }

    fn count_changes(&mut self, count: usize) -> Result<()> {
        let Some(seen) = self.changes.as_mut() else { return Ok(()) };
        seen.count += count;
        if seen.count < CHANGES_MAX { Ok(()) } else { changes_too_fast(&self.path) }
    }

    /// Checks an inode again that changed during the walk.
    fn look_again(&mut self, access: PermissionChecker<'_>, change: AccessChange) -> Result<()> {
        let (AccessChange::Attached(id) | AccessChange::Permission(id)) = change;
        let Some(slot) = self.still_below(access, id) else { return Ok(()) };
        self.count_changes(1)?;
        if id != self.top {
            let parent = access.tree.get(slot).parent;
            self.check_owner(access, parent, slot)?;
            // The directory may have been empty when it was checked.
            self.check_permission(access, parent)?;
        }
        self.open.push(match change {
            AccessChange::Attached(id) => Step::Check(id),
            AccessChange::Permission(id) => Step::CheckAlone(id),
        });
        Ok(())
    }

    /// A directory of a walk, if it is still below its top.
    fn still_below(&self, access: PermissionChecker<'_>, id: InodeId) -> Option<Slot> {
        let tree = access.tree;
        let slot = tree.find(id)?;
        tree.ancestors(slot).any(|above| tree.get(above).id == self.top).then_some(slot)
    }

    fn check_directory(
        &mut self,
        access: PermissionChecker<'_>,
        id: InodeId,
        goes_below: bool,
    ) -> Result<()> {
        let Some(slot) = self.still_below(access, id) else { return Ok(()) };
        let inode = access.tree.get(slot);
        let Some(directory) = inode.as_directory() else { return Ok(()) };
        if directory.children.is_empty() && self.ignore_empty {
            return Ok(());
        }
        self.check_permission(access, slot)?;
        // Most directories hold only files, which are not checked.
        if goes_below && directory.below.directories > 0 {
            self.open.push(Step::Directories(id, None));
        }
        if !self.ignore_sticky && inode.permission.is_sticky() && !access.owns(inode) {
            self.open.push(Step::Owners(id, CompactString::const_new("")));
        }
        Ok(())
    }

    fn check_permission(&self, access: PermissionChecker<'_>, slot: Slot) -> Result<()> {
        if access.permits(slot, self.action) {
            return Ok(());
        }
        let path = access.tree.path(slot);
        refuse(access.denial(slot, path, self.action))
    }

    /// Whether the sticky bit of a directory lets the caller remove a child of it.
    fn check_owner(&self, access: PermissionChecker<'_>, parent: Slot, child: Slot) -> Result<()> {
        let tree = access.tree;
        if self.ignore_sticky || !access.sticky_forbids(tree.get(parent), tree.get(child)) {
            return Ok(());
        }
        let (path, above) = (tree.path(child), tree.path(parent));
        access.deny_sticky((&path, child), (&above, parent))
    }

    fn check_owners(
        &mut self,
        access: PermissionChecker<'_>,
        (id, after): (InodeId, CompactString),
        left: &mut usize,
    ) -> Result<()> {
        let Some(slot) = self.still_below(access, id) else { return Ok(()) };
        let tree = access.tree;
        let Some(directory) = tree.get(slot).as_directory() else { return Ok(()) };
        let (mut children, _) = tree.children_after(directory, after.as_bytes());
        let mut last = None;
        for child in children.by_ref().take((*left).max(1)) {
            self.check_owner(access, slot, child)?;
            (*left, last) = (left.saturating_sub(1), Some(child));
        }
        let has_more = children.next().is_some();
        drop(children);
        if has_more {
            let after = last.map_or(after, |last| tree.name(last).into());
            self.open.push(Step::Owners(id, after));
        }
        Ok(())
    }

    fn list_directories(
        &mut self,
        access: PermissionChecker<'_>,
        (id, end): (InodeId, Option<CompactString>),
        left: &mut usize,
    ) {
        let Some(slot) = self.still_below(access, id) else { return };
        let tree = access.tree;
        let Some(directory) = tree.get(slot).as_directory() else { return };
        let mut children = tree.children_before(directory, end.as_deref().map(str::as_bytes));
        let (mut found, mut last) = (Vec::new(), None);
        for child in children.by_ref().take((*left).max(1)) {
            let inode = tree.get(child);
            found.extend(inode.is_directory().then_some(inode.id));
            (*left, last) = (left.saturating_sub(1), Some(child));
        }
        let has_more = children.next().is_some();
        drop(children);
        if has_more {
            let end = last.map(|last| tree.name(last).into()).or(end);
            self.open.push(Step::Directories(id, end));
        }
        self.open.extend(found.into_iter().rev().map(Step::Check));
    }
}

fn changes_too_fast<T>(path: &str) -> Result<T> {
    refuse(TryAgain::PermissionsChange { path: path.to_owned() })
}

/// Checks of a caller's permissions on whole subtrees.
#[derive(Clone, Copy)]
pub struct Subtrees<'n> {
    pub(crate) access: PermissionChecker<'n>,
}

impl Subtrees<'_> {
    /// Begins the walk of a content summary: what lies in sticky directories must be the caller's only with
    /// `dfs.permissions.ContentSummary.subAccess`.
    ///
    /// # Errors
    /// As Hadoop's `getContentSummary` if the path is not there or cannot be reached.
    pub fn begin_summary_walk(self, path: &str) -> Result<SubtreeWalk> {
        let mut walk = self.begin_walk(path, |path| NotFound::File { path })?;
        walk.ignore_sticky = !self.access.params.content_summary_sub_access;
        Ok(walk)
    }

    /// Begins the walk of a quota's usage.
    ///
    /// # Errors
    /// As Hadoop's `getQuotaUsage` if the path is not there or cannot be reached.
    pub fn begin_quota_walk(self, path: &str) -> Result<SubtreeWalk> {
        self.begin_walk(path, |path| NotFound::FileOrDirectory { path })
    }

    fn begin_walk(self, path: &str, absent: fn(String) -> NotFound) -> Result<SubtreeWalk> {
        let located = self.access.resolve(path, DirOp::ReadLink)?;
        let Some(top) = located.last() else {
            return refuse(absent(located.path.into_owned()));
        };
        let id = self.access.tree.get(top).id;
        let mut walk = SubtreeWalk::new(id, located.path.into_owned(), READ_EXECUTE);
        if self.access.skips_checks() {
            walk.open.clear();
        }
        Ok(walk)
    }

    /// Looks at up to `max` inodes of a walk; true if there are more. Directories that were moved away or deleted since
    /// the last call are left out.
    ///
    /// # Errors
    /// `Error::Denied` for the first directory that refuses the caller.
    pub fn walk_on(self, walk: &mut SubtreeWalk, max: usize) -> Result<bool> {
        walk.advance(self.access, max)
    }

    /// As [`Subtrees::walk_on`], between two tries of a removal.
    ///
    /// # Errors
    /// `Error::Denied` for the first directory that refuses the caller, in the order in which Hadoop looks at them.
    /// Of those that change during the check, the first that is found.
    pub fn continue_check(self, check: &mut RemovalCheck, max: usize) -> Result<bool> {
        match &mut check.walk {
            Some(walk) => walk.advance(self.access, max),
            None => Ok(false),
        }
    }

    /// Looks at up to `max` inodes at and below a path that is to be removed; true if none is left, as they are now.
    pub(crate) fn check_removal(
        self,
        located: &Located<'_>,
        check: &mut RemovalCheck,
        max: usize,
    ) -> Result<bool> {
        let Some(top) = located.last().filter(|_| !self.access.skips_checks()) else {
            return Ok(true);
        };
        check.attempts += 1;
        if check.attempts > ATTEMPTS_MAX {
            return changes_too_fast(&located.path);
        }
        let (id, end) = (self.access.tree.get(top).id, self.access.tree.access_changes().end());
        // Something else may be at the path now.
        let walk = match check.walk.take().filter(|walk| walk.top == id) {
            Some(walk) => walk,
            None => SubtreeWalk::of_removal(id, located.path.clone().into_owned(), end),
        };
        let walk = check.walk.insert(walk);
        Ok(!walk.advance(self.access, max)?)
    }
}
