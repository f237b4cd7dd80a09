//! The operations, a file a family: live ones with their checks, and the change itself that replay shares.

mod acl;
mod append;
mod attr;
mod blocks;
mod complete;
mod concat;
mod create;
mod delete;
mod lease;
mod listing;
mod mkdirs;
mod policy;
mod quota;
mod rename;
mod stat;
mod summary;
mod symlink;
mod truncate;
mod xattr;

pub(crate) use mkdirs::inconsistent;
pub(crate) use quota::from_edit_type;
pub use quota::quota_command;
pub(crate) use xattr::{with_removed, with_set};

use crate::fail::fail;
use crate::tree::Slot;
use crate::{Namespace, Result};
use zerohop_journal::op::string_fits;
use zerohop_wire::JavaException;

impl Namespace {
    /// An inode's path for an edit that cannot be refused. Renames may have moved it deeper than a path can say: then its
    /// number says it.
    pub(crate) fn edit_path(&self, slot: Slot) -> String {
        self.edit_path_of(self.state.tree.path(slot), slot)
    }

    /// As [`Namespace::edit_path`], the path being known.
    pub(crate) fn edit_path_of(&self, path: impl Into<String>, slot: Slot) -> String {
        let path = path.into();
        if string_fits(&path) {
            return path;
        }
        format!("/.reserved/.inodes/{}", self.state.tree.get(slot).id)
    }

    /// Limits on a folder's new child (`FSDirectory.addLastINode`).
    fn check_new_child(&self, folder: Slot, name: &str, folder_path: &str) -> Result<()> {
        if folder == self.state.tree.root() && name == ".reserved" {
            return crate::fail::illegal(format!(
                "File name \"{name}\" is reserved and cannot be created. If this is during upgrade change the name of \
                 the existing file or directory to another name before upgrading to the new release."
            ));
        }
        self.check_child_limits(folder, name, folder_path, true)?;
        if name == ".snapshot" {
            return crate::fail::illegal("\".snapshot\" is a reserved name.");
        }
        Ok(())
    }

    fn check_child_limits(
        &self,
        folder: Slot,
        name: &str,
        folder_path: &str,
        counts: bool,
    ) -> Result<()> {
        let (limit, len) = (self.params.component_len_max, name.len());
        if limit != 0 && len > limit {
            return fail(
                JavaException::PathComponentTooLong,
                format!(
                    "The maximum path component name limit of {name} in directory {folder_path} is exceeded: \
                     limit={limit} length={len}"
                ),
            );
        }
        let items = self
            .state
            .tree
            .get(folder)
            .as_directory()
            .map_or(0, |directory| directory.children.len());
        if counts && items >= self.params.directory_items_max {
            return fail(
                JavaException::MaxDirectoryItemsExceeded,
                format!(
                    "The directory item limit of {folder_path} is exceeded: limit={} items={items}",
                    self.params.directory_items_max
                ),
            );
        }
        Ok(())
    }

    /// A folder's time only moves forward when its list changes.
    pub(crate) fn folder_changed(&mut self, folder: Slot, mtime: u64) {
        let inode = self.state.tree.get_mut(folder);
        inode.set_mtime(inode.mtime().max(mtime));
    }

    fn is_non_empty_folder(&self, slot: Option<Slot>) -> bool {
        let directory = slot.and_then(|slot| self.state.tree.get(slot).as_directory());
        directory.is_some_and(|directory| !directory.children.is_empty())
    }

    /// `fs.protected.directories`, and `dfs.protected.subdirectories.enable` (`DFSUtil.checkProtectedDescendants`).
    fn check_protected(&self, path: &str) -> Result<()> {
        let all = &self.params.protected_directories;
        if all.iter().any(|protected| protected == path) {
            return crate::fail::denied(format!(
                "Cannot delete/rename non-empty protected directory {path}"
            ));
        }
        for protected in all {
            let below = protected.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            if below && self.is_non_empty_folder(self.walk(protected)?.last()) {
                return crate::fail::denied(format!(
                    "Cannot delete/rename non-empty protected subdirectory {protected}"
                ));
            }
        }
        if !self.params.protected_subdirectories {
            return Ok(());
        }
        let is_above = |folder: &&String| {
            path.strip_prefix(&***folder).is_some_and(|rest| rest.starts_with('/'))
        };
        match all.iter().filter(is_above).max_by_key(|folder| folder.len()) {
            Some(protected) => crate::fail::denied(format!(
                "Cannot delete/rename subdirectory under protected subdirectory {protected}"
            )),
            None => Ok(()),
        }
    }

    /// Whether one more inode or block fits `dfs.namenode.max.objects` once `freed` are gone (`checkFsObjectLimit`). As
    /// there, an operation that makes several is counted as one. What is deleted does not
    /// count, also if it is not freed yet.
    fn check_object_limit(&self, freed: usize) -> Result<()> {
        let limit = self.params.objects_max;
        let objects = self.state.blocks.block_count().saturating_add(self.state.tree.len() as u64);
        let objects = objects.saturating_sub(self.garbage.objects());
        if limit == 0 || objects.saturating_sub(freed as u64) < limit {
            return Ok(());
        }
        crate::fail::io(format!(
            "Exceeded the configured number of objects {limit} in the filesystem."
        ))
    }
}
