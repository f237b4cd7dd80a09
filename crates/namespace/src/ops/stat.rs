//! What is known of one path: status, blocks, access.

use crate::access::{Action, READ};
use crate::blocks::{BlockLocations, BlockState, policy};
use crate::error::{Denied, Error, NotFound, SafeMode, refuse};
use crate::resolve::DirOp;
use crate::tree::{Body, File, Slot};
use crate::walk::{Located, is_exact_reserved};
use crate::{
    FileKind, FileStatus, LocatedBlock, LocatedBlocks, Namespace, NamespaceStats, OpContext, Result,
};
use zerohop_wire::{BlockId, InodeId};

impl Namespace {
    /// The status of a path; none if nothing is there.
    ///
    /// # Errors
    /// As Hadoop's `getFileInfo`.
    pub fn file_info(&self, ctx: &OpContext, path: &str) -> Result<Option<FileStatus>> {
        self.info(ctx, path, DirOp::Read, false)
    }

    /// The status of a path; of a link itself.
    ///
    /// # Errors
    /// As Hadoop's `getFileLinkInfo`.
    pub fn file_link_info(&self, ctx: &OpContext, path: &str) -> Result<Option<FileStatus>> {
        self.info(ctx, path, DirOp::ReadLink, false)
    }

    /// The status of a path with a file's blocks.
    ///
    /// # Errors
    /// As Hadoop's `getLocatedFileInfo`.
    pub fn located_file_info(&self, ctx: &OpContext, path: &str) -> Result<Option<FileStatus>> {
        self.info(ctx, path, DirOp::Read, true)
    }

    fn info(
        &self,
        ctx: &OpContext,
        path: &str,
        op: DirOp,
        located: bool,
    ) -> Result<Option<FileStatus>> {
        let at = match self.resolve(ctx, path, op) {
            // A superuser is denied only below a file, and Apache's contract calls that absent.
            Err(Error::Denied(_)) if ctx.superuser => return Ok(None),
            other => other?,
        };
        if is_exact_reserved(&at.path) {
            return Ok(Some(self.reserved_status("", 0o1770)));
        }
        Ok(at.last().map(|slot| {
            let mut status = self.status_of(slot, String::new(), self.state.effective_policy(slot));
            if located {
                status.locations = self.all_locations(ctx, slot);
            }
            status
        }))
    }

    /// `/.reserved` and what is in it have no inodes.
    pub(crate) fn reserved_status(&self, name: &str, mode: u16) -> FileStatus {
        FileStatus {
            kind: FileKind::Directory,
            id: InodeId::GRANDFATHER,
            name: name.to_owned(),
            len: 0,
            mode,
            owner: self.params.superuser.as_str().into(),
            group: self.params.supergroup.as_str().into(),
            mtime: 0,
            atime: 0,
            replication: 0,
            block_size: 0,
            storage_policy: policy::UNSPECIFIED,
            children: 0,
            symlink: None,
            has_acl: false,
            locations: None,
        }
    }

    /// The status of an inode under the name the answer gives it.
    pub(crate) fn status_of(&self, slot: Slot, name: String, storage_policy: u8) -> FileStatus {
        let inode = self.state.tree().get(slot);
        let file = inode.as_file();
        let (kind, symlink) = match &inode.body {
            Body::File(_) => (FileKind::File, None),
            Body::Symlink(link) => (FileKind::Symlink, Some(link.target.clone())),
            _ => (FileKind::Directory, None),
        };
        FileStatus {
            kind,
            id: inode.id,
            name,
            len: file.map_or(0, |file| self.state.ledger().len_of(file)),
            mode: inode.permission.mode(),
            owner: self.state.tree().user(inode.permission).clone(),
            group: self.state.tree().group(inode.permission).clone(),
            mtime: inode.mtime(),
            atime: inode.atime(),
            replication: file.map_or(0, File::replication),
            block_size: file.map_or(0, File::block_size),
            storage_policy,
            children: inode.as_directory().map_or(0, |directory| directory.children.len() as u32),
            symlink,
            has_acl: inode.acl().is_some(),
            locations: None,
        }
    }

    /// Whether nobody has a file open for writing.
    ///
    /// # Errors
    /// As Hadoop's `isFileClosed`.
    pub fn is_file_closed(&self, ctx: &OpContext, path: &str) -> Result<bool> {
        let located = self.resolve(ctx, path, DirOp::Read)?;
        let slot = self.state.paths().file_at(located.last(), path)?;
        Ok(self.state.writer(slot).is_none())
    }

    /// Whether the caller may do `mode` (read 4, write 2, execute 1).
    ///
    /// # Errors
    /// `Error::Denied` if not, `Error::NotFound`.
    pub fn check_access(&self, ctx: &OpContext, path: &str, mode: Action) -> Result<()> {
        let located = self.resolve(ctx, path, DirOp::Read)?;
        if located.last().is_none() {
            return refuse(NotFound::Accessed { path: located.path.into_owned() });
        }
        self.check_access_to(ctx, &located, mode)
    }

    /// `getPreferredBlockSize`
    ///
    /// # Errors
    /// `Error::NotFound` where no file is.
    pub fn preferred_block_size(&self, ctx: &OpContext, path: &str) -> Result<u64> {
        let located = self.resolve(ctx, path, DirOp::ReadLink)?;
        Ok(self.state.block_size(self.state.paths().file_at(located.last(), &located.path)?))
    }

    /// The blocks of a range of a file, nearest replicas first.
    ///
    /// With `Some(inode)` the access time is due: call [`Namespace::touch`] with it when convenient.
    ///
    /// # Errors
    /// As Hadoop's `getBlockLocations`.
    pub fn block_locations(
        &self,
        ctx: &OpContext,
        path: &str,
        offset: u64,
        len: u64,
    ) -> Result<(LocatedBlocks, Option<InodeId>)> {
        let located = self.resolve(ctx, path, DirOp::Read)?;
        let slot = self.state.paths().file_at(located.last(), &located.path)?;
        self.check_readable(ctx, &located, slot)?;
        let blocks = self.locate_range(ctx, slot, offset, len);
        if let Some(tip) = &self.safe_mode
            && blocks.blocks.iter().any(|block| block.locations.replicas.is_empty())
        {
            let (refusal, tip) = (format!("Zero blocklocations for {path}"), tip.clone());
            return refuse(SafeMode { refusal, tip });
        }
        let due = self.safe_mode.is_none() && self.access_time_due(slot, ctx.now.wall_ms);
        Ok((blocks, due.then(|| self.state.tree().get(slot).id)))
    }

    fn check_readable(&self, ctx: &OpContext, located: &Located<'_>, slot: Slot) -> Result<()> {
        let unreadable = "hdfs.unreadable.by.superuser";
        let hidden = |xattr: &crate::XAttr| {
            xattr.namespace == crate::XAttrNamespace::Security && &*xattr.name == unreadable
        };
        if ctx.superuser
            && self.params.permissions_enabled
            && self.state.tree().get(slot).xattrs().iter().any(hidden)
        {
            return refuse(Denied::Unreadable { user: ctx.user().clone() });
        }
        self.check_access_to(ctx, located, READ)
    }

    pub(crate) fn all_locations(&self, ctx: &OpContext, slot: Slot) -> Option<LocatedBlocks> {
        self.state.tree().get(slot).as_file()?;
        Some(self.locate_range(ctx, slot, 0, self.state.ledger().file_len(slot)))
    }

    /// `BlockManager.createLocatedBlocks`
    fn locate_range(&self, ctx: &OpContext, slot: Slot, offset: u64, len: u64) -> LocatedBlocks {
        let Some(file) = self.state.tree().get(slot).as_file() else {
            return LocatedBlocks::default();
        };
        let mut found =
            LocatedBlocks { under_construction: file.is_open(), ..LocatedBlocks::default() };
        let end = offset.saturating_add(len);
        let ids = file.blocks.as_slice();
        let mut place = 0u64;
        for (at, id) in ids.iter().enumerate() {
            let Some(stored) = self.state.blocks().get(*id) else { continue };
            let size = stored.block.len;
            // A range of no length still names the block it begins in; a first block that has no
            // length yet is named whatever the range, which is how its writer's pipeline shows.
            let begins = found.blocks.is_empty()
                && (offset < place.saturating_add(size) || (at == 0 && size == 0));
            if begins || (!found.blocks.is_empty() && place < end) {
                found.blocks.extend(self.locate_block(ctx, *id, place));
            }
            if at + 1 == ids.len() {
                found.last_complete = stored.state == BlockState::Complete;
                found.file_len =
                    if found.last_complete { place.saturating_add(size) } else { place };
                let seen = found.blocks.last().filter(|block| block.block().id == *id).cloned();
                found.last = seen.or_else(|| self.locate_block(ctx, *id, place));
            }
            place = place.saturating_add(size);
        }
        found
    }

    fn locate_block(&self, ctx: &OpContext, id: BlockId, offset: u64) -> Option<LocatedBlock> {
        let locations: BlockLocations =
            self.state.blocks().lookup().locations(id, &ctx.client_host)?;
        Some(LocatedBlock { offset, locations })
    }

    /// Full path of an inode; none when it is gone.
    pub fn path_of(&self, id: InodeId) -> Option<String> {
        self.state.tree().find(id).map(|slot| self.state.tree().path(slot))
    }

    /// Counts for metrics.
    pub fn stats(&self) -> NamespaceStats {
        NamespaceStats {
            inodes: self.state.tree().len() as u64,
            open_files: self.state.leases().len() as u64,
            lease_holders: self.state.leases().holder_count() as u64,
            blocks: self.state.blocks().block_count(),
            ..NamespaceStats::default()
        }
    }
}
