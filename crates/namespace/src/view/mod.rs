//! Reads of the namespace.

mod attributes;
mod listing;
pub(crate) mod locate;
pub(crate) mod status;
pub(crate) mod summary;

use crate::access::{Action, PermissionChecker, READ};
use crate::commit::DurableState;
use crate::error::{Denied, Error, NotFound, PathError, TryAgain, refuse};
use crate::resolve::DirOp;
use crate::safe_mode_notice::SafeModeNotice;
use crate::tree::{Body, Slot};
use crate::walk::{Located, is_exact_reserved};
use crate::{FileStatus, LocatedBlocks, NamespaceParams, OpContext, OpenFile, Result};
use locate::BlockLocator;
use status::{access_time_due, reserved_status, status_of};
use zerohop_wire::InodeId;

/// The namespace as one caller may see it.
#[derive(Clone, Copy)]
pub struct View<'n> {
    pub(crate) ctx: &'n OpContext,
    pub(crate) params: &'n NamespaceParams,
    pub(crate) state: &'n DurableState,
    /// Set while in safe mode.
    pub(crate) safe_mode: Option<&'n SafeModeNotice>,
}

impl<'n> View<'n> {
    /// Resolves paths and checks the caller's permissions.
    pub(crate) fn access(self) -> PermissionChecker<'n> {
        PermissionChecker { params: self.params, tree: self.state.tree(), ctx: self.ctx }
    }

    pub(crate) fn locator(self) -> BlockLocator<'n> {
        BlockLocator { state: self.state, client: self.ctx.location() }
    }

    /// The status of a path; none if it does not exist.
    ///
    /// # Errors
    /// As Hadoop's `getFileInfo`.
    pub fn file_info(self, path: &str) -> Result<Option<FileStatus>> {
        self.info(path, DirOp::Read, false)
    }

    /// The status of a path; of a link itself.
    ///
    /// # Errors
    /// As Hadoop's `getFileLinkInfo`.
    pub fn file_link_info(self, path: &str) -> Result<Option<FileStatus>> {
        self.info(path, DirOp::ReadLink, false)
    }

    /// The status of a path with a file's blocks.
    ///
    /// # Errors
    /// As Hadoop's `getLocatedFileInfo`.
    pub fn located_file_info(self, path: &str) -> Result<Option<FileStatus>> {
        self.info(path, DirOp::Read, true)
    }

    fn info(self, path: &str, op: DirOp, located: bool) -> Result<Option<FileStatus>> {
        let at = match self.access().resolve(path, op) {
            // A superuser is denied only below a file, and Apache's contract calls that absent.
            Err(Error::Denied(_)) if self.ctx.superuser => return Ok(None),
            other => other?,
        };
        if is_exact_reserved(&at.path) {
            return Ok(Some(reserved_status(self.params, "", 0o1770)));
        }
        Ok(at.last().map(|slot| {
            let mut status =
                status_of(self.state, slot, String::new(), self.state.effective_policy(slot));
            if located {
                status.locations = self.locator().all_locations(slot);
            }
            status
        }))
    }

    /// Whether a file is not open for writing.
    ///
    /// # Errors
    /// As Hadoop's `isFileClosed`.
    pub fn is_file_closed(self, path: &str) -> Result<bool> {
        let located = self.access().resolve(path, DirOp::Read)?;
        let slot = self.state.paths().file_at(located.last(), path)?;
        Ok(self.state.files().writer(slot).is_none())
    }

    /// Whether the caller may do `mode` (read 4, write 2, execute 1).
    ///
    /// # Errors
    /// `Error::Denied` if not, `Error::NotFound`.
    pub fn check_access(self, path: &str, mode: Action) -> Result<()> {
        let located = self.access().resolve(path, DirOp::Read)?;
        if located.last().is_none() {
            return refuse(NotFound::Accessed { path: located.path.into_owned() });
        }
        self.access().check_access_to(&located, mode)
    }

    /// `getPreferredBlockSize`
    ///
    /// # Errors
    /// `Error::NotFound` where no file is.
    pub fn preferred_block_size(self, path: &str) -> Result<u64> {
        let located = self.access().resolve(path, DirOp::ReadLink)?;
        Ok(self
            .state
            .files()
            .block_size(self.state.paths().file_at(located.last(), &located.path)?))
    }

    /// The blocks of a range of a file, nearest replicas first.
    ///
    /// With `Some(inode)` the access time is due: call `Attributes::touch` with it when convenient.
    ///
    /// # Errors
    /// As Hadoop's `getBlockLocations`.
    pub fn block_locations(
        self,
        path: &str,
        offset: u64,
        len: u64,
    ) -> Result<(LocatedBlocks, Option<InodeId>)> {
        let located = self.access().resolve(path, DirOp::Read)?;
        let slot = self.state.paths().file_at(located.last(), &located.path)?;
        self.check_readable(&located, slot)?;
        let blocks = self.locator().locate_range(slot, offset, len);
        if let Some(notice) = self.safe_mode
            && blocks.blocks.iter().any(|block| block.locations.replicas.is_empty())
        {
            return Err(notice.refuse(format!("Zero blocklocations for {path}")));
        }
        // Apache's client asks only once, and takes a block without a location for one without bytes, or fails.
        if let Some(last) = &blocks.last
            && !blocks.last_complete
            && last.locations.replicas.is_empty()
            && self.state.blocks().lookup().awaits_reports()
        {
            let (block, path) = (last.block(), path.to_owned());
            return refuse(TryAgain::WrittenNotReported { block, path });
        }
        let due = self.safe_mode.is_none()
            && access_time_due(self.params, self.state.tree(), slot, self.ctx.now.wall_ms);
        Ok((blocks, due.then(|| self.state.tree().get(slot).id)))
    }

    fn check_readable(self, located: &Located<'_>, slot: Slot) -> Result<()> {
        let unreadable = "hdfs.unreadable.by.superuser";
        let hidden = |xattr: &crate::XAttr| {
            xattr.namespace == crate::XAttrNamespace::Security && &*xattr.name == unreadable
        };
        if self.ctx.superuser
            && self.params.permissions_enabled
            && self.state.tree().get(slot).xattrs().iter().any(hidden)
        {
            return refuse(Denied::Unreadable { user: self.ctx.user().clone() });
        }
        self.access().check_access_to(located, READ)
    }

    /// Where a link points.
    ///
    /// # Errors
    /// As Hadoop's `getLinkTarget`.
    pub fn link_target(self, path: &str) -> Result<String> {
        let located = self.access().resolve(path, DirOp::ReadLink)?;
        let Some(slot) = located.last() else {
            return refuse(NotFound::File { path: path.to_owned() });
        };
        match &self.state.tree().get(slot).body {
            Body::Symlink(link) => Ok(String::from_utf8_lossy(&link.target).into_owned()),
            _ => refuse(PathError::NotASymlink { path: path.to_owned() }),
        }
    }

    /// Open files with an inode id above `after`, and whether there are more.
    ///
    /// # Errors
    /// `Error::Denied` for all but the superuser.
    pub fn list_open_files(self, after: InodeId, path: &str) -> Result<(Vec<OpenFile>, bool)> {
        self.access().check_superuser("listOpenFiles")?;
        let mut found = Vec::new();
        for id in self.state.leases().files_after(after) {
            let Some((slot, writer)) = self
                .state
                .tree()
                .find(id)
                .and_then(|slot| Some((slot, self.state.files().writer(slot)?)))
            else {
                continue;
            };
            let full = self.state.tree().path(slot);
            if path.is_empty() || path == "/" || is_at_or_below(&full, path) {
                found.push(OpenFile {
                    id,
                    path: full,
                    client_name: writer.client_name.to_string(),
                    client_machine: writer.client_machine.to_string(),
                });
            }
            if found.len() >= self.params.open_files_batch {
                return Ok((found, true));
            }
        }
        Ok((found, false))
    }
}

fn is_at_or_below(path: &str, top: &str) -> bool {
    let top = top.trim_end_matches('/');
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
