//! The operations, a file for each family: they check, build an edit, commit it and answer.

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
mod rolling_upgrade;
mod stat;
mod summary;
mod symlink;
mod truncate;
mod xattr;

pub use quota::quota_command;

use crate::fail::fail;
use crate::tree::Slot;
use crate::{Namespace, Result};
use zerohop_wire::JavaException;

impl Namespace {
    /// Limits on a directory's new child (`FSDirectory.addLastINode`).
    fn check_new_child(&self, directory: Slot, name: &str, directory_path: &str) -> Result<()> {
        self.state.check_new_name(directory, name)?;
        self.check_child_limits(directory, name, directory_path, true)
    }

    fn check_child_limits(
        &self,
        directory: Slot,
        name: &str,
        directory_path: &str,
        counts: bool,
    ) -> Result<()> {
        let (limit, len) = (self.params.component_len_max, name.len());
        if limit != 0 && len > limit {
            return fail(
                JavaException::PathComponentTooLong,
                format!(
                    "The maximum path component name limit of {name} in directory {directory_path} is exceeded: \
                     limit={limit} length={len}"
                ),
            );
        }
        let items = self
            .state
            .tree()
            .get(directory)
            .as_directory()
            .map_or(0, |directory| directory.children.len());
        if counts && items >= self.params.directory_items_max {
            return fail(
                JavaException::MaxDirectoryItemsExceeded,
                format!(
                    "The directory item limit of {directory_path} is exceeded: limit={} items={items}",
                    self.params.directory_items_max
                ),
            );
        }
        Ok(())
    }

    fn is_non_empty_directory(&self, slot: Option<Slot>) -> bool {
        slot.is_some_and(|slot| self.state.tree().is_non_empty_directory(slot))
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
            if below && self.is_non_empty_directory(self.state.walk(protected)?.last()) {
                return crate::fail::denied(format!(
                    "Cannot delete/rename non-empty protected subdirectory {protected}"
                ));
            }
        }
        if !self.params.protected_subdirectories {
            return Ok(());
        }
        let is_above = |directory: &&String| {
            path.strip_prefix(&***directory).is_some_and(|rest| rest.starts_with('/'))
        };
        match all.iter().filter(is_above).max_by_key(|directory| directory.len()) {
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
        let objects =
            self.state.blocks().block_count().saturating_add(self.state.tree().len() as u64);
        let objects = objects.saturating_sub(self.deleted.objects());
        if limit == 0 || objects.saturating_sub(freed as u64) < limit {
            return Ok(());
        }
        crate::fail::io(format!(
            "Exceeded the configured number of objects {limit} in the filesystem."
        ))
    }
}
