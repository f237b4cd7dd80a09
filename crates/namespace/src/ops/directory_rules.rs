//! The checks of a directory's new children, and what new inodes inherit.

use crate::acl;
use crate::commit::DurableState;
use crate::error::{AlreadyExists, Denied, LimitError, NotADirectory, NotFound, PathError, refuse};
use crate::quota::Counts;
use crate::tree::{Acl, Slot};
use crate::walk::Located;
use crate::{NamespaceParams, OpContext, Result};
use zerohop_journal::types::PermissionStatus;

/// Modes of a new inode: with the client's umask applied, and without it if the client sent that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
    pub masked: u16,
    pub unmasked: Option<u16>,
}

impl Modes {
    /// The modes of missing parents, with which the rest can be made below them (`addImplicitUwx`).
    pub(crate) fn with_owner_write(self) -> Self {
        Self { masked: self.masked & 0o777 | 0o300, ..self }
    }
}

/// Limits on the children of directories, directories that are protected from deletion, and what new inodes inherit.
#[derive(Clone, Copy)]
pub(crate) struct DirectoryRules<'n> {
    pub(crate) params: &'n NamespaceParams,
    pub(crate) state: &'n DurableState,
    pub(crate) ctx: &'n OpContext,
}

impl DirectoryRules<'_> {
    /// Limits on a directory's new child (`FSDirectory.addLastINode`).
    pub(crate) fn check_new_child(
        self,
        directory: Slot,
        name: &str,
        directory_path: &str,
    ) -> Result<()> {
        self.state.paths().check_new_name(directory, name)?;
        self.check_child_limits(directory, name, directory_path, true)
    }

    pub(crate) fn check_child_limits(
        self,
        directory: Slot,
        name: &str,
        directory_path: &str,
        counts: bool,
    ) -> Result<()> {
        let (limit, len) = (self.params.component_len_max, name.len());
        if limit != 0 && len > limit {
            let (name, directory) = (name.to_owned(), directory_path.to_owned());
            return refuse(PathError::ComponentTooLong { name, directory, limit, len });
        }
        let items = self
            .state
            .tree()
            .get(directory)
            .as_directory()
            .map_or(0, |directory| directory.children.len());
        if counts && items >= self.params.directory_items_max {
            let (path, limit) = (directory_path.to_owned(), self.params.directory_items_max);
            return refuse(LimitError::DirectoryItems { path, limit, items });
        }
        Ok(())
    }

    pub(crate) fn is_non_empty_directory(self, slot: Option<Slot>) -> bool {
        slot.is_some_and(|slot| self.state.tree().is_non_empty_directory(slot))
    }

    /// `fs.protected.directories`, and `dfs.protected.subdirectories.enable` (`DFSUtil.checkProtectedDescendants`).
    pub(crate) fn check_protected(self, path: &str) -> Result<()> {
        let all = &self.params.protected_directories;
        if all.iter().any(|protected| protected == path) {
            return refuse(Denied::Protected { path: path.to_owned() });
        }
        for protected in all {
            let below = protected.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            if below && self.is_non_empty_directory(self.state.paths().walk(protected)?.last()) {
                return refuse(Denied::ProtectedBelow { path: protected.clone() });
            }
        }
        if !self.params.protected_subdirectories {
            return Ok(());
        }
        let is_above = |directory: &&String| {
            path.strip_prefix(&***directory).is_some_and(|rest| rest.starts_with('/'))
        };
        match all.iter().filter(is_above).max_by_key(|directory| directory.len()) {
            Some(protected) => refuse(Denied::BelowProtected { path: protected.clone() }),
            None => Ok(()),
        }
    }

    /// `FSDirectory.verifyParentDir`
    pub(crate) fn verify_parent(self, located: &Located<'_>) -> Result<()> {
        if located.depth <= 2 {
            return Ok(());
        }
        let path = || located.parent_path().to_owned();
        match located.parent() {
            None => refuse(NotFound::Parent { path: path() }),
            Some(parent) if !self.state.tree().get(parent).is_directory() => {
                refuse(NotADirectory::Parent { path: path() })
            }
            Some(_) => Ok(()),
        }
    }

    /// Checks whether a directory accepts a child of that name and quota usage.
    pub(crate) fn check_insert(
        self,
        parent: Slot,
        name: &str,
        parent_path: &str,
        usage: &Counts,
    ) -> Result<()> {
        if !self.state.tree().get(parent).is_directory() {
            let (parent, name) = (parent_path.to_owned(), name.to_owned());
            return refuse(AlreadyExists::FileForParent { parent, name });
        }
        self.check_new_child(parent, name, parent_path)?;
        self.state.ledger().verify_quota(parent, usage, None)
    }

    /// Owner and group of a new inode: the caller, and the directory's group.
    pub(crate) fn new_permissions(self, parent: Slot, mode: u16) -> PermissionStatus {
        let group = self.state.tree().group(self.state.tree().get(parent).permission).clone();
        PermissionStatus { user: self.ctx.user().clone(), group, mode }
    }

    /// Mode and ACL of a new inode, with the parent's default ACL applied (`copyINodeDefaultAcl`).
    pub(crate) fn new_mode(
        self,
        parent: Slot,
        modes: Modes,
        is_directory: bool,
    ) -> (u16, Option<Acl>) {
        let default = self.state.tree().get(parent).acl();
        let asked = match modes.unmasked {
            Some(unmasked) if self.params.posix_acl_inheritance => unmasked,
            _ => modes.masked,
        };
        acl::inherited(default, asked, is_directory).unwrap_or((modes.masked, None))
    }
}
