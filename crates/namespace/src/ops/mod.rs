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

use crate::error::{Denied, LimitError, PathError, refuse};
use crate::tree::Slot;
use crate::{Namespace, Result};

impl Namespace {
    /// Limits on a directory's new child (`FSDirectory.addLastINode`).
    fn check_new_child(&self, directory: Slot, name: &str, directory_path: &str) -> Result<()> {
        self.state.paths().check_new_name(directory, name)?;
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

    fn is_non_empty_directory(&self, slot: Option<Slot>) -> bool {
        slot.is_some_and(|slot| self.state.tree().is_non_empty_directory(slot))
    }

    /// `fs.protected.directories`, and `dfs.protected.subdirectories.enable` (`DFSUtil.checkProtectedDescendants`).
    fn check_protected(&self, path: &str) -> Result<()> {
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
        refuse(LimitError::Objects { limit })
    }
}
