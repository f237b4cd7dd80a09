//! Directories made.

use crate::access::WRITE;
use crate::acl;
use crate::error::{AlreadyExists, NotADirectory, NotFound, refuse};
use crate::limits::check_path_length;
use crate::quota::Counts;
use crate::resolve::DirOp;
use crate::tree::{Acl, Slot};
use crate::walk::Located;
use crate::{Namespace, OpContext, Result};
use zerohop_journal::op::Mkdir;
use zerohop_journal::types::PermissionStatus;

/// Modes of a new inode: after the client's umask, and before it if the client sent that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Modes {
    pub masked: u16,
    pub unmasked: Option<u16>,
}

impl Modes {
    /// What directories in between get, so that the rest can be made below them (`addImplicitUwx`).
    fn with_owner_write(self) -> Self {
        Self { masked: self.masked & 0o777 | 0o300, ..self }
    }
}

impl Namespace {
    /// Makes a directory and, with `create_parent`, those missing above it; true also if it was there.
    ///
    /// # Errors
    /// As Hadoop's `mkdirs`: a file in the way, no permission, a quota, an invalid name.
    pub fn mkdirs(
        &mut self,
        ctx: &OpContext,
        path: &str,
        masked: u16,
        unmasked: Option<u16>,
        create_parent: bool,
    ) -> Result<bool> {
        check_path_length("mkdirs", path)?;
        self.begin(ctx, || format!("Cannot create directory {path}"))?;
        let located = self.resolve(ctx, path, DirOp::Create)?;
        if let Some(slot) = located.last() {
            if self.state.tree().get(slot).as_file().is_some() {
                return refuse(AlreadyExists::FileForDirectory { path: path.to_owned() });
            }
            return Ok(true);
        }
        check_path_length("mkdirs", &located.path)?;
        self.check(
            ctx,
            &located,
            crate::access::Check { ancestor: Some(WRITE), ..Default::default() },
        )?;
        if !create_parent {
            self.verify_parent(&located)?;
        }
        self.check_object_limit(0)?;
        let modes = Modes { masked, unmasked };
        let parent = self.create_missing_parents(ctx, &located, modes.with_owner_write())?;
        self.create_directory(ctx, parent, &located, located.depth, modes)?;
        Ok(true)
    }

    /// `FSDirectory.verifyParentDir`
    pub(crate) fn verify_parent(&self, located: &Located<'_>) -> Result<()> {
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

    /// Directories above the last component, each an edit; the directory the last component belongs in.
    fn create_missing_parents(
        &mut self,
        ctx: &OpContext,
        located: &Located<'_>,
        modes: Modes,
    ) -> Result<Slot> {
        let mut directory = located.deepest();
        for depth in located.nodes.len() + 1..located.depth {
            directory = self.create_directory(ctx, directory, located, depth, modes)?;
        }
        Ok(directory)
    }

    /// Directories above a new file: they take the mode of the deepest one that exists.
    pub(crate) fn create_file_parents(
        &mut self,
        ctx: &OpContext,
        located: &Located<'_>,
    ) -> Result<Slot> {
        let masked = self.state.tree().get(located.deepest()).permission.mode();
        self.create_missing_parents(
            ctx,
            located,
            Modes { masked, unmasked: None }.with_owner_write(),
        )
    }

    fn create_directory(
        &mut self,
        ctx: &OpContext,
        parent: Slot,
        located: &Located<'_>,
        depth: usize,
        modes: Modes,
    ) -> Result<Slot> {
        let path = located.prefix(depth);
        let name = path.rsplit('/').next().unwrap_or_default();
        self.check_insert(
            parent,
            name,
            located.prefix(depth - 1),
            &Counts { names: 1, ..Counts::default() },
        )?;
        let (mode, acl) = self.new_mode(parent, modes, true);
        let op = Mkdir {
            inode_id: self.next_inode_id(),
            path: path.to_owned(),
            timestamp_ms: self.wall_ms() as i64,
            permissions: self.new_permissions(ctx, parent, mode),
            acl: acl.as_ref().map(|acl| acl::logical(mode, Some(acl))).unwrap_or_default(),
            xattrs: Vec::new(),
        };
        Ok(self.commit(op)?.inode.unwrap_or(parent))
    }

    /// Whether a directory takes a child of that name and use.
    pub(crate) fn check_insert(
        &self,
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
    pub(crate) fn new_permissions(
        &self,
        ctx: &OpContext,
        parent: Slot,
        mode: u16,
    ) -> PermissionStatus {
        let group = self.state.tree().group(self.state.tree().get(parent).permission).clone();
        PermissionStatus { user: ctx.user().clone(), group, mode }
    }

    /// Mode and ACL of a new inode after what its directory hands down (`copyINodeDefaultAcl`).
    pub(crate) fn new_mode(
        &self,
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
