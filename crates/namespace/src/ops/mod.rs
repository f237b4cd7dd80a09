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
pub(crate) use xattr::{with_removed, with_set};

use crate::fail::{fail, io};
use crate::tree::Slot;
use crate::{Namespace, Result};
use zerohop_wire::JavaException;

const PATH_LEN_MAX: usize = 8000;
const PATH_DEPTH_MAX: usize = 1000;

/// What the RPC server refuses before anything else.
fn check_path_length(operation: &str, path: &str) -> Result<()> {
    if path.len() > PATH_LEN_MAX
        || path.bytes().filter(|byte| *byte == b'/').count() > PATH_DEPTH_MAX
    {
        return io(format!(
            "{operation}: Pathname too long.  Limit {PATH_LEN_MAX} characters, {PATH_DEPTH_MAX} levels."
        ));
    }
    Ok(())
}

impl Namespace {
    /// Limits on a folder's new child (`FSDirectory.addLastINode`).
    fn check_new_child(&self, folder: Slot, name: &str, folder_path: &str) -> Result<()> {
        if folder == self.tree.root && name == ".reserved" {
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
        let items =
            self.tree.get(folder).as_directory().map_or(0, |directory| directory.children.len());
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
        let inode = self.tree.get_mut(folder);
        inode.mtime = inode.mtime.max(mtime);
    }

    fn is_non_empty_folder(&self, slot: Option<Slot>) -> bool {
        let directory = slot.and_then(|slot| self.tree.get(slot).as_directory());
        directory.is_some_and(|directory| !directory.children.is_empty())
    }

    /// `dfs.protected.directories`
    fn check_protected(&self, path: &str) -> Result<()> {
        for protected in &self.params.protected_directories {
            if protected == path {
                return crate::fail::denied(format!(
                    "Cannot delete/rename non-empty protected directory {path}"
                ));
            }
            let below = protected.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            if below && self.is_non_empty_folder(self.walk(protected)?.last()) {
                return crate::fail::denied(format!(
                    "Cannot delete/rename non-empty protected subdirectory {protected}"
                ));
            }
        }
        Ok(())
    }
}
